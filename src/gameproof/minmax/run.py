"""`Run`: a run by ask and tell, one deployed point at a time.

``solve`` drives a run to its end. Drive one yourself if answers come from outside:

    run = gp.Run(problem, gp.ogda_rr(), seed=0)
    while run.state.epoch < 10:
        question = run.ask()                  # one deployed point, some samples
        run.tell(question, answers)           # one value per sample
    x, y = run.recommend()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Indices, Vector, as_generator, shown
from gameproof.kernels import layout as at
from gameproof.minmax.averages import checked_output
from gameproof.minmax.plan import plan
from gameproof.minmax.problem import Problem, require_problem
from gameproof.minmax.questions import Question
from gameproof.minmax.run_engine import UNLIMITED, RunEngine
from gameproof.minmax.solver import Solver
from gameproof.minmax.start import feasible_start, starting_point, warn_of_fixed_zeros
from gameproof.minmax.state import State

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
            if start is not None:
                warn_of_fixed_zeros(problem, point)
            point = feasible_start(problem, solver, self._plan, point)
            self._state = State.begin(problem, solver, self._plan, point, as_generator(seed))
        elif seed is not None or start is not None:
            raise ValueError("a resumed run keeps its seed and its start; give neither")
        else:
            state.check(problem, solver, self._plan)
            self._state = state.copy()
            problem.queries.resume_at(state.position)
        self._engine = RunEngine(problem, solver, self._plan, self._state)

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
        """The state, which later steps change. To be able to go back to it, keep a `copy()` and
        start another run with that."""
        return self._state

    @property
    def can_compile(self) -> bool:
        """True if whole steps can run compiled: samples, sets and all parts of the method."""
        return self._engine.can_compile

    def require_compiled(self) -> None:
        """Raises if whole steps cannot run compiled."""
        self._engine.require_compiled()

    def compile(self, compiled: bool) -> None:
        """Compiles what `advance` calls, or loads it from the disk cache."""
        self._engine.compile(compiled)

    @property
    def reach(self) -> float:
        """The radius of a ball inside the sets if queries must be feasible, else infinite."""
        return float(self._method.reach)

    @property
    def steps_per_epoch(self) -> int:
        """n samples, `batch` per step."""
        return self._engine.steps_per_epoch

    @property
    def step_cost(self) -> int:
        """How many values the next step asks at most, or how many the present one still needs."""
        return self._engine.step_cost

    def recommend(self) -> tuple[Vector, Vector]:
        """The output so far; before the first step, the start."""
        dims = int(self.problem.x_set.dim), int(self.problem.y_set.dim)
        return checked_output(self.solver.average, self.solver.average.read(self.state), dims)

    # --- ask and tell

    def ask(self) -> Question:
        """The pending question, or the part of it that was not yet answered."""
        if self._engine.question is None:
            if self.solver.gradient.code.offset == at.NO_VALUES:
                raise TypeError(f"{self.solver.gradient!r} asks for no values: call step()")
            code = self._engine.until_asked()
            stepper = self._engine.stepper
            question = stepper.pending()
            if code == at.NEED_GRADIENTS:  # the answers are observed at the iterate itself
                question = stepper.question(at.BASE, stepper.samples_asked)
            self.problem.queries.require(stepper.costly(question.indices).size)
            question.indices.setflags(write=False)
            self._engine.question = question
        return self._engine.question

    def tell(self, question: Question, values: Sequence[float] | Vector) -> None:
        """Takes a list or an array with one value for each sample of the question; rejects what was
        not asked."""
        if not isinstance(question, Question):
            raise TypeError(f"tell takes the question that ask() returned, got {shown(question)}")
        if self._engine.question is None or question is not self._engine.question:
            raise ValueError(
                f"question {question.id} is not the pending one, or was answered in part; call "
                "ask() again and tell the question that it returns"
            )
        listed = isinstance(values, (list, tuple, np.ndarray)) and np.ndim(values) > 0
        if not listed or len(values) != len(question.indices):
            count = len(values) if listed else f"{shown(values)}, not a list or an array"
            raise ValueError(
                f"question {question.id} asks {len(question.indices)} values, got {count}"
            )
        engine, stepper, queries = self._engine, self._engine.stepper, self.problem.queries
        engine.question, before = None, engine.counts[at.ANSWERED]
        if self._method.observes:
            stepper.observe(values)
            queries.record(question.x, stepper.costly(question.indices))
        else:
            try:
                stepper.receive(question, values)
            finally:  # values before an unusable one count too
                answered = question.indices[: engine.counts[at.ANSWERED] - before]
                queries.record(question.x, stepper.costly(answered))
        engine.settle()

    def substitute(self, question: Question, others: Sequence[int] | Indices) -> Question:
        """The pending question with other samples in place of those asked.

        People who never answer are replaced this way. The step then uses the other samples, and so
        does a later step that asks its previous samples again. Until the step is complete, the
        state cannot be resumed: its samples are not those of the order."""
        if self._engine.question is None or question is not self._engine.question:
            raise ValueError(f"question {question.id} is not the pending one: call ask() again")
        samples = self.problem.samples(others)
        if samples.shape != question.indices.shape:
            raise ValueError(
                f"question {question.id} asks {len(question.indices)} samples, got {samples.size}"
            )
        self._engine.stepper.substitute(samples)
        samples.setflags(write=False)
        self._engine.question = question._replace(indices=samples)
        return self._engine.question

    def step(self, stop: Callable[[], bool] | None = None) -> None:
        """Takes one step with values of the problem; `stop` can interrupt between two answers."""
        self._engine.question = None
        self._engine.take_steps(self.state.steps + 1, UNLIMITED, False, stop)

    def advance(
        self,
        last_step: int,
        max_queries: int,
        compiled: bool,
        stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Steps up to `last_step`. Returns False if the next step could exceed `max_queries`."""
        return self._engine.advance(last_step, max_queries, compiled, stop)


def _require_types(problem: Any, solver: Any, state: Any) -> None:
    require_problem(problem)
    if not isinstance(solver, Solver):
        raise TypeError(f"solver must be a Solver, such as ogda_rr(), got {solver!r}")
    if not (state is None or isinstance(state, State)):
        hint = "; pass result.state" if hasattr(state, "state") else ""
        raise TypeError(f"resume must be a State, or in solve the path of one, got {state!r}{hint}")
