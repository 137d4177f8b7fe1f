"""The statements of `SqlLedger` that write, each inside a transaction of its caller.

Statements that run for every question or answer are built once, since building them takes longer
than running them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    Connection,
    Double,
    Select,
    Table,
    Text,
    and_,
    bindparam,
    exists,
    func,
    or_,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite

from gameproof.live import chain, schema
from gameproof.live.facts import AnswerRow, EventRow, QuestionRow, Status, digest
from gameproof.live.ledger import NextDeployment
from gameproof.live.sql_reading import (
    ANSWERS,
    IN_ORDER,
    QUESTION_STATES,
    QUESTIONS,
    answers_of,
    as_answer,
    deployment_id,
    exposures_of,
    held_at,
    newest_id,
    open_conditions,
)

# PostgreSQL names locks by numbers; this one is held by whoever leases questions of a study.
ASKING = 0x61736B


def insert(connection: Connection, table: Table, values: dict[str, Any]) -> int:
    """Inserts a row and returns its id."""
    found = connection.execute(table.insert(), values).inserted_primary_key
    assert found is not None
    return int(found[0])


# --- questions


def _locking(alone: bool) -> Select[Any]:
    """Reads a question and locks its deployment until the end of the transaction: alone, or
    together with other tellers. SQLite has locked the whole database already."""
    wanted = QUESTIONS.add_columns(schema.deployment.c.id.label("deployment_id")).where(
        schema.question.c.study_id == bindparam("study"),
        schema.question.c.id == bindparam("question"),
    )
    return wanted.with_for_update(of=schema.deployment, key_share=alone, read=not alone)


def _free_questions() -> Select[Any]:
    """Open questions of the newest deployment that `holder` holds or nobody else does."""
    now, holder = bindparam("now", type_=Double), bindparam("holder", type_=Text)
    others = and_(schema.lease.c.holder != holder, held_at(now))
    return (
        QUESTIONS.outerjoin(schema.lease, schema.lease.c.question_id == schema.question.c.id)
        .where(
            schema.question.c.deployment_id == newest_id(bindparam("study")),
            *open_conditions(),
            or_(schema.lease.c.holder.is_(None), ~others),
        )
        .order_by(func.coalesce(schema.lease.c.holder, "") != holder, *IN_ORDER)
        .limit(bindparam("limit"))
    )


_QUESTION_ALONE, _QUESTION_SHARED = _locking(alone=True), _locking(alone=False)
_QUESTION_STATE = QUESTION_STATES.where(schema.question.c.id == bindparam("question"))
_FREE_QUESTIONS = _free_questions()


def locked_question(
    connection: Connection, study: int, question: int, alone: bool = False
) -> QuestionRow | None:
    """A question of this study, whose deployment is locked; None if there is none of this id."""
    wanted = _QUESTION_ALONE if alone else _QUESTION_SHARED
    row = connection.execute(wanted, {"study": study, "question": question}).first()
    return None if row is None else QuestionRow._make(row[:-1])


def is_pending(connection: Connection, question: int) -> bool:
    """Whether a question is open and has no counted answer."""
    found = connection.execute(_QUESTION_STATE, {"question": question}).one()
    return bool(found.open and found.free)


def free_questions(
    connection: Connection, study: int, limit: int, holder: str, now: float
) -> list[QuestionRow]:
    """The questions to lease to `holder`, whose own come first."""
    given = {"study": study, "limit": limit, "holder": holder, "now": now}
    return [QuestionRow._make(row) for row in connection.execute(_FREE_QUESTIONS, given)]


def wait_for_askers(connection: Connection, study: int) -> None:
    """Waits until nobody else leases questions of this study, and keeps others from it until the
    end of the transaction. Later statements see what the others leased."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({ASKING}, {study})"))


def hold(
    connection: Connection, questions: Sequence[int], holder: str, until: float, now: float
) -> None:
    """Leases questions to `holder` and records that it was shown them."""
    dialect = {"sqlite": sqlite, "postgresql": postgresql}[connection.dialect.name]
    leases = dialect.insert(schema.lease)
    renewed = {name: leases.excluded[name] for name in ("holder", "granted", "expires")}
    connection.execute(
        leases.on_conflict_do_update(index_elements=["question_id"], set_=renewed),
        [{"question_id": q, "holder": holder, "granted": now, "expires": until} for q in questions],
    )
    connection.execute(
        dialect.insert(schema.exposure).on_conflict_do_nothing(),
        [{"question_id": q, "holder": holder, "shown": now} for q in questions],
    )


def insert_question(connection: Connection, study: int, row: QuestionRow) -> QuestionRow:
    """Inserts a question; its id is a new one."""
    found = connection.scalar(deployment_id(study, row.deployment))
    values = {"study_id": study, "deployment_id": found, **row._asdict()}
    del values["id"], values["deployment"]
    return row._replace(id=insert(connection, schema.question, values))


# --- answers


def withdraw_answer(connection: Connection, study: int, answer: int) -> AnswerRow | None:
    """Withdraws an answer. Returns it as it was; None if there is none of this id."""
    own = and_(schema.answer.c.study_id == study, schema.answer.c.id == answer)
    found = connection.execute(ANSWERS.where(own)).first()
    if found is None:
        return None
    locked_question(connection, study, found.question_id)
    row = connection.execute(ANSWERS.where(own).with_for_update()).one()
    connection.execute(schema.answer.update().where(own).values(status=Status.WITHDRAWN.value))
    return as_answer(row)


# --- deployments


def lock_deployment(connection: Connection, study: int, number: int) -> int:
    """Locks a deployment until the end of the transaction, and returns its id."""
    wanted = deployment_id(study, number).with_for_update(key_share=True)
    return int(connection.execute(wanted).scalar_one())


def is_closed(connection: Connection, deployment: int) -> bool:
    """Whether the deployment of this id is closed."""
    wanted = select(exists().where(schema.closure.c.deployment_id == deployment))
    return bool(connection.scalar(wanted))


def close_deployment(
    connection: Connection, study: int, number: int, counted: Sequence[int], now: float
) -> bool:
    """Closes a deployment, and adds the event that records its answers and exposures. False if it
    is closed already, or if its counted answers are others."""
    found = lock_deployment(connection, study, number)
    wait_for_askers(connection, study)
    answers = answers_of(connection, study, number)
    present = sorted(answer.id for answer in answers if answer.status is Status.COUNTED)
    if is_closed(connection, found) or sorted(counted) != present:
        return False
    connection.execute(schema.closure.insert(), {"deployment_id": found, "closed": float(now)})
    new = [answer for answer in answers if answer.status is not Status.LATE]
    shown = exposures_of(connection, study, number)
    log(connection, study, chain.CLOSED, chain.closed_body(number, counted, new, shown), now)
    return True


def open_deployment(
    connection: Connection, study: int, number: int, opening: NextDeployment, now: float
) -> None:
    """Inserts a deployment, its questions and its event."""
    theta = bytes(opening.theta)
    values = {
        "study_id": study,
        "number": number,
        "theta": theta,
        "theta_hash": digest(theta),
        "opened": float(now),
    }
    place = {
        "study_id": study,
        "deployment_id": insert(connection, schema.deployment, values),
        "attempt": 0,
    }
    whom = [{**place, "position": k, "agent": int(a)} for k, a in enumerate(opening.agents)]
    if whom:
        connection.execute(schema.question.insert(), whom)
    rows = connection.execute(
        QUESTIONS.where(schema.question.c.deployment_id == place["deployment_id"]).order_by(
            *IN_ORDER
        )
    )
    body = chain.deployed_body(number, theta, map(QuestionRow._make, rows))
    log(connection, study, chain.DEPLOYED, body, now)


# --- events


def log(connection: Connection, study: int, kind: str, body: str, now: float) -> EventRow:
    """Adds an event to the chain, whose end it locks."""
    connection.execute(_END_OF_CHAIN, {"study": study})
    last = connection.execute(_LAST_EVENT, {"study": study}).first()
    event = chain.linked(None if last is None else EventRow._make(last), kind, body, float(now))
    connection.execute(schema.event.insert(), {"study_id": study, **event._asdict()})
    return event


_END_OF_CHAIN = (
    select(schema.study.c.id)
    .where(schema.study.c.id == bindparam("study"))
    .with_for_update(key_share=True)
)
_LAST_EVENT = (
    select(*(schema.event.c[name] for name in EventRow._fields))
    .where(schema.event.c.study_id == bindparam("study"))
    .order_by(schema.event.c.number.desc())
    .limit(1)
)
