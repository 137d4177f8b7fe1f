"""What a command says: results on standard output, progress on standard error."""

from __future__ import annotations

import json
import sys
from math import isfinite
from typing import Any, NamedTuple


class Console(NamedTuple):
    """Results as text or as JSON; with `quiet`, no progress."""

    as_json: bool = False
    quiet: bool = False

    def say(self, sentence: str) -> None:
        """Progress."""
        if not self.quiet:
            print(sentence, file=sys.stderr, flush=True)

    def show(self, text: str, record: Any) -> None:
        """A result, which is either of the two."""
        print(json.dumps(_plain(record), indent=2) if self.as_json else text, flush=True)


def _plain(record: Any) -> Any:
    """The same with null for numbers that JSON does not have."""
    if isinstance(record, dict):
        return {name: _plain(part) for name, part in record.items()}
    if isinstance(record, (list, tuple)):
        return [_plain(part) for part in record]
    return None if isinstance(record, float) and not isfinite(record) else record
