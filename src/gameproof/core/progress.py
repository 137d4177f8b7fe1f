"""Progress on a terminal: lines for long steps, and a bar. Nothing is shown elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Self, TypeVar

from gameproof.core.naming import escaped

T = TypeVar("T")
PATIENCE = 2.0  # seconds until a step is reported for the first time
PULSE = 10.0  # seconds between further reports


def _shows(wanted: bool | None) -> bool:
    return sys.stderr.isatty() if wanted is None else wanted


@contextmanager
def announced(text: str, wanted: bool | None) -> Iterator[None]:
    """Prints `text` to stderr if the block takes longer than `PATIENCE` seconds."""
    timer = threading.Timer(PATIENCE, lambda: print(escaped(text), file=sys.stderr, flush=True))
    timer.daemon = True
    if _shows(wanted):
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def step(text: str, wanted: bool | None, more: Callable[[], str] = str) -> Iterator[None]:
    """Reports on stderr that the step inside is running, if it takes long, and for how long.

    `more()` returns text that is added to each report."""
    if not _shows(wanted):
        yield
        return
    done = threading.Event()
    began = time.monotonic()

    def report() -> None:
        wait = PATIENCE
        while not done.wait(wait):
            so_far = f"{escaped(text)}{more()}, {time.monotonic() - began:.0f} s …"
            print(so_far, file=sys.stderr, flush=True)
            wait = PULSE

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        done.set()
        reporter.join()


def bar_replaces_steps(wanted: bool | None) -> bool:
    """Whether a step with a known end shows a bar: on a terminal, if tqdm is installed."""
    return wanted is not False and sys.stderr.isatty() and find_spec("tqdm") is not None


class Progress:
    """A progress bar. With `wanted=None` it is shown on a terminal if tqdm is installed."""

    def __init__(self, wanted: bool | None, total: float, unit: str, title: str) -> None:
        self._bar: Any = None
        if not _shows(wanted):
            return
        try:
            from tqdm import tqdm
        except ImportError as error:
            if wanted:
                raise ImportError(
                    "a progress bar needs tqdm: pip install gameproof[progress]"
                ) from error
            return
        shape = (
            "{desc}: {percentage:3.0f}%|{bar}| {n:.4g}/{total:.4g} {unit} [{elapsed}<{remaining}]"
        )
        self._bar = tqdm(total=total, unit=unit, desc=title, bar_format=shape, leave=False)

    def show(self, done: float) -> None:
        """Moves the bar to `done`."""
        if self._bar is not None:
            self._bar.update(done - self._bar.n)

    def counted(self, result: T) -> T:
        """Moves the bar by one and returns `result`."""
        if self._bar is not None:
            self._bar.update(1)
        return result

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.close()
