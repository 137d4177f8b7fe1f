"""Rows of an array in memory, or of a memory-mapped file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.rows.cores import on_cores
from gameproof.rows.row_blocks import BLOCK, RowBlocks, Rows

# With fewer numbers than this, threads cost more than they gain.
MANY = 2**20


class ArrayRows(RowBlocks):
    """Rows of an array, which are read in place.

    `ends` are the row numbers at which blocks end, by default multiples of BLOCK. `places` are the
    places of the rows in a larger table that they were taken from."""

    def __init__(
        self,
        X: Matrix,
        y: Vector,
        weights: Vector | None = None,
        *,
        ends: Indices | None = None,
        places: Indices | None = None,
        cores: int | None = None,
    ) -> None:
        self.X, self.y, self.weights, self.places = X, y, weights, places
        self.n, self.d = X.shape
        self._ends = np.append(np.arange(BLOCK, self.n, BLOCK), self.n) if ends is None else ends
        self._cores = cores if X.size >= MANY else 1

    def map(self, function: Callable[..., Any], *parameters: Any) -> Iterator[Any]:
        starts = [0, *self._ends[:-1].tolist()]
        slices = [slice(*pair) for pair in zip(starts, self._ends.tolist(), strict=True)]
        return on_cores(lambda b: function(self.block(b), *parameters), slices, self._cores)

    def block(self, b: slice) -> Rows:
        """The rows of a slice."""
        places = np.arange(b.start, b.stop) if self.places is None else self.places[b]
        weights = None if self.weights is None else self.weights[b]
        return Rows(places, self.X[b], self.y[b], weights)

    def take(self, places: Indices) -> Rows:
        weights = None if self.weights is None else self.weights[places]
        own = places if self.places is None else self.places[places]
        return Rows(own, self.X[places], self.y[places], weights)
