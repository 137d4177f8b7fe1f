"""{u : |u - center| <= radius}: shrink towards the centre."""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Vector
from gameproof.kernels.sets import EncodedBall
from gameproof.minmax.sets.convex_set import length
from gameproof.minmax.sets.norm_ball import NormBall


@final
class Ball(NormBall):
    """The Euclidean ball {u : |u - center| <= radius}.

    Parameters
    ----------
    center
        A vector.
    radius
        A positive number.

    Examples
    --------
    >>> Ball([0, 0], 1).project([3, 4])
    array([0.6, 0.8])
    """

    @property
    def inner_radius(self) -> float:
        return self.radius

    @cached_property
    def encoded(self) -> EncodedBall:
        return EncodedBall(self.dim, self._center, self.radius)

    def project(self, point: ArrayLike) -> Vector:
        vector = self._checked(point)
        distance = length(vector - self._center)
        if distance > self.radius:
            vector = self._center + (vector - self._center) * (self.radius / distance)
        return vector

    def sample(self, rng: np.random.Generator) -> Vector:
        return self._center + self.radius * in_unit_ball(rng, self.dim)


def in_unit_ball(rng: np.random.Generator, dim: int) -> Vector:
    """A uniform point of the unit ball."""
    v: Vector = rng.standard_normal(dim)
    v *= rng.random() ** (1 / dim) / np.linalg.norm(v)
    return v
