"""The facts of a study, as rows: what was deployed, who was asked, and what was answered.

Facts are never changed; everything else is derived from them. There are two exceptions. A lease is
advisory and may be replaced. An answer may be withdrawn: its status changes, and an event says so.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NamedTuple

from gameproof.core.errors import GameproofError


class Status(StrEnum):
    """What became of an answer.

    A question has at most one counted answer. A second one is a conflict. An answer to a closed
    question is late: it is used to learn and to audit, never to choose the next deployment.
    """

    COUNTED = "counted"
    LATE = "late"
    CONFLICT = "conflict"
    WITHDRAWN = "withdrawn"


class StudyRow(NamedTuple):
    """A study as it was created."""

    id: int
    name: str
    specification: str  # JSON
    fingerprint: str
    schema_version: int
    created: float


class DeploymentRow(NamedTuple):
    """A theta that was deployed, by exact bits."""

    number: int
    theta: bytes
    theta_hash: str
    opened: float
    closed: float | None


class QuestionRow(NamedTuple):
    """One person at one position of a deployment.

    If a silent person is replaced, the position gets another question with the next `attempt`.
    """

    id: int
    deployment: int
    position: int
    attempt: int
    agent: int


class AnswerRow(NamedTuple):
    """An answer as it was told."""

    id: int
    question: int
    key: str
    body: bytes
    body_hash: str
    status: Status
    told: float


class ExposureRow(NamedTuple):
    """Somebody who was shown a deployment."""

    question: int
    holder: str
    shown: float


class EventRow(NamedTuple):
    """A link of the study's hash chain."""

    number: int
    kind: str
    body: str  # JSON
    at: float
    hash: str


class Facts(NamedTuple):
    """All facts of a study at one moment."""

    deployments: list[DeploymentRow]
    questions: list[QuestionRow]
    answers: list[AnswerRow]
    exposures: list[ExposureRow]
    events: list[EventRow]


class AtDeployment(NamedTuple):
    """The questions of a deployment, and the answers to them."""

    questions: list[QuestionRow]
    answers: list[AnswerRow]


class Receipt(NamedTuple):
    """The reply to an answer; the same key and body give the same receipt again."""

    answer_id: int
    status: Status


class Counts(NamedTuple):
    """How many facts of each kind a study has."""

    deployments: int
    questions: int
    counted: int
    late: int
    conflicts: int
    withdrawn: int
    pending: int  # open questions without a counted answer
    leased: int  # pending questions that somebody holds
    replaced: int  # questions whose person was replaced
    unanswered: int  # questions of closed deployments that nobody answered or replaced in time


class LedgerError(GameproofError):
    """A ledger refused an operation; `code` is stable, the message says what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, str(self))


def by_deployment(
    questions: Iterable[QuestionRow], answers: Iterable[AnswerRow]
) -> defaultdict[int, AtDeployment]:
    """These questions, and the answers to them, by the number of their deployment."""
    found: defaultdict[int, AtDeployment] = defaultdict(lambda: AtDeployment([], []))
    deployment: dict[int, int] = {}
    for question in questions:
        deployment[question.id] = question.deployment
        found[question.deployment].questions.append(question)
    for answer in answers:
        if answer.question in deployment:
            found[deployment[answer.question]].answers.append(answer)
    return found


def digest(*parts: bytes | str) -> str:
    """A SHA-256 of parts whose boundaries count."""
    found = hashlib.sha256()
    for part in parts:
        encoded = part.encode() if isinstance(part, str) else part
        found.update(len(encoded).to_bytes(8, "little"))
        found.update(encoded)
    return found.hexdigest()
