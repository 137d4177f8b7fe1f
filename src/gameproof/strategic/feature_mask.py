"""Features given by their positions, and the masks they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


def feature_mask(features: Sequence[int] | None, d: int) -> Mask:
    """True for these of the d features; for all of them if `features` is None."""
    mask = np.full(d, features is None)
    if features is not None:
        mask[list(features)] = True
    return mask


def positions(mask: Mask) -> list[int]:
    """The positions at which a mask is true."""
    return [int(c) for c in np.flatnonzero(mask)]


def require_positions(features: Any) -> None:
    """Raises unless `features` is a sequence of distinct integers."""
    if not isinstance(features, (list, tuple, range, np.ndarray)):
        raise TypeError(f"features must be positions of columns, got {features!r}")
    for feature in features:
        if isinstance(feature, (bool, np.bool_)) or not isinstance(feature, (int, np.integer)):
            raise TypeError(f"features must be positions of columns, got {feature!r}")
    if len(set(features)) != len(features):
        raise ValueError(f"features names a column twice: {list(features)}")


def require_columns(features: Sequence[int] | None, d: int) -> None:
    """Raises if a population of d features does not have all of these."""
    for feature in () if features is None else features:
        if not 0 <= feature < d:
            raise ValueError(f"feature {feature} cannot move: there are features 0 to {d - 1}")
