"""`Simulation`: a strategic problem with a known response, on which solvers can be tried.

The learner knows everything about a strategic problem except the response. With a model of the
response the problem can be simulated in compiled code without asking anybody, and its saddle point
can be computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gameproof.core.arguments import Indices, Vector
from gameproof.minmax.problem import Saddle
from gameproof.strategic.newton.convex_objective import ConvexObjective
from gameproof.strategic.newton.minimum import minimum
from gameproof.strategic.population import Population
from gameproof.strategic.responses import KnownResponse
from gameproof.strategic.robust_problem import StrategicProblem

# The most agents that a simulation uses.
MAX_AGENTS = 20_000


@dataclass(frozen=True, eq=False)
class Simulation:
    """A problem with a known response, its saddle point (x*, y*), and its learner's objective."""

    problem: StrategicProblem
    saddle: Saddle
    objective: ConvexObjective

    @classmethod
    def of(cls, problem: StrategicProblem) -> Simulation:
        """Computes the saddle point by Newton's method."""
        found = minimum(problem)
        gap = found.upper - found.lower
        return cls(
            problem, Saddle(found.v, found.gamma, found.upper, gap), ConvexObjective(problem)
        )

    @cached_property
    def _at_saddle(self) -> tuple[float, Vector]:
        v = self.objective.lift(self.saddle.x)
        return self.objective.at(v).value, self.objective.pulls(v)

    def gap(self, x: Vector, y: Vector) -> float:
        """max over y' of L(x, y'), less L(x*, y).

        It lies between the gap to the saddle point and the duality gap, and is cheap."""
        objective, v = self.objective, self.objective.lift(x)
        upper = objective.at(v).value + float(np.abs(objective.pulls(v)).sum()) / objective.n
        if not self.problem.smooth:
            return upper - self.saddle.value
        value, pulls = self._at_saddle
        return upper - value - float(y[objective.free] @ pulls) / objective.n


def simulate(
    problem: StrategicProblem, response: KnownResponse, agents: Indices, factor: float = 1.0
) -> Simulation | None:
    """The problem for these agents, with `factor` times this response.

    Returns None if numbers overflow, which happens for responses that do not fit the answers."""
    people, scaled = problem.population, response.of_agents(agents).scaled(factor)
    sample = Population(people.X[agents], people.y[agents], scaled, weights=people.weights[agents])
    try:
        simulation = Simulation.of(problem.with_population(sample))
    except (ValueError, FloatingPointError, np.linalg.LinAlgError):
        return None
    return simulation if np.isfinite(simulation.saddle.value) else None


def sample_agents(people: Population, rng: np.random.Generator) -> Indices:
    """All agents, or a random sample if there are many and they have equal weights.

    The sample has about the same share of each label, and no smaller share of label +1: the
    printed form would otherwise need a larger radius."""
    y = people.y
    if y.size <= MAX_AGENTS or people.weighted:
        return np.arange(y.size)
    negative, positive = np.flatnonzero(y < 0), np.flatnonzero(y > 0)
    number = max(1, MAX_AGENTS * negative.size // y.size)
    parts = (negative, number), (positive, min(MAX_AGENTS - number, positive.size))
    return np.sort(np.concatenate([rng.choice(agents, k, replace=False) for agents, k in parts]))
