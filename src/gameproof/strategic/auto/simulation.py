"""`Simulation`: a strategic problem with a known response, on which solvers can be tried.

The learner knows everything about a strategic problem except the response. With a model of the
response the problem can be simulated in compiled code without asking anybody, and its saddle point
can be computed.

If answers have errors, so have the scores by which a deployed classifier is judged, and the loss is
convex: errors raise the risk. An error e of an answer b(theta) = x + s(theta) + e is the same as
other features x + e, because moves do not depend on features. So a model with errors is the same
response of agents whose features are shifted by observed errors, with several copies of each agent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.minmax.saddle import Saddle
from gameproof.strategic.newton.convex_objective import ConvexObjective
from gameproof.strategic.newton.minimum import minimum
from gameproof.strategic.population import Population
from gameproof.strategic.responses import KnownResponse
from gameproof.strategic.robust_problem import StrategicProblem

# The most agents that a simulation uses.
MAX_AGENTS = 20_000
# Copies of each agent with label -1 if answers have errors, and the most rows that they may make.
COPIES, MAX_COPIES = 8, 20_000


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
    return _solved(problem, sample)


@dataclass(frozen=True, eq=False)
class ModelOfPeople:
    """All people of a problem with a known response and errors, and the saddle point."""

    simulation: Simulation
    agents: Indices  # the agent of each row of the simulation; rows 0 … n - 1 are agents 0 … n - 1
    n: int

    @classmethod
    def of(
        cls,
        problem: StrategicProblem,
        response: KnownResponse,
        errors: Matrix | None = None,
        factor: float = 1.0,
        seed: int = 0,
    ) -> ModelOfPeople | None:
        """The model with `factor` times this response and errors drawn from these; None if numbers
        overflow."""
        people, rows = people_of_model(problem, response, errors, factor, seed)
        simulation = _solved(problem, people)
        return None if simulation is None else cls(simulation, rows, problem.population.n)

    @property
    def x(self) -> Vector:
        """The learner's part of the saddle point."""
        return self.simulation.saddle.x

    @property
    def y(self) -> Vector:
        """The adversary's part of the saddle point, one number per agent."""
        found: Vector = self.simulation.saddle.y[: self.n]
        return found

    @property
    def classifier(self) -> tuple[Vector, float]:
        """theta and the intercept at the saddle point."""
        problem = self.simulation.problem
        return problem.split(self.x)[0], problem.offset(self.x)

    def risk(self, x: Vector) -> float:
        """The worst-case risk according to the model."""
        return self.simulation.problem.robust_value(x)

    def scores(self, theta: Vector) -> Vector:
        """The score of each row, without the intercept."""
        people = self.simulation.problem.population
        return people.scores(theta, np.arange(people.n))

    def by_agent(self, values: Vector, agents: Indices) -> Vector:
        """The mean of each of these agents over its rows."""
        total, number = (np.bincount(self.agents, w, self.n) for w in (values, None))
        found: Vector = (total / number)[agents]
        return found


def people_of_model(
    problem: StrategicProblem,
    response: KnownResponse,
    errors: Matrix | None,
    factor: float,
    seed: int,
) -> tuple[Population, Indices]:
    """All people with `factor` times this response and errors drawn from these, and the agent of
    each row."""
    people = problem.population
    rows = np.arange(people.n)
    features, weights = people.X, people.weights
    if errors is not None:
        negative = people.movers
        copies = int(np.clip(MAX_COPIES // negative.size, 1, COPIES))
        rows = np.concatenate([rows] + [negative] * (copies - 1))
        moving = people.y[rows] < 0
        features, weights = people.X[rows], people.weights[rows]
        features[moving] += _drawn(errors, int(moving.sum()), seed)
        weights = np.where(moving, weights / copies, weights)
    scaled = response.of_agents(rows).scaled(factor)
    return Population(features, people.y[rows], scaled, weights=weights), rows


def _drawn(errors: Matrix, number: int, seed: int) -> Matrix:
    """Errors drawn from those observed, each feature on its own, with mean 0."""
    centred, rng = errors - errors.mean(axis=0), np.random.default_rng([seed, 4])
    drawn: Matrix = np.stack([rng.choice(column, number) for column in centred.T], axis=1)
    return drawn


def _solved(problem: StrategicProblem, people: Population) -> Simulation | None:
    try:
        simulation = Simulation.of(problem.with_population(people))
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
