"""`Saddle`: a saddle point and its certificate."""

from __future__ import annotations

from dataclasses import dataclass

from gameproof.core.arguments import Vector


@dataclass(frozen=True, eq=False)
class Saddle:
    """A saddle point, its value, and the duality gap that certifies it.

    Parameters
    ----------
    x, y
        The point.
    value
        L(x, y).
    duality_gap
        NaN if it is not known.

    Examples
    --------
    >>> import numpy as np
    >>> Saddle(np.zeros(1), np.zeros(1), value=0.0).value
    0.0
    """

    x: Vector
    y: Vector
    value: float
    duality_gap: float = float("nan")
