"""What every saddle problem offers: min over x in X, max over y in Y of (1/n) sum_i L_i(x, y).

A solver evaluates samples through `evaluate`. A problem whose samples are compiled also has `data`,
and then whole runs are compiled. `known` names the blocks whose gradient costs no query. Only the
other coordinates, `estimated`, are perturbed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Indices, Vector, as_vector, shown
from gameproof.core.fingerprint import fingerprint
from gameproof.minmax.blocks import Block, Perturbed
from gameproof.minmax.queries import Queries
from gameproof.minmax.saddle import Saddle
from gameproof.minmax.schedules import Power, Schedule
from gameproof.minmax.sets.convex_set import ConvexSet
from gameproof.minmax.sets.product import primitive_sets


class Problem(ABC):
    """min over x in X, max over y in Y of the mean of n sample losses L_i.

    Most problems are a `SaddleProblem`. Derive from this class for more control: set `n`, `x_set`,
    `y_set` and `name`, and define `evaluate`.

    Examples
    --------
    >>> import gameproof as gp
    >>> class Product(gp.Problem):
    ...     n, x_set, y_set, name = 1, gp.Box([-1], [1]), gp.Box([-1], [1]), "x y"
    ...     def evaluate(self, indices, x, y):
    ...         return [float(x[0] * y[0]) for _ in indices]
    >>> gp.check_problem(Product())
    """

    n: int
    x_set: ConvexSet
    y_set: ConvexSet
    name: str
    # The blocks whose exact gradient the problem computes.
    known: frozenset[Block] = frozenset()
    # Whether L_i depends on y through y_i alone, with Y a box: a step then touches few coordinates.
    private_y: bool = False
    # The samples in the form of compiled code, or None: see `kernels.samples`.
    data: Any = None

    # The module whose `choose` implements `Solver.auto` for this kind of problem. It is a name,
    # because that module imports solvers, and solvers import problems.
    chooser: str = "gameproof.minmax.auto_solver"

    # Whether values come from `data` as well, so that whole runs can be compiled.
    compiled_values: bool = True

    # Whether a class overrides the samples of a ready problem: then `data` gives no values, and
    # gradients only if y is private.
    overrides_data: bool = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        ready = any("evaluate" in vars(base) for base in cls.__mro__[1:] if base is not Problem)
        if ready and ("evaluate" in vars(cls) or "gradient" in vars(cls)):
            cls.overrides_data = True

    @cached_property
    def queries(self) -> Queries:
        """What a query costs, and which samples are queried."""
        return Queries()

    @abstractmethod
    def evaluate(self, indices: Indices, x: Vector, y: Vector) -> Iterable[float]:
        """L_i(x, y) for i in indices, in order. A generator keeps the values before a failure."""

    def gradient(self, i: int, x: Vector, y: Vector) -> tuple[Vector | None, Vector | None]:
        """(dL_i/dx, dL_i/dy), with None for a block that is not in `known`."""
        return None, None

    @property
    def saddle(self) -> Saddle | None:
        """A saddle point, or None if none is known."""
        return None

    @property
    def has_duality_gap(self) -> bool:
        """Whether the problem can compute its duality gap."""
        return type(self).duality_gap is not Problem.duality_gap

    def duality_gap(self, x: ArrayLike, y: ArrayLike) -> float:
        """max over y' of L(x, y') minus min over x' of L(x', y)."""
        raise TypeError(
            f"{self.name} cannot compute its duality gap; use gap() with a saddle point you know"
        )

    @property
    def estimated(self) -> Perturbed:
        """What value-based estimates perturb by default: the blocks without an exact gradient, or
        both blocks if both gradients are known (`Exact` then uses them)."""
        if self.known == {"x"}:
            return Perturbed(0, True)
        return Perturbed(self.x_set.dim, "y" not in self.known or "x" in self.known)

    @property
    def start(self) -> tuple[Vector, Vector]:
        """Where runs start by default."""
        return self.x_set.center, self.y_set.center

    @property
    def scale(self) -> tuple[float, float]:
        """Step multipliers of x and y under scale="auto". A private coordinate moves in only one of
        n steps. Multiplied by 2n, it moves as far in an epoch as a coordinate of x."""
        return (1.0, 2.0 * self.n) if self.private_y else (1.0, 1.0)

    @property
    def default_schedules(self) -> tuple[Schedule, Schedule]:
        """Step sizes and radii of a solver that has none, for values of about unit size.

        With D the smaller half diameter of the sets and d the number of coordinates, the radius is
        0.3 D at first. An estimate from one value is then about d / (0.3 D) long, so n independent
        steps of 0.3 D^2 / (d sqrt(n)) move about D. Both decrease with the paper's exponents.
        """
        sets = self.x_set, self.y_set
        wide = min((part.diameter / 2 for part in sets if part.diameter > 0), default=1.0)
        dim = self.x_set.dim + (1 if self.private_y else self.y_set.dim)
        radius = 0.3 * float(wide)
        return Power(radius * float(wide) / (dim * sqrt(self.n)), 0.76), Power(radius, 0.25)

    def values(self, indices: Sequence[int] | Indices, x: ArrayLike, y: ArrayLike) -> Vector:
        """L_i(x, y) for i in indices, as an array."""
        chosen = self.samples(indices)
        u = self.point(x, y)
        return np.fromiter(self.evaluate(chosen, *u), dtype=np.float64, count=chosen.size)

    def samples(self, indices: Sequence[int] | Indices) -> Indices:
        """Sample numbers as an array; an error unless each is from 0 to n - 1."""
        chosen = np.atleast_1d(np.asarray(indices))
        if chosen.size and chosen.dtype.kind not in "iu":
            raise TypeError(f"sample numbers must be integers, got {indices!r}")
        outside = chosen[(chosen < 0) | (chosen >= self.n)]
        if outside.size:
            raise IndexError(f"{self.name} has samples 0 to {self.n - 1}, got {outside[0]}")
        return chosen.astype(np.int64)

    def value(self, x: ArrayLike, y: ArrayLike) -> float:
        """L(x, y), the mean over all samples."""
        return float(self.values(np.arange(self.n), x, y).mean())

    def gap(self, x: ArrayLike, y: ArrayLike) -> float:
        """The gap to the problem's own saddle point."""
        if self.saddle is None:
            raise TypeError(
                f"{self.name} knows no saddle point; pass one to gap(problem, x, y, saddle)"
            )
        found = gap(self, x, y, self.saddle)
        if found < -1e-6 * max(1.0, abs(self.saddle.value)):
            raise ValueError(
                f"the gap is {found:.3g}, and gaps are never negative: the saddle point given with "
                f"{self.name} is not one"
            )
        return found

    def point(self, x: ArrayLike, y: ArrayLike) -> tuple[Vector, Vector]:
        """(x, y) as read-only vectors; an error if a length is wrong."""
        pair = self.uncopied(as_vector("x", x), as_vector("y", y))
        for vector in pair:
            vector.setflags(write=False)
        return pair

    def uncopied(self, x: ArrayLike, y: ArrayLike) -> tuple[Vector, Vector]:
        """(x, y) for kernels, which check neither types nor lengths. Vectors of floats are not
        copied, because y may be long."""
        return self.as_x(x), as_length("y", y, self.y_set.dim)

    def as_x(self, x: ArrayLike) -> Vector:
        """x as a vector of the right length, or an error."""
        return as_length("x", x, self.x_set.dim)

    def __repr__(self) -> str:
        return f"<{self.name}>"

    @cached_property
    def fingerprint(self) -> str:
        """A digest that identifies the problem. A saved run resumes only on the same problem."""
        sets = [
            (
                type(part).__name__,
                type(part.encoded).__name__,
                part.dim,
                _described(part),
                part.center,
            )
            for part in (*primitive_sets(self.x_set), *primitive_sets(self.y_set))
        ]
        sources = self.queries.sources(self.estimated)
        kind = f"{type(self).__name__} {self.name} {self.n} {sorted(self.known)}"
        return fingerprint([kind, *sets, sources, *(self.data or ()), *self._traits()])

    def _traits(self) -> Iterable[Vector]:
        """Further numbers that identify the problem."""
        return ()


def as_length(name: str, value: ArrayLike, dim: int) -> Vector:
    """A vector with this many coordinates, or an error."""
    vector = np.ascontiguousarray(value, np.float64)
    if vector.shape != (dim,):
        given = vector.size if vector.ndim == 1 else f"the shape {vector.shape} of"
        raise ValueError(f"{name} has {given} coordinates, the set has {dim}")
    return vector


def _described(whole: ConvexSet) -> Any:
    """What identifies a set: its compiled form, or the diameter of a user's own set."""
    return whole.diameter if whole.encoded is None else whole.encoded


def require_problem(problem: Any) -> None:
    """Raises unless `problem` is a Problem."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, such as SaddleProblem, got {shown(problem)}")


def gap(problem: Problem, x: ArrayLike, y: ArrayLike, saddle: Saddle) -> float:
    """L(x, y*) - L(x*, y), never negative at a true saddle point (x*, y*).

    Parameters
    ----------
    problem
        A problem whose mean loss can be computed.
    x, y
        The point to judge.
    saddle
        The saddle point (x*, y*).

    Returns
    -------
    float
        The gap.

    Examples
    --------
    >>> import gameproof as gp
    >>> game = gp.QuadraticGame.random(n=20, seed=0)
    >>> gp.gap(game, *game.start, game.saddle) > 0
    True
    """
    return problem.value(x, saddle.y) - problem.value(saddle.x, y)


def duality_gap(problem: Problem, x: ArrayLike, y: ArrayLike) -> float:
    """max over y' of L(x, y') minus min over x' of L(x', y).

    It certifies a point without a saddle point, and is never less than `gap`.

    Parameters
    ----------
    problem
        A problem that can compute its duality gap.
    x, y
        The point to judge.

    Returns
    -------
    float
        The duality gap.

    Raises
    ------
    TypeError
        If the problem cannot compute it.

    Examples
    --------
    >>> import gameproof as gp
    >>> game = gp.MatrixGame([[[0, 1], [1, 0]]])
    >>> gp.duality_gap(game, [0.5, 0.5], [0.5, 0.5])
    0.0
    """
    return problem.duality_gap(x, y)
