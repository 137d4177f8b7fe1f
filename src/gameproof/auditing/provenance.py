"""The provenance of a page: what is needed to reproduce it and to verify the data."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from numpy.typing import ArrayLike

from gameproof.auditing.number_format import setting
from gameproof.core.exact_bits import exact_bytes

PACKAGES = ("gameproof", "numpy", "scipy", "scikit-learn")


def provenance(
    *,
    command: str = "",
    seed: int | None = None,
    data: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Entries for the last part of a page; `data` maps names of data sets to fingerprints."""
    found: dict[str, str] = {}
    if command:
        found["command"] = command
    for name, fingerprint in (data or {}).items():
        found[f"fingerprint of {name}"] = fingerprint
    if seed is not None:
        found["seed"] = str(seed)
    found |= {name: setting(value) for name, value in (settings or {}).items()}
    found["versions"] = ", ".join(
        [f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in PACKAGES)]
    )
    found["made"] = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return found


def fingerprint(X: ArrayLike, y: ArrayLike, names: Sequence[str]) -> str:
    """SHA-256 of the column names, the rows and the labels.

    >>> fingerprint([[1.0, 2.0]], [1], ["a", "b"])[:12]
    'efa9d66c0595'
    """
    digest = hashlib.sha256(repr(tuple(str(name) for name in names)).encode())
    for array in (X, y):
        digest.update(exact_bytes(array))
    return digest.hexdigest()
