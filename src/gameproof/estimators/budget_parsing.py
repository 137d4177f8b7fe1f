"""Checks of budgets that a user gave, and notes on budgets that look unrealistic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gameproof.core.arguments import Vector, shown
from gameproof.core.naming import quoted_list


def parse_range(name: str, value: Any) -> tuple[float, float]:
    """The lowest and highest change of a numeric column."""
    wrong = f"the budget of {name!r} must be a pair such as (0, 5000), got {shown(value)}"
    if isinstance(value, (str, bytes, set, frozenset, Mapping)):
        raise TypeError(wrong)
    try:
        low, high = (float(end) for end in value)
    except (TypeError, ValueError) as error:
        raise TypeError(wrong) from error
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"the budget of {name!r} must be finite, got {low:g} to {high:g}")
    if low > high:
        raise ValueError(
            f"the budget of {name!r} is empty: it goes from {low:g} to {high:g}; give the lower "
            "end first"
        )
    if not low <= 0 <= high:
        raise ValueError(
            f"the budget of {name!r} goes from {low:g} to {high:g}, and must include 0: people "
            "can stay as they are"
        )
    return low, high


def parse_levels(name: str, value: Any, known: tuple[str, ...]) -> tuple[int, ...]:
    """Numbers of the levels of a category that people can claim; None means all of them."""
    if value is None:
        return tuple(range(len(known)))
    if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, set, frozenset)):
        raise TypeError(
            f"{name!r} is a category: its budget is a list of the levels that people can claim, "
            f"such as [{known[0]!r}], got {shown(value)}"
        )
    chosen = [str(level) if isinstance(level, str) else level for level in value]
    if not chosen:
        raise ValueError(f"the budget of {name!r} has no level; leave the column out")
    for level in chosen:
        if not isinstance(level, str):
            raise TypeError(
                f"{name!r} is a category: its budget is a list of levels, not the range {value!r}"
            )
        if level not in known:
            raise ValueError(
                f"the budget of {name!r} has the level {level!r}, which is not among "
                f"{quoted_list(known)}"
            )
    return tuple(sorted({known.index(level) for level in chosen}))


def spread(column: Vector, weights: Vector | None = None) -> float:
    """The weighted standard deviation of the values that are not missing."""
    present = ~np.isnan(column)
    largest = float(np.abs(column[present]).max(initial=0.0))
    if largest == 0:
        return 0.0
    known = column[present] / largest  # squares of larger numbers may overflow
    if np.ptp(known) == 0:
        return 0.0
    if weights is None:
        return largest * float(known.std())
    share = weights[present]
    mean = np.average(known, weights=share)
    return largest * float(np.sqrt(np.average((known - mean) ** 2, weights=share)))


def default_range(
    name: str, share: float, column: Vector, weights: Vector | None = None
) -> tuple[float, list[str]]:
    """A share of the standard deviation, and a note if a few large values dominate it.

    In that case the standard deviation is taken after the column is cut off at its 1st and 99th
    percentiles: the whole one may exceed nearly all values.
    """
    half = share * spread(column, weights)
    if half == 0:
        return half, []
    low, high = (float(q) for q in np.nanpercentile(column, [1, 99]))
    if half <= high / 2 - low / 2:
        return half, []
    cut = share * spread(np.clip(column, low, high), weights)
    why = (
        f"half a standard deviation of {name!r} is {rounded(half)}, while 98 % of the column lies "
        f"between {rounded(low)} and {rounded(high)}; "
    )
    if cut == 0:
        return half, [f"{why}state a range for it"]
    return cut, [
        f"{why}its budget is {rounded(cut)} instead, half a standard deviation without the extreme "
        "values; state a range if people can change another amount"
    ]


def wide_range_notes(name: str, ends: tuple[float, float], column: Vector) -> list[str]:
    """A note if a budget exceeds the range of its column."""
    known = column[~np.isnan(column)]
    whole = float(known.max()) - float(known.min()) if known.size else 0.0
    if max(-ends[0], ends[1]) <= whole:
        return []
    return [
        f"the budget of {name!r}, {signed(ends[0])} to {signed(ends[1])}, exceeds the column's "
        f"whole range of {whole:,.6g}"
    ]


def rounded(number: float, digits: int = 3) -> str:
    """A number with few significant digits, without powers of ten up to a million.

    >>> rounded(35266.8), rounded(0.145665)
    ('35,300', '0.146')
    """
    return f"{float(f'{number:.{digits}g}'):,.6g}"


def signed(number: float, digits: int = 6) -> str:
    """A change with its sign, rounded to some significant digits.

    >>> signed(5000.0), signed(-0.2), signed(0.0), signed(2597.38, 3)
    ('+5,000', '-0.2', '0', '+2,600')
    """
    if not number:
        return "0"
    return ("+" if number > 0 else "") + rounded(number, digits)
