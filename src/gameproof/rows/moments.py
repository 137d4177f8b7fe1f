"""Means, squared deviations and ranges of columns, which can be merged block by block."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Matrix, Vector


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
        with np.errstate(over="ignore", invalid="ignore"):
            if weights is None:
                mass, mean = float(n), X.mean(axis=0)
                squares = ((X - mean) ** 2).sum(axis=0)
            else:
                mass = float(weights.sum())
                mean = weights @ X / mass
                squares = weights @ (X - mean) ** 2
        return cls(mass, mean, squares, X.min(axis=0), X.max(axis=0))

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
