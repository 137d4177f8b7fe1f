"""`Gradient`: how the gradient of a sample is estimated, and what the estimate must see.

An estimate says which points it queries, as offsets from the current point on the perturbed
coordinates, and what it computes from the values there. A new one is two methods:

    offsets(rng, space, radius) -> one row per point
    estimate(values, offsets, radius, context) -> the estimated gradient

Built-in estimates also name their compiled form. Those that need values have the form

    (factor / eps) sum over directions v of (L_i(u + eps v) - c) v

and differ in how v is drawn, in the factor, and in c. Any c that does not depend on v leaves the
mean unchanged; a good c takes the size of L_i out of the variance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.kernels import layout as at
from gameproof.minmax.replaceable_part import ReplaceablePart
from gameproof.minmax.sets.convex_set import Ranges

Blocks = Literal["x", "y", "all"] | None


class Space(NamedTuple):
    """The perturbed coordinates, and the directions within the affine hull of the sets."""

    size: int  # how many coordinates are perturbed
    fixed_sums: Ranges = ()  # ranges of them with a constant sum

    @property
    def dim(self) -> int:
        """The dimension of the space of directions."""
        return self.size - len(self.fixed_sums)

    def flatten(self, directions: Matrix) -> Matrix:
        """The directions without their part normal to the hull."""
        flat = np.array(directions)
        for start, stop in self.fixed_sums:
            flat[:, start:stop] -= flat[:, start:stop].mean(axis=1, keepdims=True)
        return flat

    def basis(self) -> Matrix:
        """Orthonormal directions that span the space, one per row: unit vectors, and on ranges with
        a fixed sum Helmert's contrasts."""
        found, fixed = np.zeros((self.dim, self.size)), dict(self.fixed_sums)
        row = c = 0
        while c < self.size:
            stop = fixed.get(c, c + 1)
            if c not in fixed:
                found[row, c] = 1.0
                row += 1
            for k in range(1, stop - c):
                found[row, c : c + k], found[row, c + k] = 1.0, -k
                found[row] /= np.sqrt(k * (k + 1))
                row += 1
            c = stop
        return found


class Context(NamedTuple):
    """What an estimate may use besides values: the dimension of the space of directions, the mean
    of earlier values over about an epoch, and the last value."""

    dim: int
    mean: float
    last: float


class Compiled(NamedTuple):
    """The compiled form of an estimate: what it subtracts, and how it draws directions."""

    offset: int
    drawn: int


USER_DEFINED = Compiled(at.EXTERNAL, at.EXTERNAL)


class Gradient(ReplaceablePart, ABC):
    """An estimate of the gradient of one sample.

    Examples
    --------
    A forward difference along one random coordinate:

    >>> import gameproof as gp, numpy as np
    >>> class OneCoordinate(gp.Gradient):
    ...     def n_points(self, dim):
    ...         return 2
    ...     def offsets(self, rng, space, radius):
    ...         return np.vstack([radius * np.eye(space.size)[rng.integers(space.size)],
    ...                           np.zeros(space.size)])
    ...     def estimate(self, values, offsets, radius, context):
    ...         return context.dim * (values[0] - values[1]) / radius**2 * offsets[0]
    >>> gp.check_gradient(OneCoordinate())
    """

    # Which coordinates are perturbed: None for those without an exact gradient.
    blocks: Blocks = None
    # Whether queried points must lie in the sets. Iterates then stay in slightly smaller ones.
    feasible: bool = False
    # How many epochs a snapshot for variance reduction serves; 0 for none: see `VarianceReduced`.
    snapshot_every: int = 0
    compiled: ClassVar[Compiled] = USER_DEFINED

    def n_points(self, dim: int) -> int:
        """The number of points queried if there are `dim` directions."""
        return 1

    @abstractmethod
    def offsets(self, rng: np.random.Generator, space: Space, radius: float) -> Matrix:
        """Where to query: offsets from the current point, one row per point and `space.size`
        coordinates, those of x first."""

    @abstractmethod
    def estimate(self, values: Vector, offsets: Matrix, radius: float, context: Context) -> Vector:
        """The estimated gradient from the values at those points.

        `context.dim` is the dimension of the space of directions, `context.mean` the mean of
        earlier values over about an epoch, and `context.last` the last value.
        """

    @property
    def code(self) -> Compiled:
        """The compiled form, or `USER_DEFINED`."""
        return self.compiled

    def n_directions(self, dim: int) -> int:
        """How many directions are drawn."""
        return self.n_points(dim)

    def factor(self, dim: int) -> float:
        """The factor of the compiled form."""
        return 1.0

    @property
    def inner(self) -> Gradient:
        """The estimate that this one corrects, or this one."""
        return self

    @property
    def at_snapshot(self) -> Gradient:
        """The estimate with which a pass over all samples estimates the mean at a snapshot."""
        return self

    @property
    def uses_values(self) -> bool:
        """False for estimates that query no values."""
        return self.code.offset not in (at.NO_VALUES, at.OBSERVED)


def require_blocks(blocks: Any) -> None:
    """Rejects an unknown name of blocks."""
    if blocks not in (None, "x", "y", "all"):
        raise ValueError(f'blocks must be None, "x", "y" or "all", got {blocks!r}')


@dataclass(frozen=True, kw_only=True)
class FromValues(Gradient):
    """A built-in estimate that needs values only. These options are given by name, so that what is
    special to an estimate comes first: ``Directions(3)``.

    blocks
        Which coordinates are perturbed: None for those without an exact gradient (the problem's
        own choice), or "x", "y", "all".
    feasible
        True if the problem is defined on its sets only: queried points then stay inside.
    """

    blocks: Blocks = None
    feasible: bool = False

    def __post_init__(self) -> None:
        require_blocks(self.blocks)

    def directions(self, rng: np.random.Generator, space: Space) -> Matrix:
        """Unit vectors within the hull, uniform on their sphere."""
        v = space.flatten(rng.standard_normal((1, space.size)))
        return v / np.linalg.norm(v)

    def n_directions(self, dim: int) -> int:
        return min(1, dim)

    def n_points(self, dim: int) -> int:
        number, offset = self.n_directions(dim), self.code.offset
        if number == 0:
            return 0
        return 2 * number if offset == at.MIRROR else number + (offset == at.CENTRE)

    def factor(self, dim: int) -> float:
        return float(dim)

    def offsets(self, rng: np.random.Generator, space: Space, radius: float) -> Matrix:
        v = radius * self.directions(rng, space)
        if self.code.offset == at.MIRROR:
            return np.vstack([v, -v])
        return np.vstack([v, np.zeros((1, space.size))]) if self.code.offset == at.CENTRE else v

    def estimate(self, values: Vector, offsets: Matrix, radius: float, context: Context) -> Vector:
        offset, number = self.code.offset, len(values) // 2
        if offset == at.MIRROR:
            v, change = offsets[:number], (values[:number] - values[number:]) / 2
        elif offset == at.CENTRE:
            v, change = offsets[:-1], values[:-1] - values[-1]
        else:
            v, change = offsets, values - self.subtracted(context)
        found: Vector = self.factor(context.dim) / radius**2 * change @ v
        return found

    def subtracted(self, context: Context) -> float:
        """c, for estimates that query one point."""
        return 0.0
