"""What a packed file holds, by its first bytes; its name may say what it likes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib

from gameproof.errors import DataError

GZIP, BZIP2, XZ, ZIP = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"PK\x03\x04"
ZSTANDARD, PARQUET = b"\x28\xb5\x2f\xfd", b"PAR1"
# What some programs add to an archive besides what they were given.
CLUTTER = ("__MACOSX/", ".DS_Store")


def unpacked(data: bytes, given: str) -> bytes:
    """The bytes inside, out of as many wrappings as there are. `given` is what errors say."""
    try:
        if data.startswith(GZIP):
            return unpacked(gzip.decompress(data), given)
        if data.startswith(BZIP2):
            return unpacked(bz2.decompress(data), given)
        if data.startswith(XZ):
            return unpacked(lzma.decompress(data), given)
        if data.startswith(ZSTANDARD):
            return unpacked(_from_zstandard(data), given)
        if data.startswith(ZIP):
            return unpacked(_member(data, given), given)
    except (
        *(OSError, EOFError, ValueError, RuntimeError),
        *(zlib.error, lzma.LZMAError, zipfile.BadZipFile),
    ) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{given} is a broken archive: it is cut short or altered") from error
    return data


def _from_zstandard(data: bytes) -> bytes:
    import pyarrow as pa

    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        content: bytes = stream.read()
        return content


def _member(data: bytes, given: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [
            name
            for name in archive.namelist()
            if not name.endswith("/") and not any(part in name for part in CLUTTER)
        ]
        if "[Content_Types].xml" in names:
            raise DataError(f"{given} is a workbook of Excel; save its sheet as CSV")
        if len(names) != 1:
            found = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
            raise DataError(
                f"{given} is an archive of {len(names)} files ({found or 'nothing'}), expected one"
            )
        return archive.read(names[0])
