"""The hash chain of a study: a changed row no longer fits the events that recorded it.

Each event hashes the one before it, so events cannot be changed, dropped or reordered unnoticed.
The body of an event holds digests of the facts that it records. Answers are recorded when their
deployment closes, late ones when the next deployment does; until then a changed answer is not
noticed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from gameproof.live.facts import (
    AnswerRow,
    DeploymentRow,
    EventRow,
    QuestionRow,
    Status,
    StudyRow,
    digest,
)
from gameproof.live.ledger import Ledger

CREATED, DEPLOYED, CLOSED = "created", "deployed", "closed"
REPLACED, WITHDRAWN = "replaced", "withdrawn"


def as_json(body: dict[str, Any]) -> str:
    """The one text of a body, whatever the order of its keys."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"))


def linked(previous: EventRow | None, kind: str, body: str, at: float) -> EventRow:
    """The event that follows `previous`."""
    number = 0 if previous is None else previous.number + 1
    before = "" if previous is None else previous.hash
    return EventRow(number, kind, body, at, digest(before, str(number), kind, body, repr(at)))


def created_body(name: str, specification: str, fingerprint: str) -> str:
    """What the first event records."""
    return as_json({"name": name, "specification": digest(specification), "data": fingerprint})


def deployed_body(number: int, theta: bytes, agents: Sequence[int]) -> str:
    """What the event of a new deployment records."""
    whom = [int(agent) for agent in agents]
    return as_json({"deployment": number, "theta": digest(theta), "agents": whom})


def closed_body(number: int, counted: Sequence[int], answers: Iterable[AnswerRow]) -> str:
    """What the event of a closed deployment records: the answers it used, and all new answers."""
    digests = {str(answer.id): answer_digest(answer) for answer in answers}
    used = sorted(int(answer) for answer in counted)
    return as_json({"deployment": number, "counted": used, "answers": digests})


def replaced_body(question: QuestionRow, agent: int) -> str:
    """What the event of a replaced person records."""
    return as_json({"question": question.id, "agent": int(agent)})


def withdrawn_body(answer: int, reason: str) -> str:
    """What the event of a withdrawal records."""
    return as_json({"answer": int(answer), "reason": reason})


def answer_digest(answer: AnswerRow) -> str:
    """What identifies an answer. The status is left out: a withdrawal changes it."""
    return digest(str(answer.question), answer.key, answer.body, repr(answer.told))


def verify(ledger: Ledger, study: StudyRow) -> list[str]:
    """Sentences that name every row that does not fit the chain; none if all is as it was."""
    events = ledger.events(study.id)
    broken = _broken_links(events)
    # A changed event proves nothing about rows, and may not even be readable.
    bodies = [(e.kind, json.loads(e.body)) for e in events if e.number not in broken]
    return [
        *(f"event {number} was changed, or one before it was removed" for number in broken),
        *_changed_study(study, bodies),
        *_changed_deployments(ledger.deployments(study.id), ledger.questions(study.id), bodies),
        *_changed_answers(ledger.answers(study.id), bodies),
    ]


Bodies = list[tuple[str, dict[str, Any]]]


def _broken_links(events: list[EventRow]) -> list[int]:
    """The numbers of events that do not follow from the one before."""
    found: list[int] = []
    previous = None
    for event in events:
        if event != linked(previous, event.kind, event.body, event.at):
            found.append(event.number)
        previous = event
    return found


def _changed_study(study: StudyRow, bodies: Bodies) -> list[str]:
    expected = created_body(study.name, study.specification, study.fingerprint)
    if bodies and bodies[0] == (CREATED, json.loads(expected)):
        return []
    return [f"the specification of study {study.name!r} was changed"]


def _changed_deployments(
    deployments: list[DeploymentRow], questions: list[QuestionRow], bodies: Bodies
) -> list[str]:
    recorded = {body["deployment"]: body for kind, body in bodies if kind == DEPLOYED}
    found = [f"deployment {number} is missing" for number in _missing(recorded, deployments)]
    for row in deployments:
        first = [q.agent for q in questions if q.deployment == row.number and q.attempt == 0]
        body = deployed_body(row.number, row.theta, first)
        if recorded.get(row.number) != json.loads(body):
            found.append(f"deployment {row.number} was changed: its theta or whom it asks")
    return found + _changed_replacements(questions, bodies)


def _changed_replacements(questions: list[QuestionRow], bodies: Bodies) -> list[str]:
    replaced = {body["question"]: body["agent"] for kind, body in bodies if kind == REPLACED}
    by_place = {(q.deployment, q.position, q.attempt): q for q in questions}
    found = []
    for row in questions:
        before = by_place.get((row.deployment, row.position, row.attempt - 1))
        if row.attempt > 0 and (before is None or replaced.get(before.id) != row.agent):
            found.append(f"question {row.id} was changed: nobody was replaced by {row.agent}")
    return found


def _missing(recorded: dict[int, Any], deployments: list[DeploymentRow]) -> list[int]:
    return sorted(set(recorded) - {row.number for row in deployments})


def _changed_answers(answers: list[AnswerRow], bodies: Bodies) -> list[str]:
    digests: dict[int, str] = {}
    counted: set[int] = set()
    withdrawn = {body["answer"] for kind, body in bodies if kind == WITHDRAWN}
    for kind, body in bodies:
        if kind == CLOSED:
            digests |= {int(answer): value for answer, value in body["answers"].items()}
            counted |= set(body["counted"])
    present = {answer.id: answer for answer in answers}
    found = [f"answer {answer} is missing" for answer in sorted(set(digests) - set(present))]
    for row in answers:
        if row.id in digests and answer_digest(row) != digests[row.id]:
            found.append(f"answer {row.id} was changed")
        if (row.status == Status.WITHDRAWN) != (row.id in withdrawn):
            found.append(f"answer {row.id} was changed: no event records its withdrawal")
        used = row.id in counted and row.id not in withdrawn
        if row.id in digests and used != (row.status == Status.COUNTED):
            found.append(f"answer {row.id} was changed: it is {row.status.value}")
    return found
