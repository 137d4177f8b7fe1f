"""`Stepper`: takes a state from one stop of the compiled loop to the next.

`kernels.step.run` returns whenever it needs something that is not compiled. This class provides it:
values and gradients from the problem, and the parts of the method that a user wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Matrix, Vector, as_numbers
from gameproof.core.errors import DivergedError
from gameproof.kernels import layout as at
from gameproof.kernels.games import UserFunction
from gameproof.kernels.jit import for_data
from gameproof.kernels.samples import has_user_functions
from gameproof.kernels.step import known_gradients
from gameproof.minmax.estimates.gradient import Context
from gameproof.minmax.interrupts import interruptible
from gameproof.minmax.plan import steps_per_epoch
from gameproof.minmax.questions import Question, Questioner
from gameproof.minmax.sets.convex_set import ConvexSet, checked_point, projected_on_shrunk
from gameproof.minmax.updates.update import Estimates


@final
class Stepper(Questioner):
    """Provides what the compiled loop asks for, and keeps the state consistent if that fails."""

    def provide(self, code: int) -> None:
        """Provides what the loop stopped for, unless values are needed or the run ends."""
        provider = {
            at.NEED_ORDER: self._provide_order,
            at.NEED_DIRECTIONS: self._provide_directions,
            at.NEED_GRADIENTS: self._provide_gradients,
            at.NEED_ESTIMATE: self._provide_estimate,
            at.NEED_MOVE: self._provide_move,
        }[code]
        changes_state = code in (at.NEED_ORDER, at.NEED_DIRECTIONS, at.NEED_ESTIMATE)
        with self._restored_on_failure() if changes_state else nullcontext():
            provider()

    @contextmanager
    def _restored_on_failure(self) -> Iterator[None]:
        """Undoes draws and sums if a part of the user's own raises: a resumed run repeats them.
        Gradients begin their sums anew, and moves change nothing before their end."""
        memory, bits, rows = self.memory, self.state.rng.bit_generator, [at.NEW, at.OLD]
        before = bits.state, memory.x[rows], memory.y[rows]
        try:
            yield
        except BaseException:
            bits.state, memory.x[rows], memory.y[rows] = before
            raise

    def _provide_order(self) -> None:
        n, order = self.method.n, self.solver.order
        drawn = np.asarray(order.draw(self.state.rng, n, self.state.epoch))
        if drawn.shape != (n,) or drawn.dtype.kind not in "iu":
            raise ValueError(f"{order!r} drew {drawn!r}, expected {n} sample numbers")
        if drawn.min() < 0 or drawn.max() >= n:
            raise ValueError(f"{order!r} drew a sample outside 0 to {n - 1}")
        self.memory.order[:] = drawn
        self.counts[at.STAGE] = at.ORDERED

    @property
    def _directions(self) -> Matrix:
        """The directions of the present phase, on the coordinates that it perturbs."""
        row = self._phase
        found: Matrix = self.memory.directions[: row[at.POINTS], row[at.FROM] : row[at.TO]]
        return found

    def _provide_directions(self) -> None:
        gradient, radius = self._gradient, float(self.memory.numbers[at.RADIUS])
        space, directions = self.plan.spaces[self.counts[at.PHASE]], self._directions
        offsets = np.asarray(gradient.offsets(self.state.rng, space, radius))
        if offsets.shape != directions.shape or not np.isfinite(offsets).all():
            raise ValueError(
                f"{gradient!r} must give finite offsets of shape {directions.shape}, one row per "
                f"point, got shape {offsets.shape}"
            )
        directions[:] = offsets
        self.counts[at.STAGE] = at.DRAWN

    def _provide_gradients(self) -> None:
        if self.method.observes and not self.problem.compiled_values:
            self.observe(None)
            return
        problem, data = self.problem, self.problem.data
        if problem.overrides_data and not problem.private_y:  # only data knows the place of y_i
            data = None
        if data is not None and not isinstance(data, UserFunction):
            deployed = self.counts[at.DEPLOYMENTS]
            kernel = for_data(known_gradients, has_user_functions(data))
            code = kernel(data, self.method, self.memory)
            self.problem.queries.count_deployments(self.counts[at.DEPLOYMENTS] - deployed)
            if code != 0:
                raise DivergedError(
                    f"a gradient of {self.problem.name} is not finite after {self.counts[at.STEP]} "
                    "steps; use a smaller step size"
                )
        else:
            self._gradients_in_python(0, self.counts[at.N_CURRENT])
            if self.method.asks_previous and self.counts[at.N_PREVIOUS]:
                self._gradients_in_python(1, self.counts[at.N_PREVIOUS])
        self.counts[at.STAGE] = at.EXACT_DONE

    def observe(self, answers: Any | None) -> None:
        """Gradients from observed answers: given ones, or those that the problem asks for."""
        queries, asked = self.problem.queries, self.samples_asked
        question = self.question(at.BASE, asked)
        if answers is None:
            answers = np.zeros((0, 0))
            if asked.size:
                try:
                    with interruptible():
                        answers = queries.observe(asked, question.x)
                except Exception as error:
                    raise self._raised(error, question, *asked) from error
                self.state.position = queries.position
        queries.observed_gradients(self.method, self.memory, answers, self.solver.gradient)
        self.counts[at.QUERIES] += asked.size
        self.counts[at.DEPLOYMENTS] += asked.size > 0
        self.counts[at.STAGE] = at.EXACT_DONE

    def _gradients_in_python(self, which: int, size: int) -> None:
        """Adds the problem's own gradients to NEW or OLD, on coordinates that are not perturbed,
        less the same at the snapshot."""
        memory, first, row = self.memory, which * self.method.batch, at.NEW + which
        samples = memory.samples[at.BATCH, first : first + size].copy()
        terms = [(self.question(at.BASE, samples), self.method.share)]
        if self._phase[at.CORRECTS]:
            terms.append((self.question(at.SNAPSHOT, samples), -self.method.share))
        for i in samples.tolist():
            for question, weight in terms:
                self._add_gradient(row, i, question, weight)

    @property
    def _exact_from(self) -> tuple[int, int]:
        """The coordinates of x and y from which on nothing is perturbed."""
        method = self.method
        return method.x_perturbed, self.problem.y_set.dim if method.y_perturbed else 0

    def _add_gradient(self, row: int, i: int, question: Question, weight: float) -> None:
        blocks = self.memory.x, self.memory.y
        try:
            with interruptible():
                parts = self.problem.gradient(i, question.x, question.y)
            for name, block, part, first in zip("xy", blocks, parts, self._exact_from, strict=True):
                if part is not None:
                    block[row, first:] += weight * _gradient_like(name, part, block[row])[first:]
                elif first < block.shape[1]:
                    raise ValueError(f"no gradient of {name}, though it is declared as known")
        except Exception as error:
            what = f"gave no usable gradient ({type(error).__name__}: {error})"
            raise self.failure(what, question, i) from error

    def _provide_estimate(self) -> None:
        """Completes NEW and OLD by the user's estimate."""
        memory, counts, numbers = self.memory, self.counts, self.memory.numbers
        dim = self.plan.spaces[counts[at.PHASE]].dim
        context = Context(dim, float(numbers[at.MEAN]), float(numbers[at.LAST]))
        current, total = counts[at.ASKED_CURRENT], counts[at.ASKED]
        for row, answered in ((at.NEW, range(current)), (at.OLD, range(current, total))):
            for m in answered:
                number, values = len(self._directions), memory.answers[:, m]
                found = self._estimated(values[:number], context)
                if self._phase[at.CORRECTS]:
                    found -= self._estimated(values[number : 2 * number], context)
                self._add_estimate(row, found)
        if current:
            value = float(memory.answers[0, :current].mean())
            per_epoch = steps_per_epoch(self.method.n, self.method.batch)
            numbers[at.MEAN_COUNT] = min(numbers[at.MEAN_COUNT] + 1, per_epoch)
            numbers[at.MEAN] += (value - numbers[at.MEAN]) / numbers[at.MEAN_COUNT]
            numbers[at.LAST] = value
        counts[at.STAGE] = at.ESTIMATED

    def _estimated(self, values: Vector, context: Context) -> Vector:
        gradient, directions = self._gradient, self._directions
        radius, size = float(self.memory.numbers[at.RADIUS]), directions.shape[1]
        found = gradient.estimate(values.copy(), directions.copy(), radius, context)
        vector = np.array(found, dtype=np.float64)
        if vector.shape != (size,) or not np.isfinite(vector).all():
            raise ValueError(f"{gradient!r} must estimate {size} finite numbers, got {found!r}")
        return vector

    def _add_estimate(self, row: int, vector: Vector) -> None:
        method, phase = self.method, self._phase
        whole = np.zeros(self.memory.directions.shape[1])
        whole[phase[at.FROM] : phase[at.TO]] = vector / method.batch
        width = method.x_perturbed
        self.memory.x[row, :width] += whole[:width]
        if method.y_perturbed:
            self.memory.y[row] += whole[width:]

    def _provide_move(self) -> None:
        """The move and the projections in Python. If one raises, nothing has changed."""
        memory, method, phase = self.memory, self.method, self._phase
        x_set, y_set, eta = self.problem.x_set, self.problem.y_set, memory.numbers[at.ETA]
        arrays = {name: array.copy() for name, array in self.state.arrays.items()}
        x_part, y_part = np.split(self._direction(arrays), [x_set.dim])
        asks_x, asks_y = method.x_perturbed > 0, method.y_perturbed
        moved = []
        for block, whole, part, scale, moves, perturbed in (
            (memory.x, x_set, x_part, method.x_scale, phase[at.MOVES_X], asks_x),
            (memory.y, y_set, y_part, method.y_scale, phase[at.MOVES_Y], asks_y),
        ):
            origin = block[at.BASE if phase[at.FROM_BASE] else at.U].copy()
            if phase[at.ANCHORED]:
                origin += (block[at.ANCHOR] - origin) / (self.counts[at.STEP] + 2.0)
            if moves:
                shrink = self.shrink if perturbed else 1.0
                moved.append((block, _stepped(whole, origin, eta * scale * part, shrink)))
        for block, point in moved:
            block[at.BASE] = point
        for name, array in arrays.items():
            self.state.arrays[name][:] = array
        self.counts[at.STAGE] = at.MOVED

    @property
    def shrink(self) -> float:
        """How much smaller the sets are in which iterates stay: see `kernels.motion.move_block`."""
        radius, reach = float(self.memory.numbers[at.RADIUS]), self.method.reach
        return 1.0 - min(radius / reach, 0.5) if np.isfinite(reach) else 1.0

    def _direction(self, arrays: dict[str, Vector]) -> Vector:
        """m of the update, over x and then y."""
        memory, update, phase = self.memory, self.solver.update, self.counts[at.PHASE]
        new, previous, kept = (
            np.concatenate([memory.x[row], -memory.y[row]]) for row in (at.NEW, at.OLD, at.KEPT)
        )
        first, asks = self.counts[at.N_PREVIOUS] == 0, update.phases[phase].asks
        if not asks:
            new = previous = np.zeros_like(new)
        if first:
            previous = kept = new
        found = update.move(phase, Estimates(new, previous, kept), arrays, self.counts[at.STEP])
        vector = np.asarray(found, dtype=np.float64)
        if vector.shape != new.shape or not np.isfinite(vector).all():
            raise ValueError(f"{update!r} must move by {new.size} finite numbers, got {found!r}")
        return vector


def _stepped(whole: ConvexSet, origin: Vector, move: Vector, shrink: float) -> Vector:
    """Where a step leads, on the set shrunk towards its centre."""
    if shrink == 1.0:
        return checked_point(whole, whole.step(origin, move), origin)
    return projected_on_shrunk(whole, origin - move, shrink)


def _gradient_like(block: str, part: ArrayLike, row: Vector) -> Vector:
    vector = as_numbers(f"the gradient of {block}", part)
    if vector.shape != row.shape:
        raise ValueError(f"the gradient of {block} has shape {vector.shape}, expected {row.shape}")
    if not np.isfinite(vector).all():
        raise ValueError(f"the gradient of {block} is not finite")
    return vector
