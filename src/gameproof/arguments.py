"""From what a caller gave to what the code needs, or an error that says what was expected."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]


def as_vector(name: str, value: ArrayLike) -> Vector:
    """A finite 1-D float copy, or an error that names what was given."""
    try:
        vector = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a vector of numbers, got {value!r}") from error
    if vector.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {vector.shape}")
    if vector.size == 0:
        raise ValueError(f"{name} is empty: a set needs at least one coordinate")
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        raise ValueError(f"{name} must be finite, got {vector[bad[0]]} at coordinate {bad[0]}")
    return vector


def as_positive(name: str, value: float) -> float:
    """A positive finite float, or an error."""
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a number, got {value!r}") from error
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be positive and finite, got {value}")
    return number


def as_count(name: str, value: int, least: int = 1) -> int:
    """An integer of at least `least`, or an error."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)
