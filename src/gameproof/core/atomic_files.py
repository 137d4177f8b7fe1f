"""Atomic writes: a file is replaced completely or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from stat import S_IMODE


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """Writes a temporary file in the same folder, then renames it to `path`.

    If the process is killed or the disk is full, the previous file stays unchanged. If two
    processes write at once, the last one wins. Symbolic links and file permissions are kept.
    """
    require_replaceable(path)
    try:
        _write(real(path), content)
    except OSError as error:  # names the path that the caller gave
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def real(path: Path) -> Path:
    """The path with symbolic links resolved, whether or not the file exists."""
    return Path(os.path.realpath(path))


def require_replaceable(path: Path) -> None:
    """Rejects a path that exists and is not a regular file, such as a folder or a device."""
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "a device or a pipe"
        raise FileExistsError(f"{path} is {what}, expected the name of a file to write")


def _write(path: Path, content: bytes | memoryview) -> None:
    rights = S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".gameproof.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, rights)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
