"""{u : lower <= u <= upper}: clip every coordinate."""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Vector, as_vector
from gameproof.kernels.sets import EncodedBox, EncodedInterval
from gameproof.minmax.sets.convex_set import ConvexSet


@final
class Box(ConvexSet):
    """The box {u : lower <= u <= upper}, coordinate by coordinate.

    Parameters
    ----------
    lower, upper
        Vectors of the same length.

    Examples
    --------
    >>> Box([0, 0], [1, 1]).project([2, -1])
    array([1., 0.])
    """

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        self.lower, self.upper = as_vector("lower", lower), as_vector("upper", upper)
        if self.lower.size != self.upper.size:
            raise ValueError(
                f"lower has {self.lower.size} coordinates, upper has {self.upper.size}"
            )
        empty = np.flatnonzero(self.lower > self.upper)
        if empty.size:
            c = empty[0]
            raise ValueError(
                f"the box is empty: at coordinate {c} lower is {self.lower[c]} and upper "
                f"{self.upper[c]}"
            )
        self.dim = self.lower.size
        # Equal bounds need no vectors. With one coordinate per sample, those would be as large as
        # the iterate.
        self._even = _is_even(self.lower) and _is_even(self.upper)
        if self._even:
            self.lower = np.broadcast_to(self.lower[0].copy(), (self.dim,))
            self.upper = np.broadcast_to(self.upper[0].copy(), (self.dim,))

    def __repr__(self) -> str:
        return f"Box(dim={self.dim})"

    @property
    def diameter(self) -> float:
        return float(np.linalg.norm(self.upper - self.lower))

    @property
    def center(self) -> Vector:
        return self.lower + (self.upper - self.lower) / 2

    @property
    def inner_radius(self) -> float:
        return float((self.upper - self.lower).min()) / 2

    @cached_property
    def encoded(self) -> EncodedInterval | EncodedBox:
        if self._even:
            return EncodedInterval(self.dim, float(self.lower[0]), float(self.upper[0]))
        return EncodedBox(self.dim, self.lower, self.upper)

    def project(self, point: ArrayLike) -> Vector:
        return np.minimum(np.maximum(self._checked(point), self.lower), self.upper)

    def sample(self, rng: np.random.Generator) -> Vector:
        return rng.uniform(self.lower, self.upper)


def _is_even(bound: Vector) -> bool:
    return bool((bound == bound[0]).all())
