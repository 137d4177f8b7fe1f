"""The statements of `SqlLedger` that read facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    ScalarSelect,
    Select,
    Table,
    and_,
    exists,
    func,
    select,
)

from gameproof.live import schema
from gameproof.live.facts import (
    AnswerRow,
    Counts,
    DeploymentRow,
    EventRow,
    ExposureRow,
    QuestionRow,
    Status,
)
from gameproof.live.ledger import CLOCK_SKEW

DEPLOYMENTS = select(
    *(schema.deployment.c[name] for name in ("number", "theta", "theta_hash", "opened")),
    schema.closure.c.closed,
).outerjoin(schema.closure, schema.closure.c.deployment_id == schema.deployment.c.id)
QUESTIONS = select(
    schema.question.c.id,
    schema.deployment.c.number,
    schema.question.c.position,
    schema.question.c.attempt,
    schema.question.c.agent,
).join(schema.deployment, schema.deployment.c.id == schema.question.c.deployment_id)
IN_ORDER = (schema.deployment.c.number, schema.question.c.position, schema.question.c.attempt)
ANSWERS = select(
    *(
        schema.answer.c[name]
        for name in ("id", "question_id", "key", "body", "body_hash", "status", "told")
    )
).order_by(schema.answer.c.id)


def as_answer(row: Any) -> AnswerRow:
    """A row of `ANSWERS`."""
    number, question, key, body, body_hash, status, told = row
    return AnswerRow(number, question, key, body, body_hash, _STATUSES[status], told)


_STATUSES = {status.value: status for status in Status}


def deployment_id(study: int, number: int) -> Select[Any]:
    """The id of a deployment, which questions refer to."""
    return select(schema.deployment.c.id).where(
        schema.deployment.c.study_id == study, schema.deployment.c.number == number
    )


def deployments_of(connection: Connection, study: int, first: int = 0) -> list[DeploymentRow]:
    """The deployments from number `first` on."""
    own = (schema.deployment.c.study_id == study, schema.deployment.c.number >= first)
    rows = connection.execute(DEPLOYMENTS.where(*own).order_by(schema.deployment.c.number))
    return [DeploymentRow._make(row) for row in rows]


def newest_of(connection: Connection, study: int) -> DeploymentRow | None:
    """The newest deployment."""
    number = schema.deployment.c.number
    wanted = DEPLOYMENTS.where(schema.deployment.c.study_id == study).order_by(number.desc())
    row = connection.execute(wanted.limit(1)).first()
    return None if row is None else DeploymentRow._make(row)


def questions_of(
    connection: Connection, study: int, number: int | None = None
) -> list[QuestionRow]:
    """All questions, or those of one deployment."""
    wanted = QUESTIONS.order_by(*IN_ORDER)
    if number is None:
        wanted = wanted.where(schema.question.c.study_id == study)
    else:
        wanted = wanted.where(_at(study, number))
    return [QuestionRow._make(row) for row in connection.execute(wanted).all()]


def answers_of(connection: Connection, study: int, number: int | None = None) -> list[AnswerRow]:
    """All answers, or those to the questions of one deployment."""
    wanted = ANSWERS.where(schema.answer.c.study_id == study)
    if number is not None:
        asked = schema.question.c.id == schema.answer.c.question_id
        wanted = ANSWERS.join(schema.question, asked).where(_at(study, number))
    return [as_answer(row) for row in connection.execute(wanted).all()]


def exposures_of(
    connection: Connection, study: int, number: int | None = None
) -> list[ExposureRow]:
    """All exposures, or those of one deployment."""
    wanted = (
        select(schema.exposure.c.question_id, schema.exposure.c.holder, schema.exposure.c.shown)
        .join(schema.question, schema.question.c.id == schema.exposure.c.question_id)
        .where(schema.question.c.study_id == study if number is None else _at(study, number))
        .order_by(schema.exposure.c.id)
    )
    return [ExposureRow._make(row) for row in connection.execute(wanted).all()]


def events_of(
    connection: Connection, study: int, kinds: Sequence[str] | None = None
) -> list[EventRow]:
    """The events of a study, in order."""
    columns = [schema.event.c[name] for name in EventRow._fields]
    wanted = select(*columns).where(schema.event.c.study_id == study)
    if kinds is not None:
        wanted = wanted.where(schema.event.c.kind.in_(kinds))
    rows = connection.execute(wanted.order_by(schema.event.c.number))
    return [EventRow._make(row) for row in rows]


def _at(study: int, number: int) -> Any:
    """Belongs to a question of one deployment. Its id is looked up first, so that databases use
    the index of questions."""
    return schema.question.c.deployment_id == deployment_id(study, number).scalar_subquery()


def newest_id(study: Any) -> ScalarSelect[Any]:
    """The id of the newest deployment; NULL if there is none."""
    ids = select(func.max(schema.deployment.c.id)).where(schema.deployment.c.study_id == study)
    return ids.scalar_subquery()


def open_conditions() -> tuple[ColumnElement[bool], ...]:
    """What an open question without a counted answer fulfils."""
    own, later = schema.question, schema.question.alias("later")
    closed = exists().where(schema.closure.c.deployment_id == own.c.deployment_id)
    replaced = exists().where(
        later.c.deployment_id == own.c.deployment_id,
        later.c.position == own.c.position,
        later.c.attempt > own.c.attempt,
    )
    return ~closed, ~replaced, ~_has_answer(Status.COUNTED)


def _has_answer(status: Status) -> ColumnElement[bool]:
    return exists().where(
        schema.answer.c.question_id == schema.question.c.id, schema.answer.c.status == status.value
    )


def held_at(now: Any) -> ColumnElement[bool]:
    """The condition `is_held` for a lease."""
    return and_(schema.lease.c.granted <= now + CLOCK_SKEW, schema.lease.c.expires > now)


def _question_states() -> Select[Any]:
    not_closed, not_replaced, not_answered = open_conditions()
    is_open, is_free = and_(not_closed, not_replaced).label("open"), not_answered.label("free")
    return select(schema.question.c.id, is_open, is_free)


# Whether questions are open, and whether they have no counted answer.
QUESTION_STATES = _question_states()


def count_facts(connection: Connection, study: int, now: float) -> Counts:
    """How many facts of each kind there are."""

    def number(table: Table, *conditions: Any) -> int:
        wanted = select(func.count()).select_from(table).where(table.c.study_id == study)
        return int(connection.execute(wanted.where(*conditions)).scalar_one())

    status = schema.answer.c.status
    own = select(status, func.count()).where(schema.answer.c.study_id == study).group_by(status)
    by_status = dict.fromkeys(Status, 0) | {
        _STATUSES[each]: int(count) for each, count in connection.execute(own)
    }
    not_closed, not_replaced, not_answered = open_conditions()
    newest = schema.question.c.deployment_id == newest_id(study)
    pending = (newest, not_closed, not_replaced, not_answered)
    held = exists().where(schema.lease.c.question_id == schema.question.c.id, held_at(now))
    questions, waiting = number(schema.question), number(schema.question, *pending)
    replaced = number(schema.question, schema.question.c.attempt > 0)
    withdrawn = 0
    if by_status[Status.WITHDRAWN]:
        gone = (~not_closed, not_replaced, not_answered, _has_answer(Status.WITHDRAWN))
        withdrawn = number(schema.question, *gone)
    return Counts(
        deployments=number(schema.deployment),
        questions=questions,
        counted=by_status[Status.COUNTED],
        late=by_status[Status.LATE],
        conflicts=by_status[Status.CONFLICT],
        withdrawn=by_status[Status.WITHDRAWN],
        pending=waiting,
        leased=number(schema.question, *pending, held),
        replaced=replaced,
        # A question is answered, replaced, pending, withdrawn, or was closed without an answer.
        unanswered=questions - by_status[Status.COUNTED] - replaced - waiting - withdrawn,
    )
