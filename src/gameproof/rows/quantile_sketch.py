"""`QuantileSketch`: the distribution of many numbers by few of them, which can be merged.

A sketch is made of groups of neighbouring numbers. It keeps the largest number of each group and
the weight of the group, so that the weight of all numbers up to a kept number is exact when the
group is formed. In a merged sketch, numbers of one part fall inside groups of the other: the weight
up to a number is then too small by at most `error`. A quantile therefore lies between two kept
numbers that are known for sure, and a second pass over the numbers between them gives it exactly
(`exact_middles`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.rows.row_source import RawRows, RowSource

# The kept numbers of a block, and the most of a merged sketch, which is then reduced to half.
SIZE, MOST = 2**11, 2**16


class QuantileSketch(NamedTuple):
    """Kept numbers in ascending order with the weights of their groups."""

    values: Vector
    masses: Vector
    error: float

    @classmethod
    def of(cls, values: Vector, weights: Vector | None = None) -> QuantileSketch:
        """The sketch of these numbers."""
        order = np.argsort(values, kind="stable")
        masses = np.ones(values.size) if weights is None else weights[order]
        return cls(values[order], masses, 0.0)._reduced(SIZE, SIZE)

    @property
    def total(self) -> float:
        """The weight of all numbers."""
        return float(self.masses.sum())

    def merged(self, other: QuantileSketch) -> QuantileSketch:
        """The sketch of both sets of numbers."""
        values = np.concatenate([self.values, other.values])
        order = np.argsort(values, kind="stable")
        masses = np.concatenate([self.masses, other.masses])[order]
        return QuantileSketch(values[order], masses, self.error + other.error)._reduced(
            MOST, MOST // 2
        )

    def bracket(self, rank: float) -> tuple[float, float]:
        """(low, high) such that low < q <= high for the smallest number q up to which the weight
        is at least `rank`."""
        last = np.flatnonzero(np.append(np.diff(self.values) > 0, True)[: self.values.size])
        values, reached = self.values[last], np.cumsum(self.masses)[last]
        below = np.flatnonzero(reached + self.error < rank)
        above = np.flatnonzero(reached >= rank)
        low = float(values[below[-1]]) if below.size else -np.inf
        high = float(values[above[0]]) if above.size else np.inf
        return low, high

    def _reduced(self, most: int, size: int) -> QuantileSketch:
        """The sketch with about `size` groups, if it has more than `most`."""
        if self.values.size <= most:
            return self
        before = np.cumsum(self.masses) - self.masses
        group = np.floor(before * (size / self.masses.sum()))
        last = np.flatnonzero(np.append(np.diff(group) > 0, True))
        masses = np.diff(np.append(0.0, np.cumsum(self.masses)[last]))
        # What a group hides of numbers below its largest.
        hidden = float((masses - self.masses[last]).max())
        return QuantileSketch(self.values[last], masses, self.error + hidden)


def merged_sketch(parts: Iterable[QuantileSketch]) -> QuantileSketch:
    """One sketch of all numbers, merged in order."""
    return reduce(QuantileSketch.merged, parts)


def exact_middles(
    source: RowSource, columns: Callable[..., list[Vector]], *parameters: Any
) -> list[tuple[float, float] | None]:
    """The two middle numbers of each column of a table in blocks, as in a median; they are equal if
    the count is odd. None for a column without numbers."""
    return exact_pairs(lambda n: ((n + 1) // 2, n // 2 + 1), source, columns, *parameters)


def exact_pairs(
    ranks: Callable[[int], tuple[int, int]],
    source: RowSource,
    columns: Callable[..., list[Vector]],
    *parameters: Any,
) -> list[tuple[float, float] | None]:
    """The numbers of each column of a table in blocks that have two neighbouring ranks, or one
    rank twice. `ranks(n)` are the ranks among n numbers, from 1 on.

    `columns(block, *parameters)` are the columns of a block. Two passes: a sketch says where the
    ranks are, and the numbers there are collected. None for a column without numbers."""
    parts = list(source.map(_sketches, columns, parameters))
    sketches = [merged_sketch(each) for each in zip(*parts, strict=True)]
    ends = []
    for sketch in sketches:
        count = round(sketch.total)
        first, second = ranks(count)
        ends.append((sketch.bracket(first)[0], sketch.bracket(second)[1]))
    near = list(source.map(_between, columns, parameters, ends))
    found: list[tuple[float, float] | None] = []
    for k, sketch in enumerate(sketches):
        count, below = round(sketch.total), sum(part[k][0] for part in near)
        inside = np.sort(np.concatenate([part[k][1] for part in near]))
        at = [rank - 1 - below for rank in ranks(count)]
        found.append((float(inside[at[0]]), float(inside[at[1]])) if count else None)
    return found


def _sketches(
    raw: RawRows, columns: Callable[..., list[Vector]], parameters: tuple[Any, ...]
) -> list[QuantileSketch]:
    return [QuantileSketch.of(column) for column in columns(raw, *parameters)]


def _between(
    raw: RawRows,
    columns: Callable[..., list[Vector]],
    parameters: tuple[Any, ...],
    ends: list[tuple[float, float]],
) -> list[tuple[int, Vector]]:
    """For each column, the count of numbers up to the lower end, and the numbers from there to the
    upper end."""
    found = []
    for column, (low, high) in zip(columns(raw, *parameters), ends, strict=True):
        found.append((int((column <= low).sum()), column[(column > low) & (column <= high)]))
    return found
