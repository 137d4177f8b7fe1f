"""`Table`: what a file of rows and columns holds, before anyone has said what it means.

CSV and its kin, or Parquet, packed or not. Of a text file every cell is read as text, and a column
is of numbers where every cell that is not missing is one: types are found here and not guessed
from the first rows.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, final

from gameproof.core.errors import DataError
from gameproof.core.naming import listed, suggestion
from gameproof.tables.column import MISSING, Column
from gameproof.tables.unpack import PARQUET, unpacked

SEPARATORS = (",", ";", "\t", "|")
# How other texts begin; columns may be called "<30 days" and "{x}".
OTHERS = {rb"<([!?]|html)": "a web page or XML", rb'\[?\s*\{\s*["}]': "JSON"}


@final
@dataclass(frozen=True, eq=False)
class Table:
    """Columns of one length, under different names."""

    source: str
    columns: Mapping[str, Column]
    n: int
    rows: Sequence[int] | None = None  # where they stand in the file, if not all are here
    digest: str = ""  # SHA-256 of the file

    def column(self, name: str, role: str = "column") -> Column:
        """The column of this name, or an error that suggests another."""
        if name not in self.columns:
            raise DataError(
                f"{self.source} has no {role} {name!r}; {suggestion(name, self.columns)}"
            )
        return self.columns[name]

    def take(self, rows: Any) -> Table:
        """These rows, by number."""
        import pyarrow as pa

        chosen = pa.array(rows)
        parts = {name: column.take(chosen) for name, column in self.columns.items()}
        numbers = [self.row(k) - 1 for k in rows]
        return Table(self.source, parts, len(chosen), numbers, self.digest)

    def row(self, k: int) -> int:
        """The number of a row in the file, from 1."""
        return 1 + (int(k) if self.rows is None else self.rows[k])


def open_table(path: str | Path) -> Table:
    """The table in a file: CSV with any usual separator, TSV or Parquet, packed or not."""
    require_pyarrow()
    given = str(path)
    try:
        data = Path(path).read_bytes()
    except IsADirectoryError as error:
        raise DataError(f"{given} is a folder, expected a table: CSV, TSV or Parquet") from error
    except FileNotFoundError as error:
        raise DataError(f"there is no file {given}") from error
    except OSError as error:
        raise DataError(f"{given} cannot be read: {error.strerror}") from error
    return table_of(data, given)


def table_of(data: bytes, given: str) -> Table:
    """The table in these bytes; `given` is what errors call them."""
    require_pyarrow()
    digest = sha256(data).hexdigest()
    data = unpacked(data, given)
    table = _from_parquet(data, given) if data.startswith(PARQUET) else _from_text(data, given)
    if not table.n:
        raise DataError(f"{given} has no rows")
    return replace(table, digest=digest)


def as_table(source: Any) -> Table:
    """A table as it is, one in a file, or a data frame of pandas, polars or Arrow."""
    if isinstance(source, Table):
        return source
    if isinstance(source, (str, Path)):
        return open_table(source)
    require_pyarrow()
    import pyarrow as pa

    if hasattr(source, "iloc"):
        frame = pa.Table.from_pandas(source, preserve_index=False)
    elif hasattr(source, "to_arrow"):  # polars; its stream has strings that old Arrow cannot read
        frame = source.to_arrow()
    elif hasattr(source, "__arrow_c_stream__"):
        frame = pa.table(source)
    else:
        raise TypeError(f"expected a file's name or a data frame, got {type(source).__name__}")
    names = [str(name) for name in frame.column_names]
    return _table(names, [_decoded(column) for column in frame.columns], "the data frame")


def _from_parquet(data: bytes, given: str) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(data))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{given} is a broken Parquet file: cut short or altered") from error
    names = [str(name) for name in table.column_names]
    return _table(names, [_decoded(column) for column in table.columns], given)


def _from_text(data: bytes, given: str) -> Table:
    import pyarrow as pa
    import pyarrow.csv as arrow

    text = _text(data, given)
    separator = _separator(text)
    try:
        header = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [])
    except csv.Error as error:  # one cell that takes in all that follows
        raise DataError(_fault(text, separator, given)) from error
    _different([name.strip() for name in header], given)
    try:
        table = arrow.read_csv(
            pa.BufferReader(data.removeprefix(codecs.BOM_UTF8)),
            parse_options=arrow.ParseOptions(
                delimiter=separator, newlines_in_values='"' in text, ignore_empty_lines=True
            ),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()),
                null_values=MISSING,
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid as error:
        fault = _fault(text, separator, given)
        raise DataError(fault or f"{given} cannot be cut into rows and columns") from error
    if text.count('"') % 2 and (fault := _fault(text, separator, given)):
        raise DataError(fault)  # Arrow takes the rest of the file for one cell
    return _table(header, [column.combine_chunks() for column in table.columns], given)


def _table(names: Sequence[str], columns: Sequence[Any], given: str) -> Table:
    named = [name.strip() or f"column {k}" for k, name in enumerate(names, start=1)]
    _different(named, given)
    parts = [Column(name, cells) for name, cells in zip(named, columns, strict=True)]
    n = len(parts[0].cells) if parts else 0
    return Table(given, {part.name: part for part in parts}, n)


def _different(names: Sequence[str], given: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"{given} has more than one column named {listed(list(map(repr, twice)))}")


def _text(data: bytes, given: str) -> str:
    """The text of a file, or an error where it is none that can be read."""
    start = data[:4000]
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(f"{given} is written in UTF-16; save it as UTF-8")
    if b"\x00" in start:
        raise DataError(f"{given} is a binary file, expected a table: CSV, TSV or Parquet")
    if not start.removeprefix(codecs.BOM_UTF8).strip():
        raise DataError(f"{given} is empty")
    for mark, what in OTHERS.items():
        if re.match(mark, start.removeprefix(codecs.BOM_UTF8).lstrip(), re.IGNORECASE):
            raise DataError(f"{given} is {what}, expected a table: CSV, TSV or Parquet")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{given}, line {line}: the byte 0x{data[error.start]:02x} is no UTF-8; save the table "
            "as UTF-8"
        ) from error


def _separator(text: str) -> str:
    """The one that cuts the first lines into equally many cells, and into most."""
    lines = text[:100_000].splitlines(keepends=True)[:50]

    def width(separator: str) -> int:
        widths = {len(row) for row in csv.reader(lines, delimiter=separator) if row}
        return widths.pop() if len(widths) == 1 else 0

    def in_header(separator: str) -> int:
        return len(next(csv.reader(lines, delimiter=separator), []))

    best = max(SEPARATORS, key=width)
    return best if width(best) > 1 else max(SEPARATORS, key=in_header)


def _fault(text: str, separator: str, given: str) -> str:
    """What is wrong with a text that cannot be cut into rows; Arrow does not say where."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        width = len(next(reader, []))
        for row in reader:
            if row and len(row) != width:
                return (
                    f"{given}, line {reader.line_num}: this row has {len(row)} cells, and the "
                    f"header {width}"
                )
    except csv.Error as error:
        return f"{given}, line {reader.line_num}: a quotation mark is not closed ({error})"
    return ""


def _decoded(column: Any) -> Any:
    """One array of a plain type, whatever Parquet chose for it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    wide = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if wide or pa.types.is_string(kind):
        kind = pa.string()
    array = pc.cast(column, kind) if kind != column.type else column
    return array.combine_chunks()


def require_pyarrow() -> None:
    """Says how to get what reads and writes tables, where it is not there."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError("tables need pyarrow: pip install 'gameproof[tables]'") from error
