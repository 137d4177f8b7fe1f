"""Columns that people can move, by name or position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def positions(features: Any, names: Sequence[str] | None, d: int) -> list[int] | None:
    """The positions of these columns, or None where none are given; an error says what is wrong.

    >>> positions(["income", 0], ["age", "income"], 2)
    [1, 0]
    """
    if features is None:
        return None
    if isinstance(features, (str, bytes)) or np.ndim(features) != 1:
        raise TypeError(f"features must be a list of names or positions, got {features!r}")
    found = [_position(feature, names, d) for feature in features]
    if len(set(found)) < len(found):
        raise ValueError(f"features names a column twice: {list(features)}")
    return found


def _position(feature: Any, names: Sequence[str] | None, d: int) -> int:
    if isinstance(feature, str):
        if names is None:
            raise ValueError(
                f"features has the name {feature!r}, and X has no names; fit on a data frame, or "
                "give positions"
            )
        known = list(names)
        if feature not in known:
            raise ValueError(
                f"features has the name {feature!r}, which is not among {', '.join(known)}"
            )
        return known.index(feature)
    if isinstance(feature, (bool, np.bool_)) or not isinstance(feature, (int, np.integer)):
        raise TypeError(f"features must be names or positions of columns, got {feature!r}")
    if not 0 <= feature < d:
        raise ValueError(f"features has {feature}, and X has columns 0 to {d - 1}")
    return int(feature)
