"""The hash chain of a study: a changed row no longer fits the events that recorded it.

Each event hashes the one before it, so events cannot be changed, dropped or reordered unnoticed.
The body of an event holds the facts that it records, or digests of them:

- *created*: the study;
- *deployed*: theta and all questions; *replaced*: the question to somebody else;
- *closed*: the answers and exposures of the deployment, and which answers were used;
- *late*: an answer that arrived too late; *withdrawn*: an answer and why it was withdrawn.

Tellers only insert: the answers of the open deployment join the chain when it closes. Until then
each of them has only its own hash.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from gameproof.live.facts import (
    AnswerRow,
    EventRow,
    ExposureRow,
    QuestionRow,
    StudyRow,
    digest,
)

CREATED, DEPLOYED, CLOSED = "created", "deployed", "closed"
REPLACED, LATE, WITHDRAWN = "replaced", "late", "withdrawn"


def as_json(body: dict[str, Any]) -> str:
    """The one text of a body, whatever the order of its keys."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"))


def linked(previous: EventRow | None, kind: str, body: str, at: float) -> EventRow:
    """The event that follows `previous`."""
    number = 0 if previous is None else previous.number + 1
    before = "" if previous is None else previous.hash
    return EventRow(number, kind, body, at, digest(before, str(number), kind, body, repr(at)))


def created_body(study: StudyRow) -> str:
    """What the first event records."""
    return as_json(
        {
            "name": study.name,
            "specification": digest(study.specification),
            "data": study.fingerprint,
            "schema": study.schema_version,
        }
    )


def deployed_body(number: int, theta: bytes, questions: Iterable[QuestionRow]) -> str:
    """What the event of a new deployment records: theta, and the questions by position."""
    asked = [[question.id, question.agent] for question in questions]
    return as_json({"deployment": number, "theta": digest(theta), "questions": asked})


def replaced_body(old: QuestionRow, new: QuestionRow) -> str:
    """What the event of a replaced person records."""
    return as_json({"question": old.id, "new": new.id, "agent": new.agent})


def closed_body(
    number: int,
    counted: Sequence[int],
    answers: Iterable[AnswerRow],
    exposures: Iterable[ExposureRow],
) -> str:
    """What the event of a closed deployment records: its answers, the ids of those that it used,
    and who was shown its questions."""
    return as_json(
        {
            "deployment": number,
            "counted": sorted(int(answer) for answer in counted),
            "answers": {str(answer.id): answer_digest(answer) for answer in answers},
            "exposures": exposure_digests(exposures),
        }
    )


def late_body(answer: AnswerRow) -> str:
    """What the event of a late answer records."""
    return as_json({"answer": answer.id, "digest": answer_digest(answer)})


def withdrawn_body(answer: AnswerRow, reason: str) -> str:
    """What the event of a withdrawal records."""
    return as_json({"answer": answer.id, "digest": answer_digest(answer), "reason": reason})


def answer_digest(answer: AnswerRow) -> str:
    """What identifies an answer. The status is left out: a withdrawal changes it."""
    return digest(str(answer.question), answer.key, answer.body, repr(answer.told))


def exposure_digests(exposures: Iterable[ExposureRow]) -> dict[str, str]:
    """For each question, what identifies those who were shown it."""
    shown: dict[int, list[str]] = {}
    for row in exposures:
        shown.setdefault(row.question, []).append(digest(row.holder, repr(row.shown)))
    return {str(question): digest(*sorted(rows)) for question, rows in shown.items()}
