"""Files that are whole or not there at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """Writes a file under another name in the same folder, then renames it.

    A killed process or a full disk leaves what was there before; of two processes that write at
    once, one comes last.
    """
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent or ".", prefix=f".{path.name}.")
    except OSError as error:  # under the name that was asked for
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    """What a new file may be; the system tells only by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
