"""The degree of people's cost, from their answers to two deployments.

For best responses to a cost of degree r, with q conjugate to r,

    b(t theta) - x = t^(q-1) (b(theta) - x),   q - 1 = 1 / (r - 1).

Within a budget moves do not grow with theta: the degree is infinite.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Indices, as_count, as_numbers
from gameproof.core.errors import BudgetExceeded
from gameproof.strategic.population import Population
from gameproof.strategic.responses import Sight

SMALL_RATE = 0.05  # moves that grow as a smaller power of theta may come from a budget
MEDIAN_ERROR = 1.2533  # the standard error of a median over that of a mean, sqrt(pi / 2)


def estimate_degree(
    population: Population,
    theta: ArrayLike,
    *,
    factor: float = 2.0,
    agents: int = 20,
    seed: int = 0,
) -> float:
    """Estimates the degree of people's cost from answers to theta and to factor * theta.

    The estimate is infinite if moves do not grow with theta, as within a budget. With noisy
    answers, that means: they grow by no more than two standard errors, and as a power of theta
    below 0.05.

    Parameters
    ----------
    population : Population
        The people to ask; it must show answers.
    theta : array-like of shape (d,)
        The coefficients of the first deployment.
    factor : float, default=2.0
        The factor between the two deployments; positive and other than 1.
    agents : int, default=20
        The number of agents with label -1 to ask, each twice.
    seed : int, default=0
        The seed by which agents are drawn.

    Returns
    -------
    float
        The degree, above 1 and possibly infinite.

    Raises
    ------
    TypeError
        If the population shows scores only.
    ValueError
        If an argument is out of range, nobody moves, or moves shrink as theta grows.
    BudgetExceeded
        If the population's budget does not allow the answers; nobody is asked.

    Examples
    --------
    >>> from gameproof.strategic.power_costs import PowerCost
    >>> rng = np.random.default_rng(0)
    >>> people = Population(rng.standard_normal((50, 3)), [1, -1] * 25, PowerCost(0.2, degree=3.0))
    >>> round(estimate_degree(people, [1.0, -2.0, 0.5]), 6)
    3.0
    """
    if not (np.isfinite(factor) and factor > 0 and factor != 1):
        raise ValueError(f"factor must be positive and other than 1, got {factor}")
    deployed = as_numbers("theta", theta, "a vector")
    if population.sight < Sight.ANSWERS:
        raise TypeError(
            "estimate_degree needs answered features, and this population shows scores only"
        )
    asked = _draw_movers(population, as_count("agents", agents), seed)
    needed, left = 2 * asked.size, population.records.obtainable
    if left is not None and needed > left:
        way_out = f"Give agents={left // 2} or less." if left > 1 else "It takes at least 2."
        raise BudgetExceeded(
            f"a degree needs {needed} answers and the budget of {population.budget} has {left} "
            f"left; nobody was asked. {way_out}"
        )
    own = population.X[asked]
    first, second = (population.ask(t * deployed, asked) - own for t in (1.0, factor))
    lengths, longer = np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1)
    moved = (lengths > 0) & (longer > 0)
    if not moved.any():
        raise ValueError("none of the agents asked moved, so their answers show no degree")
    rates = np.log(longer[moved] / lengths[moved]) / np.log(factor)
    rate = float(np.median(rates))
    rounding = 64 * np.finfo(float).eps * float(np.abs(own).max()) / lengths.max()
    margin = max(2 * MEDIAN_ERROR * float(rates.std()) / np.sqrt(rates.size), rounding, 1e-9)
    if -margin <= rate <= min(margin, SMALL_RATE):
        return float(np.inf)
    if rate <= 0:
        raise ValueError(
            f"moves grow as the power {rate:.3g} of theta, which no cost of degree above 1 explains"
        )
    return float(1 + 1 / rate)


def _draw_movers(population: Population, number: int, seed: int) -> Indices:
    """Up to `number` agents with label -1, drawn at random."""
    movers = population.movers
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(movers, size=min(number, movers.size), replace=False))
