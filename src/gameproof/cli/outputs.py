"""Output files, checked before the work starts."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from gameproof.cli.console import Console
from gameproof.cli.options import STANDARD, UsageError, command_line, page_file
from gameproof.core.atomic_files import real, require_replaceable


def add_force(parser: argparse.ArgumentParser) -> None:
    """The option ``--force``."""
    parser.add_argument("--force", action="store_true", help="overwrite existing files")


def add_report(parser: argparse.ArgumentParser) -> None:
    """The options ``--report`` and ``--force``."""
    parser.add_argument(
        "--report",
        type=page_file,
        metavar="PAGE.html",
        help="also write a page with figures: one file that opens without a network",
    )
    add_force(parser)


def add_folder(parser: argparse.ArgumentParser, default: str, what: str) -> None:
    """The option ``--out`` for a folder."""
    parser.add_argument(
        "--out", type=Path, default=Path(default), metavar="DIR", help=f"{what} (%(default)s)"
    )


class Result(Protocol):
    """What the functions on tables return."""

    def lines(self) -> list[str]: ...

    def record(self) -> dict[str, Any]: ...

    def write_page(self, path: Path, *, command: str = "") -> None: ...


def show_result(found: Result, options: argparse.Namespace, console: Console) -> None:
    """Writes the page if ``--report`` is given, and prints the result."""
    written = []
    if options.report:
        found.write_page(options.report, command=command_line(options))
        written.append(f"page: {options.report}")
    console.show("\n".join([*found.lines(), *written]), found.record())


def require_writable(*paths: Path | None, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Raises if a file cannot be written, or exists already and `force` is not given.

    A file that the command reads, or that two results would share, is always refused.
    """
    given = [path for path in paths if path is not None]
    for k, path in enumerate(given):
        if path == STANDARD:
            raise UsageError("- stands for a table; name a file for this result")
        if any(_is_input(path) if other == STANDARD else _same(path, other) for other in inputs):
            raise UsageError(f"{path} is an input of this command and would be overwritten")
        if any(_same(path, other) for other in given[:k]):
            raise UsageError(f"{path} is named for two results")
    for path in given:
        require_replaceable(path)
        if path.exists() and not force:
            raise FileExistsError(f"{path} already exists; --force overwrites it")
        folder = (real(path) if path.is_symlink() else path).parent
        if not folder.is_dir():
            raise FileNotFoundError(f"there is no folder {folder} to write {path.name} to")
        _try_to_write(folder, path)


def require_writable_folder(folder: Path) -> None:
    """Raises if a folder is a file or cannot be created. Creates nothing yet."""
    existing = next(part for part in (folder, *folder.absolute().parents) if part.exists())
    if not existing.is_dir():
        raise NotADirectoryError(f"{existing} is a file, expected a folder")
    _try_to_write(existing, folder)


def _try_to_write(folder: Path, path: Path) -> None:
    """Creates a temporary file in the folder.

    Permissions do not show that a file system is read-only, so only an attempt tells. `path` is
    looked up too, because its name may be too long.
    """
    try:
        with suppress(FileNotFoundError):
            path.stat()
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        why = (error.strerror or "no reason given").lower()
        raise PermissionError(f"{path} cannot be written: {why}") from error


def _is_input(path: Path) -> bool:
    """True if standard input is read from this very file."""
    try:
        return os.path.samestat(os.fstat(sys.stdin.fileno()), path.stat())
    except (OSError, ValueError, AttributeError):  # no such file, or no standard input
        return False


def _same(one: Path, two: Path) -> bool:
    """True if both names lead to one file, through links of either kind too."""
    try:
        return one.samefile(two)
    except OSError:  # one of them does not exist
        return real(one) == real(two)
