"""The statements of `SqlLedger`, each inside a transaction of its caller."""

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
from sqlalchemy.dialects import postgresql, sqlite

from gameproof.live import chain, schema
from gameproof.live.facts import AnswerRow, Counts, EventRow, QuestionRow, Status, digest
from gameproof.live.ledger import NextDeployment
from gameproof.live.refusals import unknown_question

QUESTIONS = select(
    schema.question.c.id,
    schema.deployment.c.number,
    schema.question.c.position,
    schema.question.c.attempt,
    schema.question.c.agent,
).join(schema.deployment, schema.deployment.c.id == schema.question.c.deployment_id)
IN_ORDER = (schema.deployment.c.number, schema.question.c.position, schema.question.c.attempt)
ANSWERS = select(
    schema.answer.c.id,
    schema.answer.c.question_id,
    schema.answer.c.key,
    schema.answer.c.body,
    schema.answer.c.status,
    schema.answer.c.told,
).order_by(schema.answer.c.id)


def as_answer(row: Any) -> AnswerRow:
    """A row of `ANSWERS`."""
    return AnswerRow(row.id, row.question_id, row.key, row.body, Status(row.status), row.told)


def insert(connection: Connection, table: Table, values: dict[str, Any]) -> int:
    """Inserts a row and returns its id."""
    found = connection.execute(table.insert().values(values)).inserted_primary_key
    assert found is not None
    return int(found[0])


# --- questions


def question_row(connection: Connection, study: int, question: int) -> QuestionRow:
    """A question of this study. Raises if there is none of this id."""
    own = and_(schema.question.c.study_id == study, schema.question.c.id == question)
    row = connection.execute(QUESTIONS.where(own)).first()
    if row is None:
        raise unknown_question(question)
    return QuestionRow._make(row)


def insert_question(connection: Connection, study: int, row: QuestionRow) -> QuestionRow:
    """Inserts a question; its id is a new one."""
    values = {
        "study_id": study,
        "deployment_id": _deployment_id(study, row.deployment).scalar_subquery(),
        "position": row.position,
        "attempt": row.attempt,
        "agent": row.agent,
    }
    return row._replace(id=insert(connection, schema.question, values))


def open_conditions() -> tuple[ColumnElement[bool], ...]:
    """What an open question without a counted answer fulfils."""
    own, later = schema.question, schema.question.alias("later")
    closed = exists().where(schema.closure.c.deployment_id == own.c.deployment_id)
    replaced = exists().where(
        later.c.deployment_id == own.c.deployment_id,
        later.c.position == own.c.position,
        later.c.attempt > own.c.attempt,
    )
    answered = exists().where(
        schema.answer.c.question_id == own.c.id, schema.answer.c.status == Status.COUNTED.value
    )
    return ~closed, ~replaced, ~answered


def status_of_new(connection: Connection, study: int, row: QuestionRow) -> Status:
    """What an answer to this question would count for."""
    not_closed, not_replaced, not_answered = open_conditions()
    found = connection.execute(
        select(and_(not_closed, not_replaced).label("open"), not_answered.label("free"))
        .select_from(schema.question)
        .where(schema.question.c.study_id == study, schema.question.c.id == row.id)
    ).one()
    if not found.open:
        return Status.LATE
    return Status.COUNTED if found.free else Status.CONFLICT


def hold(
    connection: Connection, questions: Sequence[int], holder: str, until: float, now: float
) -> None:
    """Leases questions to `holder` and records that it was shown them."""
    dialect = {"sqlite": sqlite, "postgresql": postgresql}[connection.dialect.name]
    leases = dialect.insert(schema.lease).values(
        [{"question_id": q, "holder": holder, "expires": until} for q in questions]
    )
    connection.execute(
        leases.on_conflict_do_update(
            index_elements=["question_id"],
            set_={"holder": leases.excluded.holder, "expires": leases.excluded.expires},
        )
    )
    shown = [{"question_id": q, "holder": holder, "shown": now} for q in questions]
    connection.execute(dialect.insert(schema.exposure).values(shown).on_conflict_do_nothing())


# --- deployments


def newest_number(study: int) -> ScalarSelect[Any]:
    """The number of the newest deployment; NULL if there is none."""
    numbers = select(func.max(schema.deployment.c.number))
    return numbers.where(schema.deployment.c.study_id == study).scalar_subquery()


def _deployment_id(study: int, number: int) -> Select[Any]:
    return select(schema.deployment.c.id).where(
        schema.deployment.c.study_id == study, schema.deployment.c.number == number
    )


def lock_deployment(connection: Connection, study: int, number: int, alone: bool) -> int:
    """Locks a deployment until the end of the transaction, alone or together with tellers, and
    returns its id. SQLite has locked the whole database already."""
    wanted = _deployment_id(study, number)
    wanted = wanted.with_for_update(key_share=True) if alone else wanted.with_for_update(read=True)
    return int(connection.execute(wanted).scalar_one())


def is_closed(connection: Connection, deployment_id: int) -> bool:
    """Whether a deployment is closed."""
    wanted = select(exists().where(schema.closure.c.deployment_id == deployment_id))
    return bool(connection.scalar(wanted))


def counted_answers(connection: Connection, deployment_id: int) -> list[int]:
    """The ids of the counted answers to a deployment, sorted."""
    rows = connection.scalars(
        select(schema.answer.c.id)
        .join(schema.question, schema.question.c.id == schema.answer.c.question_id)
        .where(
            schema.question.c.deployment_id == deployment_id,
            schema.answer.c.status == Status.COUNTED.value,
        )
        .order_by(schema.answer.c.id)
    )
    return [int(each) for each in rows]


def record_closing(
    connection: Connection, study: int, number: int, counted: Sequence[int], now: float
) -> None:
    """Adds the event of a closed deployment, which records all answers that no event holds yet."""
    unrecorded = ~exists().where(schema.recorded.c.answer_id == schema.answer.c.id)
    rows = connection.execute(ANSWERS.where(schema.answer.c.study_id == study, unrecorded))
    new = [as_answer(row) for row in rows]
    event = log(connection, study, chain.CLOSED, chain.closed_body(number, counted, new), now)
    if new:
        connection.execute(
            schema.recorded.insert(),
            [{"answer_id": row.id, "event_number": event.number} for row in new],
        )


def open_deployment(
    connection: Connection, study: int, number: int, opening: NextDeployment, now: float
) -> None:
    """Inserts a deployment, its questions and its event."""
    values = {
        "study_id": study,
        "number": number,
        "theta": opening.theta,
        "theta_hash": digest(opening.theta),
        "opened": float(now),
    }
    deployment_id = insert(connection, schema.deployment, values)
    place = {"study_id": study, "deployment_id": deployment_id, "attempt": 0}
    whom = [{**place, "position": k, "agent": int(a)} for k, a in enumerate(opening.agents)]
    if whom:
        connection.execute(schema.question.insert(), whom)
    body = chain.deployed_body(number, opening.theta, opening.agents)
    log(connection, study, chain.DEPLOYED, body, now)


# --- counts


def count_facts(connection: Connection, study: int, now: float) -> Counts:
    """How many facts of each kind there are."""

    def number(table: Table, *conditions: Any) -> int:
        own = table.c.study_id == study
        wanted = select(func.count()).select_from(table).where(own, *conditions)
        return int(connection.execute(wanted).scalar_one())

    answer = schema.answer.c
    by_status: dict[str, int] = {
        str(status): int(count)
        for status, count in connection.execute(
            select(answer.status, func.count())
            .where(answer.study_id == study)
            .group_by(answer.status)
        )
    }
    held = exists().where(
        schema.lease.c.question_id == schema.question.c.id, schema.lease.c.expires > now
    )
    not_closed, not_replaced, not_answered = open_conditions()
    newest = schema.question.c.deployment_id == (
        select(func.max(schema.deployment.c.id))
        .where(schema.deployment.c.study_id == study)
        .scalar_subquery()
    )
    pending = (newest, not_closed, not_replaced, not_answered)
    questions = number(schema.question)
    replaced = number(schema.question, schema.question.c.attempt > 0)
    waiting = number(schema.question, *pending)
    counted = by_status.get(Status.COUNTED.value, 0)
    return Counts(
        deployments=number(schema.deployment),
        questions=questions,
        counted=counted,
        late=by_status.get(Status.LATE.value, 0),
        conflicts=by_status.get(Status.CONFLICT.value, 0),
        withdrawn=by_status.get(Status.WITHDRAWN.value, 0),
        pending=waiting,
        leased=number(schema.question, *pending, held),
        replaced=replaced,
        # A question is answered, replaced, pending, or it was closed without an answer.
        unanswered=questions - counted - replaced - waiting,
    )


# --- events


def events_of(study: int) -> Select[Any]:
    """The events of a study, in no order."""
    columns = (schema.event.c[name] for name in EventRow._fields)
    return select(*columns).where(schema.event.c.study_id == study)


def log(connection: Connection, study: int, kind: str, body: str, now: float) -> EventRow:
    """Adds an event to the chain, whose end it locks."""
    own = schema.study.c.id == study
    connection.execute(select(schema.study.c.id).where(own).with_for_update(key_share=True))
    newest = events_of(study).order_by(schema.event.c.number.desc()).limit(1)
    last = connection.execute(newest).first()
    event = chain.linked(None if last is None else EventRow._make(last), kind, body, float(now))
    connection.execute(schema.event.insert().values(study_id=study, **event._asdict()))
    return event
