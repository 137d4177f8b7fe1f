"""Ctrl-C, and SIGTERM, that end a run between two answers instead of in the middle of one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, ClassVar, Self


class Interrupts:
    """While open, Ctrl-C only sets a flag. A second one interrupts the user's own functions at
    once (see `interruptible`), and nothing else, so that a save in progress is completed.

    With `terminate=True` SIGTERM sets the flag as well. It takes its usual effect once this is
    closed. Only the main thread receives signals; objects in other threads check the flags of
    those that are open there.
    """

    _in_main: ClassVar[list[Interrupts]] = []

    def __init__(self, terminate: bool = False) -> None:
        self._signals = (signal.SIGINT, signal.SIGTERM) if terminate else (signal.SIGINT,)
        self._before: dict[int, Any] = {}
        self._seen = self._terminated = False

    def seen(self) -> bool:
        """Whether the run must end."""
        if self in self._in_main:
            return self._seen
        return any(other._seen for other in self._in_main)

    def __enter__(self) -> Self:
        if _in_main_thread():
            for number in self._signals:
                self._before[number] = signal.signal(number, self._note)
            self._in_main.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            # None is a handler that was not set from Python, and cannot be put back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if self._before:
            self._in_main.remove(self)
        if self._terminated:
            signal.raise_signal(signal.SIGTERM)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._terminated |= number == signal.SIGTERM
        if self._seen and interruptible.open and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._seen = True


class interruptible:
    """While open, a second Ctrl-C raises KeyboardInterrupt. Calls of a user's functions are wrapped
    in it, because they may take long."""

    open: ClassVar[bool] = False

    def __enter__(self) -> None:
        self._before = interruptible.open
        if _in_main_thread():
            interruptible.open = True

    def __exit__(self, *exception: object) -> None:
        if _in_main_thread():
            interruptible.open = self._before


@contextmanager
def delayed_interrupts() -> Iterator[None]:
    """While open, Ctrl-C waits. It takes its usual effect at the end."""
    before = signal.getsignal(signal.SIGINT)
    if not _in_main_thread() or before is None:
        yield
        return
    seen: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        for number in seen:
            signal.raise_signal(number)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
