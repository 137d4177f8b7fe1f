"""{u >= 0 : sum u = total}: subtract a threshold, and clip at 0.

max(u - t, 0) has the sum `total` for exactly one t, which a sort finds. With the entropy as mirror
map, a step is multiplicative instead:

    u <- total u exp(-move) / sum(u exp(-move))

See Beck and Teboulle, "Mirror descent and nonlinear projected subgradient methods for convex
optimization", 2003.
"""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Vector, as_count, as_positive
from gameproof.kernels.sets import EncodedEntropySimplex, EncodedSimplex
from gameproof.minmax.sets.convex_set import ConvexSet, Ranges


@final
class Simplex(ConvexSet):
    """The simplex {u >= 0 : sum u = total}.

    Parameters
    ----------
    dim
        The number of coordinates.
    total
        Their sum.
    entropy
        True for multiplicative steps, which keep positive coordinates positive, and never change
        those that are 0.

    Examples
    --------
    >>> Simplex(2).project([1, 1])
    array([0.5, 0.5])
    >>> Simplex(2, entropy=True).step(np.array([0.5, 0.5]), np.log([1.0, 3.0]))
    array([0.75, 0.25])
    """

    def __init__(self, dim: int, total: float = 1.0, *, entropy: bool = False) -> None:
        self.dim = as_count("dim", dim)
        self.total = as_positive("total", total)
        self.entropy = bool(entropy)

    def __repr__(self) -> str:
        steps = ", entropy=True" if self.entropy else ""
        return f"Simplex(dim={self.dim}, total={self.total:g}{steps})"

    @property
    def diameter(self) -> float:
        return self.total * np.sqrt(2.0) if self.dim > 1 else 0.0

    @property
    def center(self) -> Vector:
        return np.full(self.dim, self.total / self.dim)

    @property
    def fixed_sums(self) -> Ranges:
        return ((0, self.dim),)

    @property
    def inner_radius(self) -> float:
        return self.total / np.sqrt(self.dim * (self.dim - 1)) if self.dim > 1 else np.inf

    @cached_property
    def encoded(self) -> EncodedSimplex | EncodedEntropySimplex:
        kind = EncodedEntropySimplex if self.entropy else EncodedSimplex
        return kind(self.dim, self.total)

    def project(self, point: ArrayLike) -> Vector:
        vector = self._checked(point)
        # Shifting all coordinates shifts t; a maximum of 0 avoids cancellation.
        shifted = vector - vector.max()
        descending = np.sort(shifted)[::-1]
        thresholds = (np.cumsum(descending) - self.total) / np.arange(1, self.dim + 1)
        positive = int(np.flatnonzero(descending > thresholds)[-1])
        found: Vector = np.maximum(shifted - thresholds[positive], 0.0)
        return found

    def step(self, origin: Vector, move: Vector) -> Vector:
        if not self.entropy:
            return self.project(origin - move)
        weighted: Vector = origin * np.exp(move.min() - move)
        weighted *= self.total / weighted.sum()
        return weighted

    def sample(self, rng: np.random.Generator) -> Vector:
        point: Vector = rng.dirichlet(np.ones(self.dim))
        return self.total * point
