"""JSON files with a digest of their content and of what they belong to.

A damaged file, or one that was put in the place of another, is not taken for a result.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

Content = dict[str, Any]


def sealed(content: Content, owner: str) -> bytes:
    """The file of this content, which belongs to `owner`."""
    return json.dumps({**content, "digest": _digest(content, owner)}).encode()


def unsealed(path: Path, owner: str) -> Content | None:
    """The content of a file; None if it is damaged, or belongs to something else."""
    try:
        content: Content = json.loads(path.read_bytes())
        if content.pop("digest") == _digest(content, owner):
            return content
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    return None


def _digest(content: Content, owner: str) -> str:
    return hashlib.sha256(json.dumps([owner, content], sort_keys=True).encode()).hexdigest()
