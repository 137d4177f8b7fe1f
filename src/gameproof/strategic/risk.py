"""The worst-case risk of people who can only be asked, estimated from fresh answers.

An agent with label -1 adds phi(z_i) + s z_i to the worst-case risk, whatever the adversary does:
flips and moves depend only on agents with label +1, who do not move, and on theta. So the risk is a
known number, a sum over blocks of rows (`risk_of_others`), plus the mean of what the agents with
label -1 add, and a random sample of them gives an unbiased estimate with a confidence interval.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from gameproof.core.arguments import Vector, as_count, as_positive
from gameproof.core.errors import warn
from gameproof.strategic.adversary import as_intercept, as_theta
from gameproof.strategic.inquiry import Deployment, Inquiry, Replies, ask_now
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.worst_case_risk import risk_of_others

# Enough for an interval of a few hundredths.
DEFAULT_QUERIES = 1000


@final
@dataclass(frozen=True)
class RiskEstimate:
    """An estimate of the worst-case risk of a classifier, with a confidence interval.

    `estimate_risk` returns it.

    Attributes
    ----------
    value : float
        The estimate.
    low, high : float
        The ends of the interval.
    confidence : float
        The probability with which the interval contains the risk.
    n_queries : int
        The number of answers asked for.
    alpha : float
        The best alpha for the classifier.

    Examples
    --------
    >>> print(RiskEstimate(0.4, 0.35, 0.45, 0.95, 60, 1.0))
    0.4, between 0.35 and 0.45 with 95 % confidence, from 60 answers
    """

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
    """Estimates the worst-case risk of a deployed theta from fresh answers.

    The risk is that of these very people and their answers to this deployment: if all of them are
    asked, nothing is uncertain. Otherwise the interval is Student's, for a sample without
    replacement. It is rough with fewer than about thirty answers, and for scores with very heavy
    tails. Answers count toward the population's budget, and nobody is asked beyond it.

    Parameters
    ----------
    problem : StrategicProblem
        The agents, the loss and the adversary.
    theta : array-like of shape (d,)
        The coefficients to deploy.
    intercept : float, optional
        The intercept; required if the problem has one.
    queries : int, optional
        The number of agents with label -1 to ask, chosen at random. By default all, but at most
        1000.
    confidence : float, default=0.95
        The confidence of the interval; between 0 and 1.
    seed : int, Generator or None, default=None
        The source of randomness.

    Returns
    -------
    RiskEstimate
        The estimate and its interval.

    Raises
    ------
    ValueError
        If an argument is out of range, or labels flip both ways.
    BudgetExceeded
        If the population's budget does not allow the queries.
    AnswerError
        If people give invalid answers.

    Examples
    --------
    >>> import gameproof as gp
    >>> X = np.random.default_rng(0).standard_normal((300, 4))
    >>> y = np.where(X[:, 0] > 0, 1, -1)
    >>> asked = gp.Population(X, y, gp.BlackBox(lambda theta, agents: X[agents] + 0.1 * theta))
    >>> problem = gp.StrategicProblem(asked, radius=0.1, label_cost=0.5)
    >>> risk = gp.estimate_risk(problem, [0.5, 0.5, 0.0, 0.0], queries=60, seed=0)
    >>> risk.low < risk.value < risk.high, risk.n_queries, asked.n_answers
    (True, 60, 60)
    """
    inquiry = risk_inquiry(problem, theta, intercept, queries, confidence, seed)
    return ask_now(inquiry, problem.population)


def risk_inquiry(
    problem: StrategicProblem,
    theta: ArrayLike,
    intercept: float | None,
    queries: int | None,
    confidence: float,
    seed: int | np.random.Generator | None,
) -> Inquiry[RiskEstimate]:
    """`estimate_risk` as an inquiry."""
    if problem.flips == "both":
        raise ValueError(
            "nobody moves if labels flip both ways, so there is nothing to estimate: use worst_case"
        )
    deployed = as_theta(problem, theta)
    offset = as_intercept(problem, intercept)
    level = as_positive("confidence", confidence)
    if level >= 1:
        raise ValueError(f"confidence must be below 1, such as 0.95, got {confidence}")
    people = problem.population
    number = _number_asked(people.n_movers, queries)
    if seed is None and people.journal is not None and number < people.n_movers:
        warn(
            "without a seed every estimate asks different people, so a restarted program cannot "
            "find its answers in the journal; pass seed="
        )
    chosen = np.random.default_rng(seed).choice(people.movers, number, replace=False)
    replies = yield Deployment(deployed, chosen, offset)
    return risk_of_replies(problem, deployed, offset, replies, level)


def risk_of_replies(
    problem: StrategicProblem, theta: Vector, offset: float, replies: Replies, confidence: float
) -> RiskEstimate:
    """The worst-case risk of a deployed theta, from the answers of a random sample."""
    value, error, alpha = sampled_risk(problem, theta, offset, replies)
    number, half = replies.agents.size, error
    if 0 < error < np.inf:
        half *= float(stdtrit(number - 1, (1 + confidence) / 2))
    return RiskEstimate(value, value - half, value + half, confidence, number, alpha)


def sampled_risk(
    problem: StrategicProblem, theta: Vector, offset: float, replies: Replies
) -> tuple[float, float, float]:
    """The worst-case risk of a deployed theta from the answers of a random sample without
    replacement, its standard error, and the best alpha.

    The error is 0 if everybody was asked, and infinite for one of several."""
    people, number = problem.population, replies.agents.size
    available = people.n_movers
    known, alpha = risk_of_others(problem, theta, offset)
    losses = problem.loss.value(replies.scores(theta) + offset, np.full(number, -1.0))
    added, share, error = people.weights[replies.agents] * losses, available / people.n, 0.0
    if number < available:
        spread = float(added.std(ddof=1)) if number > 1 else np.inf
        error = share * spread * sqrt((1 - number / available) / number)
    return known + share * float(added.mean()), error, alpha


def known_risk(problem: StrategicProblem, theta: Vector, offset: float) -> RiskEstimate:
    """The worst-case risk of a theta to which nobody responds, theta = 0."""
    people = problem.population
    everybody = Replies(people.movers, people.X[people.movers] @ theta)
    found = risk_of_replies(problem, theta, offset, everybody, confidence=0.95)
    return replace(found, n_queries=0)


def _number_asked(available: int, queries: int | None) -> int:
    if queries is None:
        return min(available, DEFAULT_QUERIES)
    number = as_count("queries", queries)
    if number > available:
        raise ValueError(f"there are {available} agents with label -1 to ask, not {number}")
    if number < min(2, available):
        raise ValueError("one answer gives no interval; ask at least 2")
    return number
