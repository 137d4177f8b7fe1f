"""The file of a journal: its tables, and the checks when it is opened.

    study       the people: a fingerprint of their features and labels, and counts of answers
    deployment  each theta, as the bytes of its little-endian float64 numbers
    question    a person asked at a deployment, and how often they were asked there before
    lease       a question that somebody is asking at the moment, and who
    answer      what the person answered: counted, unusable (counted towards the budget, but never
                used), or told (counted by hand, not stored)

Rows are never changed, except for the counts of a study; only leases are deleted. Each answer has
a digest of itself and of its question, so that an altered row is noticed.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.atomic_files import require_replaceable, sync_folder
from gameproof.core.database import Database
from gameproof.core.errors import JournalError

APPLICATION, VERSION = 0x67616D65, 1
SCHEMA = (
    """CREATE TABLE study (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        fingerprint TEXT NOT NULL,
        n_people INTEGER NOT NULL,
        n_features INTEGER NOT NULL,
        sees TEXT NOT NULL CHECK (sees IN ('features', 'scores')),
        n_counted INTEGER NOT NULL DEFAULT 0,
        n_other INTEGER NOT NULL DEFAULT 0,
        created TEXT NOT NULL
    )""",
    """CREATE TABLE deployment (
        id INTEGER PRIMARY KEY,
        study INTEGER NOT NULL REFERENCES study (id),
        theta BLOB NOT NULL,
        hash BLOB NOT NULL,
        created TEXT NOT NULL,
        UNIQUE (study, hash)
    )""",
    """CREATE TABLE question (
        id INTEGER PRIMARY KEY,
        deployment INTEGER NOT NULL REFERENCES deployment (id),
        person INTEGER NOT NULL,
        occurrence INTEGER NOT NULL,
        UNIQUE (deployment, person, occurrence)
    )""",
    """CREATE TABLE lease (
        question INTEGER PRIMARY KEY REFERENCES question (id),
        holder TEXT NOT NULL,
        created TEXT NOT NULL
    )""",
    """CREATE TABLE answer (
        id INTEGER PRIMARY KEY,
        question INTEGER NOT NULL REFERENCES question (id),
        status TEXT NOT NULL CHECK (status IN ('counted', 'unusable', 'told')),
        body BLOB,
        digest BLOB NOT NULL,
        created TEXT NOT NULL
    )""",
    "CREATE UNIQUE INDEX counted_answer ON answer (question) WHERE status = 'counted'",
)


def open_journal(path: Path, people: dict[str, str | int]) -> Database:
    """The database of these people, created if the file is missing or empty.

    `people` are the columns of `study` that must match."""
    require_replaceable(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder of the journal {path} does not exist")
    with storing(path):
        if not path.exists():
            path.touch()
            sync_folder(path.parent)
        database = Database(path)
        with database.transaction() as connection:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not (application or version or tables):
                _create(connection, people)
        if tables:
            _require_own(path, application, version)
            _require_sound(path, database)
        _require_same(path, database, people)
    return database


def _create(connection: sqlite3.Connection, people: dict[str, str | int]) -> None:
    for statement in SCHEMA:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    columns = {"name": "population", "created": now(), **people}
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    connection.execute(f"INSERT INTO study ({names}) VALUES ({marks})", tuple(columns.values()))


def _require_own(path: Path, application: int, version: int) -> None:
    if application != APPLICATION:
        raise JournalError(f"{path} is a database of another program, not a journal; use another")
    if version > VERSION:
        raise JournalError(
            f"{path} was written by a newer gameproof (journal version {version}, this one reads "
            f"{VERSION}); update gameproof to use it"
        )


def _require_sound(path: Path, database: Database) -> None:
    problems = [row[0] for row in database.rows("PRAGMA quick_check(1)") if row[0] != "ok"]
    counted, other = database.rows(
        "SELECT count(CASE status WHEN 'counted' THEN 1 END), "
        "count(CASE WHEN status <> 'counted' THEN 1 END) FROM answer"
    )[0]
    noted = database.rows("SELECT n_counted, n_other FROM study WHERE id = 1")
    if not problems and noted != [(counted, other)]:
        problems = [f"it has {counted} + {other} answers, and its study says {noted}"]
    if problems:
        raise JournalError(f"{path} is damaged ({problems[0]}); restore it from a copy")


def _require_same(path: Path, database: Database, people: dict[str, str | int]) -> None:
    (stored,) = database.rows(f"SELECT {', '.join(people)} FROM study WHERE id = 1")
    found = dict(zip(people, stored, strict=True))
    if found == people:
        return
    size = "{n_people} people with {n_features} features, seen as {sees}"
    if all(found[name] == people[name] for name in people if name != "fingerprint"):
        why = "of the same number, but other features, labels or order"
    else:
        why = f"{size.format_map(found)}; this population has {size.format_map(people)}"
    raise JournalError(
        f"{path} is the journal of other people: {why}; give X and y as they were, or use another "
        "journal"
    )


@contextmanager
def storing(path: Path) -> Iterator[None]:
    """Names the file in errors of SQLite."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise JournalError(f"{path} cannot be read or written: {error}") from error
    except (sqlite3.Error, OverflowError) as error:
        raise JournalError(
            f"{path} is damaged or not a journal ({error}); restore it from a copy, or use another"
        ) from error


def now() -> str:
    """The time in UTC, as rows note it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def as_bytes(numbers: Vector) -> bytes:
    """The exact bits of some numbers, the same on every machine."""
    return np.ascontiguousarray(numbers, dtype="<f8").tobytes()


def hash_of(theta: bytes) -> bytes:
    """The key of a theta."""
    return hashlib.sha256(theta).digest()


def answer_digest(theta_hash: bytes, person: int, occurrence: int, body: bytes) -> bytes:
    """The digest of an answer and its question."""
    digest = hashlib.blake2b(theta_hash, digest_size=16)
    digest.update(f"{person} {occurrence} {len(body)} ".encode() + body)
    return digest.digest()
