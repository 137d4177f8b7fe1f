"""`verify`: compares every row of a study with its hash chain and names the rows that do not fit.

Leases are advisory and not part of the chain. What nobody can notice from inside the database is
that all of it was replaced by an earlier copy: compare the hash of the last event for that.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Self, final

from gameproof.live import chain
from gameproof.live.facts import (
    AnswerRow,
    DeploymentRow,
    EventRow,
    ExposureRow,
    QuestionRow,
    Status,
    StudyRow,
    digest,
)
from gameproof.live.ledger import Ledger


def verify(ledger: Ledger, study: StudyRow) -> list[str]:
    """Sentences that name every row that does not fit the chain; none if all is as it was."""
    deployments, questions, answers, exposures, events = ledger.facts(study.id)
    broken = _broken_links(events)
    # A changed event proves nothing about rows, and may not even be readable.
    recorded = _Recorded.by([event for event in events if event.number not in broken])
    place = {question.id: question.deployment for question in questions}
    return [
        *(f"event {number} was changed, or one before it was removed" for number in broken),
        *_changed_study(study, recorded),
        *_changed_deployments(deployments, recorded),
        *_changed_questions(questions, recorded),
        *_changed_answers(answers, place, recorded),
        *_changed_exposures(exposures, place, recorded),
    ]


@final
@dataclass
class _Recorded:
    """What the events of a study say about its rows."""

    study: tuple[str, float] | None = None
    deployed: dict[int, tuple[str, float]] = field(default_factory=dict)  # theta's digest, time
    closed: dict[int, float] = field(default_factory=dict)
    questions: dict[int, tuple[int, int, int, int]] = field(default_factory=dict)
    answers: dict[int, str] = field(default_factory=dict)
    counted: set[int] = field(default_factory=set)
    withdrawn: set[int] = field(default_factory=set)
    late: set[int] = field(default_factory=set)
    exposures: dict[int, str] = field(default_factory=dict)

    @classmethod
    def by(cls, events: list[EventRow]) -> Self:
        """Reads the events in order."""
        found = cls()
        for event in events:
            reader = getattr(found, f"_read_{event.kind}", None)
            if reader is not None:
                reader(json.loads(event.body), event)
        return found

    def _read_created(self, body: dict[str, Any], event: EventRow) -> None:
        self.study = (event.body, event.at)

    def _read_deployed(self, body: dict[str, Any], event: EventRow) -> None:
        number = body["deployment"]
        self.deployed[number] = (body["theta"], event.at)
        for position, (question, agent) in enumerate(body["questions"]):
            self.questions[question] = (number, position, 0, agent)

    def _read_replaced(self, body: dict[str, Any], event: EventRow) -> None:
        number, position, attempt, _ = self.questions.get(body["question"], (-1, -1, -1, -1))
        self.questions[body["new"]] = (number, position, attempt + 1, body["agent"])

    def _read_closed(self, body: dict[str, Any], event: EventRow) -> None:
        self.closed[body["deployment"]] = event.at
        self.counted |= set(body["counted"])
        self.answers |= {int(answer): value for answer, value in body["answers"].items()}
        self.exposures |= {int(q): value for q, value in body["exposures"].items()}

    def _read_late(self, body: dict[str, Any], event: EventRow) -> None:
        self.answers[body["answer"]] = body["digest"]
        self.late.add(body["answer"])

    def _read_withdrawn(self, body: dict[str, Any], event: EventRow) -> None:
        self.answers[body["answer"]] = body["digest"]
        self.withdrawn.add(body["answer"])


def _broken_links(events: list[EventRow]) -> list[int]:
    """The numbers of events that do not follow from the one before."""
    found: list[int] = []
    previous = None
    for event in events:
        if event != chain.linked(previous, event.kind, event.body, event.at):
            found.append(event.number)
        previous = event
    return found


def _changed_study(study: StudyRow, recorded: _Recorded) -> list[str]:
    if recorded.study == (chain.created_body(study), study.created):
        return []
    return [f"the specification of study {study.name!r} was changed"]


def _changed_deployments(rows: list[DeploymentRow], recorded: _Recorded) -> list[str]:
    found = _missing("deployment", recorded.deployed, [row.number for row in rows])
    for row in rows:
        theta, opened = recorded.deployed.get(row.number, ("", 0.0))
        if {theta} != {row.theta_hash, digest(row.theta)} or opened != row.opened:
            found.append(f"deployment {row.number} was changed: its theta or its time")
        if row.closed != recorded.closed.get(row.number):
            found.append(f"deployment {row.number} was changed: whether it is closed, or when")
    return found


def _changed_questions(rows: list[QuestionRow], recorded: _Recorded) -> list[str]:
    found = _missing("question", recorded.questions, [row.id for row in rows])
    return found + [
        f"question {row.id} was changed: its person or its place"
        for row in rows
        if recorded.questions.get(row.id) != tuple(row[1:])
    ]


def _changed_answers(
    rows: list[AnswerRow], deployment: dict[int, int], recorded: _Recorded
) -> list[str]:
    found = _missing("answer", recorded.answers, [row.id for row in rows])
    for row in rows:
        known = recorded.answers.get(row.id)
        settled = row.status is Status.LATE or deployment.get(row.question) in recorded.closed
        if settled and known is None:
            found.append(f"answer {row.id} was added: no event records it")
        elif digest(row.body) != row.body_hash or known not in (None, chain.answer_digest(row)):
            found.append(f"answer {row.id} was changed")
        elif not _status_fits(row, settled, recorded):
            found.append(f"answer {row.id} was changed: it is {row.status.value}")
    return found


def _status_fits(row: AnswerRow, settled: bool, recorded: _Recorded) -> bool:
    if (row.status is Status.WITHDRAWN) or row.id in recorded.withdrawn:
        return row.status is Status.WITHDRAWN and row.id in recorded.withdrawn
    if (row.status is Status.LATE) != (row.id in recorded.late):
        return False
    return not settled or (row.status is Status.COUNTED) == (row.id in recorded.counted)


def _changed_exposures(
    rows: list[ExposureRow], deployment: dict[int, int], recorded: _Recorded
) -> list[str]:
    """Exposures join the chain when their deployment closes."""
    shown: defaultdict[int, str] = defaultdict(str)
    closed = [row for row in rows if deployment.get(row.question) in recorded.closed]
    shown.update({int(q): value for q, value in chain.exposure_digests(closed).items()})
    return [
        f"an exposure of question {question} was changed, added or removed"
        for question in sorted({*shown, *recorded.exposures})
        if shown[question] != recorded.exposures.get(question)
    ]


def _missing(what: str, recorded: Any, present: list[int]) -> list[str]:
    return [f"{what} {each} is missing" for each in sorted(set(recorded) - set(present))]
