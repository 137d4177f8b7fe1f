"""What the answers to one deployment show: its worst-case risk and its accuracy, with intervals.

People with label +1 do not move, so their part of the accuracy is known. People with label -1 are a
sample: the share of them whom the classifier refuses, after they moved, has Wilson's interval.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gameproof.auditing.intervals import mean_interval
from gameproof.live.facts import AnswerRow, DeploymentRow, QuestionRow
from gameproof.live.fold import read_classifier_bits, replies_by_position
from gameproof.strategic.inquiry import Replies
from gameproof.strategic.risk import risk_of_replies
from gameproof.strategic.robust_problem import StrategicProblem

CONFIDENCE = 0.95
FEWEST = 2


class Estimate(NamedTuple):
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


class DeploymentResult(NamedTuple):
    """The worst-case risk and the accuracy of a deployed classifier."""

    risk: Estimate
    accuracy: Estimate


def deployment_result(
    problem: StrategicProblem,
    row: DeploymentRow,
    questions: list[QuestionRow],
    used: list[AnswerRow],
    scores: bool,
) -> DeploymentResult | None:
    """What these answers show, at most one per question; None if there are fewer than two."""
    if len(used) < FEWEST:
        return None
    theta, intercept = read_classifier_bits(problem, row.theta)
    replies = replies_by_position(questions, used, None if scores else problem.population.d)
    risk = risk_of_replies(problem, theta, intercept, replies, CONFIDENCE)
    accuracy = _accuracy(problem, replies, replies.scores(theta) + intercept, theta, intercept)
    return DeploymentResult(Estimate(risk.value, risk.low, risk.high), accuracy)


def _accuracy(
    problem: StrategicProblem,
    replies: Replies,
    moved: np.ndarray,
    theta: np.ndarray,
    intercept: float,
) -> Estimate:
    """The share of all people whom the classifier decides correctly after they moved."""
    people = problem.population
    positive = people.y > 0
    weights = people.weights / people.weights.sum()
    accepted = people.X[positive] @ theta + intercept > 0
    known = float(weights[positive] @ accepted)
    share = float(weights[~positive].sum())
    refused = (moved <= 0).astype(np.float64)
    own = people.weights[replies.agents]
    low, high = mean_interval(refused, CONFIDENCE)
    middle = float(np.average(refused, weights=own if own.sum() > 0 else None))
    return Estimate(known + share * middle, known + share * low, known + share * high)
