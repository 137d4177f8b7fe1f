"""How a classifier's problem is solved: exactly, or by asking people."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from gameproof.core.arguments import Vector, as_positive
from gameproof.core.errors import CapWarning, EvaluationError, warn
from gameproof.minmax.problem import Saddle
from gameproof.minmax.result import Result
from gameproof.minmax.solve import solve
from gameproof.minmax.solver import Solver
from gameproof.minmax.state import State
from gameproof.strategic.losses.logistic_loss import Logistic
from gameproof.strategic.population import Population
from gameproof.strategic.robust_problem import NOTHING, StrategicProblem
from gameproof.strategic.saddle_point import saddle_point

# The most answers that the choice of a solver may ask.
PILOT = 300
# A bound binds from this part of it on, and a loss below this is none.
NEARLY, NO_LOSS = 0.999, 1e-6
# No cap on alpha is larger: beyond it, digits are lost.
LARGEST_CAP = 1e4


def posed(
    people: Population, ball: tuple[float, float], bound: float, intercept: bool
) -> StrategicProblem:
    """The problem of these people, with a cap on alpha that no best classifier reaches."""
    radius, label_cost = ball
    loss = Logistic()
    cap = (loss.K + loss.s) * as_positive("bound", bound)
    if isinstance(radius, Real) and radius > 0:
        # alpha radius is a part of the value, and the rest is not negative: at the best,
        # alpha is at most what theta = 0 costs, over the radius.
        cap = max(cap, min(1.1 * float(loss.phi(np.zeros(1))[0]) / float(radius), LARGEST_CAP))
    return StrategicProblem(
        people, radius, label_cost, loss, alpha_max=cap, intercept=cap if intercept else None
    )


def solved_exactly(problem: StrategicProblem, bound: float) -> Saddle:
    """The certified saddle point."""
    if not problem.has_duality_gap:
        raise TypeError(
            "these people can only be asked, since their response is not known; say how, such "
            "as solver=gp.ogda_rr(gradient=gp.TwoPoint()), and how often, such as queries=5000"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CapWarning)  # ours names the classifier's parameter
        saddle = saddle_point(problem)
    _warn_of_bounds(problem, saddle, bound)
    return ignoring(problem, saddle) if problem.ignores_data(saddle.x) else saddle


def ignoring(problem: StrategicProblem, saddle: Saddle) -> Saddle:
    """Where theta is 0 but for rounding: theta = 0, which decides all alike. The intercept is the
    best one; where that is 0 as well, the adversary makes both decisions equally bad, and as little
    as counts for nothing decides for the majority."""
    _, alpha = problem.split(saddle.x)
    offset, people = problem.offset(saddle.x), problem.population
    if abs(offset) < NOTHING:
        offset = NOTHING * float(np.sign(people.weights @ people.y))
    given = offset if problem.intercept is not None else 0.0
    x = problem.x_set.project(problem.join(np.zeros(people.d), alpha, given))
    value = problem.robust_value(x)
    gap = saddle.duality_gap + max(0.0, value - saddle.value)
    return replace(saddle, x=x, value=value, duality_gap=gap)


@dataclass
class Asking:
    """A run that asks people, as far as it has come: no answer is asked again where it goes on."""

    given: Any  # the solver, or how to choose it
    solver: Solver
    start: tuple[Vector, Vector] | None
    seed: int
    n_pilot: int  # asked to choose the solver
    n_answers: int  # asked so far, those among them
    state: State | None = None
    people: Population | None = None  # with what they answered to a question that failed in part

    @classmethod
    def begun(
        cls,
        problem: StrategicProblem,
        solver: Any,
        start: tuple[Vector, Vector] | None,
        seed: int,
        queries: int | None,
    ) -> Asking:
        """With a solver, or with one chosen for the problem."""
        given = solver
        if isinstance(solver, str) and solver == "auto":
            pilot = PILOT if queries is None else min(PILOT, queries // 3)
            solver = Solver.auto(problem, queries=queries, pilot=pilot, seed=seed)
        if not isinstance(solver, Solver):
            raise TypeError(f"solver must be a Solver such as ogda_rr(), or None, got {solver!r}")
        if start is None and solver.start is not None:
            _require_own(problem, solver.start)
        asked = problem.population.n_answers
        return cls(given, solver, start, seed, asked, asked)

    def suits(self, problem: StrategicProblem, solver: Any) -> bool:
        """Whether the run was interrupted, or failed, on this very problem with this solver."""
        known = self.state is not None and self.state.problem == problem.fingerprint
        return known and bool(self.given == solver)

    def run(self, problem: StrategicProblem, queries: int | None, epochs: int | None) -> Result:
        """To its end; the choice of the solver is paid for by the queries. Where it fails, or is
        interrupted, `state` is how far it came."""
        before = problem.population.n_answers
        if self.people is not None:
            problem.population.keep_answers_of(self.people)
        begins: dict[str, Any] = {"resume": self.state}
        if self.state is None:
            begins = {"start": self.start, "seed": self.seed}
        try:
            result = solve(
                problem,
                self.solver,
                queries=None if queries is None else queries - self.n_pilot,
                epochs=epochs,
                progress=False,
                **begins,
            )
        except EvaluationError as error:
            self.state, self.people = error.state, problem.population
            error.add_note("A classifier goes on from there: fit it again with warm_start=True.")
            raise
        finally:
            self.n_answers += problem.population.n_answers - before
        self.state = result.state if result.reason == "interrupted" else None
        return result


def _require_own(problem: StrategicProblem, start: tuple[Vector, Vector]) -> None:
    """Refuses a solver whose start is for other people or another classifier."""
    for name, point, own in zip("xy", start, (problem.x_set.dim, problem.y_set.dim), strict=True):
        if np.size(point) != own:
            raise ValueError(
                f"the solver was made for another problem: its start has {np.size(point)} "
                f"coordinates of {name}, the problem of this classifier {own}; give "
                'solver="auto", or Solver.auto(…, start=False)'
            )


def _warn_of_bounds(problem: StrategicProblem, saddle: Saddle, bound: float) -> None:
    theta, alpha = problem.split(saddle.x)
    reached = [(problem.loss.K + problem.loss.s) * float(np.linalg.norm(theta))]
    reached.append(abs(problem.offset(saddle.x)))
    if problem.radius > 0:
        reached.append(alpha)
    # Where the loss is all but 0, it is so long before the bound, and longer would be better still.
    endless = problem.radius == 0 and saddle.value < NO_LOSS
    if endless or max(reached) >= NEARLY * problem.alpha_max:
        warn(
            f"bound = {bound:g} is all that keeps the classifier finite: the classes can be told "
            "apart without error, or features are far from unit size; a larger radius bounds it "
            "for a reason, or give a larger bound",
            CapWarning,
        )
