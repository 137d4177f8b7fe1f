"""`ProcessLock`: a lock on a file that the operating system releases when its process dies."""

from __future__ import annotations

import os
import sys
import weakref
from pathlib import Path
from typing import ClassVar, final

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@final
class ProcessLock:
    """A lock with at most one holder, in this process or another one.

    The file is created when the lock is taken and removed when it is released. A killed process
    leaves the file behind, but not the lock: whoever comes next can take it."""

    _held: ClassVar[weakref.WeakSet[ProcessLock]] = weakref.WeakSet()

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None
        self._finalizer: weakref.finalize[..., ProcessLock] | None = None

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return self._handle is not None

    def acquire(self) -> bool:
        """Takes the lock, or returns False at once if somebody else holds it."""
        while self._handle is None:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            mine = current = False
            try:
                mine = _try_lock(handle)
                current = mine and _is_at(handle, self.path)
            finally:
                if not current:  # locked by another, or removed since it was opened
                    os.close(handle)
            if not mine:
                return False
            if current:
                self._handle = handle
                self._finalizer = weakref.finalize(self, _release, self.path, handle, os.getpid())
                self._held.add(self)
        return True

    def release(self) -> None:
        """Gives the lock back and removes the file."""
        if self._finalizer is not None:
            self._finalizer()
        self._forget()

    def _forget(self) -> None:
        if self._finalizer is not None:
            self._finalizer.detach()
        self._handle = self._finalizer = None
        self._held.discard(self)

    @classmethod
    def _after_fork(cls) -> None:
        """Leaves the locks to the parent: the child has copies of its handles, which would keep
        them locked after the death of the parent."""
        for lock in list(cls._held):
            if lock._handle is not None:
                os.close(lock._handle)
            lock._forget()


def remove_if_free(path: Path) -> bool:
    """Removes the file of a lock that nobody holds. False if somebody holds it."""
    if not path.exists():
        return True
    lock = ProcessLock(path)
    free = lock.acquire()
    lock.release()
    return free


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _release(path: Path, handle: int, owner: int) -> None:
    if os.getpid() != owner:
        return
    if os.name == "nt":  # an open file cannot be removed there
        os.close(handle)
        handle = -1
    try:
        path.unlink(missing_ok=True)
    except OSError:
        pass  # the file remains, without a lock
    finally:
        if handle >= 0:
            os.close(handle)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=ProcessLock._after_fork)
