"""`LeaseHolder`: who holds the leases of a journal, and whether they are alive.

Each process that asks questions has a name and a lock file of that name beside the journal. The
operating system releases the lock when the process dies: its leases can then be ended.
"""

from __future__ import annotations

import glob
import os
from contextlib import suppress
from pathlib import Path
from typing import final
from uuid import uuid4

from gameproof.core.process_lock import ProcessLock, remove_if_free


@final
class LeaseHolder:
    """The name under which a process holds leases, and a lock that shows that it is alive."""

    def __init__(self, path: Path) -> None:
        self._path, self._owner, self._name = path, 0, ""

    @property
    def name_so_far(self) -> str | None:
        """The name, if this process has one."""
        return self._name if self._owner == os.getpid() else None

    @property
    def name(self) -> str:
        """The name; the first call takes the lock."""
        if self._owner != os.getpid():
            self._name = uuid4().hex
            self._lock = ProcessLock(lock_path(self._path, self._name))
            self._lock.acquire()
            self._owner = os.getpid()
        return self._name


def lock_path(path: Path, holder: str) -> Path:
    """The lock file of this holder."""
    return path.parent / f"{path.name}-{holder}.lock"


def remove_locks_of_the_dead(path: Path) -> None:
    """Removes the lock files of processes that have died."""
    for lock in path.parent.glob(f"{glob.escape(path.name)}-{'?' * 32}.lock"):
        with suppress(OSError):
            remove_if_free(lock)
