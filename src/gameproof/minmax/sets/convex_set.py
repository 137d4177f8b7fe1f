"""`ConvexSet`: what a solver needs from a convex compact set.

Every set projects in the Euclidean norm, exactly. Four members suffice for a set of your own:
`project`, `diameter`, `center` and `sample`; it then runs in the Python loop. The rest is optional:

- `step` is where a move leads. By default it projects; a set with a mirror map overrides it.
- `fixed_sums` are ranges of coordinates whose sum is constant. Directions then stay within the
  affine hull: on a simplex the normal part of a gradient never vanishes, and asking about it is
  wasted.
- `inner_radius` is the radius of a ball around `center` inside the set, relative to its affine
  hull. Feasible queries need it.
- `encoded` is the compiled form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Vector, as_vector
from gameproof.minmax.replaceable_part import ReplaceablePart

Ranges = tuple[tuple[int, int], ...]


class ConvexSet(ReplaceablePart, ABC):
    """A convex compact set of dimension `dim`.

    Examples
    --------
    A half disc, from its projection:

    >>> import numpy as np
    >>> class HalfDisc(ConvexSet):
    ...     dim, diameter, center = 2, 2.0, np.array([0.0, 0.5])
    ...     def project(self, point):
    ...         inside = np.maximum(point, [-np.inf, 0.0])
    ...         return inside / max(1.0, np.linalg.norm(inside))
    ...     def sample(self, rng):
    ...         return self.project(rng.uniform(-1, 1, 2))
    >>> HalfDisc().contains([0.0, -0.1])
    False
    """

    dim: int

    def __init_subclass__(cls, **options: Any) -> None:
        """A class that projects in its own way has no compiled form, unless it defines one."""
        super().__init_subclass__(**options)
        own = vars(cls)
        if ("project" in own or "step" in own) and "encoded" not in own:
            type.__setattr__(cls, "encoded", None)

    @property
    @abstractmethod
    def diameter(self) -> float:
        """The largest distance between two points of the set."""

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

    def step(self, origin: Vector, move: Vector) -> Vector:
        """Where a step from `origin` by -`move` leads."""
        return self.project(origin - move)

    @property
    def fixed_sums(self) -> Ranges:
        """Ranges of coordinates with a constant sum."""
        return ()

    @property
    def inner_radius(self) -> float:
        """The radius of a ball around `center` inside the set; 0 if none is known."""
        return 0.0

    @property
    def encoded(self) -> Any:
        """The set as compiled code takes it, or None: then Python projects."""
        return None

    def contains(self, point: ArrayLike, tolerance: float = 1e-9) -> bool:
        """True if a point is in the set, up to `tolerance` times the size of the point."""
        vector = self._checked(point)
        nearest = projected(self, vector)
        size = max(length(vector), length(nearest))
        return length(vector - nearest) <= tolerance * size

    def _checked(self, point: ArrayLike) -> Vector:
        vector = as_vector("point", point)
        if vector.size != self.dim:
            raise ValueError(f"point has {vector.size} coordinates, the set has {self.dim}")
        return vector


def length(v: Vector) -> float:
    """|v|, also where its square would overflow or vanish."""
    largest = float(np.abs(v).max(initial=0.0))
    if largest == 0.0 or not np.isfinite(largest):
        return largest
    return largest * float(np.linalg.norm(v / largest))


def projected(whole: ConvexSet, point: Vector) -> Vector:
    """The projection on a set that may be a user's own, checked for shape and finiteness."""
    return checked_point(whole, whole.project(point.copy()), point)


def projected_on_shrunk(whole: ConvexSet, point: Vector, shrink: float) -> Vector:
    """The projection on center + shrink (set - center)."""
    center = whole.center
    return center + shrink * (projected(whole, center + (point - center) / shrink) - center)


def checked_point(whole: ConvexSet, found: ArrayLike, point: Vector) -> Vector:
    """A point that a user's set returned, or an error."""
    nearest = np.array(found, dtype=np.float64, order="C")
    if nearest.shape != point.shape:
        raise ValueError(f"{whole!r} gave a point of shape {nearest.shape}, expected {point.shape}")
    if not np.isfinite(nearest).all():
        raise ValueError(f"{whole!r} gave a point that is not finite")
    return nearest
