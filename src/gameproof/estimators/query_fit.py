"""A fit by queries: a solver that asks people for their responses and can be resumed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.errors import EvaluationError
from gameproof.minmax.result import Result
from gameproof.minmax.solve import solve
from gameproof.minmax.solver import Solver
from gameproof.minmax.state import State
from gameproof.strategic.population import Population
from gameproof.strategic.robust_problem import StrategicProblem

# The largest number of answers used to choose a solver.
PILOT = 900


@dataclass
class QueryFit:
    """The progress of a fit by queries. A resumed fit repeats no query."""

    given: Any  # the parameter `solver`: a Solver or "auto"
    solver: Solver
    start: tuple[Vector, Vector] | None
    seed: int
    n_pilot: int  # answers used to choose the solver
    n_answers: int  # answers so far, including n_pilot
    state: State | None = None
    people: Population | None = None  # holds the answers to a question that failed in part

    @classmethod
    def begun(
        cls,
        problem: StrategicProblem,
        solver: Any,
        start: tuple[Vector, Vector] | None,
        seed: int,
        queries: int | None,
    ) -> QueryFit:
        """A new fit with the given solver, or with one chosen for the problem."""
        given = solver
        if isinstance(solver, str) and solver == "auto":
            pilot = PILOT if queries is None else min(PILOT, queries // 3)
            solver = Solver.auto(problem, queries=queries, pilot=pilot, seed=seed)
        if not isinstance(solver, Solver):
            raise TypeError(
                f'solver must be a Solver such as ogda_rr(), "auto" or None, got {solver!r}'
            )
        if start is None and solver.start is not None:
            _require_same_size(problem, solver.start)
        asked = problem.population.records.n_received
        return cls(given, solver, start, seed, asked, asked)

    def suits(self, problem: StrategicProblem, solver: Any) -> bool:
        """Whether this fit was interrupted, or failed, on the same problem with the same solver."""
        known = self.state is not None and self.state.problem == problem.fingerprint
        return known and bool(self.given == solver)

    def run(self, problem: StrategicProblem, queries: int | None, epochs: int | None) -> Result:
        """Runs the solver to its end.

        Answers used to choose the solver count towards `queries`. If the run fails or is
        interrupted, `state` holds its progress.
        """
        before = problem.population.records.n_received
        if self.people is not None:
            problem.population.keep_answers_of(self.people)
        begin: dict[str, Any] = {"resume": self.state}
        if self.state is None:
            begin = {"start": self.start, "seed": self.seed}
        try:
            result = solve(
                problem,
                self.solver,
                queries=None if queries is None else queries - self.n_pilot,
                epochs=epochs,
                progress=False,
                **begin,
            )
        except EvaluationError as error:
            self.state, self.people = error.state, problem.population
            error.add_note("To resume a classifier, fit it again with warm_start=True.")
            raise
        finally:
            self.n_answers += problem.population.records.n_received - before
        self.state = result.state if result.reason == "interrupted" else None
        return result


def _require_same_size(problem: StrategicProblem, start: tuple[Vector, Vector]) -> None:
    """Rejects a solver whose start was made for another problem."""
    for name, point, own in zip("xy", start, (problem.x_set.dim, problem.y_set.dim), strict=True):
        if np.size(point) != own:
            raise ValueError(
                f"the solver was made for another problem: its start has {np.size(point)} "
                f"coordinates of {name}, and the problem of this classifier has {own}; give "
                'solver="auto", or Solver.auto(…, start=False)'
            )
