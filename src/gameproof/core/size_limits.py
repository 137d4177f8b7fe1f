"""A limit on unpacked sizes, because a small file can unpack to more than memory holds.

The limit is compared with the size that an archive states before anything is unpacked. A stream
that states no size is unpacked until it exceeds the limit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

VARIABLE = "GAMEPROOF_MAX_BYTES"
"""The environment variable that sets the limit, such as 16GB."""
DEFAULT = 2 * 10**9
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
BLOCK = 2**20
_HAS_MEMORY = hasattr(os, "sysconf")  # not on Windows


def parse_size(text: str) -> int:
    """A size in bytes from text such as 500MB or 16 GB.

    >>> parse_size("1.5GB"), parse_size("2000")
    (1500000000, 2000)
    """
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,6})?) ?([kmgt]?)b?", text.strip().lower())
    if found is None or not float(found[1]) > 0:
        raise ValueError(f"expected a size such as 500MB or 16GB, got {text!r}")
    return int(float(found[1]) * UNITS[found[2]])


def max_unpacked(given: int | None = None) -> int:
    """The limit in bytes: `given`, or else what the environment variable says, or else 2 GB."""
    if given is not None:
        if isinstance(given, bool) or not isinstance(given, int) or given <= 0:
            raise ValueError(f"max_bytes must be a positive number of bytes, got {given!r}")
        return given
    text = os.environ.get(VARIABLE)
    if not text:
        return DEFAULT
    try:
        return parse_size(text)
    except ValueError as error:
        raise ValueError(f"the environment variable {VARIABLE}: {error}") from error


@contextmanager
def unpacked_limit(size: int | None) -> Iterator[None]:
    """Sets the limit for this process and the processes that it starts; None changes nothing."""
    before = os.environ.get(VARIABLE)
    if size is not None:
        os.environ[VARIABLE] = str(size)
    try:
        yield
    finally:
        if size is not None:
            if before is None:
                os.environ.pop(VARIABLE, None)
            else:
                os.environ[VARIABLE] = before


def require_size(size: int, limit: int, given: str, error: type[Exception]) -> None:
    """Raises `error` if a file unpacks to more bytes than the limit."""
    if size > limit:
        raise error(_too_large(f"{shown_size(size)}, more", limit, given))


def read_limited(
    read: Callable[[int], bytes], limit: int, given: str, error: type[Exception]
) -> bytes:
    """Everything that `read` returns, block by block; raises `error` beyond the limit."""
    blocks: list[bytes] = []
    size = 0
    while block := read(BLOCK):
        blocks.append(block)
        size += len(block)
        if size > limit:
            raise error(_too_large("more", limit, given))
    return b"".join(blocks)


def max_encoded() -> int:
    """The most bytes that an encoded table may take: the limit if one is set, else half of the
    machine's memory."""
    if os.environ.get(VARIABLE) or not _HAS_MEMORY:
        return max_unpacked()
    return max(DEFAULT, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)


def whole_limit() -> int:
    """The most bytes of a table that is read whole: an eighth of the machine's memory, and no more
    than the limit. Larger tables are processed in batches."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if _HAS_MEMORY else DEFAULT
    with suppress(OSError, ValueError):  # a container may have less, or no limit: max
        memory = min(memory, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(max_unpacked(), memory // 8)


def _too_large(how_much: str, limit: int, given: str) -> str:
    return (
        f"{given} unpacks to {how_much} than the limit of {shown_size(limit)}; if you trust the "
        "file and have the memory, raise the limit with --max-size or the environment variable "
        f"{VARIABLE}, for example to {shown_size(8 * limit)}"
    )


def shown_size(size: int) -> str:
    """A size for a message, such as 1.5GB."""
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g}{name}" if size < 1000 * unit else f"{size // unit}{name}"
    return f"{size} bytes"
