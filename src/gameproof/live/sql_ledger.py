"""`SqlLedger`: the facts of studies in SQLite or PostgreSQL.

SQLite runs one writing transaction at a time. On PostgreSQL, tellers share a lock on the deployment
that they answer, and whoever closes it takes that lock alone: no answer arrives unseen between
reading the answers and closing. Events lock the row of their study.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import final

from sqlalchemy import Connection, select, text
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from gameproof.core.process_lock import ProcessLock
from gameproof.live import chain, schema, sql_reading
from gameproof.live.facts import (
    AnswerRow,
    Counts,
    DeploymentRow,
    EventRow,
    ExposureRow,
    Facts,
    LedgerError,
    QuestionRow,
    Receipt,
    Status,
    StudyRow,
)
from gameproof.live.ledger import Ledger, NextDeployment, Told
from gameproof.live.refusals import (
    name_taken,
    question_closed,
    unknown_answer,
    unknown_question,
    unknown_study,
)
from gameproof.live.schema import SCHEMA_VERSION
from gameproof.live.sql_checkpoints import read_checkpoint, write_checkpoint
from gameproof.live.sql_database import SqlDatabase
from gameproof.live.sql_statements import (
    close_deployment,
    free_questions,
    hold,
    insert,
    insert_question,
    is_pending,
    locked_question,
    log,
    open_deployment,
    wait_for_askers,
    withdraw_answer,
)
from gameproof.live.sql_telling import tell_together


@final
class SqlLedger(Ledger):
    """A ledger in a database.

    Parameters
    ----------
    where
        The path of an SQLite file, or an SQLAlchemy URL.
    create
        Whether to create the database if it is missing. Otherwise that is an error.
    """

    def __init__(self, where: str | Path, create: bool = True) -> None:
        self._database = SqlDatabase(where, create)
        self.engine = self._database.engine

    def close(self) -> None:
        """Releases all connections."""
        self.engine.dispose()

    # --- studies

    def create(self, name: str, specification: str, fingerprint: str, now: float) -> StudyRow:
        row = StudyRow(0, name, specification, fingerprint, SCHEMA_VERSION, float(now))
        values = row._asdict()
        del values["id"]
        try:
            with self._database.writing() as connection:
                row = row._replace(id=insert(connection, schema.study, values))
                log(connection, row.id, chain.CREATED, chain.created_body(row), now)
        except IntegrityError as error:
            raise name_taken(name) from error
        return row

    def study(self, name: str) -> StudyRow:
        with self._database.reading() as connection:
            row = connection.execute(
                select(schema.study).where(schema.study.c.name == name)
            ).first()
        if row is None:
            raise unknown_study(name, self.names())
        return StudyRow._make(row)

    def names(self) -> list[str]:
        with self._database.reading() as connection:
            return sorted(connection.scalars(select(schema.study.c.name)))

    # --- asking

    def available(self, study: int, limit: int, holder: str, now: float) -> list[QuestionRow]:
        with self._database.reading() as connection:
            return free_questions(connection, study, limit, holder, now)

    def lease(
        self, study: int, limit: int, holder: str, until: float, now: float
    ) -> list[QuestionRow]:
        with self._database.writing() as connection:
            wait_for_askers(connection, study)
            rows = free_questions(connection, study, limit, holder, now)
            if rows:
                hold(connection, [row.id for row in rows], holder, until, now)
        return rows

    def replace_silent(self, study: int, question: int, agent: int, now: float) -> QuestionRow:
        with self._database.writing() as connection:
            old = locked_question(connection, study, question, alone=True)
            if old is None:
                raise unknown_question(question)
            if not is_pending(connection, question):
                raise question_closed(question)
            new = old._replace(attempt=old.attempt + 1, agent=int(agent))
            row = insert_question(connection, study, new)
            log(connection, study, chain.REPLACED, chain.replaced_body(old, row), now)
        return row

    # --- telling

    def tell(self, study: int, question: int, key: str, body: bytes, now: float) -> Receipt:
        [found] = self.tell_many(study, [Told(question, key, bytes(body))], now)
        if isinstance(found, LedgerError):
            raise found
        return found

    def tell_many(
        self, study: int, answers: Sequence[Told], now: float
    ) -> list[Receipt | LedgerError]:
        # Two tellers of one question, or of one key, meet in an index; the second one looks again,
        # at most once for each question and each key.
        for _ in range(2 * len(answers)):
            try:
                return self._tell_together(study, answers, now)
            except IntegrityError:
                continue
        return self._tell_together(study, answers, now)

    def _tell_together(
        self, study: int, answers: Sequence[Told], now: float
    ) -> list[Receipt | LedgerError]:
        with self._database.writing() as connection:
            return tell_together(connection, study, answers, float(now))

    def withdraw(self, study: int, answer: int, reason: str, now: float) -> None:
        with self._database.writing() as connection:
            row = withdraw_answer(connection, study, answer)
            if row is None:
                raise unknown_answer(answer)
            if row.status is not Status.WITHDRAWN:
                body = chain.withdrawn_body(row, reason)
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
            with self._database.writing() as connection:
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
        newest = sql_reading.newest_of(connection, study)
        last = None if newest is None else newest.number
        if closing != last:
            return False
        if closing is not None and not close_deployment(connection, study, closing, counted, now):
            return False
        if opening is not None:
            open_deployment(connection, study, 0 if last is None else last + 1, opening, now)
        return True

    @contextmanager
    def advancing(self, study: int) -> Iterator[bool]:
        if self._database.path is None:
            with self._advancing_by_connection(study) as mine:
                yield mine
            return
        lock = ProcessLock(Path(f"{self._database.path}.study-{study}.lock"))
        try:
            yield lock.acquire()
        finally:
            lock.release()

    @contextmanager
    def _advancing_by_connection(self, study: int) -> Iterator[bool]:
        """The lock belongs to a connection of PostgreSQL, which ends with the process."""
        with self.engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            mine = bool(connection.scalar(text(f"SELECT pg_try_advisory_lock({study})")))
            try:
                yield mine
            finally:
                if mine:
                    _unlock(connection, study)

    # --- reading

    def deployments(self, study: int, first: int = 0) -> list[DeploymentRow]:
        with self._database.reading() as connection:
            return sql_reading.deployments_of(connection, study, first)

    def newest(self, study: int) -> DeploymentRow | None:
        with self._database.reading() as connection:
            return sql_reading.newest_of(connection, study)

    def questions(self, study: int, deployment: int | None = None) -> list[QuestionRow]:
        with self._database.reading() as connection:
            return sql_reading.questions_of(connection, study, deployment)

    def answers(self, study: int, deployment: int | None = None) -> list[AnswerRow]:
        with self._database.reading() as connection:
            return sql_reading.answers_of(connection, study, deployment)

    def exposures(self, study: int, deployment: int | None = None) -> list[ExposureRow]:
        with self._database.reading() as connection:
            return sql_reading.exposures_of(connection, study, deployment)

    def events(self, study: int, kinds: Sequence[str] | None = None) -> list[EventRow]:
        with self._database.reading() as connection:
            return sql_reading.events_of(connection, study, kinds)

    def facts(self, study: int) -> Facts:
        with self._database.snapshot() as connection:
            return Facts(
                sql_reading.deployments_of(connection, study),
                sql_reading.questions_of(connection, study),
                sql_reading.answers_of(connection, study),
                sql_reading.exposures_of(connection, study),
                sql_reading.events_of(connection, study),
            )

    def counts(self, study: int, now: float) -> Counts:
        with self._database.snapshot() as connection:
            return sql_reading.count_facts(connection, study, now)

    def note(self, study: int, kind: str, body: str, now: float) -> EventRow:
        with self._database.writing() as connection:
            return log(connection, study, kind, body, now)

    # --- a cache

    def keep_checkpoint(self, study: int, content: bytes) -> None:
        with suppress(LedgerError, SQLAlchemyError), self._database.writing() as connection:
            write_checkpoint(connection, study, content)

    def checkpoint(self, study: int) -> bytes | None:
        with suppress(LedgerError, SQLAlchemyError), self._database.reading() as connection:
            return read_checkpoint(connection, study)
        return None


def _unlock(connection: Connection, study: int) -> None:
    try:
        connection.execute(text(f"SELECT pg_advisory_unlock({study})"))
    except LedgerError:  # the connection is lost, and the lock with it
        connection.invalidate()
