"""Encoders: what `Prepare` learns about each column, and the columns that it makes of it.

A number x becomes sign(x) log(1 + |x| / unit), centred and scaled. A category becomes indicator
columns. See `prepare.py` for the whole transformation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.strategic.category_claims import Claim


class NumberEncoder(NamedTuple):
    """The encoder of a numeric column; median, mean and deviation are those of log values."""

    unit: float
    median: float
    mean: float
    deviation: float
    gaps: bool

    @classmethod
    def learned(cls, column: Vector, unit: float | None) -> NumberEncoder:
        """Learns from the training rows of a column."""
        known = column[~np.isnan(column)]
        if unit is None:
            sizes = np.abs(known[known != 0])
            unit = float(np.median(sizes)) if sizes.size else 1.0
        logs = signed_log(column, unit)
        median = float(np.nanmedian(logs)) if known.size else 0.0
        filled = np.where(np.isnan(logs), median, logs)
        # In floating point, the standard deviation of equal numbers is not always 0.
        spread = float(filled.std()) if np.ptp(filled) > 0 else 0.0
        return cls(unit, median, float(filled.mean()), spread or 1.0, known.size < column.size)

    def names(self, name: str) -> list[str]:
        """Names of the encoded columns, before duplicates are resolved."""
        return [name, f"{name} missing"] if self.gaps else [name]

    def missing_value(self) -> str:
        """A phrase that says how missing values are encoded."""
        if self.gaps:
            return "replaced by the median and marked"
        return "replaced by the median; the training rows had no missing values there"

    def moves(
        self, column: Vector, low: float | Vector, high: float | Vector
    ) -> tuple[Vector, Vector]:
        """Bounds on the change of the encoded column when the column changes by low to high.

        People whose value is missing cannot change it.
        """
        here, *_ = self.encoded(column)
        most = np.finfo(np.float64).max
        with np.errstate(over="ignore"):
            moved = [np.clip(column + by, -most, most) for by in (low, high)]
        ends = [self.encoded(each)[0] - here for each in moved]
        below, above = (np.where(np.isnan(column), 0.0, end) for end in ends)
        return np.minimum(below, 0.0), np.maximum(above, 0.0)

    def encoded(self, column: Vector) -> list[Vector]:
        """The encoded columns."""
        missing = np.isnan(column)
        filled = np.where(missing, self.median, signed_log(column, self.unit))
        scaled = (filled - self.mean) / self.deviation
        return [scaled, missing.astype(np.float64)] if self.gaps else [scaled]


class CategoryEncoder(NamedTuple):
    """The encoder of a column of level numbers."""

    levels: tuple[str, ...]

    def names(self, name: str) -> list[str]:
        """Names of the encoded columns, before duplicates are resolved."""
        return [f"{name}={self.levels[k]}" for k in self._encoded_levels()]

    def encoded(self, column: Vector) -> list[Vector]:
        """The encoded columns; all are 0 where the level is missing."""
        return [(column == k).astype(np.float64) for k in self._encoded_levels()]

    def missing_value(self) -> str:
        """A phrase that says how a missing level is encoded."""
        # Two levels share one indicator column, which is 0 for the first level.
        what = f"{self.levels[0]!r}" if len(self.levels) == 2 else "none of the levels"
        return f"treated as {what}; the training rows had no missing values there"

    def claim(self, column: Vector, allowed: Sequence[int], first: int) -> Claim:
        """The levels that people can claim; `first` is the position of the first encoded column.

        A missing level counts as one more level, which nobody can claim.
        """
        number = len(self.levels)
        columns = np.full(number + 1, -1, dtype=np.int64)
        encoded = self._encoded_levels()
        columns[list(encoded)] = first + np.arange(len(encoded))
        current = np.where(np.isnan(column), number, column).astype(np.int64)
        able = np.isin(np.arange(number + 1), allowed)
        return Claim(columns, np.ones(number + 1), able, current)

    def _encoded_levels(self) -> range:
        return range(1 if len(self.levels) == 2 else 0, len(self.levels))


def signed_log(column: Vector, unit: float) -> Vector:
    """sign(x) log(1 + |x| / unit)."""
    sizes = np.abs(column)
    with np.errstate(over="ignore"):
        logs: Vector = np.log1p(sizes / unit)
    overflow = np.isinf(logs)  # there the 1 is negligible, and the ratio need not be formed
    logs[overflow] = np.log(sizes[overflow]) - np.log(unit)
    return np.sign(column) * logs
