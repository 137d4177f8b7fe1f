"""Hidden folders that do not outlive their process: for files that are not complete yet, or that
only running processes need."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from gameproof.core.process_lock import ProcessLock, remove_if_free

ENDING = ".staging"


@contextmanager
def staging(folder: Path) -> Iterator[Path]:
    """A hidden folder inside `folder`, which is removed at the end."""
    place, lock = open_staging(folder)
    try:
        yield place
    finally:
        close_staging(place, lock)


def open_staging(folder: Path) -> tuple[Path, ProcessLock]:
    """A hidden folder inside `folder`, and the lock that shows that its process is alive. A killed
    process leaves its own behind, and the next one in the same folder removes it."""
    for leftover in folder.glob(f".gameproof.*{ENDING}"):
        with suppress(OSError):  # not every file system has locks
            if remove_if_free(_lock_path(leftover)):
                shutil.rmtree(leftover, ignore_errors=True)
    place = folder.absolute() / f".gameproof.{uuid4().hex}{ENDING}"
    lock = ProcessLock(_lock_path(place))
    with suppress(OSError):
        lock.acquire()
    try:
        place.mkdir(mode=0o700)
    except BaseException:
        lock.release()
        raise
    return place, lock


def close_staging(place: Path, lock: ProcessLock) -> None:
    """Removes the folder and its lock."""
    shutil.rmtree(place, ignore_errors=True)
    lock.release()


def _lock_path(place: Path) -> Path:
    return place.with_suffix(".lock")
