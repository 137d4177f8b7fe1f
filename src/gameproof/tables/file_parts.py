"""Parts of files: the blocks in which the rows of a table in files are read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from gameproof.core.errors import DataError
from gameproof.rows.row_blocks import BLOCK
from gameproof.tables.column import Column
from gameproof.tables.parquet_files import parquet_metadata, read_groups
from gameproof.tables.table import Table, arrow_columns, table_of, table_of_columns
from gameproof.tables.table_format import DETECTED, TableFormat
from gameproof.tables.text_table import NoRows
from gameproof.tables.unpack import PARQUET

ENOUGH = 2**23  # cells of a part with few rows and many columns
Keys = tuple[tuple[str, str], ...]
"""Columns and their value in all rows of a file."""


class FilePart(NamedTuple):
    """Some rows of a file: groups of rows of a Parquet file, None for a whole text file.

    `name` is the file in messages, `first` the position of the first row in the file, and `keys`
    are columns that the names of the directories give. `size` is the number of rows."""

    path: str
    name: str
    groups: tuple[int, ...] | None
    first: int
    size: int
    keys: Keys
    stated: TableFormat = DETECTED

    def read(self, columns: Sequence[str] | None = None, most: int | None = None) -> Table | None:
        """The rows, or their first `most`, as a table; None if there are none. Of a Parquet file,
        only the given columns are read."""
        try:
            table = self._read(columns, most)
        except NoRows:
            return None
        return replace(table, rows=range(self.first, self.first + table.n))

    def _read(self, columns: Sequence[str] | None, most: int | None) -> Table:
        import pyarrow as pa

        if self.groups is None:
            table = self._text()
            if most is not None and most < table.n:
                table = table.take(range(most))
            for key, value in self.keys:
                column = Column(key, pa.array([value] * table.n, pa.string()))
                table = replace(table, columns={**table.columns, key: column})
            return table
        own = None if columns is None else [c for c in columns if c not in dict(self.keys)]
        arrow = read_groups(self.path, self.groups, own, self.name)
        arrow = arrow if most is None else arrow.slice(0, most)
        for key, value in self.keys:
            arrow = arrow.append_column(key, pa.array([value] * arrow.num_rows, pa.string()))
        return table_of_columns(*arrow_columns(arrow), self.name, self.stated)

    def _text(self) -> Table:
        try:
            data = Path(self.path).read_bytes()
        except FileNotFoundError as error:
            raise DataError(f"there is no file {self.name} on this machine") from error
        except OSError as error:
            raise DataError(f"{self.name} cannot be read: {error.strerror}") from error
        return table_of(data, self.name, stated=self.stated)


def file_parts(
    file: Path, keys: Keys, stated: TableFormat
) -> tuple[list[FilePart], tuple[str, ...]]:
    """The parts of a file and the names of its columns."""
    path, name = os.path.abspath(file), str(file)
    if not is_parquet(file):
        one = FilePart(path, name, None, 0, 0, keys, stated)
        table = one.read()
        return ([], ()) if table is None else ([one._replace(size=table.n)], tuple(table.columns))
    groups, names = parquet_metadata(path, name)
    found: list[FilePart] = []
    waiting: list[int] = []
    first = size = 0
    for k, rows in enumerate(groups):
        waiting.append(k)
        size += rows
        enough = size >= BLOCK or size * len(names) >= ENOUGH
        if enough or k == len(groups) - 1:
            if size:
                found.append(FilePart(path, name, tuple(waiting), first, size, keys, stated))
            first, size, waiting = first + size, 0, []
    twice = [key for key, _ in keys if key in names]
    if twice:
        raise DataError(f"{name} has a column {twice[0]!r}, and so has the name of its folder")
    return found, (*names, *(key for key, _ in keys))


def is_parquet(file: Path) -> bool:
    """Whether a file has the name or the first bytes of a Parquet file."""
    try:
        with open(file, "rb") as stream:
            return stream.read(len(PARQUET)) == PARQUET or file.suffix.lower() == ".parquet"
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}") from error


def clashes(tables: Sequence[Table], names: Sequence[str]) -> list[str]:
    """Notes on columns that hold numbers in some tables and other text in others."""
    found = []
    for name in names:
        kinds = {table.columns[name].kind: table.source for table in reversed(tables)}
        if {"number", "text"} <= {*kinds}:
            found.append(f"{name!r} holds numbers in {kinds['number']} and text in {kinds['text']}")
    return found


def joined_tables(tables: Sequence[Table], source: str, names: Sequence[str]) -> Table:
    """One table of the rows of all tables. Columns whose types differ become text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for name in names:
        cells = [table.columns[name].cells for table in tables]
        kinds = {cell.type for cell in cells if not pa.types.is_null(cell.type)}
        if len(kinds) > 1:
            numbers = all(pa.types.is_integer(k) or pa.types.is_floating(k) for k in kinds)
            kinds = {pa.float64() if numbers else pa.string()}
        if kinds:
            (kind,) = kinds
            cells = [pc.cast(cell, kind, safe=False) for cell in cells]
        columns.append(pa.chunked_array(cells).combine_chunks())
    joined = table_of_columns(list(names), columns, (), source, tables[0].stated)
    rows = [row for table in tables for row in table.rows or range(table.n)]
    files = [file for table in tables for file in table.files or [table.source] * table.n]
    return replace(joined, rows=rows, files=files)
