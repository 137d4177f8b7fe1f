"""Ctrl-C that ends a run between two answers instead of in the middle of one."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, ClassVar, Self


class Interrupts:
    """While open, the first Ctrl-C only sets a flag; a second one interrupts at once.

    Ctrl-C reaches the main thread alone; those open in other threads ask the ones open there.
    """

    _in_main: ClassVar[list[Interrupts]] = []

    def __init__(self) -> None:
        self._seen = False
        self._before: Any = None

    def seen(self) -> bool:
        """Whether Ctrl-C was pressed."""
        if self in self._in_main:
            return self._seen
        return any(other._seen for other in self._in_main)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
            self._in_main.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._in_main.remove(self)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._seen:
            raise KeyboardInterrupt
        self._seen = True
