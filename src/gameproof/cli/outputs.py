"""Where results go, made sure of before the work starts."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gameproof.cli.options import STANDARD, SenselessOptions, page
from gameproof.core.atomic_files import real, require_replaceable


def add_force(parser: argparse.ArgumentParser) -> None:
    """``--force``."""
    parser.add_argument(
        "--force", action="store_true", help="write over files that are there already"
    )


def add_report(parser: argparse.ArgumentParser) -> None:
    """``--report``."""
    parser.add_argument(
        "--report",
        type=page,
        metavar="PAGE.html",
        help="also write a page with figures, one file that opens without a network",
    )


def make_sure(*paths: Path | None, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Refuses a file that could not be written, or one that is there, unless `force`; one that is
    read or written twice in any case."""
    given = [path for path in paths if path is not None]
    for k, path in enumerate(given):
        if path == STANDARD:
            raise SenselessOptions("- stands for a table; name a file for this result")
        if any(_is_input(path) if other == STANDARD else _same(path, other) for other in inputs):
            raise SenselessOptions(f"{path} is read by this command, and would be written over")
        if any(_same(path, other) for other in given[:k]):
            raise SenselessOptions(f"{path} is named for two results")
    for path in given:
        require_replaceable(path)
        if path.exists() and not force:
            raise FileExistsError(f"{path} is there already; --force writes over it")
        folder = (real(path) if path.is_symlink() else path).parent
        if not folder.is_dir():
            raise FileNotFoundError(f"there is no folder {folder} to write {path.name} to")
        _try(folder, path)


def make_sure_of_folder(folder: Path) -> None:
    """Refuses a folder that is none or could not be made; makes nothing yet."""
    there = next(part for part in (folder, *folder.absolute().parents) if part.exists())
    if not there.is_dir():
        raise NotADirectoryError(f"{there} is a file, expected a folder")
    _try(there, folder)


def _try(folder: Path, path: Path) -> None:
    """Makes a file in the folder and takes it away: whether that can be done shows only so, for
    rights do not tell of file systems that take none. Asks for the file too, whose name may be too
    long."""
    try:
        with suppress(FileNotFoundError):
            path.stat()
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        why = (error.strerror or "no reason given").lower()
        raise PermissionError(f"{path} cannot be written: {why}") from error


def _is_input(path: Path) -> bool:
    """Whether standard input is read from this very file."""
    try:
        return os.path.samestat(os.fstat(sys.stdin.fileno()), path.stat())
    except (OSError, ValueError, AttributeError):  # no such file, or no standard input
        return False


def _same(one: Path, two: Path) -> bool:
    """Under any name: links of both kinds lead to one file."""
    try:
        return one.samefile(two)
    except OSError:  # one of them is not there
        return real(one) == real(two)
