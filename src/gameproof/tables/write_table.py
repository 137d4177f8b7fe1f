"""Writes tables to files. The file name sets the format; a file is complete or not there."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gameproof.core.atomic_files import write_whole
from gameproof.core.errors import DataError
from gameproof.core.naming import escaped
from gameproof.tables.parquet_files import parquet_bytes
from gameproof.tables.table import require_pyarrow

SEPARATORS = {".csv": ",", ".tsv": "\t"}
PACKERS: Mapping[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def check_table_name(path: Path) -> None:
    """Raises if a file name does not tell the format."""
    if path.suffix != ".parquet" and not is_text_table(path):
        raise ValueError(
            f"the name {escaped(path.name)} does not tell the format; give a name that ends in "
            f".csv, .tsv or .parquet; .csv and .tsv may be compressed ({', '.join(PACKERS)})"
        )


def is_text_table(path: Path) -> bool:
    """True if a file of this name is CSV or TSV, compressed or not, which spreadsheets open."""
    return _inner(path).suffix in SEPARATORS


def write_table(path: Path, columns: Mapping[str, Any]) -> None:
    """Writes columns of equal length: floats, NaN where missing, or texts, None where missing."""
    check_table_name(path)
    write_whole(path, table_bytes(path, columns))


def table_bytes(path: Path, columns: Mapping[str, Any]) -> bytes:
    """The contents of a file of this name."""
    require_pyarrow()
    import pyarrow as pa

    table = pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})
    if path.suffix == ".parquet":
        return parquet_bytes(table)
    for name in table.column_names:
        if pa.types.is_nested(kind := table.schema.field(name).type):
            raise DataError(
                f"the column {name!r} holds {kind}, which a text file cannot hold; leave the "
                "column out, or give an output that ends in .parquet"
            )
    separator = SEPARATORS[_inner(path).suffix]
    head = separator.join(map(_quoted, table.column_names)) + "\n"
    data = head.encode() + _rows(table, separator).to_pybytes()
    return PACKERS.get(path.suffix, bytes)(data)


def _rows(table: Any, separator: str) -> Any:
    """The rows as CSV text, with quotation marks only if a cell needs them."""
    import pyarrow as pa
    import pyarrow.csv as arrow

    def written(style: str) -> Any:
        sink = pa.BufferOutputStream()
        options = arrow.WriteOptions(include_header=False, delimiter=separator, quoting_style=style)
        arrow.write_csv(table, sink, options)
        return sink.getvalue()

    try:
        return written("none")
    except pa.ArrowInvalid:
        return written("needed")


def _inner(path: Path) -> Path:
    return path.with_suffix("") if path.suffix in PACKERS else path


def _quoted(name: str) -> str:
    special = any(mark in name for mark in (",", "\t", '"', "\n", "\r"))
    return '"' + name.replace('"', '""') + '"' if special else name
