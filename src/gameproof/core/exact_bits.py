"""Numbers as bytes, so that equal bytes mean equal bits on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def exact_bytes(numbers: ArrayLike) -> bytes:
    """Numbers as little-endian float64."""
    return np.ascontiguousarray(numbers, dtype="<f8").tobytes()


def exact_numbers(stored: bytes) -> NDArray[np.float64]:
    """The numbers of `exact_bytes`, in a vector.

    >>> exact_numbers(exact_bytes(np.array([0.1, -0.0]))).tolist()
    [0.1, -0.0]
    """
    return np.frombuffer(stored, dtype="<f8").astype(np.float64)
