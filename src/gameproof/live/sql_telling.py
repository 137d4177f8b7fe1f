"""Storing answers in SQL: many in one transaction, as if they were told one after the other.

A transaction costs a sync of the disk and several round trips, whether it stores one answer or a
hundred. So a service stores what arrives meanwhile together.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, insert, select

from gameproof.live import chain, schema
from gameproof.live.facts import AnswerRow, LedgerError, Receipt, Status, digest
from gameproof.live.ledger import Told
from gameproof.live.refusals import same_again, unknown_question
from gameproof.live.sql_reading import ANSWERS, QUESTION_STATES, as_answer
from gameproof.live.sql_statements import log

_ASKED = (
    schema.question.c.study_id == bindparam("study"),
    schema.question.c.id.in_(bindparam("questions", expanding=True)),
)
# Locks deployments until the end of the transaction, together with other tellers. SQLite has locked
# the whole database already.
_DEPLOYMENTS = (
    select(schema.deployment.c.id)
    .where(schema.deployment.c.id.in_(select(schema.question.c.deployment_id).where(*_ASKED)))
    .order_by(schema.deployment.c.id)
    .with_for_update(read=True)
)
_ANSWERS_OF_KEYS = ANSWERS.where(
    schema.answer.c.study_id == bindparam("study"),
    schema.answer.c.key.in_(bindparam("keys", expanding=True)),
)
_STATES = QUESTION_STATES.where(*_ASKED)
_NEW_ANSWERS = insert(schema.answer).returning(schema.answer.c.id, sort_by_parameter_order=True)


def tell_together(
    connection: Connection, study: int, answers: Sequence[Told], now: float
) -> list[Receipt | LedgerError]:
    """Stores answers inside a transaction of the caller: a receipt or a refusal for each."""
    given = {"study": study, "questions": [told.question for told in answers]}
    connection.execute(_DEPLOYMENTS, given)
    keys = {"study": study, "keys": [told.key for told in answers]}
    known = {row.key: as_answer(row) for row in connection.execute(_ANSWERS_OF_KEYS, keys)}
    states = {row.id: row for row in connection.execute(_STATES, given)}
    answered = {number for number, state in states.items() if not state.free}
    new: list[AnswerRow] = []
    for told in answers:
        state = states.get(told.question)
        if told.key in known or state is None:
            continue
        status = Status.CONFLICT if told.question in answered else Status.COUNTED
        if not state.open:
            status = Status.LATE
        answered.add(told.question)
        body = digest(told.body)
        known[told.key] = AnswerRow(0, told.question, told.key, told.body, body, status, now)
        new.append(known[told.key])
    known |= {row.key: row for row in _inserted(connection, study, new)}
    return [_reply(told, known.get(told.key)) for told in answers]


def _inserted(connection: Connection, study: int, rows: list[AnswerRow]) -> list[AnswerRow]:
    """The rows with their ids. Tellers insert in the same order, so they do not wait for each
    other in a circle."""
    if not rows:
        return []
    rows = sorted(rows, key=lambda row: row.question)
    values = []
    for row in rows:
        value = {"study_id": study, "question_id": row.question, **row._asdict()}
        del value["id"], value["question"]
        values.append(value)
    ids = connection.scalars(_NEW_ANSWERS, values).all()
    stored = [row._replace(id=int(number)) for row, number in zip(rows, ids, strict=True)]
    for row in stored:
        if row.status is Status.LATE:
            log(connection, study, chain.LATE, chain.late_body(row), row.told)
    return stored


def _reply(told: Told, stored: AnswerRow | None) -> Receipt | LedgerError:
    if stored is None:
        return unknown_question(told.question)
    try:
        return same_again(stored, told.question, told.body)
    except LedgerError as error:
        return error
