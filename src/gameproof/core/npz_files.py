"""Reads arrays from npz archives that need not be trusted.

NumPy's own reader reserves as much memory as the header of an array asks for. Here the size that a
header states must be the size that the archive holds, and arrays of objects are refused.
"""

from __future__ import annotations

import ast
import io
import math
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gameproof.core.size_limits import require_size

Arrays = dict[str, NDArray[Any]]
MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 10_000  # bytes, as in NumPy
MOST_DIMENSIONS = 32


def read_npz(data: bytes, given: str, too_large: type[Exception], limit: int) -> Arrays:
    """The arrays in an archive. Raises `too_large` beyond the limit in bytes, and any other
    exception if the archive is damaged."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        require_size(sum(member.file_size for member in members), limit, given, too_large)
        names = [member.filename for member in members]
        if len(set(names)) < len(names) or not all(name.endswith(".npy") for name in names):
            raise ValueError("expected arrays of different names")
        return {
            member.filename.removesuffix(".npy"): _array(archive.read(member)) for member in members
        }


def _array(content: bytes) -> NDArray[Any]:
    """The array in the bytes of an npy file."""
    if content[:6] != MAGIC or content[6:8] not in (b"\x01\x00", b"\x02\x00", b"\x03\x00"):
        raise ValueError("expected an array")
    start = 10 if content[6] == 1 else 12
    stop = start + int.from_bytes(content[8:start], "little")
    if not start < stop <= min(len(content), LONGEST_HEADER):
        raise ValueError("an array has a header of the wrong size")
    header = ast.literal_eval(content[start:stop].decode("utf-8").strip())
    if not isinstance(header, dict) or set(header) != {"descr", "fortran_order", "shape"}:
        raise ValueError("an array has a header of another format")
    kind, by_column, shape = header["descr"], header["fortran_order"], header["shape"]
    if not isinstance(kind, str) or not isinstance(by_column, bool):
        raise ValueError(f"an array has the unknown type {kind!r}")
    if not isinstance(shape, tuple) or len(shape) > MOST_DIMENSIONS:
        raise ValueError(f"an array has the invalid shape {shape!r}")
    if not all(isinstance(size, int) and 0 <= size < 2**63 for size in shape):
        raise ValueError(f"an array has the invalid shape {shape!r}")
    dtype = np.dtype(kind)
    if dtype.kind not in "biufU" or dtype.itemsize == 0:
        raise ValueError(f"an array has the type {dtype}, expected numbers or text")
    if math.prod(shape) * dtype.itemsize != len(content) - stop:
        raise ValueError(f"an array of shape {shape} has {len(content) - stop} bytes")
    flat = np.frombuffer(content, dtype, offset=stop)
    return flat.reshape(shape, order="F" if by_column else "C").copy(order="K")
