"""Options that several words take, and values that make no sense: those end with exit code 2."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from math import inf, nan
from pathlib import Path

STANDARD = Path("-")  # input or output
GIVEN = "as given"  # why a value is what it is


class SenselessOptions(ValueError):
    """A command line whose options do not go together."""


class Help(argparse.HelpFormatter):
    """Wraps a text of one line, as a description is, and leaves one of several as it stands, as
    examples do."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" not in text:
            return super()._fill_text(text, width, indent)
        return "\n".join(indent + line for line in text.splitlines())


def one_of(what: str, known: Collection[str]) -> Callable[[str], str]:
    """A type for arguments that must be one of some names. Not `choices`, which refuses an empty
    list of them before Python 3.12; completion finds them under `known`."""

    def checked(given: str) -> str:
        if given not in known:
            raise argparse.ArgumentTypeError(f"no {what} {given!r}; there are {', '.join(known)}")
        return given

    checked.known = list(known)  # type: ignore[attr-defined]
    return checked


def number(
    least: float, most: float = inf, *, open_ends: bool = False, infinite: bool = False
) -> Callable[[str], float]:
    """A type for arguments that are numbers from `least` to `most`, between them with `open_ends`,
    and inf only with `infinite`."""
    what = (
        f"a number between {least:g} and {most:g}" if open_ends else f"a number, {least:g} or more"
    )
    what += ", or inf" if infinite else ""

    def checked(given: str) -> float:
        try:
            value = float(given)
        except ValueError:
            value = nan
        inside = least < value < most if open_ends else least <= value <= most
        if not inside or (value == inf and not infinite):
            raise argparse.ArgumentTypeError(f"expected {what}, got {given!r}")
        return value

    return checked


def whole(least: int) -> Callable[[str], int]:
    """A type for arguments that are whole numbers of at least this."""

    def checked(given: str) -> int:
        try:
            value = int(given)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(
                f"expected a whole number, {least} or more, got {given!r}"
            )
        return value

    return checked


def model_file(given: str) -> Path:
    """A type for the names of models."""
    path = Path(given)
    if path == STANDARD:
        raise argparse.ArgumentTypeError(
            "a model cannot come from standard input; name its file, and - for the table only"
        )
    return path


def page(given: str) -> Path:
    """A type for the names of pages."""
    path = Path(given)
    if path.suffix.lower() not in (".html", ".htm"):
        raise argparse.ArgumentTypeError(f"expected a name that ends in .html, got {given!r}")
    return path
