"""`SqlLedger`: the facts of studies in SQLite or PostgreSQL.

SQLite runs one writing transaction at a time. On PostgreSQL, tellers share a lock on the deployment
that they answer, and whoever closes it takes that lock alone: no answer arrives unseen between
reading the answers and closing. Events lock the row of their study.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

from sqlalchemy import Connection, Select, and_, func, select, text
from sqlalchemy.exc import IntegrityError

from gameproof.core.process_lock import ProcessLock
from gameproof.live import chain, schema
from gameproof.live.facts import (
    AnswerRow,
    Counts,
    DeploymentRow,
    EventRow,
    ExposureRow,
    QuestionRow,
    Receipt,
    Status,
    StudyRow,
    digest,
)
from gameproof.live.ledger import Ledger, NextDeployment
from gameproof.live.refusals import (
    name_taken,
    question_closed,
    same_again,
    unknown_answer,
    unknown_study,
)
from gameproof.live.schema import SCHEMA_VERSION
from gameproof.live.sql_database import open_database, reading
from gameproof.live.sql_statements import (
    ANSWERS,
    IN_ORDER,
    QUESTIONS,
    as_answer,
    count_facts,
    counted_answers,
    events_of,
    hold,
    insert,
    insert_question,
    is_closed,
    lock_deployment,
    log,
    newest_number,
    open_conditions,
    open_deployment,
    question_row,
    record_closing,
    status_of_new,
)

# Two tellers of one question, or of one key, meet in an index; the second one looks again.
TRIES = 3


@final
class SqlLedger(Ledger):
    """A ledger in a database.

    Parameters
    ----------
    where
        The path of an SQLite file, or an SQLAlchemy URL.
    """

    def __init__(self, where: str | Path) -> None:
        self.engine = open_database(where)

    def close(self) -> None:
        """Gives back all connections."""
        self.engine.dispose()

    # --- studies

    def create(self, name: str, specification: str, fingerprint: str, now: float) -> StudyRow:
        values = {
            "name": name,
            "specification": specification,
            "fingerprint": fingerprint,
            "schema_version": SCHEMA_VERSION,
            "created": float(now),
        }
        body = chain.created_body(name, specification, fingerprint)
        try:
            with self.engine.begin() as connection:
                number = insert(connection, schema.study, values)
                log(connection, number, chain.CREATED, body, now)
        except IntegrityError as error:
            raise name_taken(name) from error
        return StudyRow._make([number, *values.values()])

    def study(self, name: str) -> StudyRow:
        rows = self._read(select(schema.study).where(schema.study.c.name == name))
        if not rows:
            raise unknown_study(name, self.names())
        return StudyRow._make(rows[0])

    def names(self) -> list[str]:
        return sorted(name for (name,) in self._read(select(schema.study.c.name)))

    # --- asking

    def lease(
        self, study: int, limit: int, holder: str, until: float, now: float
    ) -> list[QuestionRow]:
        held = and_(schema.lease.c.holder != holder, schema.lease.c.expires > now)
        wanted = (
            QUESTIONS.outerjoin(schema.lease, schema.lease.c.question_id == schema.question.c.id)
            .where(
                schema.deployment.c.study_id == study,
                schema.deployment.c.number == newest_number(study),
                *open_conditions(),
                held.is_not(True),
            )
            .order_by(func.coalesce(schema.lease.c.holder, "") != holder, *IN_ORDER)
            .limit(limit)
            .with_for_update(of=schema.question, key_share=True, skip_locked=True)
        )
        with self.engine.begin() as connection:
            rows = [QuestionRow._make(row) for row in connection.execute(wanted)]
            if rows:
                hold(connection, [row.id for row in rows], holder, until, now)
        return rows

    def replace_silent(self, study: int, question: int, agent: int, now: float) -> QuestionRow:
        with self.engine.begin() as connection:
            old = question_row(connection, study, question)
            lock_deployment(connection, study, old.deployment, alone=True)
            if status_of_new(connection, study, old) is not Status.COUNTED:
                raise question_closed(question)
            new = old._replace(attempt=old.attempt + 1, agent=int(agent))
            row = insert_question(connection, study, new)
            log(connection, study, chain.REPLACED, chain.replaced_body(old, agent), now)
        return row

    # --- telling

    def tell(self, study: int, question: int, key: str, body: bytes, now: float) -> Receipt:
        for _ in range(TRIES - 1):
            try:
                return self._tell(study, question, key, body, now)
            except IntegrityError:
                continue
        return self._tell(study, question, key, body, now)

    def _tell(self, study: int, question: int, key: str, body: bytes, now: float) -> Receipt:
        with self.engine.begin() as connection:
            known = connection.execute(
                ANSWERS.where(schema.answer.c.study_id == study, schema.answer.c.key == key)
            ).first()
            if known is not None:
                return same_again(as_answer(known), question, body)
            asked = question_row(connection, study, question)
            lock_deployment(connection, study, asked.deployment, alone=False)
            status = status_of_new(connection, study, asked)
            values = {
                "study_id": study,
                "question_id": question,
                "key": key,
                "body": bytes(body),
                "body_hash": digest(body),
                "status": status.value,
                "told": float(now),
            }
            return Receipt(insert(connection, schema.answer, values), status)

    def withdraw(self, study: int, answer: int, reason: str, now: float) -> None:
        with self.engine.begin() as connection:
            own = and_(schema.answer.c.study_id == study, schema.answer.c.id == answer)
            row = connection.execute(ANSWERS.where(own).with_for_update()).first()
            if row is None:
                raise unknown_answer(answer)
            if row.status == Status.WITHDRAWN.value:
                return
            connection.execute(
                schema.answer.update().where(own).values(status=Status.WITHDRAWN.value)
            )
            body = chain.withdrawn_body(answer, reason)
            log(connection, study, chain.WITHDRAWN, body, now)

    # --- advancing

    def advance(
        self,
        study: int,
        closing: int | None,
        counted: Sequence[int],
        opening: NextDeployment | None,
        now: float,
    ) -> bool:
        try:
            with self.engine.begin() as connection:
                return self._advance(connection, study, closing, counted, opening, now)
        except IntegrityError:  # another process closed or opened it in the same moment
            return False

    def _advance(
        self,
        connection: Connection,
        study: int,
        closing: int | None,
        counted: Sequence[int],
        opening: NextDeployment | None,
        now: float,
    ) -> bool:
        last = connection.scalar(select(newest_number(study)))
        if closing != last:
            return False
        if closing is not None:
            deployment_id = lock_deployment(connection, study, closing, alone=True)
            if is_closed(connection, deployment_id) or sorted(counted) != counted_answers(
                connection, deployment_id
            ):
                return False
            connection.execute(
                schema.closure.insert().values(deployment_id=deployment_id, closed=float(now))
            )
            record_closing(connection, study, closing, counted, now)
        if opening is not None:
            open_deployment(connection, study, 0 if last is None else last + 1, opening, now)
        return True

    @contextmanager
    def advancing(self, study: int) -> Iterator[bool]:
        if self.engine.dialect.name == "postgresql":
            with self.engine.connect() as connection:
                # The lock belongs to the connection, which ends with the process.
                try:
                    yield bool(connection.scalar(text(f"SELECT pg_try_advisory_lock({study})")))
                finally:
                    connection.invalidate()
            return
        lock = ProcessLock(Path(f"{self.engine.url.database}.study-{study}.lock"))
        try:
            yield lock.acquire()
        finally:
            lock.release()

    # --- reading

    def deployments(self, study: int, first: int = 0) -> list[DeploymentRow]:
        rows = self._read(
            select(
                schema.deployment.c.number,
                schema.deployment.c.theta,
                schema.deployment.c.opened,
                schema.closure.c.closed,
            )
            .outerjoin(schema.closure, schema.closure.c.deployment_id == schema.deployment.c.id)
            .where(schema.deployment.c.study_id == study, schema.deployment.c.number >= first)
            .order_by(schema.deployment.c.number)
        )
        return [DeploymentRow._make(row) for row in rows]

    def questions(self, study: int, deployment: int | None = None) -> list[QuestionRow]:
        wanted = QUESTIONS.where(schema.question.c.study_id == study).order_by(*IN_ORDER)
        if deployment is not None:
            wanted = wanted.where(schema.deployment.c.number == deployment)
        return [QuestionRow._make(row) for row in self._read(wanted)]

    def answers(self, study: int, deployment: int | None = None) -> list[AnswerRow]:
        wanted = ANSWERS.where(schema.answer.c.study_id == study)
        if deployment is not None:
            wanted = (
                wanted.join(schema.question, schema.question.c.id == schema.answer.c.question_id)
                .join(schema.deployment, schema.deployment.c.id == schema.question.c.deployment_id)
                .where(schema.deployment.c.number == deployment)
            )
        return [as_answer(row) for row in self._read(wanted)]

    def exposures(self, study: int, deployment: int | None = None) -> list[ExposureRow]:
        wanted = (
            select(schema.exposure.c.question_id, schema.exposure.c.holder, schema.exposure.c.shown)
            .join(schema.question, schema.question.c.id == schema.exposure.c.question_id)
            .where(schema.question.c.study_id == study)
            .order_by(schema.exposure.c.id)
        )
        if deployment is not None:
            wanted = wanted.join(
                schema.deployment, schema.deployment.c.id == schema.question.c.deployment_id
            ).where(schema.deployment.c.number == deployment)
        return [ExposureRow._make(row) for row in self._read(wanted)]

    def events(self, study: int, kinds: Sequence[str] | None = None) -> list[EventRow]:
        wanted = events_of(study).order_by(schema.event.c.number)
        if kinds is not None:
            wanted = wanted.where(schema.event.c.kind.in_(kinds))
        return [EventRow._make(row) for row in self._read(wanted)]

    def counts(self, study: int, now: float) -> Counts:
        with reading(self.engine) as connection:
            return count_facts(connection, study, now)

    def note(self, study: int, kind: str, body: str, now: float) -> EventRow:
        with self.engine.begin() as connection:
            return log(connection, study, kind, body, now)

    def _read(self, query: Select[Any]) -> Sequence[Any]:
        with reading(self.engine) as connection:
            return connection.execute(query).all()
