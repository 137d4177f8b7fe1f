"""Who is asked at a deployment, and what became of each question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, final

from gameproof.live.deployment_answers import one_per_question
from gameproof.live.facts import AnswerRow, Status
from gameproof.live.ledger import Ledger

PersonState = Literal["answered", "waiting", "not asked", "silent", "late"]


@final
@dataclass(frozen=True)
class PersonAsked:
    """A question of a deployment, and what became of it."""

    question: int
    person: str
    position: int
    attempt: int
    state: PersonState
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
    first_shown = {e.question: e for e in reversed(ledger.exposures(study, deployment))}
    answers = {a.question: a for a in one_per_question(ledger.answers(study, deployment))}
    found = []
    for question in questions:
        told, shown = answers.get(question.id), first_shown.get(question.id)
        is_open = row.closed is None and newest[question.position] == question.id
        asked = PersonAsked(
            question=question.id,
            person=person(question.agent),
            position=question.position,
            attempt=question.attempt,
            state=_state(told, shown is not None, is_open),
            holder=None if shown is None else shown.holder,
            shown=None if shown is None else shown.shown,
            answer=None if told is None else told.id,
            told=None if told is None else told.told,
        )
        found.append(asked)
    return found


def _state(told: AnswerRow | None, shown: bool, is_open: bool) -> PersonState:
    if told is not None:
        return "answered" if told.status is Status.COUNTED else "late"
    if not is_open:
        return "silent"
    return "waiting" if shown else "not asked"


def selected(
    rows: list[PersonAsked], state: PersonState | None, search: str, offset: int, limit: int
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
        "people": fitting[offset : offset + limit],
    }
