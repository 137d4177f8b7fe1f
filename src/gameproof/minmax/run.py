"""`Run`: a run that asks and is told, one deployed point at a time.

``solve`` drives a run to its end. Drive one yourself if the answers come from elsewhere:

    run = gp.Run(problem, gp.ogda_rr(), seed=0)
    while run.state.epoch < 10:
        question = run.ask()                  # one deployed point, some samples
        run.tell(question, answers)           # one value per sample
    x, y = run.recommend()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Indices, Vector, as_generator
from gameproof.kernels.layout import (
    ANSWERED,
    ASKED,
    ASKING,
    BAD_GRADIENT,
    BAD_VALUE,
    BASE,
    COSTLY,
    DEPLOYMENTS,
    DONE,
    DRAWN_AS,
    EXTERNAL,
    IDLE,
    NEED_GRADIENTS,
    NEED_VALUES,
    NO_VALUES,
    OUT_OF_QUERIES,
    POINT_NO,
    POSITION,
    QUERIES,
    STAGE,
    STEP,
)
from gameproof.kernels.samples import has_user_functions
from gameproof.minmax.ask_tell import Stepper
from gameproof.minmax.compiled_loop import CompiledLoop
from gameproof.minmax.plan import plan
from gameproof.minmax.problem import Problem, require_problem
from gameproof.minmax.questions import Question
from gameproof.minmax.solver import Solver
from gameproof.minmax.start import feasible_start, starting_point
from gameproof.minmax.state import State
from gameproof.minmax.step_costs import StepCosts

# A limit that is never reached.
UNLIMITED = int(np.iinfo(np.int64).max)
Seed = int | np.random.SeedSequence | np.random.Generator | None


@final
class Run:
    """One run of a solver on a problem, step by step.

    Parameters
    ----------
    problem, solver
        What to solve, and how.
    seed, start
        A seed or a generator, and (x, y); by default the solver's start, else the problem's.
    state
        A state to resume from, on a copy; then neither seed nor start.

    Examples
    --------
    >>> import gameproof as gp
    >>> game = gp.QuadraticGame.random(n=5, seed=0)
    >>> run = gp.Run(game, gp.sgda_rr(step=0.02, radius=0.5), seed=0)
    >>> question = run.ask()
    >>> run.tell(question, game.values(question.indices, question.x, question.y))
    >>> run.state
    State(after 1 steps and 1 values)
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
        _require_types(problem, solver, state)
        problem.queries.require_tally(problem.name, problem.n)
        solver = solver.for_problem(problem)
        self._problem, self._solver = problem, solver
        self._plan = plan(problem, solver)
        self._method = self._plan.method
        if state is None:
            point = starting_point(problem, solver.start if start is None else start)
            point = feasible_start(problem, solver, self._plan, point)
            self._state = State.begin(problem, solver, self._plan, point, as_generator(seed))
        elif seed is not None or start is not None:
            raise ValueError("a resumed run has its seed and its start; give neither")
        else:
            state.check(problem, solver, self._plan)
            self._state = state.copy()
            problem.queries.resume_at(state.position)
        self._stepper = Stepper(problem, solver, self._plan, self._state)
        self._counts = self._stepper.counts
        self._question: Question | None = None
        self._loop = CompiledLoop(problem, solver, self._plan, self._state, self._counts)
        self._costs = StepCosts(solver, self._stepper)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Run cannot be copied or pickled; keep run.state.copy(), and resume with "
            "Run(problem, solver, state=…)"
        )

    @property
    def problem(self) -> Problem:
        """What is solved."""
        return self._problem

    @property
    def solver(self) -> Solver:
        """How it is solved."""
        return self._solver

    @property
    def state(self) -> State:
        """The present state. To go back to an earlier one, begin another run with it."""
        return self._state

    @property
    def can_compile(self) -> bool:
        """True if whole steps can run compiled: samples, sets and all parts of the method."""
        method, has_values = self._method, self.problem.data is not None
        parts = (method.order, method.moves, *method.plan[:, DRAWN_AS])
        return has_values and self.problem.compiled_values and EXTERNAL not in parts

    def require_compiled(self) -> None:
        """Raises if whole steps cannot run compiled."""
        if not self.can_compile:
            raise ValueError(
                f"{self.problem.name} cannot run compiled: its value function, one of its sets or "
                "a part of the method is plain Python; leave out compiled=True"
            )

    @property
    def reach(self) -> float:
        """The radius of a ball inside the sets if queries must be feasible, else infinite."""
        return float(self._method.reach)

    @property
    def steps_per_epoch(self) -> int:
        """n samples, `batch` per step."""
        return -(-self._method.n // self._method.batch)

    @property
    def step_cost(self) -> int:
        """How many values the next step asks at most, or how many the present one still needs."""
        return self._costs.next_step()

    def recommend(self) -> tuple[Vector, Vector]:
        """The output so far; at the start, the start point itself."""
        return self.solver.average.read(self.state)

    # --- ask and tell

    def ask(self) -> Question:
        """The pending question. It stays the same, less what was answered, until it is told."""
        if self._question is None:
            if self.solver.gradient.code.offset == NO_VALUES:
                raise TypeError(f"{self.solver.gradient!r} asks for no values: call step()")
            code = self._until_asked()
            stepper = self._stepper
            question = stepper.pending()
            if code == NEED_GRADIENTS:  # the answers are observed at the iterate itself
                question = stepper.question(BASE, stepper.samples_asked)
            self.problem.queries.require(stepper.costly(question.indices).size)
            question.indices.setflags(write=False)
            self._question = question
        return self._question

    def _until_asked(self) -> int:
        """Steps until somebody has to be asked."""
        while True:
            code = self._go(self.state.steps + 1, UNLIMITED, compiled=False)
            if code == NEED_VALUES or self._waits(code):
                return code
            self._stepper.provide(code)

    def tell(self, question: Question, values: Sequence[float] | Vector) -> None:
        """Takes one value for each sample of the question; rejects what was not asked."""
        if self._question is None or question is not self._question:
            raise ValueError(
                f"question {question.id} is not the pending one, or only the rest of it is; tell "
                "answers the very question that ask() last gave: call ask() again"
            )
        listed = isinstance(values, (list, tuple, np.ndarray)) and np.ndim(values) > 0
        count = len(values) if listed else repr(values)
        if count != len(question.indices):
            raise ValueError(
                f"question {question.id} asks {len(question.indices)} values, got {count}"
            )
        self._question = None
        queries, stepper, before = self.problem.queries, self._stepper, self._counts[ANSWERED]
        if self._method.observes:
            stepper.observe(values)
            queries.record(question.x, stepper.costly(question.indices))
        else:
            try:
                stepper.receive(question, values)
            finally:  # also those before one that cannot be used
                answered = question.indices[: self._counts[ANSWERED] - before]
                queries.record(question.x, stepper.costly(answered))
        self._settle()

    def substitute(self, question: Question, others: Sequence[int] | Indices) -> Question:
        """The pending question with other samples in place of those asked.

        People who never answer are replaced this way. The step then uses the other samples, and so
        does a later step that asks its previous samples again."""
        if self._question is None or question is not self._question:
            raise ValueError(f"question {question.id} is not the pending one: call ask() again")
        samples = np.array(others, dtype=np.int64)
        if samples.shape != question.indices.shape:
            raise ValueError(f"question {question.id} asks {len(question.indices)} samples")
        self._stepper.substitute(samples)
        samples.setflags(write=False)
        self._question = question._replace(indices=samples)
        return self._question

    def _settle(self) -> None:
        """Does what needs no further answer, up to the end of the step."""
        while True:
            under_way = self._counts[STAGE] != IDLE
            code = self._go(self.state.steps + under_way, UNLIMITED, compiled=False)
            if code in (DONE, NEED_VALUES) or self._waits(code):
                break
            self._stepper.provide(code)
        self._mark_if_due()

    def _waits(self, code: int) -> bool:
        """True if observed answers are needed."""
        observes = self._method.observes and not self.problem.compiled_values
        return observes and code == NEED_GRADIENTS and self._counts[ASKED] > 0

    def step(self, stop: Callable[[], bool] | None = None) -> None:
        """One whole step, asking the problem itself; `stop` can interrupt between two answers."""
        self._question = None
        self._advance(self.state.steps + 1, UNLIMITED, False, stop)

    # --- many steps

    def advance(
        self,
        last_step: int,
        max_queries: int,
        compiled: bool,
        stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Steps up to `last_step`; False if the next one could exceed max_queries."""
        queries = self.problem.queries
        with queries.turn() if self.problem.compiled_values else nullcontext():
            return self._advance_within_budget(last_step, max_queries, compiled, stop)

    def _advance_within_budget(
        self, last_step: int, max_queries: int, compiled: bool, stop: Callable[[], bool]
    ) -> bool:
        last_step, max_queries = min(last_step, UNLIMITED), min(max_queries, UNLIMITED)
        remaining = self.problem.queries.remaining
        if remaining is not None:
            max_queries = min(max_queries, self.state.queries + remaining)
        if self._counts[STAGE] != IDLE:  # the loop looks at limits between steps only
            if self._counts[STEP] >= last_step:
                return True
            if self._counts[QUERIES] + self.step_cost > max_queries:
                return False
        self._question = None
        if compiled:
            self.require_compiled()
        return self._advance(last_step, max_queries, compiled, stop)

    def _advance(
        self, last_step: int, max_queries: int, compiled: bool, stop: Callable[[], bool] | None
    ) -> bool:
        deployed = self._counts[DEPLOYMENTS] - self._is_unseen
        while True:
            stop_at = min(last_step, self._next_mark())
            try:
                code = self._go(stop_at, max_queries, compiled)
            finally:
                if compiled:
                    self.problem.queries.count_deployments(self._counts[DEPLOYMENTS] - deployed)
                    deployed = self._counts[DEPLOYMENTS]
            if code == DONE:
                self._mark_if_due()
                if self._counts[STEP] >= last_step:
                    return True
            elif code == OUT_OF_QUERIES:  # by a bound that takes every sample for a costly one
                if self._counts[QUERIES] + self.step_cost > max_queries:
                    return False
                self._advance(self._counts[STEP] + 1, UNLIMITED, compiled, stop)
            elif code == NEED_VALUES:
                if stop is not None and stop():
                    return True
                self._stepper.ask_problem(stop)
            elif self._waits(code) and stop is not None and stop():
                return True
            elif code == BAD_VALUE:
                value = self.state.memory.answers[self._counts[POINT_NO]][self._counts[ANSWERED]]
                raise self._stepper.failure(f"gave {value}", self._stepper.pending())
            elif code == BAD_GRADIENT:
                self._fail_as_in_python(ValueError("a gradient that is not finite"))
            else:
                self._stepper.provide(code)

    def _go(self, stop_at: int, max_queries: int, compiled: bool) -> int:
        """One call of the compiled loop."""
        try:
            return self._loop(stop_at, max_queries, compiled)
        except Exception as error:
            if not has_user_functions(self.problem.data):
                raise
            self._fail_as_in_python(error)

    def compile(self, compiled: bool) -> None:
        """Compiles what `advance` will call, or takes it from the disk cache, before the clock
        starts."""
        if compiled:
            self.require_compiled()
        self._loop.compile(compiled)

    @property
    def _is_unseen(self) -> bool:
        """True if a point is deployed that nobody has been told about yet."""
        counts = self._counts
        return bool(counts[STAGE] == ASKING and counts[COSTLY] > 0 and counts[ANSWERED] == 0)

    def _fail_as_in_python(self, error: Exception) -> NoReturn:
        """Reports a user's compiled function that failed like a plain one."""
        if self._counts[STAGE] == ASKING:
            what = f"raised {type(error).__name__}: {error}"
            raise self._stepper.failure(what, self._stepper.pending()) from error
        self._stepper.provide(NEED_GRADIENTS)  # fails again, and says for which sample
        raise error

    def _next_mark(self) -> int:
        """The step at which the run next completes a power of two of epochs."""
        if not self.solver.average.needs_marks:
            return UNLIMITED
        return int(2 ** self.state.epoch.bit_length()) * self.steps_per_epoch

    def _mark_if_due(self) -> None:
        """Marks the state when a step has just completed a power of two of epochs."""
        epoch, counts = self.state.epoch, self._counts
        between_epochs = counts[STAGE] == IDLE and counts[POSITION] == 0
        if self.solver.average.needs_marks and between_epochs and epoch.bit_count() == 1:
            self.state.mark()


def _require_types(problem: Any, solver: Any, state: Any) -> None:
    require_problem(problem)
    if not isinstance(solver, Solver):
        raise TypeError(f"solver must be a Solver, such as ogda_rr(), got {solver!r}")
    if not (state is None or isinstance(state, State)):
        hint = "; pass result.state" if hasattr(state, "state") else ""
        raise TypeError(f"resume must be a State, or in solve the path of one, got {state!r}{hint}")
