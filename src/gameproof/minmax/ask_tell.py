"""A step whose values come from Python: draws, questions, answers, gradients.

The arithmetic is in `kernels`, shared with compiled runs: both give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof import kernels
from gameproof.core.arguments import Indices, Vector, as_numbers
from gameproof.core.errors import EvaluationError
from gameproof.kernels import (
    ANSWERED,
    ASKED,
    ASKING,
    COSTLY,
    DEPLOYMENTS,
    IDLE,
    N_PREVIOUS,
    PHASE,
    POINT_NO,
    POSITION,
    QUERIES,
    STAGE,
    STEP,
)
from gameproof.minmax.estimates import Envelope
from gameproof.minmax.problem import Problem
from gameproof.minmax.sets import ConvexSet, projected
from gameproof.minmax.solver import Solver
from gameproof.minmax.state import State


class Question(NamedTuple):
    """A deployed point (x, y) and the samples whose values are asked there."""

    id: int
    x: Vector
    y: Vector
    indices: Indices


@final
class Steps:
    """Takes a state from one point of a step to the next."""

    def __init__(
        self, problem: Problem, solver: Solver, method: kernels.Method, state: State
    ) -> None:
        self.problem, self.solver, self.method, self.state = problem, solver, method, state
        self.x_pieces, self.y_pieces = _pieces(problem.x_set), _pieces(problem.y_set)
        self.projects_compiled = self.x_pieces is not None and self.y_pieces is not None
        self.points: int = kernels.points.py_func(self.method)
        self.needs_marks = solver.average.needs_marks
        # Whether a step may need no values at all; where it always does, opening it and deploying
        # its point are one call.
        self._may_skip = self.points == 0 or self.method.kinds.labels.size > 0
        self._prepare_views()

    def _prepare_views(self) -> None:
        """What a step in Python needs at hand: making these anew would be most of its time."""
        memory, method = self.state.memory, self.method
        self.counts: Any = memory.counts.data
        self.answers: list[Any] = [row.data for row in memory.answers]
        self._point_x = memory.x[kernels.POINT]
        self._base_y = memory.y[:, kernels.OWN_BASE] if method.private else memory.y[kernels.BASE]
        self._point_y = memory.y[kernels.POINT] if method.y_perturbed else self._base_y
        self._direction = memory.direction
        self._draws_every_step = method.order == kernels.WITH_REPLACEMENT

    @cached_property
    def _handle(self) -> NDArray[np.int64]:
        """What the compiled parts of a step take; see kernels.Parts."""
        x, y = self.x_pieces or kernels.NO_PIECES, self.y_pieces or kernels.NO_PIECES
        handle = np.zeros(kernels.HANDLE_SIZE, dtype=np.int64)
        kernels.fill_handle(handle, kernels.Parts(self.method, x, y, self.state.memory))
        return handle

    @property
    def is_unseen(self) -> bool:
        """Whether there is a deployed point that people have not been told of yet."""
        asking = self.counts[STAGE] == ASKING and self.counts[POINT_NO] < self.points
        return bool(asking and self.counts[COSTLY] > 0 and self.counts[ANSWERED] == 0)

    def compile(self) -> None:
        """Compiles the parts that are compiled, or takes them from the disk cache."""
        kernels.begin_point.compile((kernels.HANDLE,))
        if self.projects_compiled:
            kernels.end_phase.compile((kernels.HANDLE,))

    def open(self) -> None:
        """From between steps or phases to a deployed point; or, where nobody needs to be asked, to
        the end of the phase."""
        counts = self.counts
        if counts[STAGE] == IDLE:
            if self._draws_every_step or counts[POSITION] == 0:
                self._draw_order()
            if self._may_skip:
                kernels.open_step(self.method, self.state.memory)
        if self.points == 0 or (self._may_skip and counts[ASKED] == 0):
            self._conclude_phase()
        else:
            self.state.rng.standard_normal(out=self._direction)
            kernels.begin_point(self._handle)

    def _draw_order(self) -> None:
        """As kernels.draw_order, from the same draws; at the start of an epoch, the schedules."""
        memory, method, rng = self.state.memory, self.method, self.state.rng
        if self.counts[POSITION] == 0:
            epoch = self.state.epoch
            etas, radii = self.solver.by_epoch(epoch, epoch + 1)
            memory.numbers[kernels.ETA], memory.numbers[kernels.RADIUS] = etas[0], radii[0]
            if method.order == kernels.RESHUFFLE or (
                method.order == kernels.SHUFFLE_ONCE and epoch == 0
            ):
                kernels.shuffle(memory.order, rng)
        if method.order == kernels.WITH_REPLACEMENT:
            size = kernels.batch_size(method, memory.counts)
            memory.batch[kernels.CURRENT, :size] = rng.integers(0, method.n, size=size)

    def pending(self) -> Question:
        """The deployed point, and whose values are still missing there."""
        counts = self.counts
        samples = self.state.memory.asked[counts[ANSWERED] : counts[ASKED]].copy()
        return self._question(self._point_x, self._point_y, samples)

    def _question(self, x: Vector, y: Vector, samples: Indices) -> Question:
        counts = self.counts
        phase = counts[STEP] * len(self.method.combine) + counts[PHASE]
        number = phase * max(self.points, 1) + counts[POINT_NO] + 1
        return Question(number, _frozen_copy(x), _frozen_copy(y), samples)

    def most_to_ask(self) -> int:
        """How many counted values or answers the next step asks, at most. Closer than
        `kernels.step_cost`, which takes every sample for a counted one."""
        counts, method = self.counts, self.method
        costly, size = self._costly_a_batch, kernels.batch_size(method, self.state.memory.counts)
        samples = min(size, costly)
        if method.asks_previous:
            samples += min(counts[N_PREVIOUS], costly)
        return int(samples * self._questions * len(method.combine))

    @cached_property
    def _costly_a_batch(self) -> int:
        """How many samples of a batch are counted, at most."""
        method = self.method
        costly = method.kinds.how_many(kernels.COUNTED, method.n)
        repeats = method.order == kernels.WITH_REPLACEMENT and costly > 0
        return method.batch if repeats else min(method.batch, costly)

    @property
    def _questions(self) -> int:
        """Points of a phase, or answers, that count."""
        return 1 if self.method.offset == kernels.ENVELOPE else self.points

    def left_to_ask(self) -> int:
        """How many counted values or answers the step under way still lacks."""
        counts, method = self.counts, self.method
        later = (len(method.combine) - counts[PHASE] - 1) * self._questions
        if counts[STAGE] != ASKING:
            return int((later + self._questions) * counts[COSTLY])
        later += max(self._questions - counts[POINT_NO] - 1, 0)
        missing = self.state.memory.asked[counts[ANSWERED] : counts[ASKED]]
        costly = kernels.count_costly(method.kinds, missing, missing.size)
        return int(costly + later * counts[COSTLY])

    def ask_problem(self, question: Question, stop: Callable[[], bool] | None) -> None:
        """What the problem raises names the sample, and the answers before it are kept."""
        try:
            values = self.problem.evaluate(question.indices, question.x, question.y)
        except Exception as error:
            raise self._raised(error, question, *question.indices) from error
        try:
            self.receive(question, values, stop)
        except EvaluationError:
            raise
        except Exception as error:
            raise self._raised(error, self.pending()) from error

    def receive(
        self,
        question: Question,
        values: Iterable[Any],
        stop: Callable[[], bool] | None = None,
    ) -> None:
        """Stores values as they come; a bad one leaves those before it stored."""
        counts = self.counts
        answers, first = self.answers[counts[POINT_NO]], counts[ANSWERED]
        end = first + len(question.indices)
        m = first
        kinds, kind_of = self.method.kinds if self._may_skip else None, kernels.kind_of.py_func
        one_by_one = stop is not None and not isinstance(values, (list, tuple, np.ndarray))
        for given in values:
            if m == end:
                raise self._miscounted(m - first + 1, question)
            if kinds is None or kind_of(kinds, question.indices[m - first]) == kernels.COUNTED:
                counts[QUERIES] += 1
            value = given if isinstance(given, float) else self._number(given)
            if not isfinite(value):
                raise self.failure(f"gave {value}", self.pending())
            answers[m] = value
            m += 1
            counts[ANSWERED] = m
            if one_by_one and stop():  # type: ignore[misc]
                raise KeyboardInterrupt
        if m < end:
            raise self._miscounted(m - first, question)

    def _number(self, given: Any) -> float:
        try:
            if isinstance(given, (str, bytes, bool, np.bool_, np.complexfloating)):
                raise TypeError(f"a {type(given).__name__} is not a value")
            return float(given)
        except (TypeError, ValueError, OverflowError) as error:
            what = f"gave {given!r}, which is not a number"
            raise self.failure(what, self.pending()) from error

    def settle(self) -> None:
        """Does what needs no further answer: the next point, the end of the phase."""
        counts = self.counts
        while counts[STAGE] == ASKING:
            if counts[POINT_NO] == self.points:
                self._conclude_phase()
            elif counts[ANSWERED] < counts[ASKED]:
                return
            else:
                counts[POINT_NO] += 1
                if counts[POINT_NO] < self.points:
                    kernels.begin_point(self._handle)

    def _conclude_phase(self) -> None:
        if self.method.some_exact:
            self.exact_gradients()
        if self.projects_compiled:
            kernels.end_phase(self._handle)
        else:
            self._conclude_on_own_sets()
        if self.needs_marks:
            self.mark_if_due()

    def _conclude_on_own_sets(self) -> None:
        """As kernels.conclude, with projections in Python; if one raises, nothing has happened."""
        method, memory = self.method, self.state.memory
        rows = memory.x[kernels.BASE], self._base_y, memory.numbers, memory.slots
        before = [row.copy() for row in rows]
        try:
            kernels.estimate(method, memory)
            kernels.propose(method, memory)
            for row, whole in zip(rows, (self.problem.x_set, self.problem.y_set), strict=False):
                row[:] = projected(whole, row)
        except BaseException:
            for row, old in zip(rows, before, strict=True):
                row[:] = old
            raise
        kernels.commit(method, memory)

    def exact_gradients(self) -> None:
        """What is exact in NEW and OLD: all coordinates, or those that are not perturbed."""
        data, method, memory = self.problem.data, self.method, self.state.memory
        if isinstance(self.solver.gradient, Envelope) and not self.problem.compiled_values:
            self._observed_gradients(self.solver.gradient.conjugate)
            return
        if data is not None and not isinstance(data, kernels.UserFunction):
            deployed = self.counts[DEPLOYMENTS]
            good = kernels.suited(kernels.only_exact_gradients, data)(data, method, memory)
            self.problem.count_deployments(self.counts[DEPLOYMENTS] - deployed)
            if not good:
                raise FloatingPointError(f"a gradient of {self.problem.name} is not finite")
            return
        counts = self.counts
        self._exact_half(kernels.NEW, kernels.CURRENT, counts[kernels.N_CURRENT])
        if method.asks_previous and counts[kernels.N_PREVIOUS]:
            self._exact_half(kernels.OLD, kernels.PREVIOUS, counts[kernels.N_PREVIOUS])

    def _observed_gradients(self, q: float) -> None:
        """As kernels.exact_gradients, from answers that the problem goes out to ask for."""
        memory, counts = self.state.memory, self.counts
        asked = memory.asked[: counts[ASKED]].copy()
        x, y = memory.x[kernels.BASE], self._base_y
        answers: Any = np.zeros((0, 0))
        if asked.size:
            try:
                answers = self.problem.observe(asked, _frozen_copy(x))
            except Exception as error:
                raise self._raised(error, self._question(x, y, asked), *asked) from error
            counts[QUERIES] += asked.size
            counts[DEPLOYMENTS] += 1
        data = self.problem.data
        gradients = kernels.suited(kernels.observed_gradients, data)
        gradients(data, self.method, memory, answers, q)

    def _exact_half(self, row: int, half: int, size: int) -> None:
        """As kernels.add_exact, by calls of the problem's gradient in Python."""
        memory = self.state.memory
        samples = memory.batch[half, :size]
        question = self._question(memory.x[kernels.BASE], memory.y[kernels.BASE], samples)
        memory.x[row] = 0.0
        memory.y[row] = 0.0
        for i in samples.tolist():
            try:
                parts = self.problem.gradient(i, question.x, question.y)
                for block, part in zip((memory.x, memory.y), parts, strict=True):
                    if part is not None:
                        block[row] += (1.0 / self.method.batch) * _gradient_like(part, block[row])
            except Exception as error:
                what = f"gave no usable gradient ({type(error).__name__}: {error})"
                raise self.failure(what, question, i) from error
        kernels.clear_perturbed(self.method, memory, row)

    def _miscounted(self, found: int, question: Question) -> EvaluationError:
        what = f"{self.problem.name} gave {found} values for {len(question.indices)} samples"
        return self._error(what, question)

    def _raised(self, error: Exception, question: Question, *asked: int) -> EvaluationError:
        """An error while these samples were asked, all at once."""
        return self.failure(f"raised {type(error).__name__}: {error}", question, *asked)

    def failure(self, what: str, question: Question, *samples: int) -> EvaluationError:
        """An error about some samples, by default the first one that is still to be answered."""
        at_fault = samples or question.indices[:1]
        listed = ", ".join(map(str, at_fault[:5])) + (", …" if len(at_fault) > 5 else "")
        return self._error(f"sample{'s' * (len(at_fault) > 1)} {listed} {what}", question)

    def _error(self, what: str, question: Question) -> EvaluationError:
        """With a state of its own, which later steps of this run do not move."""
        return EvaluationError(f"{what}, {self._where(question)}", self.state.copy())

    def _where(self, question: Question) -> str:
        sets, point = (self.problem.x_set, self.problem.y_set), (question.x, question.y)
        inside = all(
            np.isfinite(p).all() and s.contains(p) for s, p in zip(sets, point, strict=True)
        )
        outside = "" if inside else " (outside the sets, as points up to the query radius are)"
        return (
            f"in step {self.state.steps + 1} (epoch {self.state.epoch + 1}), at "
            f"x = {_shown(question.x)}, y = {_shown(question.y)}{outside}; nothing is lost: mend "
            "the cause and go on with resume=error.state"
        )

    def mark_if_due(self) -> None:
        """Marks the state when a step has just completed a power of two of epochs."""
        epoch, counts = self.state.epoch, self.counts
        between_epochs = counts[STAGE] == IDLE and counts[POSITION] == 0
        if between_epochs and epoch.bit_count() == 1:
            self.state.mark()


def _pieces(whole: ConvexSet) -> kernels.Pieces | None:
    """The pieces of a set, where it has some, in arrays of the types that kernels are compiled for:
    a set may be a user's own, or from another process and so read-only."""
    pieces = whole.pieces
    if pieces is None:
        return None
    kinds = (np.int64, np.int64, np.float64, np.float64, np.float64)
    return kernels.Pieces(
        *(np.require(part, kind, ["C", "W"]) for part, kind in zip(pieces, kinds, strict=True))
    )


def _frozen_copy(row: Vector) -> Vector:
    point = row.copy()
    point.setflags(write=False)
    return point


def _gradient_like(part: ArrayLike, row: Vector) -> Vector:
    vector = as_numbers("a gradient", part)
    if vector.shape != row.shape:
        raise ValueError(f"a gradient of shape {vector.shape}, expected {row.shape}")
    if not np.isfinite(vector).all():
        raise ValueError("a gradient that is not finite")
    return vector


def _shown(point: Vector) -> str:
    return np.array2string(point, threshold=8, edgeitems=3, precision=6, separator=", ")
