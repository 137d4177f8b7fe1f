"""Features, labels and weights of a population, validated."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import (
    Matrix,
    Vector,
    as_numbers,
    require_finite,
    require_unmasked,
)
from gameproof.strategic.memmap import ask_for_large_pages, require_open


def as_features(X: ArrayLike) -> Matrix:
    """A finite contiguous float64 matrix; not a copy if X is one already."""
    array = X if isinstance(X, np.ndarray) else as_numbers("X", X)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"X must be an array of numbers, got one of type {array.dtype}")
    require_unmasked("X", array)
    require_open("X", array)
    matrix: Matrix = np.ascontiguousarray(array, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"X must have rows and columns, got shape {matrix.shape}")
    ask_for_large_pages(matrix)
    require_finite("X", matrix)
    return matrix.view()  # the caller may reshape the original in place


def as_labels(y: ArrayLike, n: int) -> Vector:
    """n labels, each -1 or +1."""
    labels = np.asarray(y)
    require_unmasked("y", y)
    require_open("y", labels)
    if labels.shape != (n,):
        raise ValueError(f"y must have one label per row of X, {n}, got shape {labels.shape}")
    if labels.dtype.kind not in "iuf" or not ((labels == 1) | (labels == -1)).all():
        found = ", ".join(sorted({repr(label) for label in labels.tolist()})[:5])
        raise ValueError(f"labels must be -1 and +1, got {found}")
    if isinstance(y, np.memmap):
        return np.ascontiguousarray(labels, dtype=np.float64)
    return labels.astype(np.float64)


def as_weights(weights: ArrayLike | None, n: int) -> Vector:
    """n positive weights, scaled to mean 1; if all are equal, a broadcast 1, without storage."""
    equal = np.broadcast_to(np.float64(1.0), (n,))
    if weights is None:
        return equal
    given = as_numbers("weights", weights)
    if given.shape != (n,):
        raise ValueError(f"weights must have one number per row of X, {n}, got shape {given.shape}")
    require_finite("weights", given)
    if not (given > 0).all():
        raise ValueError(f"weights must be positive, got {given.min():g}")
    largest = given.max()
    if (given == largest).all():
        return equal
    scaled = given / largest
    normal: Vector = scaled / scaled.mean()
    return normal
