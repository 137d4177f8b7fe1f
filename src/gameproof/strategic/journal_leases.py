"""`Leases`: the questions of a journal that somebody is asking, and whether they are alive.

Each process that asks questions has a name and a lock file of that name beside the journal. The
operating system releases the lock when the process dies: its leases can then be ended.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from sqlite3 import Connection
from typing import Any, final
from uuid import uuid4

from gameproof.core.database import Database
from gameproof.core.process_lock import ProcessLock, remove_if_free
from gameproof.strategic import journal_statements as sql


@final
class Leases:
    """What this process and others are asking. A copy, in this process or another one, is asking
    nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._owner, self._name = 0, ""
        self._asking: set[int] = set()  # questions that are being asked here
        for lock in _locks(database.path):
            with suppress(OSError):
                remove_if_free(lock)

    def __getstate__(self) -> dict[str, Any]:
        return {"_database": self._database, "_owner": 0, "_name": "", "_asking": set()}

    @property
    def _own_name(self) -> str:
        """The name of this process; the first call takes its lock."""
        if self._owner != os.getpid():
            name = uuid4().hex
            self._lock = ProcessLock(_lock_path(self._database.path, name))
            self._lock.acquire()
            self._name, self._owner = name, os.getpid()
        return self._name

    @property
    def n_asking(self) -> int:
        """The number of questions that are being asked here."""
        return len(self._asking) if self._owner == os.getpid() else 0

    def begin(self, connection: Connection, questions: Iterable[int]) -> None:
        """Notes that these questions are being asked here."""
        for question in questions:
            sql.lease(connection, question, self._own_name)
            self._asking.add(question)

    def forget(self, question: int) -> None:
        """Notes that a question is not being asked here any more. Its lease, if it is still in the
        file, is ended by `end_stale`."""
        self._asking.discard(question)

    def end_stale(self) -> None:
        """Ends the leases of processes that died, and those of questions that were given up here
        when the file could not be written."""
        leases = sql.leases(self._database)
        own = self._name if self._owner == os.getpid() else None
        others = {holder for _, holder in leases} - {own}
        dead = {name for name in others if remove_if_free(_lock_path(self._database.path, name))}
        stale = [
            (question, holder)
            for question, holder in leases
            if holder in dead or (holder == own and question not in self._asking)
        ]
        if stale:
            with self._database.transaction(durable=False) as connection:
                sql.end_leases_of(connection, stale)


def _lock_path(journal: Path, holder: str) -> Path:
    return journal.parent / f"{journal.name}-{holder}.lock"


def _locks(journal: Path) -> Iterable[Path]:
    return journal.parent.glob(f"{glob.escape(journal.name)}-{'?' * 32}.lock")
