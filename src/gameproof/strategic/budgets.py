"""Budgets: agents move as far as they can within a set, at no cost.

A budget is a compact convex set S of moves that contains 0. Moves in S are free, moves outside are
impossible. It is the limit of a power cost as the degree goes to infinity, with q = 1. With the
support function sigma(theta) = max over v in S of <v, theta>,

    <b, theta> = <x, theta> + sigma(theta),   b - x = a move that attains the maximum,

and b is the gradient of the score. Moves do not change when theta is multiplied by a positive
number: they depend on decisions, not on the scale of scores.

    ball      |v|_p <= B on the movable features:   sigma = B |theta|_{p*}
    prices    sum of prices |v_c| <= B:             sigma = B max |theta_c| / price_c
    box       lower <= v <= upper:                  sigma = sum of max(upper theta, lower theta)

A box may also let agents change the level of a category (`claims`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof.core.arguments import (
    Indices,
    Matrix,
    Vector,
    as_numbers,
    as_prices,
    read_only,
    require_finite,
)
from gameproof.strategic.category_claims import Claim, encode_claims
from gameproof.strategic.feature_mask import Mask
from gameproof.strategic.gauge import Gauge, NormGauge, as_strength
from gameproof.strategic.responses import EncodedResponse, KnownResponse


@final
@dataclass(frozen=True, eq=False)
class BallBudget(NormGauge):
    """Agents who move by at most `radius`, measured in a norm.

    Parameters
    ----------
    radius : float or array-like of shape (n,)
        The longest move: one number for all agents, or one per agent.
    features : sequence of int, optional
        The positions of the features that can move. By default all can.
    norm : float, default=2.0
        The norm in which a move is measured; at least 1, and possibly inf.

    Raises
    ------
    TypeError
        If a parameter is not a number, or `features` are not positions.
    ValueError
        If `radius` is negative, `norm` below 1, or a position is repeated.

    Examples
    --------
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
    """Agents who spend a budget on moves, at a price per unit of each feature.

    The total price of a move v is the sum of prices |v_c|. Agents spend all of the budget on the
    feature with the largest gain for its price.

    Parameters
    ----------
    budget : float or array-like of shape (n,)
        What agents can spend: one number for all, or one per agent.
    prices : array-like of shape (d,)
        The price of a unit of each feature; inf for a feature that cannot move.

    Raises
    ------
    TypeError
        If a parameter is not made of numbers.
    ValueError
        If `budget` is negative or a price is not positive.

    Examples
    --------
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
    """Agents who move each feature between a lower and an upper bound.

    Parameters
    ----------
    lower, upper : array-like of shape (d,) or (n, d)
        How far each feature can fall and rise, with lower <= 0 <= upper: common to all agents, or
        one row per agent.
    claims : tuple of Claim, default=()
        The categories whose level agents can change, as `Prepare.moves` makes them.

    Raises
    ------
    TypeError
        If the bounds are not made of numbers.
    ValueError
        If shapes differ, a bound is not finite, `lower` is positive or `upper` negative somewhere.

    Examples
    --------
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
        lower, upper = self.bounds
        if lower.shape[1] != upper.shape[1] or 1 < lower.shape[0] != upper.shape[0] > 1:
            raise ValueError(
                f"lower and upper must have the same shape, got {np.shape(self.lower)} and "
                f"{np.shape(self.upper)}"
            )
        _require_sign("lower", "at most", lower, lower > 0)
        _require_sign("upper", "at least", upper, upper < 0)
        object.__setattr__(self, "claims", tuple(self.claims))

    @property
    def bounds(self) -> tuple[Matrix, Matrix]:
        """Both bounds as matrices, with one row per agent or one row for all."""
        return np.atleast_2d(np.asarray(self.lower)), np.atleast_2d(np.asarray(self.upper))

    @property
    def by_agent(self) -> bool:
        return bool(self.claims) or any(len(bound) > 1 for bound in self.bounds)

    @property
    def largest(self) -> tuple[str, float]:
        sizes = [float(np.abs(bound).max()) for bound in self.bounds]
        return ("lower", sizes[0]) if sizes[0] > sizes[1] else ("upper", sizes[1])

    @cached_property
    def _ranged(self) -> Indices:
        """The features that somebody can change within a range."""
        lower, upper = self.bounds
        return np.flatnonzero((lower < 0).any(axis=0) | (upper > 0).any(axis=0))

    def movable(self, d: int) -> Mask:
        able = np.isin(np.arange(d), self._ranged)
        for claim in self.claims:
            able[claim.columns[claim.columns >= 0]] = True
        return able

    def scaled(self, factor: float) -> BoxBudget:
        """The box with bounds times `factor`, in which a claimed level counts `factor` times as
        much."""
        lower, upper = self.bounds
        claims = tuple(claim._replace(steps=factor * claim.steps) for claim in self.claims)
        return BoxBudget(factor * lower, factor * upper, claims)

    def of_agents(self, agents: Indices) -> BoxBudget:
        lower, upper = (_rows_of(bound, agents) for bound in self.bounds)
        return BoxBudget(lower, upper, tuple(claim.of_agents(agents) for claim in self.claims))

    def fit(self, n: int, d: int) -> None:
        for name, bound in zip(("lower", "upper"), self.bounds, strict=True):
            if bound.shape[1] != d:
                raise ValueError(f"{name} has {bound.shape[1]} numbers, there are {d} features")
            if len(bound) not in (1, n):
                raise ValueError(f"{name} has {len(bound)} rows, the population {n} agents")
        for claim in self.claims:
            claim.fit(n, d)

    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        lower, upper = (_rows_of(bound, agents) for bound in self.bounds)
        moved: Matrix = features + np.where(theta > 0, upper, np.where(theta < 0, lower, 0.0))
        for claim in self.claims:
            claim.apply(theta, moved, agents)
        return moved

    def gains(self, theta: Vector, agents: Indices) -> Vector:
        # Of a prepared table, few columns can be changed.
        columns, own = self._ranged, theta[self._ranged]
        lower, upper = (_rows_of(bound[:, columns], agents) for bound in self.bounds)
        gained: Vector = np.maximum(lower * own, upper * own).sum(axis=1)
        gained = np.broadcast_to(gained, agents.shape).copy()
        for claim in self.claims:
            gained += claim.gains(theta, agents)
        return gained

    def encoded(self, d: int) -> EncodedResponse:
        lower, upper = self.bounds
        rows = max(len(lower), len(upper))
        lower, upper = (np.broadcast_to(bound, (rows, d)) for bound in (lower, upper))
        return EncodedResponse(
            np.ones(1),
            np.zeros(d),
            1.0,
            1.0,
            read_only(np.ascontiguousarray(lower)),
            read_only(np.ascontiguousarray(upper)),
            encode_claims(self.claims),
        )


def _as_bounds(name: str, value: ArrayLike) -> NDArray[np.float64]:
    bounds = as_numbers(name, value, "a vector or a matrix")
    if bounds.ndim not in (1, 2) or bounds.size == 0:
        raise ValueError(
            f"{name} must have one number per feature, or one row per agent, got shape "
            f"{bounds.shape}"
        )
    require_finite(name, bounds)
    return bounds


def _require_sign(name: str, sign: str, bounds: Matrix, bad: Mask) -> None:
    """Raises if a bound is bad, that is, on the wrong side of 0."""
    if bad.any():
        row, feature = (int(k) for k in np.argwhere(bad)[0])
        raise ValueError(
            f"{name} must be {sign} 0, since people can stay as they are, got "
            f"{bounds[row, feature]:g} for feature {feature}"
        )


def _rows_of(bounds: Matrix, agents: Indices) -> Matrix:
    return bounds if len(bounds) == 1 else bounds[agents]
