"""{u : |u - center| <= radius} in some norm: what its balls share."""

from __future__ import annotations

from numpy.typing import ArrayLike

from gameproof.core.arguments import Vector, as_positive, as_vector
from gameproof.minmax.sets.convex_set import ConvexSet


class NormBall(ConvexSet):
    """A centre and a radius. Subclasses give the norm through `project`.

    Parameters
    ----------
    center
        A vector.
    radius
        A positive number.
    """

    def __init__(self, center: ArrayLike, radius: float) -> None:
        self._center = as_vector("center", center)
        self.radius = as_positive("radius", radius)
        self.dim = self._center.size

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dim={self.dim}, radius={self.radius:g})"

    @property
    def diameter(self) -> float:
        return 2 * self.radius

    @property
    def center(self) -> Vector:
        return self._center.copy()
