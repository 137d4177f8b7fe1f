"""Convex compact sets: projection, membership, diameter, centre, random points.

Every set projects in the Euclidean norm, exactly. The built-in ones describe themselves to the
compiled solver as `kernels.Pieces`; a set of your own needs no more than `project`, `diameter`,
`center` and `sample`, and then runs through the ask/tell loop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from gameproof import kernels
from gameproof.core.arguments import Vector, as_count, as_positive, as_prices, as_vector


class ConvexSet(ABC):
    """A convex compact set of dimension `dim`."""

    dim: int

    @property
    @abstractmethod
    def diameter(self) -> float:
        """The largest distance between two of its points."""

    @property
    @abstractmethod
    def center(self) -> Vector:
        """A point well inside, where runs start by default."""

    @abstractmethod
    def project(self, point: ArrayLike) -> Vector:
        """The nearest point of the set, as a new array."""

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Vector:
        """A random point whose distribution covers the set."""

    @property
    def pieces(self) -> kernels.Pieces | None:
        """The set as the compiled solver sees it, or None: then only `project` is used."""
        return None

    def contains(self, point: ArrayLike, tolerance: float = 1e-9) -> bool:
        """Whether a point is in the set, up to `tolerance` times the size of the point."""
        vector = self._checked(point)
        nearest = projected(self, vector)
        size = max(kernels.norm(vector), kernels.norm(nearest))
        return bool(kernels.norm(vector - nearest) <= tolerance * size)

    def _checked(self, point: ArrayLike) -> Vector:
        vector = as_vector("point", point)
        if vector.size != self.dim:
            raise ValueError(f"point has {vector.size} coordinates, the set has {self.dim}")
        return vector


def projected(whole: ConvexSet, point: Vector) -> Vector:
    """The nearest point by a set that may be a user's own: a finite one of the same shape."""
    nearest = np.array(whole.project(point.copy()), dtype=np.float64, order="C")
    if nearest.shape != point.shape:
        raise ValueError(f"{whole!r} projected shape {point.shape} to {nearest.shape}")
    if not np.isfinite(nearest).all():
        raise ValueError(f"{whole!r} projected to a point that is not finite")
    return nearest


def is_box(whole: ConvexSet) -> bool:
    """Whether every coordinate is known to be projected by itself."""
    pieces = whole.pieces
    if pieces is None or pieces.kinds.size != 1:
        return False
    return int(pieces.kinds[0]) in (kernels.BOX, kernels.INTERVAL)


class _CompiledSet(ConvexSet):
    """A set whose projection is compiled; subclasses say which with `pieces`."""

    @property
    @abstractmethod
    def pieces(self) -> kernels.Pieces: ...

    def project(self, point: ArrayLike) -> Vector:
        vector = self._checked(point)
        kernels.project(self.pieces, vector)
        return vector


def _one_piece(
    kind: int, dim: int, numbers: tuple[float, float], *vectors: Vector
) -> kernels.Pieces:
    first, second = (*vectors, np.empty(0), np.empty(0))[:2]
    return kernels.Pieces(
        np.array([kind]), np.array([0, dim]), np.array([numbers], dtype=np.float64), first, second
    )


class _AroundCenter(_CompiledSet):
    """All points within a radius of a centre; subclasses say in which norm."""

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


@final
class Ball(_AroundCenter):
    """{u : |u - center| <= radius}.

    >>> Ball([0, 0], 1).project([3, 4])
    array([0.6, 0.8])
    """

    @cached_property
    def pieces(self) -> kernels.Pieces:
        return _one_piece(kernels.BALL, self.dim, (self.radius, 0.0), self._center)

    def sample(self, rng: np.random.Generator) -> Vector:
        return self._center + self.radius * _in_unit_ball(rng, self.dim)


def _in_unit_ball(rng: np.random.Generator, dim: int) -> Vector:
    v: Vector = rng.standard_normal(dim)
    v *= rng.random() ** (1 / dim) / np.linalg.norm(v)
    return v


@final
class Box(_CompiledSet):
    """{u : lower <= u <= upper}, coordinate by coordinate.

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
        # Bounds that are the same everywhere need no vectors: with a coordinate a sample, those
        # would be as large as the iterate.
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

    @cached_property
    def pieces(self) -> kernels.Pieces:
        if self._even:
            bounds = float(self.lower[0]), float(self.upper[0])
            return _one_piece(kernels.INTERVAL, self.dim, bounds)
        return _one_piece(kernels.BOX, self.dim, (0.0, 0.0), self.lower, self.upper)

    def sample(self, rng: np.random.Generator) -> Vector:
        return rng.uniform(self.lower, self.upper)


def _is_even(bound: Vector) -> bool:
    return bool((bound == bound[0]).all())


@final
class Simplex(_CompiledSet):
    """{u >= 0 : sum u = total}.

    >>> Simplex(2).project([1, 1])
    array([0.5, 0.5])
    """

    def __init__(self, dim: int, total: float = 1.0) -> None:
        self.dim = as_count("dim", dim)
        self.total = as_positive("total", total)

    def __repr__(self) -> str:
        return f"Simplex(dim={self.dim}, total={self.total:g})"

    @property
    def diameter(self) -> float:
        return self.total * np.sqrt(2.0) if self.dim > 1 else 0.0

    @property
    def center(self) -> Vector:
        return np.full(self.dim, self.total / self.dim)

    @cached_property
    def pieces(self) -> kernels.Pieces:
        return _one_piece(kernels.SIMPLEX, self.dim, (self.total, 0.0))

    def sample(self, rng: np.random.Generator) -> Vector:
        point: Vector = rng.dirichlet(np.ones(self.dim))
        return self.total * point


@final
class L1Ball(_AroundCenter):
    """{u : sum |u - center| <= radius}.

    >>> L1Ball([0, 0], 1).project([2, 1.5])
    array([0.75, 0.25])
    """

    @cached_property
    def pieces(self) -> kernels.Pieces:
        return _one_piece(kernels.L1_BALL, self.dim, (self.radius, 0.0), self._center)

    def sample(self, rng: np.random.Generator) -> Vector:
        size: Vector = rng.dirichlet(np.ones(self.dim + 1))[:-1]
        signs: Vector = rng.choice([-1.0, 1.0], self.dim)
        return self._center + self.radius * size * signs


@final
class Cone(_CompiledSet):
    """{(theta, alpha) : |theta / scale| <= alpha / slope, alpha <= cap}, alpha the last coordinate.

    `scale` has one number for each coordinate of theta, by default 1. Where it is infinite, the
    coordinate is no part of the norm, and lies between -cap / slope and cap / slope.

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
            free = "a coordinate that is no part of the norm"
            self.scale = as_prices("scale", scale, self.dim - 1, free)

    def __repr__(self) -> str:
        return f"Cone(dim={self.dim}, slope={self.slope:g}, cap={self.cap:g})"

    @property
    def diameter(self) -> float:
        rim = self.cap / self.slope
        scale = np.ones(1) if self.scale is None else self.scale
        widest = rim * float(scale[np.isfinite(scale)].max(initial=0.0))
        # Across the rim or from it to the apex, and across the coordinates that are free.
        free = 2 * rim * float(np.sqrt(np.isinf(scale).sum()))
        return float(np.hypot(max(2 * widest, np.hypot(widest, self.cap)), free))

    @property
    def center(self) -> Vector:
        center = np.zeros(self.dim)
        center[-1] = self.cap / 2
        return center

    @cached_property
    def pieces(self) -> kernels.Pieces:
        numbers = (self.slope, self.cap)
        if self.scale is None:
            return _one_piece(kernels.CONE, self.dim, numbers)
        weights = np.append(1 / self.scale, 0.0)
        return _one_piece(kernels.SCALED_CONE, self.dim, numbers, weights)

    def sample(self, rng: np.random.Generator) -> Vector:
        alpha = self.cap * rng.random() ** (1 / self.dim)
        theta = alpha / self.slope * _in_unit_ball(rng, self.dim - 1)
        if self.scale is not None:
            free, rim = np.isinf(self.scale), self.cap / self.slope
            theta = np.where(free, rng.uniform(-rim, rim, free.size), theta)
            theta *= np.where(free, 1.0, self.scale)
        return np.append(theta, alpha)


@final
class Product(ConvexSet):
    """Several sets side by side; each projects its own coordinates.

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

    def __repr__(self) -> str:
        return f"Product({', '.join(map(repr, self.sets))})"

    @property
    def diameter(self) -> float:
        return float(np.sqrt(sum(part.diameter**2 for part in self.sets)))

    @property
    def center(self) -> Vector:
        return np.concatenate([part.center for part in self.sets])

    @cached_property
    def pieces(self) -> kernels.Pieces | None:
        parts = [part.pieces for part in self.sets]
        if any(part is None for part in parts):
            return None
        known = [part for part in parts if part is not None]
        starts = np.cumsum([0, *(part.dim for part in self.sets)])
        return kernels.Pieces(
            np.concatenate([part.kinds for part in known]),
            np.concatenate(
                [[0], *(part.starts[1:] + at for part, at in zip(known, starts, strict=False))]
            ).astype(np.int64),
            np.concatenate([part.numbers for part in known]),
            self._by_coordinate([part.first for part in known]),
            self._by_coordinate([part.second for part in known]),
        )

    def _by_coordinate(self, vectors: list[Vector]) -> Vector:
        if not any(vector.size for vector in vectors):
            return np.empty(0)
        return np.concatenate(
            [
                vector if vector.size else np.zeros(part.dim)
                for vector, part in zip(vectors, self.sets, strict=True)
            ]
        )

    def project(self, point: ArrayLike) -> Vector:
        vector = self._checked(point)
        stops = np.cumsum([part.dim for part in self.sets])[:-1]
        pairs = zip(self.sets, np.split(vector, stops), strict=True)
        return np.concatenate([part.project(own) for part, own in pairs])

    def sample(self, rng: np.random.Generator) -> Vector:
        return np.concatenate([part.sample(rng) for part in self.sets])
