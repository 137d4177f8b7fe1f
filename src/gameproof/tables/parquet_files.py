"""Reads Parquet files, after their decoded size is known to be within the limit.

Values that repeat are stored once, so a file of a few bytes can hold billions of rows. The number
of values is in the file's metadata. Text is read as a dictionary: its decoded size follows from
the lengths of the distinct texts and is compared before the text is decoded.
"""

from __future__ import annotations

from typing import Any

from gameproof.core.errors import DataError
from gameproof.core.size_limits import max_unpacked, require_size

WIDTH = 8  # bytes of a decoded number


def read_parquet(data: bytes, given: str, max_bytes: int | None = None) -> Any:
    """The Arrow table in a Parquet file; raises `DataError` if it is broken or too large."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    limit = max_unpacked(max_bytes)
    try:
        whole = pq.ParquetFile(pa.BufferReader(data))
        require_size(_stated_size(whole.metadata), limit, given, DataError)
        texts = [field.name for field in whole.schema_arrow if _is_text(field.type)]
        table = pq.ParquetFile(
            pa.BufferReader(data), read_dictionary=texts, page_checksum_verification=True
        ).read()
        table.validate(full=True)
        require_size(sum(map(_decoded_size, table.columns)), limit, given, DataError)
    except (DataError, MemoryError):
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{given} is a broken Parquet file: truncated or altered") from error
    return table


def _stated_size(metadata: Any) -> int:
    """The decoded size, as far as the metadata tells: numbers, and texts that do not repeat."""
    widths = [
        max(WIDTH, metadata.schema.column(k).length or 0) for k in range(metadata.num_columns)
    ]
    total = 0
    for group in range(metadata.num_row_groups):
        for k, width in enumerate(widths):
            column = metadata.row_group(group).column(k)
            total += max(column.num_values * width, column.total_uncompressed_size)
    return total


def _is_text(kind: Any) -> bool:
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
    """The size of a column whose dictionaries are decoded."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total = 0
    for chunk in column.chunks:
        if pa.types.is_dictionary(chunk.type):
            lengths = pc.binary_length(chunk.dictionary)
            total += pc.sum(pc.take(lengths, chunk.indices)).as_py() or 0
        else:
            total += chunk.nbytes
    return total
