"""A digest of the package's source: results of different versions are never mixed."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path


@cache
def source_digest() -> str:
    """A digest of every Python file of the package."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[1]
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
