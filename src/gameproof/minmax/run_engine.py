"""`RunEngine`: takes the steps of a run, with the compiled loop or in Python.

The compiled loop returns whenever it needs something that is not compiled. `Stepper` provides it,
and the engine calls the loop again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import NoReturn, final

import numpy as np

from gameproof.kernels import layout as at
from gameproof.kernels.samples import has_user_functions
from gameproof.minmax.ask_tell import Stepper
from gameproof.minmax.compiled_loop import CompiledLoop
from gameproof.minmax.plan import Plan, steps_per_epoch
from gameproof.minmax.problem import Problem
from gameproof.minmax.questions import Question
from gameproof.minmax.solver import Solver
from gameproof.minmax.state import State
from gameproof.minmax.step_costs import StepCosts

# A limit that is never reached.
UNLIMITED = int(np.iinfo(np.int64).max)


@final
class RunEngine:
    """Advances a state. `question` is the pending question of `Run.ask`, if there is one."""

    def __init__(self, problem: Problem, solver: Solver, plan: Plan, state: State) -> None:
        self.stepper = Stepper(problem, solver, plan, state)
        self.counts = self.stepper.counts
        self.question: Question | None = None
        self._problem, self._state, self._method = problem, state, plan.method
        self._needs_marks = solver.average.needs_marks
        self._loop = CompiledLoop(problem, solver, plan, state, self.counts)
        self._costs = StepCosts(solver, self.stepper)

    @property
    def can_compile(self) -> bool:
        """True if whole steps can run compiled: samples, sets and all parts of the method."""
        method, problem = self._method, self._problem
        has_values = problem.data is not None and not problem.overrides_data
        parts = (method.order, method.moves, *method.plan[:, at.DRAWN_AS])
        return has_values and problem.compiled_values and at.EXTERNAL not in parts

    def require_compiled(self) -> None:
        """Raises if whole steps cannot run compiled."""
        if not self.can_compile:
            raise ValueError(
                f"{self._problem.name} cannot run compiled: its value function, one of its sets or "
                "a part of the method is plain Python; leave out compiled=True"
            )

    def compile(self, compiled: bool) -> None:
        """Compiles what `advance` calls, or loads it from the disk cache."""
        if compiled:
            self.require_compiled()
        self._loop.compile(compiled)

    @property
    def steps_per_epoch(self) -> int:
        """n samples, `batch` per step."""
        return steps_per_epoch(self._method.n, self._method.batch)

    @property
    def step_cost(self) -> int:
        """How many values the next step asks at most, or how many the present one still needs."""
        return self._costs.next_step()

    def advance(
        self,
        last_step: int,
        max_queries: int,
        compiled: bool,
        stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Steps up to `last_step`. Returns False if the next step could exceed `max_queries`."""
        queries = self._problem.queries
        with queries.turn() if self._problem.compiled_values else nullcontext():
            return self._advance_within_budget(last_step, max_queries, compiled, stop)

    def _advance_within_budget(
        self, last_step: int, max_queries: int, compiled: bool, stop: Callable[[], bool]
    ) -> bool:
        last_step, max_queries = min(last_step, UNLIMITED), min(max_queries, UNLIMITED)
        remaining = self._problem.queries.remaining
        if remaining is not None:
            max_queries = min(max_queries, self._state.queries + remaining)
        if self.counts[at.STAGE] != at.IDLE:  # the loop looks at limits between steps only
            if self.counts[at.STEP] >= last_step:
                return True
            if self.counts[at.QUERIES] + self.step_cost > max_queries:
                return False
        self.question = None
        if compiled:
            self.require_compiled()
        return self.take_steps(last_step, max_queries, compiled, stop)

    def take_steps(
        self, last_step: int, max_queries: int, compiled: bool, stop: Callable[[], bool] | None
    ) -> bool:
        """Like `advance`, without regard to the budget of a population."""
        deployed = self.counts[at.DEPLOYMENTS] - self._is_unseen
        while True:
            stop_at = min(last_step, self._next_mark())
            try:
                code = self._go(stop_at, max_queries, compiled)
            finally:
                if compiled:
                    self._problem.queries.count_deployments(self.counts[at.DEPLOYMENTS] - deployed)
                    deployed = self.counts[at.DEPLOYMENTS]
            if code == at.DONE:
                self._mark_if_due()
                if self.counts[at.STEP] >= last_step:
                    return True
            elif code == at.OUT_OF_QUERIES:  # the loop's bound counts every sample as costly
                if self.counts[at.QUERIES] + self.step_cost > max_queries:
                    return False
                self.take_steps(self.counts[at.STEP] + 1, UNLIMITED, compiled, stop)
            elif code == at.NEED_VALUES:
                if stop is not None and stop():
                    return True
                self.stepper.ask_problem(stop)
            elif self.awaits_observations(code) and stop is not None and stop():
                return True
            elif code == at.BAD_VALUE:
                answers = self._state.memory.answers[self.counts[at.POINT_NO]]
                value = answers[self.counts[at.ANSWERED]]
                raise self.stepper.failure(f"gave {value}", self.stepper.pending())
            elif code == at.BAD_GRADIENT:
                self._fail_as_in_python(ValueError("a gradient that is not finite"))
            else:
                self.stepper.provide(code)

    def _go(self, stop_at: int, max_queries: int, compiled: bool) -> int:
        """One call of the compiled loop."""
        try:
            return self._loop(stop_at, max_queries, compiled)
        except Exception as error:
            if not has_user_functions(self._problem.data):
                raise
            self._fail_as_in_python(error)

    @property
    def _is_unseen(self) -> bool:
        """True if a point is deployed and no answer at it has arrived."""
        counts = self.counts
        deployed = counts[at.STAGE] == at.ASKING and counts[at.COSTLY] > 0
        return bool(deployed and counts[at.ANSWERED] == 0)

    def _fail_as_in_python(self, error: Exception) -> NoReturn:
        """Reports the failure of a user's compiled function as that of a plain one."""
        if self.counts[at.STAGE] == at.ASKING:
            what = f"raised {type(error).__name__}: {error}"
            raise self.stepper.failure(what, self.stepper.pending()) from error
        self.stepper.provide(at.NEED_GRADIENTS)  # fails again, and says for which sample
        raise error

    def _next_mark(self) -> int:
        """The step at which the run next completes a power of two of epochs."""
        if not self._needs_marks:
            return UNLIMITED
        return int(2 ** self._state.epoch.bit_length()) * self.steps_per_epoch

    def _mark_if_due(self) -> None:
        """Marks the state when a step has just completed a power of two of epochs."""
        epoch, counts = self._state.epoch, self.counts
        between_epochs = counts[at.STAGE] == at.IDLE and counts[at.POSITION] == 0
        if self._needs_marks and between_epochs and epoch.bit_count() == 1:
            self._state.mark()

    def until_asked(self) -> int:
        """Advances until answers are needed. Returns the code for what is needed."""
        while True:
            code = self._go(self._state.steps + 1, UNLIMITED, compiled=False)
            if code == at.NEED_VALUES or self.awaits_observations(code):
                return code
            if code != at.DONE:  # a step may ask nothing
                self.stepper.provide(code)

    def settle(self) -> None:
        """Completes what needs no further answer, up to the end of the step."""
        while True:
            under_way = self.counts[at.STAGE] != at.IDLE
            code = self._go(self._state.steps + under_way, UNLIMITED, compiled=False)
            if code in (at.DONE, at.NEED_VALUES) or self.awaits_observations(code):
                break
            self.stepper.provide(code)
        self._mark_if_due()

    def awaits_observations(self, code: int) -> bool:
        """True if observed answers are needed."""
        observes = self._method.observes and not self._problem.compiled_values
        return observes and code == at.NEED_GRADIENTS and self.counts[at.ASKED] > 0
