"""People who move within a budget: what they can change, and no more.

A budget is a compact convex set S of moves, 0 among them, that cost nothing; moves outside cost too
much. It is the limit of a power cost as its degree grows, with q = 1. With the support function
sigma(theta) = max over v in S of <v, theta>,

    <b, theta> = <x, theta> + sigma(theta),   b - x = a move that attains it,

and b itself is the gradient of the score. Multiplying theta by a positive number changes no move,
so what people do depends on decisions and not on the scale of scores.

    ball      |v|_p <= B on the movable features:   sigma = B |theta|_{p*}
    prices    sum of prices |v_c| <= B:             sigma = B max |theta_c| / price_c
    box       lower <= v <= upper:                  sigma = sum of max(upper theta, lower theta)

Categories. A category is a group of columns, one a level. An agent at level l who can claim levels
A moves by step_k e_k - step_l e_l for a k in A or stays, so the gain is the largest of t_k over A
and of t_l, less t_l, with t_k = step_k theta_k, and 0 for a level without a column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof import kernels
from gameproof.core.arguments import (
    Indices,
    Matrix,
    Vector,
    as_numbers,
    as_prices,
    read_only,
    require_finite,
)
from gameproof.strategic.claims import Claim
from gameproof.strategic.power_costs import Gauge, NormGauge, as_strength
from gameproof.strategic.responses import Encoded, KnownResponse


@final
@dataclass(frozen=True, eq=False)
class BallBudget(NormGauge):
    """Moves of length at most `radius`, in a norm, on the movable features.

    radius is common or one number an agent; features are the positions of the movable ones, by
    default all.

    >>> BallBudget(2.0).answers(np.array([3.0, 4.0]), np.zeros((1, 2)), np.array([0]))
    array([[1.2, 1.6]])
    """

    radius: float | ArrayLike
    features: Sequence[int] | None = None
    norm: float = 2.0

    degree = inf
    strength_name = "radius"


@final
@dataclass(frozen=True, eq=False)
class PriceBudget(Gauge):
    """Moves whose total price, the sum of prices |v_c|, is at most `budget`.

    budget is common or one number an agent. prices has one number a feature: what a unit of it
    costs, infinite for a feature that cannot move.

    >>> cheap_second = PriceBudget(1.0, prices=[1.0, 0.5])
    >>> cheap_second.answers(np.array([1.0, 1.0]), np.zeros((1, 2)), np.array([0]))
    array([[0., 2.]])
    """

    budget: float | ArrayLike
    prices: ArrayLike

    degree = inf
    dual_norm = inf
    strength_name = "budget"

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", as_strength("budget", self.budget))
        prices = as_prices("prices", self.prices, None, "a feature that cannot move")
        object.__setattr__(self, "prices", prices)

    def reach(self, d: int) -> Vector:
        per_unit: Vector = 1 / np.asarray(self.prices)
        return per_unit

    def fit(self, n: int, d: int) -> None:
        super().fit(n, d)
        if np.size(self.prices) != d:
            raise ValueError(f"prices has {np.size(self.prices)} numbers, there are {d} features")


@final
@dataclass(frozen=True, eq=False)
class BoxBudget(KnownResponse):
    """Moves between `lower` and `upper`, feature by feature: lower <= 0 <= upper.

    Each is a vector of one number a feature, or a matrix of one row an agent. `claims` are the
    categories whose level people can change, as `Prepare.moves` makes them.

    >>> up_or_down = BoxBudget(lower=[0.0, -2.0], upper=[1.0, 0.0])
    >>> up_or_down.answers(np.array([1.0, 1.0]), np.zeros((1, 2)), np.array([0]))
    array([[1., 0.]])
    """

    lower: ArrayLike
    upper: ArrayLike
    claims: tuple[Claim, ...] = ()

    degree = inf

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            object.__setattr__(self, name, _as_bounds(name, getattr(self, name)))
        lower, upper = self._bounds
        if lower.shape[1] != upper.shape[1] or 1 < lower.shape[0] != upper.shape[0] > 1:
            raise ValueError(
                f"lower and upper must have one shape, got {np.shape(self.lower)} and "
                f"{np.shape(self.upper)}"
            )
        for name, bad in (("lower", lower > 0), ("upper", upper < 0)):
            if bad.any():
                k = tuple(int(at) for at in np.argwhere(bad)[0])
                bounds = lower if name == "lower" else upper
                sign = "at most" if name == "lower" else "at least"
                raise ValueError(
                    f"{name} must be {sign} 0, since people can stay as they are, got "
                    f"{bounds[k]:g} for feature {k[1]}"
                )
        object.__setattr__(self, "claims", tuple(self.claims))

    @property
    def _bounds(self) -> tuple[Matrix, Matrix]:
        """Both with one row an agent, or one row for all."""
        return np.atleast_2d(np.asarray(self.lower)), np.atleast_2d(np.asarray(self.upper))

    @property
    def by_agent(self) -> bool:
        return bool(self.claims) or any(len(bound) > 1 for bound in self._bounds)

    @property
    def largest(self) -> tuple[str, float]:
        sizes = [float(np.abs(bound).max()) for bound in self._bounds]
        return ("lower", sizes[0]) if sizes[0] > sizes[1] else ("upper", sizes[1])

    def movable(self, d: int) -> NDArray[np.bool_]:
        lower, upper = self._bounds
        able = np.asarray((lower < 0).any(axis=0) | (upper > 0).any(axis=0))
        for claim in self.claims:
            able[claim.columns[claim.columns >= 0]] = True
        return able

    def scaled(self, factor: float) -> BoxBudget:
        """Bounds times `factor`; a claimed level counts `factor` times as much."""
        lower, upper = self._bounds
        claims = tuple(claim._replace(steps=factor * claim.steps) for claim in self.claims)
        return BoxBudget(factor * lower, factor * upper, claims)

    def of_agents(self, agents: Indices) -> BoxBudget:
        lower, upper = (_rows_of(bound, agents) for bound in self._bounds)
        claims = tuple(claim._replace(current=claim.current[agents]) for claim in self.claims)
        return BoxBudget(lower, upper, claims)

    def fit(self, n: int, d: int) -> None:
        for name, bound in zip(("lower", "upper"), self._bounds, strict=True):
            if bound.shape[1] != d:
                raise ValueError(f"{name} has {bound.shape[1]} numbers, there are {d} features")
            if len(bound) not in (1, n):
                raise ValueError(f"{name} has {len(bound)} rows, the population {n} agents")
        for claim in self.claims:
            if claim.current.shape != (n,):
                raise ValueError(
                    f"a claim has {claim.current.size} current levels, the population {n} agents"
                )
            if claim.columns.max(initial=-1) >= d:
                raise ValueError(
                    f"a claim is about column {claim.columns.max()}: there are 0 to {d - 1}"
                )

    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        lower, upper = (_rows_of(bound, agents) for bound in self._bounds)
        moved: Matrix = features + np.where(theta > 0, upper, np.where(theta < 0, lower, 0.0))
        for claim in self.claims:
            own = claim.current[agents]
            best = claim.best(theta, own)
            for level, sign in ((best, 1.0), (own, -1.0)):
                rows = np.flatnonzero((best != own) & (claim.columns[level] >= 0))
                moved[rows, claim.columns[level[rows]]] += sign * claim.steps[level[rows]]
        return moved

    def gains(self, theta: Vector, agents: Indices) -> Vector:
        lower, upper = (_rows_of(bound, agents) for bound in self._bounds)
        gained: Vector = np.maximum(lower * theta, upper * theta).sum(axis=1)
        gained = np.broadcast_to(gained, agents.shape).copy()
        for claim in self.claims:
            values, own = claim.values(theta), claim.current[agents]
            gained += values[claim.best(theta, own)] - values[own]
        return gained

    def encoded(self, d: int) -> Encoded:
        lower, upper = self._bounds
        rows = max(len(lower), len(upper))
        lower, upper = (np.broadcast_to(bound, (rows, d)) for bound in (lower, upper))
        claims = kernels.no_claims()
        if self.claims:
            claims = kernels.Claims(
                np.cumsum([0, *(claim.columns.size for claim in self.claims)]),
                np.concatenate([claim.columns for claim in self.claims]),
                np.concatenate([claim.steps for claim in self.claims]),
                np.concatenate([claim.allowed for claim in self.claims]),
                np.array([claim.current for claim in self.claims]),
            )
        return Encoded(
            np.ones(1),
            np.zeros(d),
            1.0,
            1.0,
            read_only(np.ascontiguousarray(lower)),
            read_only(np.ascontiguousarray(upper)),
            claims,
        )


def _as_bounds(name: str, value: ArrayLike) -> NDArray[np.float64]:
    bounds = as_numbers(name, value, "a vector or a matrix")
    if bounds.ndim not in (1, 2) or bounds.size == 0:
        raise ValueError(
            f"{name} must have one number a feature, or one row an agent, got shape {bounds.shape}"
        )
    require_finite(name, bounds)
    return bounds


def _rows_of(bounds: Matrix, agents: Indices) -> Matrix:
    return bounds if len(bounds) == 1 else bounds[agents]
