"""`SharedBudget`: a number of answers that threads, and copies in other processes, share.

The count lives in memory until a copy is made for another process, by pickling or by a fork. From
then on it lives in a temporary file, which all copies use until the process that made it ends.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar, final

from gameproof.core.database import Database
from gameproof.core.process_lock import ProcessLock
from gameproof.core.staging import close_staging, open_staging


@final
class SharedBudget:
    """At most `limit` answers, used here or elsewhere.

    `used` counts the answers used here, including those reserved by questions under way."""

    _all: ClassVar[weakref.WeakSet[SharedBudget]] = weakref.WeakSet()

    def __init__(self, limit: int, used: Callable[[], int]) -> None:
        self.limit, self._used = limit, used
        self._elsewhere = 0  # answers used by copies, when the file was last read
        self._written = 0  # answers used here, when the file was last written
        self._database: Database | None = None
        self._lock, self._depth = threading.RLock(), 0
        self._all.add(self)

    @contextmanager
    def exclusive(self) -> Iterator[int]:
        """The number of answers left. While open, nobody else uses any."""
        with self._lock:
            if self._database is None or self._depth:
                yield self._left
                return
            with self._database.transaction(durable=False) as connection:
                (total,) = connection.execute("SELECT used FROM budget").fetchone()
                self._elsewhere = total - self._written
                self._depth += 1
                try:
                    yield self._left
                finally:
                    self._depth -= 1
                    self._written = self._used()
                    total = self._elsewhere + self._written
                    connection.execute("UPDATE budget SET used = ?", (total,))

    @property
    def _left(self) -> int:
        return max(0, self.limit - self._elsewhere - self._used())

    # --- copies

    def share(self) -> None:
        """Moves the count to a file, if it is not in one already."""
        with self._lock:
            if self._database is not None:
                return
            folder, lock = open_staging(Path(tempfile.gettempdir()))
            self._written = self._used()
            with closing(sqlite3.connect(folder / "budget.db")) as connection:
                connection.execute("CREATE TABLE budget (used INTEGER NOT NULL)")
                connection.execute(
                    "INSERT INTO budget VALUES (?)", (self._elsewhere + self._written,)
                )
                connection.commit()
            self._database = Database(folder / "budget.db")
            weakref.finalize(self, _remove, folder, lock, os.getpid())

    def path(self) -> Path:
        """The file of the count, for a copy in another process."""
        self.share()
        assert self._database is not None
        return self._database.path

    def join(self, path: Path) -> None:
        """Uses the file of another copy, unless the process that made it has ended."""
        if path.exists():
            self._database, self._written = Database(path), self._used()

    def __reduce__(self) -> Any:
        raise TypeError("a SharedBudget is not copied; give the copy one of its own, and join")

    @classmethod
    def _before_fork(cls) -> None:
        for budget in list(cls._all):
            budget.share()

    @classmethod
    def _after_fork(cls) -> None:
        for budget in list(cls._all):  # another thread of the parent may have held the lock
            budget._lock, budget._depth = threading.RLock(), 0


def _remove(folder: Path, lock: ProcessLock, owner: int) -> None:
    if os.getpid() == owner:
        close_staging(folder, lock)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=SharedBudget._before_fork, after_in_child=SharedBudget._after_fork)
