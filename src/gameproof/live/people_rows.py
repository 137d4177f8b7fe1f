"""Who is asked at a deployment, and what became of each question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from gameproof.live.facts import AnswerRow, Status
from gameproof.live.ledger import Ledger

ANSWERED, WAITING, NOT_ASKED = "answered", "waiting", "not asked"
SILENT, LATE = "silent", "late"
STATES = (ANSWERED, WAITING, NOT_ASKED, SILENT, LATE)


class PersonAsked(NamedTuple):
    """One question."""

    question: int
    person: str
    position: int
    attempt: int
    state: str
    holder: str | None
    shown: float | None
    answer: int | None
    told: float | None


def people_rows(
    ledger: Ledger, study: int, deployment: int, person: Callable[[int], str]
) -> list[PersonAsked]:
    """The questions of a deployment, by position and attempt."""
    [row, *_] = ledger.deployments(study, deployment)
    questions = ledger.questions(study, deployment)
    newest = {question.position: question.id for question in questions}
    exposures = ledger.exposures(study, deployment)
    first_shown = {each.question: each for each in reversed(exposures)}
    answers: dict[int, AnswerRow] = {}
    for answer in ledger.answers(study, deployment):
        if answer.status in (Status.COUNTED, Status.LATE):
            known = answers.get(answer.question)
            if known is None or answer.status is Status.COUNTED:
                answers[answer.question] = answer
    found = []
    for question in questions:
        told, shown = answers.get(question.id), first_shown.get(question.id)
        is_open = row.closed is None and newest[question.position] == question.id
        if told is not None:
            state = ANSWERED if told.status is Status.COUNTED else LATE
        elif is_open:
            state = NOT_ASKED if shown is None else WAITING
        else:
            state = SILENT
        found.append(
            PersonAsked(
                question.id,
                person(question.agent),
                question.position,
                question.attempt,
                state,
                None if shown is None else shown.holder,
                None if shown is None else shown.shown,
                None if told is None else told.id,
                None if told is None else told.told,
            )
        )
    return found


def selected(
    rows: list[PersonAsked], state: str | None, search: str, offset: int, limit: int
) -> dict[str, Any]:
    """Some of the rows, and how many are in each state."""
    wanted = search.casefold()
    fitting = [
        row
        for row in rows
        if (state is None or row.state == state) and wanted in row.person.casefold()
    ]
    return {
        "counts": dict(Counter(row.state for row in rows)),
        "total": len(fitting),
        "people": [row._asdict() for row in fitting[offset : offset + limit]],
    }
