"""`Run`: a run that asks and is told, one deployed point at a time.

``solve`` drives a run to its end; drive one yourself where the answers come from elsewhere:

    run = gp.Run(problem, gp.ogda_rr(), seed=0)
    while run.state.epoch < 10:
        question = run.ask()                  # one deployed point, some samples
        run.tell(question, answers)           # one value a sample
    x, y = run.recommend()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NoReturn, final

import numpy as np
from numba import typeof, types
from numba.core.errors import NumbaError
from numpy.typing import ArrayLike

from gameproof import kernels
from gameproof.core.arguments import Vector, as_generator, shown
from gameproof.kernels import (
    ANSWERED,
    ASKING,
    DEPLOYMENTS,
    IDLE,
    POINT_NO,
    POSITION,
    QUERIES,
    STAGE,
    STEP,
)
from gameproof.minmax.ask_tell import Question, Steps
from gameproof.minmax.problem import Problem, require_problem
from gameproof.minmax.solver import Solver
from gameproof.minmax.start import starting_point
from gameproof.minmax.state import State

# A limit that is never reached.
UNLIMITED = int(np.iinfo(np.int64).max)
# Epochs whose step sizes are worked out ahead.
LONGEST_TABLE = 2**16
Seed = int | np.random.SeedSequence | np.random.Generator | None


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
        _require_tally(problem)
        self._problem, self._solver = problem, solver
        self._method = solver.compiled(problem)
        if state is None:
            point = starting_point(problem, solver.start if start is None else start)
            self._state = State.begin(problem, solver, self._method, point, as_generator(seed))
        elif seed is not None or start is not None:
            raise ValueError("a resumed run has its seed and its start; give neither")
        else:
            state.check(problem, solver, self._method)
            self._state = state.copy()
        self._steps = Steps(problem, solver, self._method, self.state)
        self._counts = self._steps.counts
        self._question: Question | None = None

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Run cannot be copied or pickled; keep run.state.copy(), and go on with "
            "Run(problem, solver, state=…)"
        )

    # What a run is made of stays what it is: half of its parts would not notice another.

    @property
    def problem(self) -> Problem:
        """What is solved."""
        return self._problem

    @property
    def solver(self) -> Solver:
        """How."""
        return self._solver

    @property
    def state(self) -> State:
        """How far it is; to go back to an earlier one, begin another run with it."""
        return self._state

    @property
    def can_compile(self) -> bool:
        """Whether whole steps can run compiled: the samples and both sets are."""
        has_values = self.problem.data is not None and self.problem.compiled_values
        return has_values and self._steps.projects_compiled

    def require_compiled(self) -> None:
        """Refuses to compile whole steps where that cannot be."""
        if not self.can_compile:
            raise ValueError(
                f"{self.problem.name} cannot run compiled: its value function or one of its sets "
                "is plain Python; leave out compiled=True"
            )

    @property
    def steps_an_epoch(self) -> int:
        """n samples, `batch` a step."""
        return -(-self._method.n // self._method.batch)

    @property
    def step_cost(self) -> int:
        """How many values the next step asks at most; or the one under way still asks."""
        if self._counts[STAGE] != IDLE:
            return self._steps.left_to_ask()
        return self._steps.most_to_ask()

    def recommend(self) -> tuple[Vector, Vector]:
        """The output so far; from the start, the start point itself."""
        return self.solver.average.read(self.state)

    # --- ask and tell

    def ask(self) -> Question:
        """The pending question; the same one, less what was answered, until it is told."""
        if self._question is None:
            if self._steps.points == 0:
                raise TypeError(f"{self.solver.gradient!r} asks for no values: call step()")
            if self._counts[STAGE] == ASKING:
                self._steps.settle()
            while self._counts[STAGE] != ASKING:
                self._steps.open()
            self._question = self._steps.pending()
            self._question.indices.setflags(write=False)
        return self._question

    def tell(self, question: Question, values: Sequence[float] | Vector) -> None:
        """Takes one value for each sample of the question; refuses what was not asked."""
        if self._question is None or question is not self._question:
            raise ValueError(
                f"question {question.id} is not the pending one, or only what was left of it is; "
                "tell answers the very question that ask() last gave: call ask() again"
            )
        listed = isinstance(values, (list, tuple, np.ndarray)) and np.ndim(values) > 0
        count = len(values) if listed else repr(values)
        if count != len(question.indices):
            raise ValueError(
                f"question {question.id} asks {len(question.indices)} values, got {count}"
            )
        self._question = None
        self._steps.receive(question, values)
        self._steps.settle()

    def step(self, stop: Callable[[], bool] | None = None) -> None:
        """One whole step, asking the problem itself; `stop` can interrupt between two answers."""
        self._question = None
        steps, counts, step = self._steps, self._counts, self._counts[STEP]
        while counts[STEP] == step:
            if counts[STAGE] == ASKING:
                steps.settle()
            else:
                steps.open()
            if counts[STAGE] == ASKING:
                steps.ask_problem(steps.pending(), stop)
                steps.settle()

    # --- many steps

    def advance(
        self,
        last_step: int,
        max_queries: int,
        compiled: bool,
        stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Steps up to `last_step`; False where the next one could exceed max_queries."""
        last_step, max_queries = min(last_step, UNLIMITED), min(max_queries, UNLIMITED)
        if self.problem.remaining is not None:
            max_queries = min(max_queries, self.state.queries + self.problem.remaining)
        if self._counts[STAGE] != IDLE:  # the loops look at limits between steps only
            if self._counts[STEP] >= last_step:
                return True
            if self._counts[QUERIES] + self.step_cost > max_queries:
                return False
        if compiled:
            return self._advance_compiled(last_step, max_queries)
        return self._advance_in_python(last_step, max_queries, stop)

    def _advance_in_python(
        self, last_step: int, max_queries: int, stop: Callable[[], bool]
    ) -> bool:
        counts = self._counts
        # The cost of a step is worked out only where it may be too much: a step asks at most two
        # batches, at two points, in each phase.
        near = max_queries - 4 * self._method.batch * len(self._method.combine)
        while counts[STEP] < last_step:
            if counts[QUERIES] > near and counts[QUERIES] + self.step_cost > max_queries:
                return False
            if stop():
                break
            self.step(stop)
        return True

    def compile(self, whole: bool) -> None:
        """Compiles, or takes from the disk cache, what `advance` will call: so that no clock runs
        meanwhile. `whole`: the loop itself, else the parts that a step in Python calls."""
        if whole:
            _ = self._loop
        else:
            self._steps.compile()

    @cached_property
    def _loop(self) -> Callable[..., int]:
        """`kernels.run` for arguments of this run's types, which do not change: a dispatcher would
        find them out at every call, and take as long as a short epoch."""
        self.require_compiled()
        dispatcher = kernels.suited(kernels.run, self.problem.data)
        arguments = self._arguments(self.state.steps, 0)
        try:
            loop: Callable[..., int] = dispatcher.compile(tuple(map(typeof, arguments)))
        except NumbaError as error:
            if not kernels.has_user_functions(self.problem.data):
                raise
            raise TypeError(
                f"{self.problem.name} does not compile into a run: its functions must take "
                "(i, x, y), an integer and two vectors, and return a number, or a pair of "
                f"vectors for a gradient{_objection(self.problem.data)}"
            ) from error
        return loop

    def _arguments(self, last_step: int, max_queries: int) -> tuple[Any, ...]:
        first, last = self.state.epoch, -(-last_step // self.steps_an_epoch)
        etas, radii = self.solver.by_epoch(first, last)
        if self._counts[POSITION] > 0:  # an epoch ends as it began, though a schedule was mended
            numbers = self.state.memory.numbers
            etas[:1], radii[:1] = numbers[kernels.ETA], numbers[kernels.RADIUS]
        return (
            self.problem.data,
            self._method,
            self._steps.x_pieces,
            self._steps.y_pieces,
            self.state.memory,
            self.state.rng,
            etas,
            radii,
            last_step,
            max_queries,
        )

    def _advance_compiled(self, last_step: int, max_queries: int) -> bool:
        while True:
            table_ends = (self.state.epoch + LONGEST_TABLE) * self.steps_an_epoch
            stop_at = min(last_step, self._next_mark(), table_ends)
            self._question = None
            loop, arguments = self._loop, self._arguments(stop_at, max_queries)
            deployed = self._counts[DEPLOYMENTS] - self._steps.is_unseen
            try:
                code = loop(*arguments)
            except Exception as error:
                if not kernels.has_user_functions(self.problem.data):
                    raise
                self._fail_as_in_python(error)
            finally:
                self.problem.count_deployments(self._counts[DEPLOYMENTS] - deployed)
            if code == kernels.BAD_VALUE:
                value = self._steps.answers[self._counts[POINT_NO]][self._counts[ANSWERED]]
                raise self._steps.failure(f"gave {value}", self._steps.pending())
            if code == kernels.BAD_GRADIENT:
                self._fail_as_in_python(ValueError("a gradient that is not finite"))
            if (
                code == kernels.OUT_OF_QUERIES
            ):  # by a bound that takes every sample for a costly one
                if self._counts[QUERIES] + self.step_cost > max_queries:
                    return False
                self.step()
                continue
            if self._steps.needs_marks:
                self._steps.mark_if_due()
            if stop_at == last_step:
                return True

    def _fail_as_in_python(self, error: Exception) -> NoReturn:
        """Tells of a user's compiled function that failed as of a plain one."""
        if self._counts[STAGE] == ASKING and self._counts[POINT_NO] < self._steps.points:
            what = f"raised {type(error).__name__}: {error}"
            raise self._steps.failure(what, self._steps.pending()) from error
        self._steps.exact_gradients()  # fails again, and says for which sample
        raise error

    def _next_mark(self) -> int:
        """The step at which the run next completes a power of two of epochs."""
        if not self._steps.needs_marks:
            return UNLIMITED
        return int(2 ** self.state.epoch.bit_length()) * self.steps_an_epoch


def _objection(data: Any) -> str:
    """What Numba has against a user's functions, of one of them alone: of the whole loop it tells
    where it looked, by the page."""
    vector = types.float64[::1]
    for function in data if isinstance(data, kernels.UserFunction) else ():
        try:
            if function is not None:
                function.compile((types.int64, vector, vector))
        except Exception as error:
            lines = str(error).splitlines()
            told = next((line for line in lines if not line.startswith("Failed in ")), repr(error))
            return f"; of {function.__name__} Numba says: {told}"
    return ""


def _require_kinds(problem: Any, solver: Any, state: Any) -> None:
    require_problem(problem)
    if not isinstance(solver, Solver):
        raise TypeError(f"solver must be a Solver, such as ogda_rr(), got {solver!r}")
    if not (state is None or isinstance(state, State)):
        hint = "; pass result.state" if hasattr(state, "state") else ""
        raise TypeError(f"resume must be a State, or in solve the path of one, got {state!r}{hint}")


def _require_tally(problem: Problem) -> None:
    """Refuses counts of a problem of one's own that compiled code cannot add to: it looks no more,
    and would write beyond their end."""
    tally = problem.tally
    fits = isinstance(tally, np.ndarray) and tally.dtype == np.int32
    fits = fits and tally.shape in ((0,), (problem.n,)) and tally.flags.carray
    if not fits:
        raise ValueError(
            f"the tally of {problem.name} must be empty or such as np.zeros({problem.n}, np.int32) "
            f"is: in one piece, aligned, and to be written to; got {shown(tally)}"
        )
