"""`SqlDatabase`: SQLite in a file, or PostgreSQL.

What the database acknowledges is on disk (SQLite: ``synchronous = FULL``; PostgreSQL: never
``synchronous_commit = off``). On SQLite, readers do not wait for writers (WAL), and every
transaction that writes takes the lock when it begins, so none fails halfway.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from gameproof.core.atomic_files import real
from gameproof.core.database import has_one_byte, identity, switch_to_write_ahead
from gameproof.core.naming import escaped, without_password
from gameproof.live.facts import LedgerError
from gameproof.live.schema import metadata

# How long a writer waits for another one before it gives up, in seconds.
PATIENCE = 30.0
# PostgreSQL names locks by numbers. This one is held while tables are created.
CREATING = 0x67616D65
SQLITE, POSTGRESQL = "sqlite", "postgresql"
# What the drivers say about a database that will not be usable later either.
LASTING = ("readonly", "read-only", "not a database", "malformed", "permission denied")
READ_ONLY = (
    "; a study needs a file and a folder that can be written, even to be read: change their "
    "permissions, or copy the file to another folder"
)


@final
class SqlDatabase:
    """A database with the tables of studies.

    Parameters
    ----------
    where
        The path of an SQLite file, or an SQLAlchemy URL.
    create
        Whether to create the file and the tables if they are missing; otherwise that is an error.
    """

    def __init__(self, where: str | Path, create: bool) -> None:
        url = _as_url(where)
        # Every process finds the locks beside the file itself, whatever link or folder it came by.
        self.path = None if url.get_backend_name() == POSTGRESQL else real(Path(url.database or ""))
        # What messages call it.
        self.name = str(self.path or url.render_as_string(hide_password=True))
        if self.path is not None:
            _require_file(self.path, create)
            url = _without_creation(url, self.path)
        self.engine = _engine(url)
        event.listen(self.engine, "connect", self._configure)
        event.listen(self.engine, "begin", self._begin)
        event.listen(self.engine, "handle_error", self._explain, retval=True)
        try:
            with self.writing() if create else self.reading() as connection:
                if create:
                    self._create_tables(connection)
                self._require_tables(connection)
            self._write_ahead()
        except BaseException:
            self.engine.dispose()
            raise

    @property
    def is_postgresql(self) -> bool:
        """Whether this is PostgreSQL."""
        return self.path is None

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction. When the block has ended, its changes are on disk."""
        with self.engine.connect() as connection:
            with connection.begin():
                yield connection
            self._require_same_file(connection)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads; on SQLite it never waits for a writer."""
        with self.engine.connect().execution_options(reads_only=True) as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Reads inside all see the same moment."""
        options: dict[str, Any] = {"reads_only": True}
        if self.is_postgresql:
            options["isolation_level"] = "REPEATABLE READ"
        with self.engine.connect().execution_options(**options) as connection:
            yield connection

    def _configure(self, connection: Any, record: ConnectionPoolEntry) -> None:
        """Prepares a new connection."""
        cursor = connection.cursor()
        if self.path is None:
            cursor.execute(
                "SELECT set_config('synchronous_commit', 'on', false) "
                "WHERE current_setting('synchronous_commit') = 'off'"
            )
            connection.commit()
        else:
            # Transactions begin where we say, not where the driver does.
            connection.isolation_level = None
            for setting in ("synchronous = FULL", "foreign_keys = ON"):
                cursor.execute(f"PRAGMA {setting}")
            record.info["file"] = identity(self.path)
        cursor.close()

    def _begin(self, connection: Connection) -> None:
        if self.path is None:
            return
        self._require_same_file(connection)
        reads_only = connection.get_execution_options().get("reads_only", False)
        connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")

    def _require_same_file(self, connection: Connection) -> None:
        """Raises if the file was moved away: SQLite would keep writing to it wherever it is, and
        after a removal what was acknowledged would be lost."""
        if self.path is None or connection.info.get("file") == identity(self.path):
            return
        connection.invalidate()
        raise LedgerError(
            "store-unavailable",
            f"the file {self.path} was moved, removed or replaced while it was in use; put it back "
            "and repeat this, which stores nothing twice",
        )

    def _create_tables(self, connection: Connection) -> None:
        if self.is_postgresql:
            connection.execute(text("SELECT pg_advisory_xact_lock(:k)"), {"k": CREATING})
        metadata.create_all(connection)

    def _require_tables(self, connection: Connection) -> None:
        """Raises if the tables are missing, or belong to another program."""
        found = inspect(connection)
        present = set(found.get_table_names())
        for table in metadata.sorted_tables:
            columns = found.get_columns(table.name) if table.name in present else []
            if not set(table.columns.keys()) <= {column["name"] for column in columns}:
                raise LedgerError("not-a-store", f"{self.name} is not a database of live studies")

    def _write_ahead(self) -> None:
        """Makes the file keep a write-ahead log, unless it can only be read: then nobody writes."""
        if self.path is None:
            return
        with self.engine.connect() as connection:
            driver = connection.connection.driver_connection
            assert driver is not None
            try:
                switch_to_write_ahead(driver, PATIENCE)
            except sqlite3.OperationalError as error:
                if "readonly" not in str(error):
                    raise LedgerError("store-unavailable", f"{self.name}: {error}") from error

    def _explain(self, context: ExceptionContext) -> LedgerError | None:
        """Says what to do if the database is full, locked, gone, or cannot be used at all."""
        found = context.sqlalchemy_exception
        why = " ".join(str(context.original_exception).split())
        if isinstance(found, DatabaseError) and any(sign in why.lower() for sign in LASTING):
            advice = READ_ONLY if self.path is not None and "readonly" in why else ""
            why = f"the database {self.name} cannot be used: {why}{advice}"
            return LedgerError("not-a-store", why)
        if not isinstance(found, OperationalError):
            return None
        return LedgerError(
            "store-unavailable",
            f"the database {self.name} cannot be used at this moment ({why}); repeat this later, "
            "which stores nothing twice",
        )


def _as_url(where: str | Path) -> URL:
    """A path becomes an SQLite URL; plain ``postgresql://`` uses psycopg 3."""
    if "://" not in str(where):
        return URL.create(SQLITE, database=str(where))
    try:
        url = make_url(str(where))
        backend = url.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        shown = without_password(str(where))
        raise ValueError(
            f"{shown!r} is not a database URL; write one like postgresql://user@host/database"
        ) from None
    if url.drivername in ("postgres", POSTGRESQL):
        return url.set(drivername="postgresql+psycopg")
    if backend not in (SQLITE, POSTGRESQL):
        raise ValueError(f"live studies need SQLite or PostgreSQL, got a URL of {backend}")
    if backend == SQLITE and url.database in (None, "", ":memory:"):
        raise ValueError('a URL of SQLite needs a file; ":memory:" alone keeps a study in memory')
    return url


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == SQLITE:
        return create_engine(url, connect_args={"timeout": PATIENCE})
    try:
        # Locks are followed by a fresh look at the rows, which this level gives.
        return create_engine(url, isolation_level="READ COMMITTED")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"studies on PostgreSQL need {error.name}: pip install 'gameproof[postgres]'",
            name=error.name,
        ) from error


def _require_file(path: Path, create: bool) -> None:
    """Creates the file if that is wanted. Raises if there is none."""
    if path.is_dir():
        raise LedgerError("not-a-store", f"{path} is a folder, not a database of live studies")
    if has_one_byte(path):
        raise LedgerError("not-a-store", f"{path} is not a database; name another file")
    if create:
        if not path.parent.is_dir():
            folder = escaped(str(path.parent))
            raise FileNotFoundError(f"the folder {folder} does not exist; create it first")
        if not path.exists():
            path.touch()
    elif not path.exists():
        raise LedgerError("no-store", f"there is no study {path}; gameproof live create makes one")


def _without_creation(url: URL, path: Path) -> URL:
    """Without mode=rw, SQLite would create an empty file in place of a database that was moved
    away."""
    return url.set(database=f"file:{quote(str(path))}").update_query_dict(
        {"uri": "true", "mode": "rw"}
    )
