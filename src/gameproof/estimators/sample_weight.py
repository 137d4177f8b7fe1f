"""Sample weights: how much each row counts in a fit or a score.

A weight of 3 is equivalent to three equal rows and a weight of 0 to no row: scaling, class weights
and the problem are the same as for repeated rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_sample_weight

from gameproof.core.arguments import Indices, Vector
from gameproof.rows.dask_partitions import is_collection


class WeightedRows(NamedTuple):
    """Rows and labels with positive weights; `weights` is None if all rows count the same.

    `positions` are their positions in the original table, or None if no row was left out.
    """

    X: Any
    y: Any
    weights: Vector | None
    positions: Indices | None = None

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: ArrayLike | None) -> WeightedRows:
        """The rows with positive weights."""
        if is_collection(X):
            raise TypeError(
                "X is a Dask collection, expected a table in memory: fit a classifier of "
                "gameproof.dask, or give X.compute()"
            )
        if sample_weight is None:
            return cls(X, y, None)
        weights = as_weights(sample_weight, y)
        rows = np.flatnonzero(weights)
        if rows.size == weights.size:
            return cls(X, y, weights)
        return cls(X, y, weights).take(rows)._replace(positions=rows)

    def take(self, rows: Indices) -> WeightedRows:
        """Some of the rows."""
        X, y = (_safe_indexing(whole, rows) for whole in (self.X, self.y))
        return WeightedRows(X, y, None if self.weights is None else self.weights[rows])

    @property
    def data(self) -> tuple[Any, Any, Vector | None]:
        """Rows, labels and weights, in the order of the arguments of `fit` and `score`."""
        return self.X, self.y, self.weights


def as_weights(sample_weight: ArrayLike, rows: Any) -> Vector:
    """One weight per row: not negative, and not all 0."""
    weights: Vector = _check_sample_weight(
        sample_weight, rows, dtype=np.float64, ensure_non_negative=True
    )
    if not weights.any():
        raise ValueError("sample_weight must contain at least one non-zero number")
    return weights
