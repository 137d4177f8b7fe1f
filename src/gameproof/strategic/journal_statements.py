"""What is read from the tables of a journal, and written to them (`journal_rows.py`).

Functions that take a connection belong to a transaction of the caller; the others read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sqlite3 import Connection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gameproof.core.database import Database
from gameproof.strategic.journal_rows import answer_digest, hash_of, now

QUESTIONS = """SELECT question.id, occurrence, answer.id, body, digest, holder FROM question
    LEFT JOIN answer ON answer.question = question.id AND status = 'counted'
    LEFT JOIN lease ON lease.question = question.id
    WHERE deployment = ? AND person = ? ORDER BY occurrence"""


class Row(NamedTuple):
    """A question, with its answer or the holder of its lease."""

    question: int
    occurrence: int
    answer: int | None
    body: bytes | None
    digest: bytes | None
    holder: str | None


class AnswerCounts(NamedTuple):
    """Usable answers, other answers, and answers being asked for."""

    usable: int
    other: int
    leased: int


# --- reading


def counts(database: Database) -> AnswerCounts:
    """How many answers there are."""
    (found,) = database.rows(
        "SELECT n_counted, n_other, (SELECT count(*) FROM lease) FROM study WHERE id = 1"
    )
    return AnswerCounts(*found)


def answers_by_agent(database: Database, n: int) -> NDArray[np.int32]:
    """The number of answers of each of n agents."""
    found: NDArray[np.int32] = np.zeros(n, dtype=np.int32)
    for person, number in database.rows(
        "SELECT person, count(*) FROM answer JOIN question ON question.id = question "
        "GROUP BY person"
    ):
        found[person] = number
    return found


def n_deployments(database: Database) -> int:
    """The number of deployments."""
    return int(database.rows("SELECT count(*) FROM deployment")[0][0])


def usable_up_to(database: Database, position: int) -> int:
    """The number of usable answers with a row number of at most `position`."""
    ((number,),) = database.rows(
        "SELECT count(*) FROM answer WHERE status = 'counted' AND id <= ?", position
    )
    return int(number)


def find_deployment(database: Database, theta: bytes) -> int | None:
    """The deployment of theta, if there is one."""
    found = database.rows("SELECT id FROM deployment WHERE study = 1 AND hash = ?", hash_of(theta))
    return int(found[0][0]) if found else None


def questions(database: Database, deployment: int, person: int) -> list[Row]:
    """What a person was asked at a deployment, in order."""
    return [Row(*row) for row in database.rows(QUESTIONS, deployment, person)]


def leases(database: Database) -> list[tuple[int, str]]:
    """The questions that are being asked, and by whom."""
    return database.rows("SELECT question, holder FROM lease")


# --- writing


def add_deployment(connection: Connection, theta: bytes) -> int:
    """The deployment of theta, a new one if there is none."""
    key = hash_of(theta)
    connection.execute(
        "INSERT OR IGNORE INTO deployment (study, theta, hash, created) VALUES (1, ?, ?, ?)",
        (theta, key, now()),
    )
    row = connection.execute("SELECT id FROM deployment WHERE study = 1 AND hash = ?", (key,))
    return int(row.fetchone()[0])


def add_question(connection: Connection, deployment: int, person: int) -> int:
    """A new question to a person, who may have been asked at this deployment before."""
    (occurrence,) = connection.execute(
        "SELECT coalesce(max(occurrence) + 1, 0) FROM question WHERE deployment = ? AND person = ?",
        (deployment, person),
    ).fetchone()
    row = connection.execute(
        "INSERT INTO question (deployment, person, occurrence) VALUES (?, ?, ?)",
        (deployment, person, occurrence),
    )
    assert row.lastrowid is not None
    return row.lastrowid


def lease(connection: Connection, question: int, holder: str) -> None:
    """Notes that somebody is asking a question."""
    connection.execute("INSERT INTO lease VALUES (?, ?, ?)", (question, holder, now()))


def end_leases(connection: Connection, ended: Iterable[int]) -> None:
    """Notes that nobody is asking these questions any more."""
    rows = [(question,) for question in ended]
    connection.executemany("DELETE FROM lease WHERE question = ?", rows)


def end_leases_of(connection: Connection, ended: Sequence[tuple[int, str]]) -> None:
    """The same, unless somebody else than this holder is asking by now."""
    connection.executemany("DELETE FROM lease WHERE question = ? AND holder = ?", ended)


def add_answer(
    connection: Connection, theta: bytes, person: int, question: int, body: bytes, usable: bool
) -> int:
    """Stores what a person answered, usable or not."""
    (occurrence,) = connection.execute(
        "SELECT occurrence FROM question WHERE id = ?", (question,)
    ).fetchone()
    digest = answer_digest(hash_of(theta), person, occurrence, body)
    status = "counted" if usable else "unusable"
    row = connection.execute(
        "INSERT INTO answer (question, status, body, digest, created) VALUES (?, ?, ?, ?, ?)",
        (question, status, body, digest, now()),
    )
    assert row.lastrowid is not None
    return row.lastrowid


def add_told_answer(connection: Connection, question: int) -> None:
    """Notes an answer that was given elsewhere and is not stored."""
    connection.execute(
        "INSERT INTO answer (question, status, digest, created) VALUES (?, 'told', x'', ?)",
        (question, now()),
    )


def count(connection: Connection, usable: int, other: int) -> None:
    """Adds to the counts of answers."""
    connection.execute(
        "UPDATE study SET n_counted = n_counted + ?, n_other = n_other + ? WHERE id = 1",
        (usable, other),
    )
