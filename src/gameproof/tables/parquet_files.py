"""Reads Parquet files, as far as their decoded size is within the limit.

Values that repeat are stored once, so a file of a few bytes can hold billions of rows. The stated
size is compared with the limit first. Then rows are read in blocks, with text as a dictionary, and
the decoded size of each block is compared before anything is decoded: a file may lie.

Page checksums protect cells, but nothing in the format protects the names and types of columns. So
files that are written here store a digest of them, and a file that has one is compared with it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gameproof.core.errors import DataError
from gameproof.core.size_limits import max_unpacked, require_size

WIDTH = 8  # bytes of a decoded number
ROWS = 2**17  # read at once
DIGEST = b"gameproof columns"  # where a file stores the digest of its columns


def with_digest(schema: Any, n_rows: int) -> Any:
    """The schema of a Parquet file of `n_rows` rows, with a digest of its columns."""
    digest = _digest(_as_stored(schema), n_rows)
    return schema.with_metadata({**(schema.metadata or {}), DIGEST: digest})


def _as_stored(schema: Any) -> Any:
    """The schema as it is read back: the format lacks some types, such as times in seconds."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), sink)
    return pq.read_schema(pa.BufferReader(sink.getvalue()))


def parquet_bytes(table: Any) -> bytes:
    """The contents of a Parquet file, with checksums of its cells and a digest of its columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    schema = with_digest(table.schema, table.num_rows)
    pq.write_table(table.cast(schema), sink, write_page_checksum=True)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _digest(schema: Any, n_rows: int) -> bytes:
    """The digest of names and types of columns, and of the number of rows."""
    columns = [[field.name, str(field.type)] for field in schema]
    return hashlib.sha256(json.dumps([n_rows, columns]).encode()).hexdigest().encode()


def _require_digest(file: Any) -> None:
    """Raises if the columns of a Parquet file differ from the digest that it stores."""
    expected = (file.metadata.metadata or {}).get(DIGEST)
    if expected not in (None, _digest(file.schema_arrow, file.metadata.num_rows)):
        raise ValueError("the columns differ from their digest")


def read_parquet(data: bytes, given: str, max_bytes: int | None = None) -> Any:
    """The Arrow table in a Parquet file; raises `DataError` if it is broken or too large."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    limit = max_unpacked(max_bytes)
    with _broken(given):
        whole = pq.ParquetFile(pa.BufferReader(data))
        require_size(_stated_size(whole.metadata), limit, given, DataError)
        _require_digest(whole)
        texts = [field.name for field in whole.schema_arrow if is_text(field.type)]
        reader = pq.ParquetFile(
            pa.BufferReader(data), read_dictionary=texts, page_checksum_verification=True
        )
        blocks, size = [], 0
        for block in reader.iter_batches(batch_size=ROWS):
            block.validate(full=True)
            size += sum(map(_decoded_size, block.columns))
            require_size(size, limit, given, DataError)
            blocks.append(block)
        table = pa.Table.from_batches(blocks, None if blocks else reader.schema_arrow)
        if table.num_rows != whole.metadata.num_rows:
            raise ValueError(f"{table.num_rows} rows, not {whole.metadata.num_rows}")
    return table


def parquet_metadata(path: str, given: str) -> tuple[list[int], tuple[str, ...]]:
    """The number of rows of each row group of a file, and the names of its columns."""
    import pyarrow.parquet as pq

    with _broken(given), pq.ParquetFile(path) as file:
        _require_digest(file)
        names = tuple(str(name) for name in file.schema_arrow.names)
        groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
        return [group.num_rows for group in groups], names


def read_groups(path: str, groups: Sequence[int], columns: Sequence[str] | None, given: str) -> Any:
    """The Arrow table of some row groups of a file; raises `DataError` if they are broken or too
    large."""
    import pyarrow.parquet as pq

    limit = max_unpacked()
    with _broken(given), pq.ParquetFile(path, page_checksum_verification=True) as file:
        width = WIDTH * (file.metadata.num_columns if columns is None else len(columns))
        rows = sum(file.metadata.row_group(k).num_rows for k in groups)
        require_size(rows * width, limit, given, DataError)
        texts = [field.name for field in file.schema_arrow if is_text(field.type)]
    options = {"read_dictionary": texts, "page_checksum_verification": True}
    with _broken(given), pq.ParquetFile(path, **options) as file:
        own = None if columns is None else list(columns)
        table = file.read_row_groups(list(groups), columns=own, use_threads=False)
        table.validate(full=True)
        size = sum(_decoded_size(part) for column in table.columns for part in column.chunks)
        require_size(size, limit, given, DataError)
        if table.num_rows != rows:
            raise ValueError(f"{table.num_rows} rows, not {rows}")
    return table


@contextmanager
def _broken(given: str) -> Iterator[None]:
    """Turns what Arrow says about a broken file into one sentence."""
    import pyarrow as pa

    try:
        yield
    except (DataError, MemoryError):
        raise
    except FileNotFoundError as error:
        raise DataError(f"there is no file {given} on this machine") from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{given} is a broken Parquet file: truncated or altered") from error


def _stated_size(metadata: Any) -> int:
    """The decoded size, as far as the metadata tells: numbers, and texts that do not repeat.

    Only whole row groups are looked at: Arrow ends the process if it is asked for the metadata of a
    damaged column."""
    columns = map(metadata.schema.column, range(metadata.num_columns))
    width = sum(max(WIDTH, column.length or 0) for column in columns)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return sum(max(group.num_rows * width, group.total_byte_size) for group in groups)


def is_text(kind: Any) -> bool:
    """True if values of this type are text, or bytes of any length."""
    import pyarrow as pa

    return any(
        of(kind)
        for of in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_binary,
            pa.types.is_large_binary,
        )
    )


def _decoded_size(column: Any) -> int:
    """The size of an array whose dictionary is decoded."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary)
    return pc.sum(pc.take(lengths, column.indices)).as_py() or 0
