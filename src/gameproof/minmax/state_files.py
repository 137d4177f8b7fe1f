"""State files: named arrays and a JSON header in a zip archive, never pickle.

A file is written under another name and then renamed, so a killed process or a full disk leaves the
old one unchanged. A digest over header and arrays reveals an altered file.
"""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from gameproof.core.atomic_files import write_whole
from gameproof.core.errors import StateFileError
from gameproof.core.npz_files import Arrays, read_npz
from gameproof.core.size_limits import max_unpacked

FORMAT, VERSION = "gameproof-state", 6
_HEADER = "header"
_NAME = 30  # where the name of the first member begins in a zip file


def write(path: Path, header: dict[str, Any], arrays: Arrays) -> None:
    """Writes a state file atomically."""
    write_whole(path, packed(header, arrays))


def packed(header: dict[str, Any], arrays: Arrays) -> bytes:
    """The content of a state file."""
    header = {"format": FORMAT, "version": VERSION, **header}
    header["digest"] = content_digest(header, arrays)
    own = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    members: dict[str, Any] = {_HEADER: own, **arrays}
    np.savez(buffer, **members)
    return buffer.getvalue()


def is_state_file(path: Path) -> bool:
    """Whether a file begins as `write` begins one: with the header first in a zip file."""
    with open(path, "rb") as file:
        beginning = file.read(_NAME + len(_HEADER))
    return beginning.startswith(b"PK\x03\x04") and beginning[_NAME:] == _HEADER.encode()


def read(path: Path, max_bytes: int | None = None) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a state file, or a `StateFileError` that says what is wrong."""
    return unpacked(path.read_bytes(), str(path), max_bytes)


def unpacked(data: bytes, path: str, max_bytes: int | None = None) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of the content of a state file, called `path` in messages."""
    limit = max_unpacked(max_bytes)
    try:
        arrays = read_npz(data, path, StateFileError, limit)
        header = json.loads(arrays.pop(_HEADER).tobytes())
        found, version = header["format"], header["version"]
        if type(version) is not int:
            raise TypeError(f"file version {version!r}")
    except (StateFileError, MemoryError):
        raise
    except Exception as error:  # a damaged archive can make its reader raise nearly anything
        raise StateFileError(
            f"{path} is not a readable state file: it is truncated, damaged or from another program"
        ) from error
    if found != FORMAT:
        raise StateFileError(f"{path} is not a state file of gameproof, but of {found!r}")
    if version > VERSION:
        raise StateFileError(
            f"{path} was written by a newer gameproof (file version {version}, this one reads up "
            f"to {VERSION}); update gameproof to resume it"
        )
    if version < VERSION:
        raise StateFileError(
            f"{path} was written by an older gameproof (file version {version}, this one reads "
            f"{VERSION}), which laid out steps differently; resume it there, or start a new run"
        )
    if header.pop("digest", None) != content_digest(header, arrays):
        raise StateFileError(f"{path} was altered after it was written: its digest does not match")
    return header, arrays


def content_digest(header: dict[str, Any], arrays: Arrays) -> str:
    """The digest of a state file's header, without this digest, and arrays."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {arrays[name].shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
