"""{(theta, alpha) : |theta / scale| <= alpha / slope, alpha <= cap}.

With equal scales, a point outside the cone goes to the length t = (|theta| + slope alpha) /
(1 + slope^2) and alpha = slope t, or to the apex if alpha <= -|theta| / slope. If that alpha
exceeds the cap, alpha is the cap and theta shrinks to the disc of radius cap / slope. Unequal
scales need a bisection for t: see `kernels.projections.project_scaled_cone`.
"""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Vector, as_count, as_positive, as_prices
from gameproof.kernels.sets import EncodedCone, EncodedScaledCone, project_on
from gameproof.minmax.sets.ball import in_unit_ball
from gameproof.minmax.sets.convex_set import ConvexSet, length


@final
class Cone(ConvexSet):
    """The capped cone {(theta, alpha) : |theta / scale| <= alpha / slope, alpha <= cap}.

    Parameters
    ----------
    dim
        The number of coordinates; alpha is the last one.
    slope, cap
        Positive numbers.
    scale
        One positive number for each coordinate of theta, by default 1. A coordinate with infinite
        scale is not part of the norm, and lies between -cap / slope and cap / slope.

    Examples
    --------
    >>> Cone(2, slope=1, cap=10).project([2, 0])
    array([1., 1.])
    >>> Cone(3, slope=1, cap=10, scale=[1, np.inf]).project([2, 3, 0])
    array([1., 3., 1.])
    """

    def __init__(self, dim: int, slope: float, cap: float, scale: ArrayLike | None = None) -> None:
        self.dim = as_count("dim", dim, least=2)
        self.slope = as_positive("slope", slope)
        self.cap = as_positive("cap", cap)
        self.scale: Vector | None = None
        if scale is not None:
            free = "a coordinate that is not part of the norm"
            self.scale = as_prices("scale", scale, self.dim - 1, free)

    def __repr__(self) -> str:
        return f"Cone(dim={self.dim}, slope={self.slope:g}, cap={self.cap:g})"

    @property
    def diameter(self) -> float:
        rim = self.cap / self.slope
        scale = np.ones(1) if self.scale is None else self.scale
        widest = rim * float(scale[np.isfinite(scale)].max(initial=0.0))
        # Across the rim or from it to the apex, and across the free coordinates.
        free = 2 * rim * float(np.sqrt(np.isinf(scale).sum()))
        return float(np.hypot(max(2 * widest, np.hypot(widest, self.cap)), free))

    @property
    def center(self) -> Vector:
        center = np.zeros(self.dim)
        center[-1] = self.cap / 2
        return center

    @property
    def inner_radius(self) -> float:
        """The distance from the centre to the cap, to the cone, and to the bounds of free
        coordinates, whichever is least."""
        scale = np.ones(1) if self.scale is None else self.scale
        finite = scale[np.isfinite(scale)]
        sides = self.cap / 2 * finite / np.hypot(self.slope, finite)
        return float(min(self.cap / 2, self.cap / self.slope, sides.min(initial=np.inf)))

    @cached_property
    def encoded(self) -> EncodedCone | EncodedScaledCone:
        if self.scale is None:
            return EncodedCone(self.dim, self.slope, self.cap)
        return EncodedScaledCone(self.dim, np.append(1 / self.scale, 0.0), self.slope, self.cap)

    def project(self, point: ArrayLike) -> Vector:
        vector = self._checked(point)
        if self.scale is not None:
            project_on(self.encoded, vector)
            return vector
        theta, alpha = vector[:-1], float(vector[-1])
        size = length(theta)
        if alpha <= -size / self.slope:
            return np.zeros(self.dim)
        shrunk = size
        if size > alpha / self.slope:
            shrunk = (size + self.slope * alpha) / (1 + self.slope**2)
            alpha = self.slope * shrunk
        if alpha > self.cap:
            alpha, shrunk = self.cap, min(size, self.cap / self.slope)
        return np.append(theta * (shrunk / size if shrunk < size else 1.0), alpha)

    def sample(self, rng: np.random.Generator) -> Vector:
        alpha = self.cap * rng.random() ** (1 / self.dim)
        theta = alpha / self.slope * in_unit_ball(rng, self.dim - 1)
        if self.scale is not None:
            free, rim = np.isinf(self.scale), self.cap / self.slope
            theta = np.where(free, rng.uniform(-rim, rim, free.size), theta)
            theta *= np.where(free, 1.0, self.scale)
        return np.append(theta, alpha)
