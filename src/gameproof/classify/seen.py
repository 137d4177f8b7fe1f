"""Which rows of a table a model has learned from, as far as a few digests tell.

A row, its features and its label, is digested to 64 bits. Digests are as good as random numbers, so
the k smallest of a table are those of a random sample of its different rows; and of another table
the rows with digests up to the largest of these are a random sample too, and for each of them it is
known whether it is among the first table's. Equal rows need not be the same person: of the rows
that a model learns from, the share that has an equal one among the others is what chance gives, and
what people whom it has not learned from give as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gameproof.arguments import Vector

# 11 kB in a model's file, and a share known to 4 points.
KEPT = 512
Matrix = NDArray[np.float64]


class Equal(NamedTuple):
    """Of the rows that were looked at, how many equal one that was learned from; and the share that
    chance alone would give."""

    equal: int
    looked_at: int
    by_chance: float


def kept(X: Matrix, y: Vector) -> dict[str, Any]:
    """What a model's file keeps of the rows that it learned from."""
    different, counts = np.unique(_digests(X, y), return_counts=True)
    return {
        "digests": [f"{digest:016x}" for digest in different[:KEPT].tolist()],
        "repeated": float(counts[counts > 1].sum()) / y.size,
    }


def equal_rows(learned: Mapping[str, Any], X: Matrix, y: Vector) -> Equal:
    """How many of these rows the model has learned from.

    >>> X, y = np.arange(8.0)[:, None], np.array([1.0, -1.0] * 4)
    >>> equal_rows(kept(X, y), X[4:], y[4:])
    Equal(equal=4, looked_at=4, by_chance=0.0)
    """
    known = np.array([int(digest, 16) for digest in learned["digests"]], dtype=np.uint64)
    found = _digests(X, y)
    if known.size == KEPT:  # else these are all
        found = found[found <= known.max()]
    equal = int(np.isin(found, known).sum())
    return Equal(equal, int(found.size), float(learned["repeated"]))


def _digests(X: Matrix, y: Vector) -> NDArray[np.uint64]:
    rows = np.column_stack([X, y]).astype("<f8") + 0.0  # one zero
    rows[np.isnan(rows)] = np.nan  # and one gap, whatever its bits
    digested = [blake2b(row.tobytes(), digest_size=8).digest() for row in rows]
    return np.frombuffer(b"".join(digested), dtype="<u8").astype(np.uint64)
