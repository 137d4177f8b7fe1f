"""Files that are whole or not there at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from stat import S_IMODE


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """Writes a file under another name in the same folder, then renames it.

    A killed process or a full disk leaves what was there before; of two processes that write at
    once, one comes last. A link stays one, and a file keeps its rights.
    """
    require_replaceable(path)
    try:
        _write(real(path), content)
    except OSError as error:  # under the name that was asked for
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def real(path: Path) -> Path:
    """The file that a name leads to, whether it is there or not."""
    return Path(os.path.realpath(path))


def require_replaceable(path: Path) -> None:
    """Refuses what is there and no file: a folder, or a device, which a file would replace."""
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
    """What a new file may be; the system tells only by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
