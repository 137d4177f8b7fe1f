"""What people answered to closed deployments, late answers included.

A person has one answer to a deployment: the counted one, or else the first late one. Withdrawn
answers are left out. So this depends on the facts alone, and not on when they are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gameproof.core.arguments import Vector
from gameproof.live.facts import AnswerRow, DeploymentRow, QuestionRow, Status
from gameproof.live.fold import read_classifier_bits, replies_by_position
from gameproof.live.ledger import Ledger
from gameproof.live.specification import Specification
from gameproof.strategic.inquiry import Replies


class ToldAt(NamedTuple):
    """A deployed classifier and the answers to it."""

    number: int
    theta: Vector
    intercept: float
    replies: Replies


def told_at(
    ledger: Ledger, study: int, specification: Specification, row: DeploymentRow
) -> ToldAt | None:
    """The answers to one deployment; None if there are none."""
    answers = ledger.answers(study, row.number)  # before the questions, so that none is missing
    questions = ledger.questions(study, row.number)
    return told(specification, row, questions, answers)


def told(
    specification: Specification,
    row: DeploymentRow,
    questions: Sequence[QuestionRow],
    answers: Sequence[AnswerRow],
) -> ToldAt | None:
    """The same from rows that were read already."""
    used = one_per_question(answers)
    if not used:
        return None
    problem = specification.problem
    theta, intercept = read_classifier_bits(problem, row.theta)
    width = None if specification.sees_scores else problem.population.d
    return ToldAt(row.number, theta, intercept, replies_by_position(questions, used, width))


def one_per_question(answers: Sequence[AnswerRow]) -> list[AnswerRow]:
    """The counted answer of each question, or else its first late one."""
    found = {a.question: a for a in reversed(answers) if a.status is Status.LATE}
    found |= {a.question: a for a in answers if a.status is Status.COUNTED}
    return list(found.values())
