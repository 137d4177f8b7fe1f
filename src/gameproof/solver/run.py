"""`Run`: a run that asks and is told, one deployed point at a time.

``solve`` drives a run to its end; drive one yourself where the answers come from elsewhere:

    run = gp.Run(problem, gp.ogda_rr(), seed=0)
    while run.state.epoch < 10:
        question = run.ask()                  # one deployed point, some samples
        run.tell(question, answers)           # one value a sample
    x, y = run.recommend()

The arithmetic is in `kernels`, shared with compiled runs: both give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import Any, NamedTuple, NoReturn, final

import numpy as np
from numba import typeof
from numpy.typing import ArrayLike

from gameproof import kernels
from gameproof.arguments import Vector
from gameproof.errors import EvaluationError
from gameproof.kernels import (
    ANSWERED,
    ASKED,
    ASKING,
    DEPLOYMENTS,
    IDLE,
    POINT_NO,
    POSITION,
    QUERIES,
    STAGE,
    STEP,
)
from gameproof.problem.problem import Indices, Problem
from gameproof.problem.sets import ConvexSet
from gameproof.solver.gradients import Envelope
from gameproof.solver.method import Solver
from gameproof.solver.start import starting_point
from gameproof.solver.state import State

# A limit that is never reached.
UNLIMITED = int(np.iinfo(np.int64).max)
Seed = int | np.random.SeedSequence | np.random.Generator | None


class Question(NamedTuple):
    """A deployed point (x, y) and the samples whose values are asked there."""

    id: int
    x: Vector
    y: Vector
    indices: Indices


@final
class Run:
    """One run of a solver on a problem, step by step.

    A `state` is gone on with, on a copy of it; otherwise the run begins with `seed` and `start`.
    """

    def __init__(
        self,
        problem: Problem,
        solver: Solver,
        *,
        seed: Seed = None,
        start: tuple[ArrayLike, ArrayLike] | None = None,
        state: State | None = None,
    ) -> None:
        _require_kinds(problem, solver, state)
        self.problem, self.solver = problem, solver
        self._method = solver.compiled(problem)
        if state is None:
            point = starting_point(problem, start)
            self.state = State.begin(problem, solver, point, np.random.default_rng(seed))
        elif seed is not None or start is not None:
            raise ValueError("a resumed run has its seed and its start; give neither")
        else:
            state.check(problem, solver)
            self.state = state.copy()
        self._x_pieces, self._y_pieces = problem.x_set.pieces, problem.y_set.pieces
        self._projects_compiled = self._x_pieces is not None and self._y_pieces is not None
        self._points: int = kernels.points.py_func(self._method)
        # Whether a step may need no values at all; where it always does, opening it and deploying
        # its point are one call.
        self._may_skip = self._points == 0 or self._method.kinds.size > 0
        self._needs_marks = solver.average.needs_marks
        self._question: Question | None = None
        self._prepare_views()

    def _prepare_views(self) -> None:
        """What a step in Python needs at hand: making these anew would be most of its time."""
        memory, method = self.state.memory, self._method
        self._counts: Any = memory.counts.data
        self._answers: list[Any] = [row.data for row in memory.answers]
        self._point_x = memory.x[kernels.POINT]
        self._point_y = memory.y[kernels.POINT if method.y_perturbed else kernels.BASE]
        self._normal, self._direction = self.state.rng.standard_normal, memory.direction
        self._draws_every_step = method.order == kernels.WITH_REPLACEMENT
        self._fields = (*method, *memory)
        self._all_fields = (*self._fields, *(self._x_pieces or ()), *(self._y_pieces or ()))

    @property
    def can_compile(self) -> bool:
        """Whether whole steps can run compiled: the samples and both sets are."""
        has_values = self.problem.data is not None and self.problem.compiled_values
        return has_values and self._projects_compiled

    @property
    def steps_an_epoch(self) -> int:
        """n samples, `batch` a step."""
        return -(-self._method.n // self._method.batch)

    @property
    def step_cost(self) -> int:
        """How many values the next step asks."""
        return int(kernels.step_cost(self._method, self.state.memory.counts))

    def recommend(self) -> tuple[Vector, Vector]:
        """The output so far; from the start, the start point itself."""
        return self.solver.average.read(self.state)

    # --- ask and tell

    def ask(self) -> Question:
        """The pending question; the same one, less what was answered, until it is told."""
        if self._question is None:
            if self._points == 0:
                raise TypeError(f"{self.solver.gradient!r} asks for no values: call step()")
            if self._counts[STAGE] == ASKING:
                self._settle()
            while self._counts[STAGE] != ASKING:
                self._open()
            self._question = self._pending()
            self._question.indices.setflags(write=False)
        return self._question

    def tell(self, question: Question, values: Sequence[float] | Vector) -> None:
        """Takes one value for each sample of the question; refuses what was not asked."""
        if self._question is None or question is not self._question:
            raise ValueError(
                f"question {question.id} is not the pending one, or only what was left of it is; "
                "tell answers the very question that ask() last gave: call ask() again"
            )
        listed = isinstance(values, (list, tuple, np.ndarray))
        count = len(values) if listed else repr(values)
        if count != len(question.indices):
            raise ValueError(
                f"question {question.id} asks {len(question.indices)} values, got {count}"
            )
        self._receive(question, values)
        self._settle()

    def step(self, stop: Callable[[], bool] | None = None) -> None:
        """One whole step, asking the problem itself; `stop` can interrupt between two answers."""
        counts, step = self._counts, self._counts[STEP]
        while counts[STEP] == step:
            if counts[STAGE] == ASKING:
                self._settle()
            else:
                self._open()
            if counts[STAGE] == ASKING:
                self._ask_problem(self._pending(), stop)
                self._settle()

    # --- many steps

    def advance(
        self,
        last_step: int,
        max_queries: int,
        compiled: bool,
        stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Steps up to `last_step`; False where the next one would exceed max_queries."""
        if self.problem.remaining is not None:
            max_queries = min(max_queries, self.state.queries + self.problem.remaining)
        if compiled:
            return self._advance_compiled(last_step, max_queries)
        return self._advance_in_python(last_step, max_queries, stop)

    def _advance_in_python(
        self, last_step: int, max_queries: int, stop: Callable[[], bool]
    ) -> bool:
        counts, limited = self._counts, max_queries < UNLIMITED
        while counts[STAGE] != IDLE or counts[STEP] < last_step:
            between = limited and counts[STAGE] == IDLE
            if between and counts[QUERIES] + self.step_cost > max_queries:
                return False
            if stop():
                break
            self.step(stop)
        return True

    def compile(self, whole: bool) -> None:
        """Compiles, or takes from the disk cache, what `advance` will call: so that no clock runs
        meanwhile. `whole`: the loop itself, else the parts that a step in Python calls."""
        if whole:
            arguments = self._arguments(self.state.steps, 0)
            self._loop.compile(tuple(map(typeof, arguments)))
        elif self._projects_compiled:
            kernels.compile_fields(kernels.begin_point, self._fields)
            kernels.compile_fields(kernels.end_phase, self._all_fields)

    @property
    def _loop(self) -> Any:
        user = isinstance(self.problem.data, kernels.UserFunction)
        return kernels.run_uncached if user else kernels.run

    def _arguments(self, last_step: int, max_queries: int) -> tuple[Any, ...]:
        first, last = self.state.epoch, -(-last_step // self.steps_an_epoch)
        return (
            self.problem.data,
            self._method,
            self._x_pieces,
            self._y_pieces,
            self.state.memory,
            self.state.rng,
            *self.solver.by_epoch(first, last),
            last_step,
            max_queries,
        )

    def _advance_compiled(self, last_step: int, max_queries: int) -> bool:
        while True:
            stop_at = min(last_step, self._next_mark())
            self._question = None
            arguments = self._arguments(stop_at, max_queries)
            deployed = self._counts[DEPLOYMENTS]
            try:
                code = self._loop(*arguments)
            except Exception as error:
                self._fail_as_in_python(error)
            finally:
                self.problem.count_deployments(self._counts[DEPLOYMENTS] - deployed)
            if code == kernels.BAD_VALUE:
                value = self._answers[self._counts[POINT_NO]][self._counts[ANSWERED]]
                raise self._failure(f"gave {value}", self._pending())
            if code == kernels.BAD_GRADIENT:
                self._fail_as_in_python(ValueError("a gradient that is not finite"))
            if code == kernels.OUT_OF_QUERIES:
                return False
            if self._needs_marks:
                self._mark_if_due()
            if stop_at == last_step:
                return True

    def _fail_as_in_python(self, error: Exception) -> NoReturn:
        """Tells of a user's compiled function that failed as of a plain one."""
        if self._counts[STAGE] == ASKING and self._counts[POINT_NO] < self._points:
            what = f"raised {type(error).__name__}: {error}"
            raise self._failure(what, self._pending()) from error
        self._exact_gradients()  # fails again, and says for which sample
        raise error

    def _next_mark(self) -> int:
        """The step at which the run next completes a power of two of epochs."""
        if not self._needs_marks:
            return UNLIMITED
        return int(2 ** self.state.epoch.bit_length()) * self.steps_an_epoch

    def _mark_if_due(self) -> None:
        """Marks the state when a step has just completed a power of two of epochs."""
        epoch, counts = self.state.epoch, self._counts
        between_epochs = counts[STAGE] == IDLE and counts[POSITION] == 0
        if between_epochs and epoch.bit_count() == 1:
            self.state.mark()

    # --- the parts of a step that are not compiled here: draws, answers, gradients in Python

    def _open(self) -> None:
        """From between steps or phases to a deployed point; or, where nobody needs to be asked, to
        the end of the phase."""
        counts = self._counts
        if counts[STAGE] == IDLE:
            if self._draws_every_step or counts[POSITION] == 0:
                self._draw_order()
            if self._may_skip:
                kernels.open_step(self._method, self.state.memory)
        if self._points == 0 or (self._may_skip and counts[ASKED] == 0):
            self._conclude_phase()
        else:
            self._normal(out=self._direction)
            kernels.begin_point(*self._fields)

    def _draw_order(self) -> None:
        """As kernels.draw_order, from the same draws; at the start of an epoch, the schedules."""
        memory, method, rng = self.state.memory, self._method, self.state.rng
        if self._counts[POSITION] == 0:
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

    def _pending(self) -> Question:
        counts = self._counts
        samples = self.state.memory.asked[counts[ANSWERED] : counts[ASKED]].copy()
        return Question(
            counts[DEPLOYMENTS], _read_only(self._point_x), _read_only(self._point_y), samples
        )

    def _ask_problem(self, question: Question, stop: Callable[[], bool] | None) -> None:
        """What the problem raises names the sample, and the answers before it are kept."""
        try:
            values = self.problem.evaluate(question.indices, question.x, question.y)
            self._receive(question, values, stop)
        except EvaluationError:
            raise
        except Exception as error:
            what = f"raised {type(error).__name__}: {error}"
            raise self._failure(what, self._pending()) from error

    def _receive(
        self,
        question: Question,
        values: Iterable[Any],
        stop: Callable[[], bool] | None = None,
    ) -> None:
        """Stores values as they come; a bad one leaves those before it stored."""
        self._question = None
        counts = self._counts
        answers, first = self._answers[counts[POINT_NO]], counts[ANSWERED]
        end = first + len(question.indices)
        m = first
        kinds = self._method.kinds if self._may_skip else None
        one_by_one = stop is not None and not isinstance(values, (list, tuple, np.ndarray))
        for given in values:
            if m == end:
                raise self._miscounted(m - first + 1, question)
            if kinds is None or kinds[question.indices[m - first]] == kernels.COUNTED:
                counts[QUERIES] += 1
            value = given if isinstance(given, float) else self._number(given)
            if not isfinite(value):
                raise self._failure(f"gave {value}", self._pending())
            answers[m] = value
            m += 1
            counts[ANSWERED] = m
            if one_by_one and stop():  # type: ignore[misc]
                raise KeyboardInterrupt
        if m < end:
            raise self._miscounted(m - first, question)

    def _number(self, given: Any) -> float:
        try:
            if isinstance(given, (str, bytes, bool, np.bool_)):
                raise TypeError(f"a {type(given).__name__} is not a value")
            return float(given)
        except (TypeError, ValueError, OverflowError) as error:
            what = f"gave {given!r}, which is not a number"
            raise self._failure(what, self._pending()) from error

    def _settle(self) -> None:
        """Does what needs no further answer: the next point, the end of the phase."""
        counts = self._counts
        while counts[STAGE] == ASKING:
            if counts[POINT_NO] == self._points:
                self._conclude_phase()
            elif counts[ANSWERED] < counts[ASKED]:
                return
            else:
                counts[POINT_NO] += 1
                if counts[POINT_NO] < self._points:
                    kernels.begin_point(*self._fields)

    def _conclude_phase(self) -> None:
        if self._method.some_exact:
            self._exact_gradients()
        if self._projects_compiled:
            kernels.end_phase(*self._all_fields)
        else:
            self._conclude_on_own_sets()
        if self._needs_marks:
            self._mark_if_due()

    def _conclude_on_own_sets(self) -> None:
        """As kernels.conclude, with projections in Python; if one raises, nothing has happened."""
        method, memory = self._method, self.state.memory
        rows = memory.x[kernels.BASE], memory.y[kernels.BASE], memory.numbers
        before = [row.copy() for row in rows]
        try:
            kernels.estimate(method, memory)
            kernels.propose(method, memory)
            for row, whole in zip(rows, (self.problem.x_set, self.problem.y_set), strict=False):
                row[:] = _projected(whole, row)
        except BaseException:
            for row, old in zip(rows, before, strict=True):
                row[:] = old
            raise
        kernels.commit(method, memory)

    def _exact_gradients(self) -> None:
        data, method, memory = self.problem.data, self._method, self.state.memory
        if isinstance(self.solver.gradient, Envelope) and not self.problem.compiled_values:
            self._observed_gradients(self.solver.gradient.conjugate)
            return
        if data is not None and not isinstance(data, kernels.UserFunction):
            deployed = self._counts[DEPLOYMENTS]
            good = kernels.exact_gradients(data, method, memory)
            self.problem.count_deployments(self._counts[DEPLOYMENTS] - deployed)
            if not good:
                raise FloatingPointError(f"a gradient of {self.problem.name} is not finite")
            return
        counts = self._counts
        self._exact_half(kernels.NEW, kernels.CURRENT, counts[kernels.N_CURRENT])
        if method.asks_previous and counts[kernels.N_PREVIOUS]:
            self._exact_half(kernels.OLD, kernels.PREVIOUS, counts[kernels.N_PREVIOUS])

    def _observed_gradients(self, q: float) -> None:
        """As kernels.exact_gradients, from answers that the problem goes out to ask for."""
        memory, counts = self.state.memory, self._counts
        asked = memory.asked[: counts[ASKED]].copy()
        x, y = _read_only(memory.x[kernels.BASE]), _read_only(memory.y[kernels.BASE])
        answers: Any = np.zeros((0, 0))
        if asked.size:
            try:
                answers = self.problem.observe(asked, x)
            except Exception as error:
                question = Question(counts[DEPLOYMENTS], x, y, asked)
                raise self._failure(f"raised {type(error).__name__}: {error}", question) from error
            counts[QUERIES] += asked.size
            counts[DEPLOYMENTS] += 1
        kernels.observed_gradients(self.problem.data, self._method, memory, answers, q)

    def _exact_half(self, row: int, half: int, size: int) -> None:
        """As kernels.add_exact, by calls of the problem's gradient in Python."""
        memory = self.state.memory
        x, y = _read_only(memory.x[kernels.BASE]), _read_only(memory.y[kernels.BASE])
        question = Question(self._counts[DEPLOYMENTS], x, y, memory.batch[half, :size])
        memory.x[row] = 0.0
        memory.y[row] = 0.0
        for i in question.indices.tolist():
            try:
                parts = self.problem.gradient(i, x, y)
                for block, part in zip((memory.x, memory.y), parts, strict=True):
                    if part is not None:
                        block[row] += (1.0 / self._method.batch) * _gradient_like(part, block[row])
            except Exception as error:
                what = f"gave no usable gradient ({type(error).__name__}: {error})"
                raise self._failure(what, question, i) from error
        kernels.clear_perturbed(self._method, memory, row)

    def _miscounted(self, found: int, question: Question) -> EvaluationError:
        what = f"gave {found} values for {len(question.indices)} samples"
        return EvaluationError(f"{self.problem.name} {what}, {self._where(question)}", self.state)

    def _failure(self, what: str, question: Question, sample: int | None = None) -> EvaluationError:
        """An error about a sample, by default the first one that is still to be answered."""
        at_fault = question.indices[0] if sample is None else sample
        return EvaluationError(f"sample {at_fault} {what}, {self._where(question)}", self.state)

    def _where(self, question: Question) -> str:
        sets = self.problem.x_set, self.problem.y_set
        inside = all(s.contains(p) for s, p in zip(sets, (question.x, question.y), strict=True))
        outside = "" if inside else " (outside the sets, as points up to the query radius are)"
        return (
            f"in step {self.state.steps + 1} (epoch {self.state.epoch + 1}), at "
            f"x = {_shown(question.x)}, y = {_shown(question.y)}{outside}; nothing is lost: mend "
            "the cause and go on with resume=error.state"
        )


def _require_kinds(problem: Any, solver: Any, state: Any) -> None:
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, such as SaddleProblem, got {problem!r}")
    if not isinstance(solver, Solver):
        raise TypeError(f"solver must be a Solver, such as ogda_rr(), got {solver!r}")
    if not (state is None or isinstance(state, State)):
        hint = "; pass result.state" if hasattr(state, "state") else ""
        raise TypeError(f"resume must be a State or the path of one, got {state!r}{hint}")


def _read_only(row: Vector) -> Vector:
    point = row.copy()
    point.setflags(write=False)
    return point


def _projected(whole: ConvexSet, point: Vector) -> Vector:
    nearest = np.asarray(whole.project(point.copy()), dtype=np.float64)
    if nearest.shape != point.shape:
        raise ValueError(f"{whole!r} projected {point.shape} to {nearest.shape}")
    return nearest


def _gradient_like(part: ArrayLike, row: Vector) -> Vector:
    vector = np.asarray(part, dtype=np.float64)
    if vector.shape != row.shape:
        raise ValueError(f"a gradient of shape {vector.shape}, expected {row.shape}")
    if not np.isfinite(vector).all():
        raise ValueError("a gradient that is not finite")
    return vector


def _shown(point: Vector) -> str:
    return np.array2string(point, threshold=8, edgeitems=3, precision=6, separator=", ")
