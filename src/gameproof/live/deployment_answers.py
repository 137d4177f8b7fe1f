"""What people answered to one deployment, late answers included, and what that shows.

A person has one answer to a deployment: the counted one, or else the first late one. Withdrawn
answers are left out. So this depends on the facts alone, and not on when they are looked at.

People with label +1 do not move, so their part of the accuracy is known. People with label -1 are a
sample: the share of them whom the classifier refuses, after they moved, has Wilson's interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gameproof.auditing.intervals import mean_interval
from gameproof.core.arguments import Vector
from gameproof.live.facts import AnswerRow, DeploymentRow, QuestionRow, Status
from gameproof.live.ledger import Ledger
from gameproof.live.row_contents import read_classifier_bits, replies_by_position
from gameproof.live.specification import Specification
from gameproof.strategic.inquiry import Replies
from gameproof.strategic.risk import RiskEstimate, risk_of_replies
from gameproof.strategic.robust_problem import StrategicProblem

CONFIDENCE = 0.95
# Fewer answers have no interval.
FEWEST = 2


class DeploymentAnswers(NamedTuple):
    """A deployed classifier and the answers to it."""

    number: int
    theta: Vector
    intercept: float
    replies: Replies


class Accuracy(NamedTuple):
    """The share of people whom a classifier decides correctly, with its 95 % interval."""

    value: float
    low: float
    high: float


def read_answers(
    ledger: Ledger, study: int, specification: Specification, row: DeploymentRow
) -> DeploymentAnswers | None:
    """The answers to one deployment; None if there are none."""
    answers = ledger.answers(study, row.number)  # before the questions, so that none is missing
    questions = ledger.questions(study, row.number)
    return deployment_answers(specification, row, questions, answers)


def deployment_answers(
    specification: Specification,
    row: DeploymentRow,
    questions: Sequence[QuestionRow],
    answers: Sequence[AnswerRow],
) -> DeploymentAnswers | None:
    """The same from rows that were read already."""
    used = one_per_question(answers)
    if not used:
        return None
    problem = specification.problem
    theta, intercept = read_classifier_bits(problem, row.theta)
    width = None if specification.sees_scores else problem.population.d
    replies = replies_by_position(questions, used, width)
    return DeploymentAnswers(row.number, theta, intercept, replies)


def one_per_question(answers: Sequence[AnswerRow]) -> list[AnswerRow]:
    """The counted answer of each question, or else its first late one."""
    found = {a.question: a for a in reversed(answers) if a.status is Status.LATE}
    found |= {a.question: a for a in answers if a.status is Status.COUNTED}
    return list(found.values())


def risk_by(problem: StrategicProblem, found: DeploymentAnswers | None) -> RiskEstimate | None:
    """The worst-case risk by these answers; None if they are too few."""
    if found is None or found.replies.agents.size < FEWEST:
        return None
    return risk_of_replies(problem, found.theta, found.intercept, found.replies, CONFIDENCE)


def accuracy_by(problem: StrategicProblem, found: DeploymentAnswers | None) -> Accuracy | None:
    """The accuracy after people moved, by these answers; None if they are too few."""
    if found is None or found.replies.agents.size < FEWEST:
        return None
    people = problem.population
    positive = people.y > 0
    weights = people.weights / people.weights.sum()
    accepted = people.X[positive] @ found.theta + found.intercept > 0
    known = float(weights[positive] @ accepted)
    share = float(weights[~positive].sum())
    refused = (found.replies.scores(found.theta) + found.intercept <= 0).astype(np.float64)
    own = people.weights[found.replies.agents]
    middle = float(np.average(refused, weights=own if own.sum() > 0 else None))
    ends = mean_interval(refused, CONFIDENCE)
    return Accuracy(*(known + share * value for value in (middle, *ends)))
