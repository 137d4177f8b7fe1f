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
    places of the rows in a larger table that they were taken from, and `own` are the numbers on
    which their moves depend."""

    in_memory = True

    def __init__(
        self,
        X: Matrix,
        y: Vector,
        weights: Vector | None = None,
        *,
        ends: Indices | None = None,
        places: Indices | None = None,
        own: Matrix | None = None,
        cores: int | None = None,
    ) -> None:
        self.X, self.y, self.weights, self.places, self.own = X, y, weights, places, own
        self.n, self.d = X.shape
        self._ends = np.append(np.arange(BLOCK, self.n, BLOCK), self.n) if ends is None else ends
        self._cores = cores if X.size >= MANY else 1

    def map(self, function: Callable[..., Any], *parameters: Any) -> Iterator[Any]:
        starts = [0, *self._ends[:-1].tolist()]
        slices = [slice(*pair) for pair in zip(starts, self._ends.tolist(), strict=True)]
        return on_cores(lambda b: function(self.block(b), *parameters), slices, self._cores)

    @classmethod
    def of(cls, rows: Rows) -> ArrayRows:
        """These rows, which keep their places."""
        return cls(rows.X, rows.y, rows.weights, places=rows.places, own=rows.own)

    def block(self, b: slice | Indices) -> Rows:
        """The rows of a slice, or at these positions."""
        if self.places is not None:
            places = self.places[b]
        else:
            places = np.arange(b.start, b.stop) if isinstance(b, slice) else b
        weights = None if self.weights is None else self.weights[b]
        own = None if self.own is None else self.own[b]
        return Rows(places, self.X[b], self.y[b], weights, own)

    def gathered(self) -> Rows:
        return self.block(slice(0, self.n))

    def take(self, places: Indices) -> Rows:
        return self.block(places)
