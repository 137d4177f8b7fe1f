"""Checkpoints: the file that holds the state of a run, however the run ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self, final

from gameproof.core.arguments import as_count
from gameproof.core.atomic_files import beside, naming, real, remove_leftovers, require_replaceable
from gameproof.core.errors import StateFileError, warn
from gameproof.core.naming import escaped
from gameproof.core.process_lock import ProcessLock
from gameproof.minmax.run import Run
from gameproof.minmax.run_engine import UNLIMITED
from gameproof.minmax.state_files import is_state_file

# Seconds between two checkpoints, if the caller does not say.
SAVE_EVERY = 10.0


@contextmanager
def locked(path: str | Path | None) -> Iterator[None]:
    """While open, no other run uses this checkpoint. The lock dies with its process."""
    if path is None:
        yield
        return
    require_replaceable(Path(path))
    target = real(Path(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(escaped(f"the folder of the checkpoint {path} does not exist"))
    lock = ProcessLock(beside(target, ".lock"))
    with naming(Path(path)):
        is_free = lock.acquire()
    if not is_free:
        raise StateFileError(
            f"{path} is the checkpoint of another run that has not ended; wait for it, or name "
            "another file"
        )
    try:
        if target.exists() and target.stat().st_size and not is_state_file(target):
            raise FileExistsError(
                escaped(f"{path} exists and is not a checkpoint; it was not overwritten: ")
                + "name another file"
            )
        remove_leftovers(target)
        yield
    finally:
        lock.release()


@final
class Saver:
    """Writes the checkpoint: at the start, on the way, and at the end."""

    def __init__(self, run: Run, path: str | Path | None, every: int | None) -> None:
        if path is None and every is not None:
            raise ValueError(
                "checkpoint_every says how often to write a file; name it: checkpoint="
            )
        self._run, self._path = run, None if path is None else Path(path)
        self._every = None if every is None else as_count("checkpoint_every", every)
        self._saved, self._when = run.state.steps, time.monotonic()
        self._queries, self._took, self._answered = run.state.queries, 0.0, self._when

    @property
    def active(self) -> bool:
        """Whether there is a file."""
        return self._path is not None

    def due(self) -> int:
        """The step at which to save next, where steps decide."""
        if self._path is None or self._every is None:
            return UNLIMITED
        return self._saved + self._every

    def save_if_due(self) -> None:
        """Saves if enough steps or seconds have passed since the last time."""
        by_clock = self._every is None and time.monotonic() - self._when > SAVE_EVERY
        if by_clock or self._run.state.steps >= self.due():
            self._save_or_warn()

    def save_if_slow(self) -> None:
        """Saves between two answers if the last one took longer than saving does."""
        if self._path is None or self._run.state.queries == self._queries:
            return
        answered = time.monotonic()
        if answered - self._answered > self._took:
            self._save_or_warn()
        else:
            self._queries, self._answered = self._run.state.queries, answered

    def _save_or_warn(self) -> None:
        """Saves, and warns if that fails. The run continues: answers may cost more than the file,
        and the next attempt may succeed."""
        if failed := self._save():
            warn(f"the checkpoint could not be written, and the run continues: {failed}")

    def _save(self) -> OSError | None:
        """Writes the file, if there is one. Returns what went wrong, or None."""
        self._saved, self._when = self._run.state.steps, time.monotonic()
        try:
            if self._path is not None:
                self._run.state.save(self._path)
        except OSError as error:
            return error
        finally:
            self._queries, self._answered = self._run.state.queries, time.monotonic()
            self._took = self._answered - self._when
        return None

    def __enter__(self) -> Self:
        """Writes the first checkpoint: a file that cannot be written is an error before the first
        query."""
        if failed := self._save():
            raise failed
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._run.state.is_finite:
            return  # the state is useless, so the file keeps the last good one
        if error is not None and not hasattr(error, "state"):
            # Whatever raised the error, the run so far is worth keeping.
            error.state = self._run.state.copy()  # type: ignore[attr-defined]
            error.add_note("The run up to here is in the attribute `state` of this exception.")
        if failed := self._save():
            if error is None:  # the result is worth more than the file
                warn(f"the checkpoint could not be written: {failed}")
            else:
                error.add_note(f"The checkpoint could not be written either: {failed}")
