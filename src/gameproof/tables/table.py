"""`Table`: the rows and columns of a file or a data frame, before anyone has said what they mean.

Files are CSV with any usual separator, TSV or Parquet, compressed or not. Cells of a text file are
read as text. A column is numeric if every cell that is not missing is a number: types are found
from all cells, not guessed from the first rows. Encoding, decimal sign and thousands separators are
detected and noted, unless the user states them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, final

from gameproof.core.errors import DataError
from gameproof.core.naming import suggestion
from gameproof.tables.column import Column, plain
from gameproof.tables.number_spelling import Spelling
from gameproof.tables.parquet_files import read_parquet
from gameproof.tables.table_format import DETECTED, TableFormat
from gameproof.tables.text_table import NoRows, parse_text, require_different
from gameproof.tables.unpack import PARQUET, unpacked
from gameproof.tables.written_numbers import common_spelling, settled_columns, spelling_notes


@final
@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length and different names.

    `rows` are the positions of the rows in the file, None for all of them. `files` names the file
    of each row, if it is not `source`. `digest` is the SHA-256 of the file. `notes` say how the
    file was read, and `stated` what the user said about it.
    """

    source: str
    columns: Mapping[str, Column]
    n: int
    rows: Sequence[int] | None = None
    digest: str = ""
    notes: tuple[str, ...] = ()
    stated: TableFormat = DETECTED
    files: Sequence[str] | None = None

    @property
    def spelling(self) -> Spelling:
        """The decimal sign and the thousands separator of its texts, empty where not known."""
        return common_spelling(list(self.columns.values()))

    def column(self, name: str, role: str = "column") -> Column:
        """The column of this name, or an error that suggests a similar name."""
        if name not in self.columns:
            raise DataError(
                f"{self.source} has no {role} {name!r}; {suggestion(name, self.columns)}"
            )
        return self.columns[name]

    def take(self, rows: Any) -> Table:
        """The table of these rows, given by position."""
        import pyarrow as pa

        chosen = pa.array(rows)
        parts = {name: column.take(chosen) for name, column in self.columns.items()}
        numbers = [self.row(k) - 1 for k in rows]
        files = None if self.files is None else [self.files[k] for k in rows]
        return replace(self, columns=parts, n=len(chosen), rows=numbers, files=files)

    def row(self, k: int) -> int:
        """The number of row k in the file, counted from 1."""
        return 1 + (int(k) if self.rows is None else self.rows[k])

    def place(self, k: int) -> str:
        """Where row k is, for messages."""
        return f"{self.source if self.files is None else self.files[k]}, row {self.row(k)}"

    def place_within(self, k: int) -> str:
        """Where row k is, for messages that name the table already."""
        return f"row {self.row(k)}" if self.files is None else self.place(k)


def open_table(
    path: str | Path, max_bytes: int | None = None, stated: TableFormat = DETECTED
) -> Table:
    """Reads a file: CSV with any usual separator, TSV or Parquet, compressed or not.

    A file that unpacks to more than `max_bytes` is refused; see `core.size_limits`.
    `stated` is what the user says about the format of text.
    """
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
    return table_of(data, given, max_bytes, stated)


def table_of(
    data: bytes, given: str, max_bytes: int | None = None, stated: TableFormat = DETECTED
) -> Table:
    """Reads a table from bytes; `given` names them in messages."""
    require_pyarrow()
    digest = sha256(data).hexdigest()
    data, stated = unpacked(data, given, max_bytes=max_bytes), stated.checked()
    if data.startswith(PARQUET):
        table = table_of_columns(*_parse_parquet(data, given, max_bytes), given, stated)
    else:
        table = table_of_columns(*parse_text(data, given, stated.encoding), given, stated)
    return replace(table, digest=digest)


def as_table(source: Any, name: str = "the table", stated: TableFormat = DETECTED) -> Table:
    """A table from a file, a data frame of pandas, polars or Arrow, or a mapping of columns.

    `name` names data frames and mappings in messages. A `Table` is returned as it is.
    """
    if isinstance(source, Table):
        return source
    if isinstance(source, (str, Path)):
        return open_table(source, stated=stated)
    require_pyarrow()
    import pyarrow as pa

    try:
        frame = _arrow_table(source)
    except (pa.ArrowException, ValueError) as error:
        raise DataError(
            f"{name} cannot be read: {' '.join(map(str, error.args))}; columns need different "
            "names, equal lengths and values of one type"
        ) from error
    return table_of_columns(*arrow_columns(frame), name, stated.checked())


def _arrow_table(source: Any) -> Any:
    import pyarrow as pa

    if hasattr(source, "iloc") and hasattr(source, "columns"):
        return pa.Table.from_pandas(source, preserve_index=False)
    if isinstance(source, Mapping):
        return pa.table(
            {str(name): pa.array(values, from_pandas=True) for name, values in source.items()}
        )
    if hasattr(source, "to_arrow"):  # polars; its stream has strings that old Arrow cannot read
        return source.to_arrow()
    if hasattr(source, "__arrow_c_stream__") and not hasattr(source, "iloc"):
        return pa.table(source)
    raise TypeError(
        "a table must be a file name, a data frame or a mapping from column names to values, got "
        f"{type(source).__name__}"
    )


def _parse_parquet(
    data: bytes, given: str, max_bytes: int | None
) -> tuple[list[str], list[Any], tuple[str, ...]]:
    """The names and the columns of a Parquet file."""
    return arrow_columns(read_parquet(data, given, max_bytes))


def table_of_columns(
    names: Sequence[str],
    columns: Sequence[Any],
    notes: Sequence[str],
    given: str,
    stated: TableFormat = DETECTED,
) -> Table:
    """The table of these Arrow arrays; `given` names it in messages."""
    named = [name.strip() or f"column {k}" for k, name in enumerate(names, start=1)]
    require_different(named, given)
    read = [Column(name, cells) for name, cells in zip(named, columns, strict=True)]
    if not read or not len(read[0].cells):
        raise NoRows(f"{given} has no rows")
    parts = {part.name: part for part in settled_columns(read, stated)}
    found = (*notes, *spelling_notes(parts))
    return Table(given, parts, len(read[0].cells), notes=found, stated=stated)


def arrow_columns(table: Any) -> tuple[list[str], list[Any], tuple[str, ...]]:
    """The names and the columns of an Arrow table, without notes."""
    names = [str(name) for name in table.column_names]
    return names, [_decoded(column) for column in table.columns], ()


def _decoded(column: Any) -> Any:
    """One array of a plain type, without dictionaries and string variants."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type) and not plain(column.type.value_type):
        # Arrow casts dictionaries of plain types alone, not of pandas' intervals.
        decoded = [chunk.dictionary_decode() for chunk in column.chunks]
        column = pa.chunked_array(decoded, column.type.value_type)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    wide = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if wide or pa.types.is_string(kind):
        kind = pa.string()
    array = pc.cast(column, kind) if kind != column.type else column
    return array.combine_chunks()


def require_pyarrow() -> None:
    """Raises an error that says how to install pyarrow, if it is missing."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError("tables need pyarrow: pip install 'gameproof[tables]'") from error
