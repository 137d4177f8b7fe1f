"""Options that several words take."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection


def one_of(what: str, known: Collection[str]) -> Callable[[str], str]:
    """A type for arguments that must be one of some names. Not `choices`, which refuses an empty
    list of them before Python 3.12."""

    def checked(given: str) -> str:
        if given not in known:
            raise argparse.ArgumentTypeError(f"no {what} {given!r}; there are {', '.join(known)}")
        return given

    return checked
