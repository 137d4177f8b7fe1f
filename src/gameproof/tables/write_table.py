"""Tables into files, in the form that the file's name asks for, whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gameproof.core.atomic_files import write_whole
from gameproof.tables.table import require_pyarrow

SEPARATORS = {".csv": ",", ".tsv": "\t"}
PACKERS: Mapping[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def check_table_name(path: Path) -> None:
    """Refuses a name that does not say how to write a table."""
    if path.suffix != ".parquet" and _inner(path).suffix not in SEPARATORS:
        raise ValueError(
            f"{path.name} does not say how to write it; give a name that ends in .csv, .tsv or "
            f".parquet, the first two packed ({', '.join(PACKERS)}) or not"
        )


def write_table(path: Path, columns: Mapping[str, Any]) -> None:
    """Writes columns of one length, floats with NaN or lists of texts with None for gaps."""
    check_table_name(path)
    write_whole(path, table_bytes(path, columns))


def table_bytes(path: Path, columns: Mapping[str, Any]) -> bytes:
    """What a file of this name would hold."""
    require_pyarrow()
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})
    sink = pa.BufferOutputStream()
    if path.suffix == ".parquet":
        pq.write_table(table, sink)
    else:
        separator = SEPARATORS[_inner(path).suffix]
        sink.write((separator.join(map(_quoted, table.column_names)) + "\n").encode())
        sink.write(_rows(table, separator))
    data: bytes = sink.getvalue().to_pybytes()
    return PACKERS.get(path.suffix, bytes)(data)


def _rows(table: Any, separator: str) -> Any:
    """The rows as text, with quotation marks where one row needs them."""
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
