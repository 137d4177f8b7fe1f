"""Means, squared deviations and ranges of columns, which can be merged block by block."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.rows.array_rows import MANY
from gameproof.rows.cores import on_cores
from gameproof.rows.row_blocks import BLOCK


class Moments(NamedTuple):
    """The total weight of some rows and, by column, mean, weighted sum of squared deviations,
    smallest and largest value."""

    mass: float
    mean: Vector
    squares: Vector
    least: Vector
    most: Vector

    @classmethod
    def of(cls, X: Matrix, weights: Vector | None = None) -> Moments:
        """The moments of these rows."""
        n, d = X.shape
        if not n:
            nothing = np.zeros(d)
            return cls(0.0, nothing, nothing, np.full(d, np.inf), np.full(d, -np.inf))
        mass = float(n if weights is None else weights.sum())

        def summed(values: Matrix) -> Vector:
            return values.sum(axis=0) if weights is None else weights @ values

        with np.errstate(over="ignore", invalid="ignore"):
            mean = summed(X) / mass
            away = X - mean
            # What rounding left out of the mean.
            by = summed(away) / mass
            squares = np.maximum(summed(away**2) - mass * by**2, 0.0)
        return cls(mass, mean + by, squares, X.min(axis=0), X.max(axis=0))

    @classmethod
    def of_blocks(cls, X: Matrix, weights: Vector | None = None) -> Moments:
        """The moments of an array, with the bits that its rows have in blocks elsewhere, and
        without a copy of it."""
        slices = [slice(k, k + BLOCK) for k in range(0, len(X), BLOCK)]

        def of_block(b: slice) -> Moments:
            return cls.of(X[b], None if weights is None else weights[b])

        with np.errstate(over="ignore", invalid="ignore"):
            return cls.total(on_cores(of_block, slices, None if X.size >= MANY else 1))

    def merged(self, other: Moments) -> Moments:
        """The moments of both groups of rows."""
        mass = self.mass + other.mass
        if not (self.mass and other.mass):
            return self if self.mass else other
        by, share = other.mean - self.mean, other.mass / mass
        squares = self.squares + other.squares + by**2 * (self.mass * share)
        least, most = np.minimum(self.least, other.least), np.maximum(self.most, other.most)
        return Moments(mass, self.mean + by * share, squares, least, most)

    @classmethod
    def total(cls, parts: Iterable[Moments]) -> Moments:
        """The moments of all rows, merged in order."""
        return reduce(cls.merged, parts)
