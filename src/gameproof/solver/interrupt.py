"""Ctrl-C that ends a run between two answers instead of in the middle of one."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupts:
    """While open, the first Ctrl-C only sets a flag; a second one interrupts at once.

    Outside the main thread there is no handler to set, and nothing changes.
    """

    def __init__(self) -> None:
        self._seen = False
        self._before: Any = None

    def seen(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._seen

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._seen:
            raise KeyboardInterrupt
        self._seen = True
