"""What observed answers tell about the people who gave them.

For best responses to a cost of degree r, with q its conjugate, two deployments give the degree:
b(t theta) - x = t^(q-1) (b(theta) - x). And b - x is the gradient of a convex function of theta:

    <(b(theta) - x) - (b(theta') - x), theta - theta'> >= 0

for every pair of deployments: a pair that breaks it refutes the model, whatever cost one assumes.
Within a budget the function is the support function of the moves: the same holds, and moves do not
grow with theta, which is the limit of ever larger degrees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Indices, as_count, as_numbers, require_finite
from gameproof.core.errors import BudgetExceeded
from gameproof.strategic.population import Population
from gameproof.strategic.responses import Sight

HARDLY = 0.05  # moves that grow as a smaller power of theta may be those of a budget
MEDIAN = 1.2533  # the standard error of a median over that of a mean: sqrt(pi / 2)


def estimate_degree(
    population: Population,
    theta: ArrayLike,
    *,
    factor: float = 2.0,
    agents: int = 20,
    seed: int = 0,
) -> float:
    """The degree r of people's cost, from their answers to theta and to factor times theta.

    It is infinite where moves do not grow with theta, as within a budget; where answers are noisy,
    where they grow by no more than two standard errors, and as a power of theta below 0.05.

    >>> from gameproof.strategic.power_costs import PowerCost
    >>> rng = np.random.default_rng(0)
    >>> people = Population(rng.standard_normal((50, 3)), [1, -1] * 25, PowerCost(0.2, degree=3.0))
    >>> round(estimate_degree(people, [1.0, -2.0, 0.5]), 6)
    3.0
    """
    if not (np.isfinite(factor) and factor > 0 and factor != 1):
        raise ValueError(f"factor must be positive and other than 1, got {factor}")
    at = as_numbers("theta", theta, "a vector")
    if population.sight < Sight.ANSWERS:
        raise TypeError("a degree needs answered features, and this population shows scores only")
    asked = some_movers(population, as_count("agents", agents), seed)
    needed, left = 2 * asked.size, population.remaining
    if left is not None and needed > left:
        way_out = f"Give agents={left // 2} or less." if left > 1 else "It takes 2 at least."
        raise BudgetExceeded(
            f"a degree needs {needed} answers and the budget of {population.budget} has {left} "
            f"left; nobody was asked. {way_out}"
        )
    first, second = (population.ask(t * at, asked) - population.X[asked] for t in (1.0, factor))
    lengths, longer = np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1)
    moved = (lengths > 0) & (longer > 0)
    if not moved.any():
        raise ValueError("none of the agents asked moved, so their answers show no degree")
    rates = np.log(longer[moved] / lengths[moved]) / np.log(factor)
    rate = float(np.median(rates))
    rounding = 64 * np.finfo(float).eps * float(np.abs(population.X[asked]).max()) / lengths.max()
    unsure = max(2 * MEDIAN * float(rates.std()) / np.sqrt(rates.size), rounding, 1e-9)
    if -unsure <= rate <= min(unsure, HARDLY):
        return float(np.inf)
    if rate <= 0:
        raise ValueError(
            f"answers grow as the power {rate:.3g} of theta, which no cost of degree above 1 gives"
        )
    return float(1 + 1 / rate)


def some_movers(population: Population, number: int, seed: int) -> Indices:
    """Up to `number` agents with label -1, drawn at random."""
    movers = np.flatnonzero(population.y < 0)
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(movers, size=min(number, movers.size), replace=False))


@dataclass(frozen=True)
class Verdict:
    """Whether observed answers refute the best-response model, and by what."""

    refuted: bool
    sentence: str
    worst: float  # the smallest inner product over pairs, relative to the lengths in it

    def __bool__(self) -> bool:
        return self.refuted


def refute(
    features: ArrayLike, thetas: ArrayLike, answers: ArrayLike, tolerance: float = 1e-9
) -> Verdict:
    """Checks every pair of deployments of every agent.

    features are (agents, d), thetas (deployments, d), answers (deployments, agents, d).

    >>> x, thetas = np.zeros((1, 2)), np.array([[1.0, 0.0], [2.0, 0.0]])
    >>> refute(x, thetas, [[[0.1, 0.0]], [[0.2, 0.0]]]).refuted
    False
    >>> print(refute(x, thetas, [[[0.2, 0.0]], [[0.1, 0.0]]]).sentence)
    Refuted: agent 0 moved against the change from deployment 0 to deployment 1.
    """
    own, deployed = as_numbers("features", features), as_numbers("thetas", thetas)
    given = as_numbers("answers", answers)
    for name, array in (("features", own), ("thetas", deployed), ("answers", given)):
        require_finite(name, array)
    if own.ndim != 2 or deployed.ndim != 2 or given.shape != (len(deployed), *own.shape):
        raise ValueError(
            f"answers must have shape (deployments, agents, features), got {given.shape} for "
            f"features {own.shape} and thetas {deployed.shape}"
        )
    # Staying costs nothing, so to theta = 0 nobody moves: one more deployment, and the first.
    deployed = np.vstack([np.zeros_like(deployed[:1]), deployed])
    given = np.concatenate([own[None], given])
    worst, culprit = 0.0, None
    for a in range(len(deployed)):
        for b in range(a + 1, len(deployed)):
            step, change = deployed[b] - deployed[a], given[b] - given[a]
            size = np.linalg.norm(step) * np.linalg.norm(given - own, axis=2).max(axis=0)
            inner = (change @ step) / np.maximum(size, np.finfo(float).tiny)
            agent = int(np.argmin(inner))
            if inner[agent] < worst:
                worst, culprit = float(inner[agent]), (agent, a, b)
    if culprit is None or worst >= -tolerance:
        return Verdict(False, "The answers do not refute the best-response model.", worst)
    agent, a, b = culprit
    sentence = f"agent {agent} moved against "
    if a == 0:
        sentence += f"deployment {b - 1}"
    else:
        sentence += f"the change from deployment {a - 1} to deployment {b - 1}"
    return Verdict(True, f"Refuted: {sentence}.", worst)
