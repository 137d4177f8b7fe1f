"""Decompresses files. The first bytes tell the format, whatever the name says."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

from gameproof.core.errors import DataError
from gameproof.core.naming import listed
from gameproof.core.size_limits import max_unpacked, read_limited, require_size

GZIP, BZIP2, XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"
ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # the second for an empty archive
ZSTANDARD, PARQUET = b"\x28\xb5\x2f\xfd", b"PAR1"
# Files that some programs add to archives.
CLUTTER = ("__MACOSX/", ".DS_Store")
# An archive can contain itself.
MOST_LAYERS = 5


def unpacked(
    data: bytes,
    given: str,
    choose: Callable[[list[str]], str] | None = None,
    max_bytes: int | None = None,
    *,
    layers: int = MOST_LAYERS,
) -> bytes:
    """Decompresses bytes, repeatedly if they were compressed more than once.

    `given` names them in messages. `choose` picks a file from the names in an archive; without it,
    the archive must contain one file. More than `max_bytes` are not unpacked.
    """
    limit = max_unpacked(max_bytes)
    unpackers: dict[bytes | tuple[bytes, ...], Callable[[bytes], bytes]] = {
        GZIP: partial(_from_stream, gzip.open, limit, given),
        BZIP2: partial(_from_stream, bz2.open, limit, given),
        XZ: partial(_from_stream, lzma.open, limit, given),
        ZSTANDARD: partial(_from_stream, _open_zstandard, limit, given),
        ZIP: partial(_from_zip, choose or partial(_only, given), limit, given),
    }
    try:
        for mark, unpack in unpackers.items():
            if data.startswith(mark):
                if not layers:
                    raise DataError(f"{given} is compressed more than {MOST_LAYERS} times")
                return unpacked(unpack(data), given, choose, max_bytes, layers=layers - 1)
    except (
        *(OSError, EOFError, ValueError, RuntimeError),
        *(zlib.error, lzma.LZMAError, zipfile.BadZipFile),
    ) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{given} is a broken archive: it is truncated or altered; get it again"
        ) from error
    if data[257:262] == b"ustar":  # the only format whose first bytes do not show it
        raise DataError(f"{given} is a tar archive; unpack it and give the file inside")
    return data


def _from_stream(
    open_stream: Callable[[io.BytesIO], Any], limit: int, given: str, data: bytes
) -> bytes:
    """The content of a compressed stream, which does not state its size."""
    with open_stream(io.BytesIO(data)) as stream:
        return read_limited(stream.read, limit, given, DataError)


def _open_zstandard(data: io.BytesIO) -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError(
            "a file compressed with Zstandard needs pyarrow: pip install 'gameproof[tables]'"
        ) from error

    return pa.CompressedInputStream(data, "zstd")


def _from_zip(choose: Callable[[list[str]], str], limit: int, given: str, data: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [
            name
            for name in archive.namelist()
            if not name.endswith("/") and not any(part in name for part in CLUTTER)
        ]
        member = archive.getinfo(choose(names))
        require_size(member.file_size, limit, given, DataError)
        return archive.read(member)


def _only(given: str, names: list[str]) -> str:
    if "[Content_Types].xml" in names:
        raise DataError(f"{given} is an Excel workbook; save its sheet as CSV")
    if len(names) != 1:
        raise DataError(
            f"{given} is an archive of {len(names)} files ({listed(names, 3) or 'nothing'}), "
            "expected one"
        )
    return names[0]
