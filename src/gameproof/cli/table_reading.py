"""Options that say which table to read and how its text is written, and reading it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gameproof.cli.options import STANDARD, UsageError
from gameproof.core.errors import DataError
from gameproof.tables.table_format import TableFormat

if TYPE_CHECKING:
    from gameproof.tables.table import Table
    from gameproof.tables.table_files import TableFiles


def add_table(
    parser: argparse.ArgumentParser, name: str = "table", about: str = "", *, files: bool = False
) -> None:
    """The table to read and, once for all tables, how its text is written. With `files`, the table
    may consist of many files, also on a cluster."""
    many = ", a folder of such files or a quoted pattern" if files else ""
    parser.add_argument(
        name,
        type=Path,
        metavar=name.upper(),
        help=f"{about}CSV, TSV or Parquet, compressed or not{many}; - reads standard input",
    )
    if files:
        add_engine(parser)
    if name != "after":  # a command with two tables states their format once
        _add_format(parser)


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--decimal", metavar="SIGN", help="the decimal sign, . or , (by default detected)"
    )
    parser.add_argument(
        "--thousands",
        metavar="SIGN",
        help="the thousands separator: . , ' space or none (by default detected)",
    )
    parser.add_argument(
        "--encoding",
        metavar="NAME",
        help="the encoding of text, such as latin-1 (by default detected)",
    )


def table_format(options: argparse.Namespace) -> TableFormat:
    """How the text of a table is written, as far as the user says so."""
    try:
        return TableFormat(options.decimal, options.thousands, options.encoding).checked()
    except ValueError as error:
        raise UsageError(str(error)) from error


def table_name(path: Path) -> str:
    """The name of a table in messages."""
    return "standard input" if path == STANDARD else str(path)


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Where to work on a table in files."""
    parser.add_argument(
        "--engine",
        choices=("dask",),
        help="work on a Dask cluster, by default one on this machine with a worker for each core",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="the scheduler of a Dask cluster whose workers can read the files, such as "
        "tcp://host:8786",
    )


def parse_engine(options: argparse.Namespace) -> dict[str, Any]:
    """Where to work on a table in files, as arguments of `fit_table`."""
    return {"engine": options.engine, "scheduler": options.scheduler}


def read_table_or_files(path: Path, options: argparse.Namespace) -> Table | TableFiles:
    """Reads a table, or finds its files: those of a directory or a pattern, a file that is too
    large to be read whole, and any file for a cluster."""
    from gameproof.tables.open_training import as_rows_or_files

    on_cluster = bool(options.engine or options.scheduler)
    if path == STANDARD:
        if on_cluster:
            raise UsageError("a cluster cannot read standard input; name a file or a folder")
        return read_table(path, options)
    return as_rows_or_files(path, table_format(options), on_cluster=on_cluster)


def read_table(path: Path, options: argparse.Namespace) -> Table:
    """Reads a table from a file or from standard input, in the format that the options state."""
    from gameproof.tables.table import open_table, table_of

    stated = table_format(options)
    if path != STANDARD:
        return open_table(path, stated=stated)
    if sys.stdin is None:
        raise DataError("standard input is closed, expected a table")
    return table_of(sys.stdin.buffer.read(), table_name(path), stated=stated)
