"""Progress on a terminal: lines for long steps, and a bar. Nothing is shown elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from gameproof.core.naming import escaped

PATIENCE = 2.0  # seconds until a step is reported for the first time
PULSE = 10.0  # seconds between further reports


def _shows(wanted: bool | None) -> bool:
    return sys.stderr.isatty() if wanted is None else wanted


@contextmanager
def announced(text: str, wanted: bool | None, patience: float = 2.0) -> Iterator[None]:
    """Prints `text` to stderr if the block takes longer than `patience` seconds."""
    timer = threading.Timer(patience, lambda: print(escaped(text), file=sys.stderr, flush=True))
    timer.daemon = True
    if _shows(wanted):
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def step(text: str, wanted: bool | None) -> Iterator[None]:
    """Reports on stderr that the step inside is running, if it takes long, and for how long."""
    if not _shows(wanted):
        yield
        return
    done = threading.Event()
    began = time.monotonic()

    def report() -> None:
        wait = PATIENCE
        while not done.wait(wait):
            print(
                f"{escaped(text)}, {time.monotonic() - began:.0f} s …", file=sys.stderr, flush=True
            )
            wait = PULSE

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        done.set()
        reporter.join()


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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.close()
