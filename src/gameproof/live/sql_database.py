"""Opening a database: SQLite in a file, or any SQLAlchemy URL such as PostgreSQL's.

What SQLite acknowledges is on disk (``synchronous = FULL``), and readers do not wait for writers
(WAL). Every transaction that writes takes the lock when it begins, so none fails halfway.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, ExceptionContext, make_url
from sqlalchemy.exc import OperationalError

from gameproof.live.facts import LedgerError
from gameproof.live.schema import metadata

# How long a writer waits for another one before it gives up, in seconds.
PATIENCE = 30.0
# PostgreSQL names locks by numbers. This one is held while tables are created.
CREATING = 0x67616D65


def open_database(where: str | Path) -> Engine:
    """The engine of a path or URL, with all tables present."""
    url = as_url(where)
    options: dict[str, Any] = {}
    if url.get_backend_name() == "sqlite":
        options["connect_args"] = {"timeout": PATIENCE}
    engine = create_engine(url, **options)
    if url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _configure_sqlite)
        event.listen(engine, "begin", _begin)
    event.listen(engine, "handle_error", _explain, retval=True)
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:k)"), {"k": CREATING})
        metadata.create_all(connection)
    return engine


def as_url(where: str | Path) -> URL:
    """A path becomes an SQLite URL; plain ``postgresql://`` uses psycopg 3."""
    if "://" not in str(where):
        return URL.create("sqlite", database=str(where))
    url = make_url(str(where))
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
    return url


def _configure_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say, not where the driver does
    cursor = connection.cursor()
    for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def _explain(context: ExceptionContext) -> LedgerError | None:
    """Says what to do if the database is full, locked or gone."""
    if not isinstance(context.sqlalchemy_exception, OperationalError):
        return None
    why = " ".join(str(context.original_exception).split())
    return LedgerError(
        "store-unavailable",
        f"the database cannot be used at this moment ({why}); repeat this later, which stores "
        "nothing twice",
    )


def reading(engine: Engine) -> Connection:
    """A connection that only reads; on SQLite it never waits for a writer."""
    return engine.connect().execution_options(reads_only=True)


def _begin(connection: Connection) -> None:
    reads_only = connection.get_execution_options().get("reads_only", False)
    connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")
