"""Atomic writes: a file is replaced completely or not at all."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from stat import S_IMODE
from typing import NamedTuple

from gameproof.core.naming import escaped


class Rules(NamedTuple):
    """Whether existing files may be replaced, and the folder that links must not lead out of."""

    replace: bool = True
    folder: Path | None = None


FREE = Rules()
_rules: ContextVar[Rules] = ContextVar("rules", default=FREE)


@contextmanager
def write_rules(*, replace: bool = True, folder: Path | None = None) -> Iterator[None]:
    """Rules for every `write_whole` in the context, checked at the moment of writing."""
    token = _rules.set(Rules(replace, folder))
    try:
        yield
    finally:
        _rules.reset(token)


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """Writes a temporary file in the same folder, then renames it to `path`.

    If the process is killed or the disk is full, the previous file stays unchanged. If two
    processes write at once, the last one wins. Symbolic links and file permissions are kept. The
    content and the name are on disk when the function returns. `write_rules` can forbid replacing a
    file or following a link.
    """
    target = _allowed_target(path)
    with naming(path):
        rights = S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask()
        prefix = beside(target, ".").name
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=prefix, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, rights)
            _publish(temporary, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            raise


def move_whole(temporary: Path, path: Path) -> None:
    """Gives a complete file on the same file system its name, by the rules of `write_whole`."""
    target = _allowed_target(path)
    with naming(path):
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        _publish(str(temporary), target)


def _allowed_target(path: Path) -> Path:
    """The file that a path leads to; raises if the rules forbid writing it."""
    require_replaceable(path)
    folder = _rules.get().folder
    return real(path) if folder is None else require_inside(path, folder)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Errors name the path that the caller gave."""
    try:
        yield
    except FileExistsError as error:
        raise FileExistsError(escaped(f"{path} already exists; it was not overwritten")) from error
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def real(path: Path) -> Path:
    """The path with symbolic links resolved, whether or not the file exists."""
    return Path(os.path.realpath(path))


def require_replaceable(path: Path) -> None:
    """Rejects a path that exists and is not a regular file, such as a folder or a device."""
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "a device or a pipe"
        raise FileExistsError(escaped(f"{path} is {what}, expected the name of a file to write"))


def require_inside(path: Path, folder: Path) -> Path:
    """The file that a path leads to; raises if a link leads it out of the folder."""
    target = real(path)
    if not target.is_relative_to(real(folder)):
        raise PermissionError(
            escaped(f"{path} leads to {target} through a link, outside of the folder {folder}; ")
            + "name the file itself, or remove the link"
        )
    return target


def beside(path: Path, ending: str) -> Path:
    """A hidden file next to `path` that belongs to it. Its name is short, however long the name of
    the file is."""
    mark = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:12]
    return path.parent / f".gameproof.{mark}{ending}"


def remove_leftovers(path: Path) -> None:
    """Removes temporary files of killed writers. Nobody else may be writing `path`."""
    target = real(path)
    for leftover in target.parent.glob(beside(target, ".*.tmp").name):
        with suppress(OSError):
            leftover.unlink()


def sync_folder(folder: Path) -> None:
    """Makes a rename durable, where folders can be opened and the file system offers it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _publish(temporary: str, path: Path) -> None:
    """Gives a finished file its name, durably, or raises FileExistsError if the name is taken and
    must not be replaced."""
    if _rules.get().replace:
        os.replace(temporary, path)
    else:
        _take_name(temporary, path)
    sync_folder(path.parent)


def _take_name(temporary: str, path: Path) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: reserve the name, then replace
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.replace(temporary, path)
    else:
        os.unlink(temporary)


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
