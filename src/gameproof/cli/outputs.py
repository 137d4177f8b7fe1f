"""Output files, checked before the work starts."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from gameproof.cli.console import Console
from gameproof.cli.options import STANDARD, UsageError, command_line, page_file
from gameproof.core.atomic_files import (
    real,
    require_inside,
    require_replaceable,
    write_rules,
)


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


def add_full(parser: argparse.ArgumentParser) -> None:
    """The option ``--full``."""
    parser.add_argument(
        "--full", action="store_true", help="print all tables, not only the main ones"
    )


def hint(options: argparse.Namespace) -> list[str]:
    """Where the numbers are that a short output leaves out."""
    if options.full:
        return []
    page = "" if options.report else "; --report PAGE.html draws them"
    return [f"more: --full prints all tables, --json all numbers{page}"]


def add_folder(parser: argparse.ArgumentParser, default: str, what: str) -> None:
    """The option ``--out`` for a folder."""
    parser.add_argument(
        "--out", type=Path, default=Path(default), metavar="DIR", help=f"{what} (%(default)s)"
    )


class TableResult(Protocol):
    """What the functions on tables return."""

    def lines(self, full: bool = False) -> list[str]: ...

    def record(self) -> dict[str, Any]: ...

    def write_page(self, path: Path, *, command: str = "") -> None: ...


def show_result(found: TableResult, options: argparse.Namespace, console: Console) -> None:
    """Writes the page if ``--report`` is given, and prints the result."""

    def write_page(path: Path) -> None:
        found.write_page(path, command=command_line(options))

    with page_before_result(options, write_page) as page:
        written = [f"page: {page}"] if page else []
        console.show(
            "\n".join([*found.lines(options.full), *written, *hint(options)]), found.record()
        )


@contextmanager
def page_before_result(
    options: argparse.Namespace, write: Callable[[Path], None]
) -> Iterator[Path | None]:
    """Writes the page if ``--report`` is given, then shows the result in the block.

    A page that fails must not lose the result: its error is raised after the block. Yields the path
    of the page, or None if there is none.
    """
    path, failed = options.report, None
    if path:
        try:
            with output_to(path, options.force):
                write(path)
        except Exception as error:
            failed = error
    yield None if failed else path
    if failed:
        raise OSError(f"the page could not be written: {failed}") from failed


@contextmanager
def output_to(path: Path, force: bool) -> Iterator[None]:
    """Writes a result. A file that has appeared meanwhile is replaced only with `force`."""
    try:
        with write_rules(replace=force, folder=path.parent):
            yield
    except FileExistsError as error:
        raise FileExistsError(f"{error}; --force overwrites it") from error


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
        require_inside(path, path.parent)
        if path.exists() and not force:
            raise FileExistsError(f"{path} already exists; --force overwrites it")
        folder = path.parent
        if not folder.is_dir():
            raise FileNotFoundError(f"there is no folder {folder} to write {path.name} to")
        try_to_write(folder, path)


def require_writable_folder(folder: Path) -> None:
    """Raises if a folder is a file or cannot be created. Creates nothing yet."""
    existing = next(part for part in (folder, *folder.absolute().parents) if part.exists())
    if not existing.is_dir():
        raise NotADirectoryError(f"{existing} is a file, expected a folder")
    try_to_write(existing, folder)


def require_folder_apart(folder: Path, given: Path) -> None:
    """Raises if a folder for results cannot be written, or if one of the two folders is inside the
    other: results would be read as inputs the next time."""
    one, two = real(folder), real(given)
    if one.is_relative_to(two) or two.is_relative_to(one):
        raise UsageError(
            f"{folder} and the input {given} must be separate folders, neither inside the other"
        )
    require_writable_folder(folder)


def require_free(paths: Iterable[Path], *, force: bool) -> None:
    """Raises if one of these files exists, unless it may be overwritten."""
    for path in paths:
        require_replaceable(path)
        if path.exists() and not force:
            raise FileExistsError(f"{path} already exists; --force overwrites it")


def try_to_write(folder: Path, path: Path) -> None:
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
