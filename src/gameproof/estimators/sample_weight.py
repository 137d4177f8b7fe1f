"""How much each person counts in a fit, and people who do not count at all.

A weight of 3 is as good as three equal rows, and one of 0 as good as no row: units, class weights
and the problem are those of the rows written out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_sample_weight

from gameproof.core.arguments import Indices, Matrix, Vector


class Counted(NamedTuple):
    """Those who count, and how much: None for all the same. `rows` are their numbers where others
    were left out."""

    X: Matrix
    y: NDArray[Any]
    weights: Vector | None
    rows: Indices | None


def as_weights(sample_weight: ArrayLike, X: Matrix) -> Vector:
    """A weight for each row of X, none negative and not all 0, or an error."""
    weights: Vector = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weights.any():
        raise ValueError("sample_weight must contain at least one non-zero number")
    return weights


def counted(X: Matrix, y: NDArray[Any], sample_weight: ArrayLike | None) -> Counted:
    """The people of a table by scikit-learn's `sample_weight`."""
    if sample_weight is None:
        return Counted(X, y, None, None)
    weights = as_weights(sample_weight, X)
    rows = np.flatnonzero(weights)
    if rows.size == weights.size:
        return Counted(X, y, weights, None)
    return Counted(X[rows], y[rows], weights[rows], rows)
