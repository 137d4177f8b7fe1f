"""The worst-case risk of people who can only be asked, from fresh answers of some of them.

An agent with label -1 adds phi(z_i) + s z_i to the worst-case risk, whatever the adversary does
with labels and distances: those parts depend on agents with label +1, who do not move, and on
theta. So the risk is a known number plus the mean of what the -1 agents add, and a random sample of
them gives an unbiased estimate of it, with an interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from gameproof.core.arguments import Vector, as_count, as_positive
from gameproof.strategic.adversary import ball_radius, best_flips, checked_intercept, checked_theta
from gameproof.strategic.robust_problem import StrategicProblem

# Enough for an interval of a few hundredths.
DEFAULT_QUERIES = 1000


@final
@dataclass(frozen=True)
class RiskEstimate:
    """The worst-case risk of a classifier: an estimate, and an interval that holds it with the
    confidence given. `alpha` is the best one for the classifier, `n_queries` the answers asked."""

    value: float
    low: float
    high: float
    confidence: float
    n_queries: int
    alpha: float

    def __str__(self) -> str:
        return (
            f"{self.value:.4g}, between {self.low:.4g} and {self.high:.4g} with "
            f"{100 * self.confidence:g} % confidence, from {self.n_queries} answers"
        )


def estimate_risk(
    problem: StrategicProblem,
    theta: ArrayLike,
    intercept: float | None = None,
    *,
    queries: int | None = None,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = None,
) -> RiskEstimate:
    """The worst-case risk of a deployed theta, from the answers of `queries` random agents with
    label -1, asked anew; by default of all of them, up to a thousand.

    It is the risk for these very people and the answers they give to this deployment: asking all of
    them leaves nothing uncertain. Otherwise the interval is Student's, for samples drawn without
    replacement; with fewer than some thirty answers, or scores with very heavy tails, take it as
    rough. The answers count, and the population's budget holds: nobody is asked beyond it.

    >>> import gameproof as gp
    >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
    >>> asked = gp.Population(X, y, gp.BlackBox(lambda theta, agents: X[agents] + 0.1 * theta))
    >>> problem = gp.StrategicProblem(asked, radius=0.1, label_cost=0.5)
    >>> risk = gp.estimate_risk(problem, [0.5, 0.5, 0.0, 0.0], queries=60, seed=0)
    >>> risk.low < risk.value < risk.high, risk.n_queries, asked.n_answers
    (True, 60, 60)
    """
    if problem.flips == "both":
        raise ValueError(
            "nobody moves where labels flip both ways: worst_case gives the risk itself"
        )
    deployed = checked_theta(problem, theta)
    offset = checked_intercept(problem, intercept)
    level = as_positive("confidence", confidence)
    if level >= 1:
        raise ValueError(f"confidence must be below 1, such as 0.95, got {confidence}")
    people, loss = problem.population, problem.loss
    negative = np.flatnonzero(people.y < 0)
    number = _number_asked(negative.size, queries)
    chosen = np.random.default_rng(seed).choice(negative, number, replace=False)
    known, alpha = _known_part(problem, deployed, offset)
    scores = people.scores(deployed, chosen) + offset
    added = people.weights[chosen] * loss.value(scores, np.full(number, -1.0))
    share = negative.size / people.n
    value = known + share * float(added.mean())
    half = share * _half_width(added, negative.size, level)
    return RiskEstimate(value, value - half, value + half, level, number, alpha)


def _number_asked(available: int, queries: int | None) -> int:
    if queries is None:
        return min(available, DEFAULT_QUERIES)
    number = as_count("queries", queries)
    if number > available:
        raise ValueError(f"there are {available} agents with label -1 to ask, not {number}")
    if number < min(2, available):
        raise ValueError("one answer gives no interval; ask at least 2")
    return number


def _known_part(problem: StrategicProblem, theta: Vector, offset: float) -> tuple[float, float]:
    """The worst-case risk less what the -1 agents add to it, and the best alpha."""
    people, loss = problem.population, problem.loss
    scores = np.where(people.y > 0, people.X @ theta + offset, 0.0)
    rate = (loss.K + loss.s) * problem.dual_length(theta)
    pull = loss.s * people.y * scores
    share, left, alpha = best_flips(problem, pull, rate, ball_radius(problem))
    terms = np.where(people.y > 0, loss.value(scores, people.y) + 2 * share * pull, 0.0)
    return float((people.weights * terms).mean()) + rate * left, alpha


def _half_width(added: Vector, available: int, confidence: float) -> float:
    """Half the interval of the mean over all, from a sample drawn without replacement."""
    number = added.size
    if number == available:
        return 0.0
    error = float(added.std(ddof=1)) * sqrt((1 - number / available) / number)
    return float(stdtrit(number - 1, (1 + confidence) / 2)) * error
