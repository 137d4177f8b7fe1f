"""Opens the file of a journal: creates it, or checks all of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gameproof.core.atomic_files import require_replaceable, sync_folder
from gameproof.core.database import Database
from gameproof.core.errors import JournalError
from gameproof.core.naming import escaped
from gameproof.strategic.journal_checks import faults
from gameproof.strategic.journal_rows import APPLICATION, SCHEMA, VERSION, now


def open_journal(path: Path, people: dict[str, str | int]) -> Database:
    """The database of these people, created if the file is missing or empty.

    `people` are the columns of `study` that must match."""
    require_replaceable(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(escaped(f"the folder of the journal {path} does not exist"))
    with storing(path):
        _require_no_lone_log(path)
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


def _require_no_lone_log(path: Path) -> None:
    """Raises if answers wait in the log of a file that is missing or empty: SQLite would delete
    them."""
    log = path.with_name(f"{path.name}-wal")
    if _size(log) and not _size(path):  # in this order, since another process may be creating both
        raise JournalError(
            f"{path} is missing or empty, and its log {log.name} may hold answers; put the journal "
            "back beside its log, or remove the log to begin a new one"
        )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


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
    if version < VERSION:
        raise JournalError(f"{path} has the invalid journal version {version}; restore a copy")


def _require_sound(path: Path, database: Database) -> None:
    with database.snapshot() as connection:
        for fault in faults(connection):
            raise JournalError(f"{path} is damaged: {fault}; restore the file from a copy")


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
    """Names the file in errors of SQLite and of the file system."""
    try:
        yield
    except (sqlite3.OperationalError, OSError) as error:
        raise JournalError(f"{path} cannot be read or written: {error}") from error
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        raise JournalError(
            f"{path} is damaged or not a journal ({error}); restore it from a copy, or use another"
        ) from error
