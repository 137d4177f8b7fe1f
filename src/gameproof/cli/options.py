"""Argument types and help texts that several commands share.

An option value that makes no sense is a `UsageError`, which ends the command with exit code 2.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Collection
from math import inf, nan
from pathlib import Path
from typing import Any, Literal

from gameproof.core.size_limits import parse_size

STANDARD = Path("-")  # standard input or output


class UsageError(ValueError):
    """A command line whose options do not fit together."""


class HelpFormatter(argparse.HelpFormatter):
    """Wraps text of one line, such as a description, and keeps line breaks, as in examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" not in text:
            return super()._fill_text(text, width, indent)
        return "\n".join(indent + line for line in text.splitlines())


def add_command(
    commands: argparse._SubParsersAction[Any],
    shared: argparse.ArgumentParser,
    name: str,
    run: Callable[..., None],
    *,
    summary: str,
    description: str,
    examples: str,
) -> argparse.ArgumentParser:
    """Adds a command with the shared options; `run(options, console)` carries it out."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        parents=[shared],
        help=summary,
        description=description,
        epilog=examples,
        formatter_class=HelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def command_line(options: argparse.Namespace) -> str:
    """The command as the user typed it."""
    return shlex.join(["gameproof", *options.typed])


def one_of(what: str, known: Collection[str]) -> Callable[[str], str]:
    """Argument type: one of several names.

    `choices` would refuse an empty list of names before Python 3.12. Completion finds the names
    under `known`.
    """

    def checked(given: str) -> str:
        if given not in known:
            raise argparse.ArgumentTypeError(
                f"unknown {what} {given!r}; choose from {', '.join(known)}"
            )
        return given

    checked.known = list(known)  # type: ignore[attr-defined]
    return checked


def number(
    least: float, most: float = inf, *, open_ends: bool = False, infinite: bool = False
) -> Callable[[str], float]:
    """Argument type: a number from `least` to `most`, or strictly between them with `open_ends`.

    Only with `infinite` may it be inf.
    """
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


def integer(least: int) -> Callable[[str], int]:
    """Argument type: an integer of at least `least`."""

    def checked(given: str) -> int:
        try:
            value = int(given)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"expected an integer, {least} or more, got {given!r}")
        return value

    return checked


def size(given: str) -> int:
    """Argument type: a size in bytes, such as 16GB."""
    try:
        return parse_size(given)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def number_or_auto(given: str) -> float | Literal["auto"]:
    """Argument type: a number of at least 0, or auto."""
    if given == "auto":
        return "auto"
    try:
        return number(0)(given)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f"expected a number, 0 or more, or auto, got {given!r}"
        ) from None


def model_file(given: str) -> Path:
    """Argument type: the file of a model."""
    path = Path(given)
    if path == STANDARD:
        raise argparse.ArgumentTypeError(
            "a model cannot be read from standard input, only a table can; name the model's file"
        )
    return path


def page_file(given: str) -> Path:
    """Argument type: the file of an HTML page."""
    path = Path(given)
    if path.suffix.lower() not in (".html", ".htm"):
        raise argparse.ArgumentTypeError(f"expected a file name that ends in .html, got {given!r}")
    return path
