"""What a command prints: results on standard output, progress on standard error."""

from __future__ import annotations

import io
import json
import sys
from contextlib import AbstractContextManager
from errno import EBADF
from os import strerror
from typing import Any, NamedTuple

from gameproof.auditing.json_safe import json_safe
from gameproof.core.naming import escaped
from gameproof.core.progress import step


class Console(NamedTuple):
    """Prints results as text or JSON, and progress unless `quiet`."""

    as_json: bool = False
    quiet: bool = False

    @property
    def progress(self) -> bool:
        """Whether functions should report long steps."""
        return not self.quiet

    def say(self, sentence: str) -> None:
        """Prints a line of progress."""
        if not self.quiet:
            print(escaped(sentence), file=sys.stderr, flush=True)

    def step(self, sentence: str) -> AbstractContextManager[None]:
        """Reports that a step is running, if it takes long."""
        return step(sentence, self.progress)

    def show(self, text: str, record: Any) -> None:
        """Prints a result: the record as JSON, or else the text with control characters escaped."""
        # Values that JSON does not have, such as dates, become text.
        print_out(
            json.dumps(json_safe(record), indent=2, default=str) if self.as_json else escaped(text)
        )


def use_utf8() -> None:
    """Makes standard output UTF-8, as tables are, and escapes what a terminal cannot show.

    Otherwise Python fails at the first letter that the locale lacks.
    """
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper):  # tests replace it by other streams
        out.reconfigure(encoding=None if out.isatty() else "utf-8", errors="backslashreplace")


def print_out(text: str, end: str = "\n") -> None:
    """Prints to standard output and flushes, so that an error is raised here."""
    try:
        if sys.stdout is None:  # it was closed
            raise OSError(EBADF, strerror(EBADF))
        print(text, end=end, flush=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from error
