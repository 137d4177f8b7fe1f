"""`RowBlocks`: rows that are only seen block by block.

A method that needs sums over all rows gives a function of one block and a few parameters. It runs
wherever the block is: in threads over an array in memory, on batches of a file, or on the workers
of a cluster. Results are added in the order of the blocks, so that a sum has the same bits for any
number of threads or workers. It depends only on where blocks end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector

# The rows of a block in memory; a block is the work of one thread.
BLOCK = 2**15
# A piece of a block is small enough for the cache, and long enough for matrix products.
PIECE, CACHE, SHORTEST = 2**14, 2**19, 512


class Rows(NamedTuple):
    """Some rows: their places in the table, features, labels -1 and +1, weights if they differ, and
    the numbers on which the moves of each agent depend, if agents differ in them."""

    places: Indices
    X: Matrix
    y: Vector
    weights: Vector | None = None
    own: Matrix | None = None

    def pieces(self) -> Iterator[Rows]:
        """The same rows in pieces that fit into the cache."""
        n, d = self.X.shape
        size = min(PIECE, max(SHORTEST, CACHE // max(1, d)))
        for start in range(0, n, size):
            yield self.part(slice(start, start + size))

    def part(self, chosen: slice | Indices) -> Rows:
        """Some of the rows, by their positions here."""
        fields: Any = (None if field is None else field[chosen] for field in self)
        return Rows(*fields)

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """The rows of all parts, in order."""
        fields = zip(*parts, strict=True)
        whole: Any = (None if field[0] is None else np.concatenate(field) for field in fields)
        return cls(*whole)


class RowBlocks(ABC):
    """Rows in blocks of a fixed order. `n` is the number of rows and `d` of features.

    If `in_memory` is true, a method may also take all rows at once."""

    n: int
    d: int
    in_memory = False

    @abstractmethod
    def map(self, function: Callable[..., Any], *parameters: Any) -> Iterator[Any]:
        """function(rows, *parameters) of each block, in order."""

    def sum(self, function: Callable[..., Sequence[Any]], *parameters: Any) -> list[Any]:
        """The sums of what the function returns for each block: a sequence of arrays or numbers."""
        return added(self.map(function, *parameters))

    def gathered(self) -> Rows:
        """All rows, in memory."""
        return Rows.joined(list(self.map(_itself)))

    def take(self, places: Indices) -> Rows:
        """The rows at these places, which must be sorted."""
        return Rows.joined(list(self.map(_taken, places)))


def added(parts: Iterator[Sequence[Any]] | Sequence[Sequence[Any]]) -> list[Any]:
    """The sums of sequences, term by term, in the order of the sequences."""
    total: list[Any] = []
    for part in parts:
        total = [a + b for a, b in zip(total, part, strict=True)] if total else list(part)
    return total


def _itself(rows: Rows) -> Rows:
    return rows


def _taken(rows: Rows, places: Indices) -> Rows:
    """The rows at these places. The places of a block are consecutive."""
    if not rows.places.size:
        return rows
    first, last = rows.places[0], rows.places[-1]
    low, high = np.searchsorted(places, [first, last + 1])
    return rows.part(places[low:high] - first)
