"""Budgets proposed from moves, and their text for ``--movable``."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from math import ceil, floor, isfinite, log10

from gameproof.tables.budget_learning.moves import Moves

Budget = tuple[float, float] | tuple[str, ...]
"""The lowest and the highest change of a number, or the levels of a category to claim."""
DIGITS = 3  # significant digits of a proposed budget


def movable_text(budgets: Mapping[str, Budget]) -> str:
    """Budgets as a list for ``--movable``, quoted as in a CSV file.

    >>> movable_text({"savings": (0.0, 5000.0), "a, b": (-0.2, 0.0), "job": ("retired", "student")})
    'savings:0..5000,"a, b:-0.2..0",job:=retired|student'
    """
    cells = []
    for name, budget in budgets.items():
        if all(isinstance(part, str) for part in budget):
            cells.append(f"{name}:={'|'.join(map(str, budget))}")
        else:
            lower, upper = (f"{part:.12g}" for part in budget)
            cells.append(f"{name}:{lower}..{upper}")
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def budget_of(moves: Moves, quantile: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """The budget (lower, upper) that reaches this quantile of the moves, and its interval."""
    reach = moves.at(quantile)
    far = away_from_zero(reach.value)
    return (min(far, 0.0), max(far, 0.0)), (reach.low, reach.high)


def away_from_zero(value: float) -> float:
    """Rounds a number to a few digits, away from zero.

    >>> away_from_zero(4981.7), away_from_zero(-0.20001), away_from_zero(12.0), away_from_zero(0.0)
    (4990.0, -0.201, 12.0, 0.0)
    """
    if value == 0 or not isfinite(value):
        return float(value) + 0.0
    step = floor(log10(abs(value))) - DIGITS + 1
    sized = ceil(abs(value) / 10.0**step - 1e-9)
    found = float(f"{sized}e{step}")
    return found if value > 0 else -found
