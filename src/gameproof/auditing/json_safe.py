"""Values that JSON can represent."""

from __future__ import annotations

from math import isfinite
from typing import Any


def json_safe(value: Any) -> Any:
    """The value with None for numbers that are not finite, and lists for tuples.

    >>> json_safe({"a": (1.0, float("inf")), "b": "text"})
    {'a': [1.0, None], 'b': 'text'}
    """
    if isinstance(value, dict):
        return {key: json_safe(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_safe(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value
