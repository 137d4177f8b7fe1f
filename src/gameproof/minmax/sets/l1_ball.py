"""{u : sum |u - center| <= radius}: project the sizes on a simplex, keep the signs."""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Vector
from gameproof.kernels.sets import EncodedL1Ball
from gameproof.minmax.sets.norm_ball import NormBall
from gameproof.minmax.sets.simplex import Simplex


@final
class L1Ball(NormBall):
    """The ball {u : sum |u - center| <= radius}.

    Parameters
    ----------
    center
        A vector.
    radius
        A positive number.

    Examples
    --------
    >>> L1Ball([0, 0], 1).project([2, 1.5])
    array([0.75, 0.25])
    """

    @property
    def inner_radius(self) -> float:
        return self.radius / float(np.sqrt(self.dim))

    @cached_property
    def encoded(self) -> EncodedL1Ball:
        return EncodedL1Ball(self.dim, self._center, self.radius)

    def project(self, point: ArrayLike) -> Vector:
        vector = self._checked(point)
        sizes = np.abs(vector - self._center)
        if sizes.sum() <= self.radius:
            return vector
        signs = np.where(vector >= self._center, 1.0, -1.0)
        return self._center + signs * Simplex(self.dim, self.radius).project(sizes)

    def sample(self, rng: np.random.Generator) -> Vector:
        size: Vector = rng.dirichlet(np.ones(self.dim + 1))[:-1]
        signs: Vector = rng.choice([-1.0, 1.0], self.dim)
        return self._center + self.radius * size * signs
