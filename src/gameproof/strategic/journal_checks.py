"""Checks a journal completely when it is opened.

SQLite does not notice a changed byte in a cell, and a journal may come from anywhere. So every row
is compared with its digest, with the rows it refers to, and with the counts of the study. Rows are
numbered from 1 without gaps, because none is ever deleted, except for leases.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import chain

from gameproof.strategic.journal_rows import SCHEMA, answer_digest, hash_of

HOLDER = re.compile(r"[0-9a-f]{32}")
OBJECTS = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name"


def faults(connection: sqlite3.Connection) -> Iterator[str]:
    """What is wrong with a journal. Each check relies on the ones before it."""
    return chain(
        _wrong_tables(connection),
        _wrong_pages(connection),
        _wrong_study(connection),
        _wrong_deployments(connection),
        _wrong_questions(connection),
        _wrong_answers(connection),
        _wrong_leases(connection),
    )


def _wrong_tables(connection: sqlite3.Connection) -> Iterator[str]:
    with closing(sqlite3.connect(":memory:")) as model:
        for statement in SCHEMA:
            model.execute(statement)
        expected = model.execute(OBJECTS).fetchall()
    if connection.execute(OBJECTS).fetchall() != expected:
        yield "it has other tables than a journal"


def _wrong_pages(connection: sqlite3.Connection) -> Iterator[str]:
    for (problem,) in connection.execute("PRAGMA integrity_check(1)"):
        if problem != "ok":
            yield str(problem)
    for table, row, *_ in connection.execute("PRAGMA foreign_key_check"):
        yield f"row {row} of {table} refers to a row that is missing"


def _wrong_study(connection: sqlite3.Connection) -> Iterator[str]:
    rows = connection.execute("SELECT id, n_people, n_features, n_counted, n_other FROM study")
    found = rows.fetchall()
    if len(found) != 1 or found[0][0] != 1 or not all(_is_count(part) for part in found[0]):
        yield "the row of the study is altered"
        return
    answers = "SELECT count(*) FROM answer WHERE status"
    counted, other = (
        connection.execute(f"{answers} {which} 'counted'").fetchone()[0] for which in ("=", "<>")
    )
    if (counted, other) != found[0][3:]:
        yield f"it has {counted} + {other} answers, and its study says {found[0][3:]}"


def _wrong_deployments(connection: sqlite3.Connection) -> Iterator[str]:
    (d,) = connection.execute("SELECT n_features FROM study").fetchone()
    rows = connection.execute("SELECT id, study, theta, hash FROM deployment ORDER BY id")
    for number, (row, study, theta, key) in enumerate(rows, start=1):
        whole = isinstance(theta, bytes) and len(theta) == 8 * d
        if (row, study) != (number, 1) or not whole or key != hash_of(theta):
            yield f"deployment {row} is altered"


def _wrong_questions(connection: sqlite3.Connection) -> Iterator[str]:
    (n,) = connection.execute("SELECT n_people FROM study").fetchone()
    rows = connection.execute("SELECT id, person, occurrence FROM question ORDER BY id")
    for number, (row, person, occurrence) in enumerate(rows, start=1):
        if row != number or not (_is_count(person) and person < n and _is_count(occurrence)):
            yield f"question {row} is altered"
    gaps = connection.execute(
        "SELECT min(id) FROM question GROUP BY deployment, person "
        "HAVING max(occurrence) <> count(*) - 1"
    )
    for (row,) in gaps:
        yield f"question {row} or one like it is missing"


def _wrong_answers(connection: sqlite3.Connection) -> Iterator[str]:
    rows = connection.execute(
        "SELECT answer.id, status, body, digest, hash, person, occurrence FROM answer "
        "JOIN question ON question.id = question JOIN deployment ON deployment.id = deployment "
        "ORDER BY answer.id"
    )
    for number, (row, status, body, digest, key, person, occurrence) in enumerate(rows, start=1):
        if status == "told":
            sound = body is None and digest == b""
        else:
            sound = isinstance(body, bytes)
            sound = sound and digest == answer_digest(key, person, occurrence, body)
        if row != number or not sound:
            yield f"the stored answer {row} of agent {person} was altered"


def _wrong_leases(connection: sqlite3.Connection) -> Iterator[str]:
    for question, holder in connection.execute("SELECT question, holder FROM lease"):
        if not isinstance(holder, str) or HOLDER.fullmatch(holder) is None:
            yield f"the lease of question {question} is altered"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and value >= 0
