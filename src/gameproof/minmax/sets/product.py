"""Several sets side by side: each projects its own coordinates."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Vector
from gameproof.minmax.sets.convex_set import ConvexSet, Ranges


@final
class Product(ConvexSet):
    """The product of several sets, in the given order of coordinates.

    Parameters
    ----------
    *sets
        At least one set.

    Examples
    --------
    >>> from gameproof import Ball, Box
    >>> Product(Box([0], [1]), Ball([0, 0], 1)).project([2, 3, 4])
    array([1. , 0.6, 0.8])
    """

    def __init__(self, *sets: ConvexSet) -> None:
        if not sets:
            raise ValueError("a product needs at least one set")
        for k, part in enumerate(sets):
            if not isinstance(part, ConvexSet):
                raise TypeError(f"part {k} of the product must be a set, got {part!r}")
        self.sets = sets
        self.dim = sum(part.dim for part in sets)
        self._stops = np.cumsum([part.dim for part in sets])

    def __repr__(self) -> str:
        return f"Product({', '.join(map(repr, self.sets))})"

    @property
    def diameter(self) -> float:
        return float(np.sqrt(sum(part.diameter**2 for part in self.sets)))

    @property
    def center(self) -> Vector:
        return np.concatenate([part.center for part in self.sets])

    @property
    def fixed_sums(self) -> Ranges:
        starts = self._stops - [part.dim for part in self.sets]
        return tuple(
            (int(start) + a, int(start) + b)
            for start, part in zip(starts, self.sets, strict=True)
            for a, b in part.fixed_sums
        )

    @property
    def inner_radius(self) -> float:
        return min(part.inner_radius for part in self.sets)

    @cached_property
    def encoded(self) -> Any:
        parts = [part.encoded for part in self.sets]
        if any(part is None for part in parts):
            return None
        pairs = zip(self.sets, parts, strict=True)
        groups = [part if isinstance(whole, Product) else (part,) for whole, part in pairs]
        return tuple(part for group in groups for part in group)

    def project(self, point: ArrayLike) -> Vector:
        return self._by_part(lambda part, own: part.project(own), self._checked(point))

    def step(self, origin: Vector, move: Vector) -> Vector:
        return self._by_part(lambda part, own, by: part.step(own, by), origin, move)

    def _by_part(self, function: Callable[..., Vector], *vectors: Vector) -> Vector:
        parts = (np.split(vector, self._stops[:-1]) for vector in vectors)
        together = zip(self.sets, *parts, strict=True)
        return np.concatenate([function(whole, *own) for whole, *own in together])

    def sample(self, rng: np.random.Generator) -> Vector:
        return np.concatenate([part.sample(rng) for part in self.sets])


def primitive_sets(whole: ConvexSet) -> list[ConvexSet]:
    """The sets that a product is made of, or the set itself."""
    if isinstance(whole, Product):
        return [part for own in whole.sets for part in primitive_sets(own)]
    return [whole]
