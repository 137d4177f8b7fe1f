"""What a command says: results on standard output, progress on standard error."""

from __future__ import annotations

import io
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EBADF
from os import strerror
from typing import Any, NamedTuple

from gameproof.auditing.json_safe import json_safe

# Seconds before a step that is under way says that it still is, and between such lines.
PATIENCE = 2.0
PULSE = 10.0


class Console(NamedTuple):
    """Results as text or as JSON; with `quiet`, no progress."""

    as_json: bool = False
    quiet: bool = False

    def say(self, sentence: str) -> None:
        """Progress."""
        if not self.quiet:
            print(sentence, file=sys.stderr, flush=True)

    @contextmanager
    def step(self, sentence: str) -> Iterator[None]:
        """A part of the work that may take long: if it does, says so, and that it goes on."""
        if self.quiet:
            yield
            return
        done = threading.Event()
        began = time.monotonic()

        def speak() -> None:
            wait = PATIENCE
            while not done.wait(wait):
                self.say(f"{sentence}, {time.monotonic() - began:.0f} s …")
                wait = PULSE

        speaker = threading.Thread(target=speak, daemon=True)
        speaker.start()
        try:
            yield
        finally:
            done.set()
            speaker.join()

    def show(self, text: str, record: Any) -> None:
        """A result, which is either of the two."""
        # What JSON does not have, such as dates, is told as text.
        tell(json.dumps(json_safe(record), indent=2, default=str) if self.as_json else text)


def accept_any_letter() -> None:
    """Standard output in UTF-8, as tables are, or in what a terminal can show, the rest escaped.
    Python would fail at the first letter that the locale does not have."""
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper):  # not what took its place
        out.reconfigure(encoding=None if out.isatty() else "utf-8", errors="backslashreplace")


def tell(text: str, end: str = "\n") -> None:
    """Prints to standard output, and now, so that an error can still say where it happened."""
    try:
        if sys.stdout is None:  # as where it was closed
            raise OSError(EBADF, strerror(EBADF))
        print(text, end=end, flush=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from error
