"""People who rehearse: those of a problem, or some of them, with a response that is known."""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Indices
from gameproof.strategic.auto.rehearse import Stage
from gameproof.strategic.population import Population
from gameproof.strategic.responses import KnownResponse
from gameproof.strategic.robust_problem import StrategicProblem

# The most people who rehearse.
CAST = 20_000


def some_of(people: Population, rng: np.random.Generator) -> Indices:
    """All agents, or where they are many and count alike some, with about as large a share of each
    label: the printed form needs no smaller one of +1."""
    y = people.y
    if y.size <= CAST or people.weighted:
        return np.arange(y.size)
    movers, others = np.flatnonzero(y < 0), np.flatnonzero(y > 0)
    number = max(1, CAST * movers.size // y.size)
    parts = (movers, number), (others, min(CAST - number, others.size))
    return np.sort(np.concatenate([rng.choice(who, k, replace=False) for who, k in parts]))


def staged(
    problem: StrategicProblem, response: KnownResponse, who: Indices, factor: float = 1.0
) -> Stage | None:
    """Some agents, with other powers; None where a response that fits nothing takes numbers beyond
    what can be computed with."""
    people, own = problem.population, response.of_agents(who).scaled(factor)
    cast = Population(people.X[who], people.y[who], own, weights=people.weights[who])
    try:
        stage = Stage.of(problem.with_population(cast))
    except (ValueError, FloatingPointError, np.linalg.LinAlgError):
        return None
    return stage if np.isfinite(stage.saddle.value) else None
