"""`Database`: one SQLite file that threads and processes share.

Writers take turns, readers never wait (write-ahead log). A durable transaction is on disk when it
ends, and a killed process leaves every transaction done completely or not at all.
"""

from __future__ import annotations

import _thread
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, final

# Seconds until a writer gives up waiting for the others.
PATIENCE = 60.0
# The bits of SQLite's error codes that are the same for all kinds of one error.
PRIMARY = 0xFF
# Seconds until a Ctrl-C that arrived in a finalizer is repeated.
AFTER_FINALIZER = 0.01
# Connections that a forked child inherited. SQLite forbids the child to use or close them.
_inherited: list[sqlite3.Connection] = []


@final
class Database:
    """A connection to a SQLite file, opened again after a fork. The file must exist."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connect()

    def _connect(self) -> None:
        self._owner, self._lock = os.getpid(), threading.RLock()
        if has_one_byte(self.path):
            raise sqlite3.DatabaseError("file is not a database")
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )
        self._connection, self._file = connection, identity(self.path)
        self._finalizer = weakref.finalize(self, _close, connection, self._owner)
        switch_to_write_ahead(connection, PATIENCE)
        connection.execute("PRAGMA foreign_keys = ON")

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.path = state["path"]
        self._connect()

    @property
    def lock(self) -> threading.RLock:
        """Held by the thread that uses the connection."""
        if self._owner != os.getpid():  # a forked child, in which nobody would release the lock
            _inherited.append(self._connection)
            self._finalizer.detach()
            self._connect()
        return self._lock

    def rows(self, statement: str, *values: Any) -> list[Any]:
        """The rows that a query finds."""
        with self.lock:
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Reads inside see the file as it was at the first of them; writers need not wait."""
        with self.lock:
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def require_in_place(self) -> None:
        """Raises if the file was moved away: SQLite keeps writing to it wherever it is, and after a
        removal these writes would be lost."""
        if identity(self.path) != self._file:
            raise sqlite3.OperationalError(
                "it was moved, removed or replaced while it was in use; put it back, or start again"
            )

    @contextmanager
    def transaction(self, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """Everything inside is written at once, or nothing if it raises.

        A durable transaction is on disk, in the file of this name, when the block ends. Other
        transactions survive a killed process, but perhaps not a power failure."""
        with self.lock:
            connection = self._connection
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
                if durable:
                    self.require_in_place()
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise


def identity(path: Path) -> tuple[int, int] | None:
    """The device and inode of the file with this name; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def has_one_byte(path: Path) -> bool:
    """Whether a file has one byte. SQLite takes it for an empty file, and would overwrite it."""
    return path.is_file() and path.stat().st_size == 1


def switch_to_write_ahead(connection: sqlite3.Connection, patience: float) -> None:
    """Makes the file keep a write-ahead log from now on.

    Retries for this many seconds while the file is locked: if two processes switch a new file at
    once, SQLite reports the lock without the usual wait."""
    deadline = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            locked = error.sqlite_errorcode & PRIMARY == sqlite3.SQLITE_BUSY
            if not locked or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _close(connection: sqlite3.Connection, owner: int) -> None:
    if os.getpid() != owner:
        return
    try:
        connection.close()
    except KeyboardInterrupt:
        # Python ignores exceptions in finalizers, so Ctrl-C is repeated after this one.
        again = threading.Timer(AFTER_FINALIZER, _thread.interrupt_main)
        again.daemon = True
        with suppress(RuntimeError):  # the interpreter is ending already
            again.start()
