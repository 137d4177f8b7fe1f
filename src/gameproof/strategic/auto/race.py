"""`SolverRace`: several solvers run at equal cost, and fresh answers decide between their results.

After a refutation no model says which estimate suits these people. So each solver runs for the same
number of answers. Then the same fresh agents are asked at each result and at the start. At
theta = 0 nobody's score depends on the answer, so its risk is known. The winner is the point with
the smallest risk, if it is clearly better than theta = 0: by three standard errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.minmax.solver import Solver
from gameproof.strategic.inquiry import Deployment, Inquiry
from gameproof.strategic.risk import sampled_risk
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.solver_inquiry import SolverInquiry

# The share of the answers for the comparison, and the fewest answers with which a race is run.
COMPARISON, FEWEST = 0.3, 200
# Standard errors by which the winner must be better than theta = 0.
ERRORS = 3.0

Point = tuple[Vector, Vector]


class Entrant(NamedTuple):
    """A point in the comparison: the result of a solver, or the start."""

    name: str
    point: Point
    solver: Solver | None
    risk: float
    error: float


@final
class SolverRace:
    """A race of solvers from a common start.

    Parameters
    ----------
    problem
        The problem.
    solvers
        The solvers by name.
    start
        Where they start; None for the problem's own start, which does not compete.
    answers
        The most answers to ask in all.
    seed
        The source of randomness.
    """

    def __init__(
        self,
        problem: StrategicProblem,
        solvers: dict[str, Solver],
        start: Point | None,
        answers: int,
        seed: int,
    ) -> None:
        self._problem, self._solvers, self._start = problem, solvers, start
        self._seed = seed
        n_points = len(solvers) + (start is not None)
        n_negative = problem.population.n_movers
        self._each = min(int(COMPARISON * answers) // n_points, n_negative)
        self._leg = (answers - n_points * self._each) // len(solvers)

    def inquiry(self) -> Inquiry[list[Entrant]]:
        """Runs the solvers and compares. Returns the entrants, the best one first."""
        points: list[tuple[str, Point, Solver | None]] = []
        if self._start is not None:
            points.append(("the start", self._start, None))
        for name, solver in self._solvers.items():
            run = SolverInquiry(self._problem, solver, self._seed, queries=self._leg)
            yield from run.inquiry()
            points.append((name, run.run.recommend(), solver))
        return (yield from self._compared(points))

    def _compared(
        self, points: Sequence[tuple[str, Point, Solver | None]]
    ) -> Inquiry[list[Entrant]]:
        problem = self._problem
        people, rng = problem.population, np.random.default_rng([self._seed, 5])
        agents, entrants = np.sort(rng.choice(people.movers, self._each, replace=False)), []
        for name, point, solver in points:
            theta, offset = problem.split(point[0])[0], problem.offset(point[0])
            replies = yield Deployment(theta, agents, offset)
            risk, error, _ = sampled_risk(problem, theta, offset, replies)
            entrants.append(Entrant(name, point, solver, risk, error))
        return sorted(entrants, key=lambda entrant: entrant.risk)
