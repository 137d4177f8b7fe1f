"""Positions of columns that an argument gives by name or by position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gameproof.core.naming import quoted_list
from gameproof.estimators.features import default_names


def column_positions(features: Any, names: Sequence[str] | None, d: int) -> list[int] | None:
    """The positions of the columns in `features`, or None if `features` is None.

    >>> column_positions(["income", 0], ["age", "income"], 2)
    [1, 0]
    """
    if features is None:
        return None
    if isinstance(features, (str, bytes)) or np.ndim(features) != 1:
        raise TypeError(f"features must be a list of names or positions, got {features!r}")
    found = [column_position("features", feature, names, d) for feature in features]
    if len(set(found)) < len(found):
        raise ValueError(f"features names a column twice: {list(features)}")
    return found


def column_position(argument: str, column: Any, names: Sequence[str] | None, d: int) -> int:
    """The position of one column, given by name or position in `argument`."""
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"{argument} has the name {column!r}, and X has no column names; fit on a data "
                "frame, or give positions"
            )
        known = list(names)
        if column not in known and tuple(known) == default_names(d):
            raise ValueError(
                f"{argument} has the column {column!r}, and X has no column names; fit on a data "
                "frame, or give positions; the steps of a pipeline drop the names, so give them as "
                "prepare="
            )
        if column not in known:
            raise ValueError(
                f"{argument} has the column {column!r}, which is not among {quoted_list(known)}"
            )
        return known.index(column)
    if isinstance(column, (bool, np.bool_)) or not isinstance(column, (int, np.integer)):
        raise TypeError(f"{argument} must give columns by name or position, got {column!r}")
    if not 0 <= column < d:
        raise ValueError(f"{argument} has the column {column}, and X has columns 0 to {d - 1}")
    return int(column)
