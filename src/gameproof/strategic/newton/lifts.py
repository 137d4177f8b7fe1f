"""Budgets as further variables u in which scores are linear.

Moving within a budget adds a support function sigma_i(theta) to a score. It has kinks, and the best
theta often lies on one. With variables u_k >= rho_k(theta) for a few convex rho_k, it is

    sigma_i(theta) = sum over k of w_ik u_k,   w_ik >= 0,

at the smallest u. Higher scores raise the loss of agents who move, so the smallest u is optimal,
and the u_k act as additional features with the values w_ik. The lifts are

    interval   u >= rise theta_c and u >= fall theta_c: boxes, and balls of norm inf
    prices     u >= reach_c |theta_c| for all c: prices, and balls of norm 1
    ball       u >= |theta_M|_{p*}, a curved constraint; for p* < 2, where the curvature is
               unbounded, sizes y_c >= |theta_c| replace theta_c
    claims     u_g >= steps_k theta_k for the levels k that group g can have. Agents at a level that
               can be claimed are one group, and so are those at each other level. The score also
               loses steps_l theta_l for an agent's own level l

Bounds. The minimum of <g, theta> + <gu, u> over theta of a given length is -length times the
distance of -g from the set of all sums of gu_k s_k, with s_k a subgradient of rho_k at 0. Every
point of that set gives a bound. One is the nearest point (`nearest`). Another comes from v: on the
path of the interior-point method the multiplier of a constraint is mu over its height, so the
slopes of the constraints of u_k, weighted by 1 / height, approach the best s_k, even if other
constraints than the length bind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.budgets import BallBudget, BoxBudget, PriceBudget
from gameproof.strategic.category_claims import Claim
from gameproof.strategic.newton.nearest import in_capped_simplex, in_norm_ball, in_price_ball
from gameproof.strategic.norms import conjugate_exponent, norm_of
from gameproof.strategic.people import People


class Slope(NamedTuple):
    """The constraint u_k >= slope theta_feature, or u_k >= 0 if the feature is -1."""

    k: int
    feature: int
    slope: float


class Curve(NamedTuple):
    """The constraint u_head >= |weights u_body|_p; with theta_body in place of u_body if the body
    consists of features."""

    head: int
    body: Indices
    weights: Vector
    of_features: bool
    p: float

    def lean(self, y: Vector, u: float) -> Vector:
        """The slopes of u by y along a level set of the constraint, at a point inside it.

        They are a point of the unit ball of the dual norm, times the weights."""
        r, p = self.weights * np.abs(y) / max(u, np.finfo(float).tiny), self.p
        powers = r ** (p - 1)
        found: Vector = np.sign(y) * self.weights * p * powers / (1 + (p - 1) * float(r @ powers))
        return found


class Lift(ABC):
    """Some of the u, and the constraints that tie them to theta."""

    count: int
    slopes: list[Slope]
    # How far above the smallest u a search begins, in units of the problem's own distance.
    stretch: Vector | float = 1.0
    curve: Curve | None = None
    # Whether 0 is a subgradient of each rho_k at 0.
    can_stay = True
    # How many numbers of an agent's own w depends on.
    own_count = 0
    # Whether all u have the same w.
    same_columns = False

    @abstractmethod
    def rows(self, agents: Indices, own: Matrix | None = None) -> Matrix:
        """w of these agents, who move: one row per u.

        `own` are the numbers on which w depends, one row per agent, if rows bring them."""

    def own(self, box: BoxBudget) -> Matrix:
        """The numbers on which w depends, one row per agent of a box."""
        raise TypeError(f"w of {type(self).__name__} is the same for all agents")

    @abstractmethod
    def nearest(self, g: Vector, of_u: Vector, cost: Vector) -> Vector:
        """The sum of gu_k s_k that is nearest to -g."""

    def along(
        self, theta: Vector, u: Vector, of_u: Vector, multipliers: Vector | None = None
    ) -> Vector:
        """The sum of gu_k s_k with the slopes of the constraints weighted by their multipliers, or
        by 1 / height if there are none."""
        found, total = np.zeros_like(theta), np.zeros(self.count)
        weights = self._pushes(theta, u) if multipliers is None else np.maximum(multipliers, 0.0)
        for push, (k, _, _) in zip(weights, self.slopes, strict=True):
            total[k] += push
        for push, (k, feature, slope) in zip(weights, self.slopes, strict=True):
            if feature >= 0 and push > 0:
                found[feature] += max(of_u[k], 0.0) * slope * push / total[k]
        return found

    def _pushes(self, theta: Vector, u: Vector) -> Vector:
        """1 / height of each constraint."""
        heights = [u[k] - (a * theta[c] if c >= 0 else 0.0) for k, c, a in self.slopes]
        return 1 / np.maximum(heights, np.finfo(float).tiny)

    def shifted(self, rows: Matrix, agents: Indices, own: Matrix | None = None) -> Matrix:
        """The features of these agents, one row per feature, after moves that do not depend on
        theta."""
        return rows

    def largest_slopes(self, d: int) -> Matrix:
        """The largest |s_k| in each feature over all subgradients s_k, one row per u."""
        found = np.zeros((self.count, d))
        for k, feature, slope in self.slopes:
            if feature >= 0:
                found[k, feature] = max(found[k, feature], abs(slope))
        return found

    def least(self, theta: Vector) -> Vector:
        """The smallest u for this theta."""
        found = np.full(self.count, -np.inf)
        for k, feature, slope in self.slopes:
            found[k] = max(found[k], slope * theta[feature] if feature >= 0 else 0.0)
        return found


class Intervals(Lift):
    """One u per feature: the gain from moving that feature between two ends."""

    def __init__(self, features: Indices, fall: Vector, rise: Vector, weights: Matrix) -> None:
        self.count, self._features, self._fall, self._rise = features.size, features, fall, rise
        self._weights = weights  # one row per u; one column per agent, or one for all
        # Together, the distances add about as much to scores as the distance of one number.
        self.stretch = 1 / (features.size * np.maximum(weights.max(axis=1), 1e-100))
        ends = zip(features.tolist(), fall.tolist(), rise.tolist(), strict=True)
        self.slopes = [Slope(k, c, a) for k, (c, *both) in enumerate(ends) for a in both]
        self.own_count = self.count if weights.shape[1] > 1 else 0
        self.same_columns = weights.shape[1] == 1 and bool((weights == weights[0]).all())

    def rows(self, agents: Indices, own: Matrix | None = None) -> Matrix:
        if own is not None:
            return own.T
        weights = self._weights
        return weights[:, agents] if weights.shape[1] > 1 else np.repeat(weights, agents.size, 1)

    def own(self, box: BoxBudget) -> Matrix:
        lower, upper = box.bounds
        ends = upper if self._rise.any() else -lower
        found: Matrix = ends[:, self._features]
        return found

    def nearest(self, g: Vector, of_u: Vector, cost: Vector) -> Vector:
        low, high = np.zeros_like(g), np.zeros_like(g)
        np.add.at(low, self._features, of_u * self._fall)
        np.add.at(high, self._features, of_u * self._rise)
        return np.clip(-g, low, high)


class OneNumber(Lift):
    """One u for all features. w is the strength of each agent, relative to the largest strength.

    So u is the gain of the strongest agent: it has the size of a score, whatever the strength."""

    def __init__(self, strength: Vector, reach: Vector) -> None:
        largest = float(strength.max())
        self.count, self._strength, self._reach = 1, strength / largest, reach * largest
        self._features = np.flatnonzero(reach)

    def rows(self, agents: Indices, own: Matrix | None = None) -> Matrix:
        found = np.zeros((self.count, agents.size))
        found[0] = self._strength[agents] if self._strength.size > 1 else self._strength[0]
        return found


class Prices(OneNumber):
    """The constraints u >= reach_c |theta_c| for all c."""

    def __init__(self, strength: Vector, reach: Vector) -> None:
        super().__init__(strength, reach)
        both = [(int(c), sign) for c in self._features for sign in (-1.0, 1.0)]
        self.slopes = [Slope(0, c, sign * float(self._reach[c])) for c, sign in both]

    def nearest(self, g: Vector, of_u: Vector, cost: Vector) -> Vector:
        found, own = np.zeros_like(g), self._features
        found[own] = in_price_ball(g[own], cost[own], self._reach[own], max(of_u[0], 0.0))
        return found


class InBall(OneNumber):
    """The constraint u >= |reach theta|_{p*}; for p* < 2 with sizes y_c >= reach_c |theta_c|."""

    def __init__(self, strength: Vector, reach: Vector, dual_norm: float) -> None:
        super().__init__(strength, reach)
        own, self._p = self._features, dual_norm
        self._split, self.slopes = dual_norm < 2, []
        body, weights = own, self._reach[own]
        if self._split:
            body, self.count = 1 + np.arange(own.size), 1 + own.size
            ends = [(1 + k, int(c), float(weights[k])) for k, c in enumerate(own)]
            self.slopes = [Slope(k, c, a * sign) for k, c, a in ends for sign in (-1.0, 1.0)]
            self.stretch = np.append(2.0 * own.size, np.ones(own.size))
            weights = np.ones(own.size)
        self.curve = Curve(0, body, weights, not self._split, dual_norm)

    def largest_slopes(self, d: int) -> Matrix:
        found = np.zeros((self.count, d))
        found[0] = self._reach
        return found

    def least(self, theta: Vector) -> Vector:
        sizes = (self._reach * np.abs(theta))[self._features]
        length = norm_of(sizes, self._p)
        return np.append(length, sizes) if self._split else np.array([length])

    def nearest(self, g: Vector, of_u: Vector, cost: Vector) -> Vector:
        found, own = np.zeros_like(g), self._features
        # The y_c do not enter scores, so only u contributes.
        reach, p = self._reach[own], conjugate_exponent(self._p)
        size = max(of_u[0], 0.0)
        found[own] = reach * in_norm_ball(g[own] / reach, cost[own] * reach, p, size)
        return found

    def along(
        self, theta: Vector, u: Vector, of_u: Vector, multipliers: Vector | None = None
    ) -> Vector:
        assert self.curve is not None
        y = u[self.curve.body] if self._split else theta[self._features]
        pushes = max(of_u[0], 0.0) * self.curve.lean(y, float(u[0]))
        if self._split:
            return super().along(theta, u, np.append(0.0, pushes), multipliers)
        found = np.zeros_like(theta)
        found[self._features] = pushes
        return found


class Claims(Lift):
    """One u for all agents at a level that can be claimed, and one for each other level."""

    can_stay = False
    own_count = 1

    def __init__(self, claim: Claim, number: int, movers: Indices) -> None:
        self._claim, self._number, able = claim, number, np.flatnonzero(claim.allowed)
        levels = np.unique(claim.current[movers])
        others = levels[~claim.allowed[levels]]
        # The u of each level; levels that can be claimed share the first.
        self._group = np.zeros(claim.columns.size, dtype=np.int64)
        self._group[others] = 1 + np.arange(others.size)
        self.count, self._able, self._others = 1 + others.size, able, others
        sets = [able, *(np.append(able, level) for level in others)]
        pairs = [(k, level) for k, own in enumerate(sets) for level in own]
        self.slopes = [
            Slope(k, int(claim.columns[level]), float(claim.steps[level])) for k, level in pairs
        ]

    def _levels(self, agents: Indices, own: Matrix | None) -> Indices:
        return self._claim.current[agents] if own is None else own[:, 0].astype(np.int64)

    def own(self, box: BoxBudget) -> Matrix:
        found: Matrix = box.claims[self._number].current[:, None].astype(np.float64)
        return found

    def rows(self, agents: Indices, own: Matrix | None = None) -> Matrix:
        group = self._group[self._levels(agents, own)]
        return np.equal(group, np.arange(self.count)[:, None]).astype(np.float64)

    def shifted(self, rows: Matrix, agents: Indices, own: Matrix | None = None) -> Matrix:
        """The features without the agents' own level, since `rows` has the level they claim."""
        levels, without = self._levels(agents, own), rows.copy()
        columns = self._claim.columns[levels]
        shown = np.flatnonzero(columns >= 0)
        without[columns[shown], shown] -= self._claim.steps[levels[shown]]
        return without

    def nearest(self, g: Vector, of_u: Vector, cost: Vector) -> Vector:
        """Every u can use the levels that can be claimed, and each u but the first also its own
        level, up to its weight."""
        weights = np.maximum(of_u, 0.0)
        levels = np.concatenate([self._able, self._others])
        total = float(weights.sum())
        caps = np.concatenate([np.full(self._able.size, total), weights[1:]])
        columns, steps = self._claim.columns[levels], self._claim.steps[levels]
        shown = columns >= 0
        steps, safe = np.where(shown, steps, 0.0), np.where(shown, columns, 0)
        masses = in_capped_simplex(g[safe], cost[safe], steps, caps, total)
        found = np.zeros_like(g)
        np.add.at(found, safe, steps * masses)
        return found


def lifts_of(people: People) -> list[Lift]:
    """The lifts of a budget; none for a power cost, or if nobody moves."""
    response, d, movers = people.response, people.d, people.movers
    if isinstance(response, BoxBudget):
        numbered = enumerate(response.claims)
        claims = [Claims(claim, k, movers) for k, claim in numbered if claim.allowed.any()]
        return [*_box(response, d), *claims]
    if not isinstance(response, (BallBudget, PriceBudget)) or not response.moves(d):
        return []
    strength, reach = response.strength, response.reach(d)
    if np.isinf(response.dual_norm):
        return [Prices(strength, reach)]
    if response.dual_norm == 1:
        own = np.flatnonzero(reach)
        weights = np.tile(strength, (own.size, 1))
        return [Intervals(own, -np.ones(own.size), np.ones(own.size), weights)]
    return [InBall(strength, reach, response.dual_norm)]


def _box(response: BoxBudget, d: int) -> list[Lift]:
    """The intervals of a box. Bounds that are common to all agents are the ends of the intervals;
    bounds that differ are the weights of two intervals, for moves up and for moves down."""
    bounds = response.encoded(d)
    lower, upper = bounds.lower, bounds.upper
    if len(lower) == 1:
        own = np.flatnonzero((lower[0] < 0) | (upper[0] > 0))
        ones = np.ones((own.size, 1))
        return [Intervals(own, lower[0, own], upper[0, own], ones)] if own.size else []
    found: list[Lift] = []
    for ends, sign in ((upper, 1.0), (lower, -1.0)):
        own = np.flatnonzero(ends.any(axis=0))
        nothing, slope = np.zeros(own.size), np.full(own.size, sign)
        low, high = (nothing, slope) if sign > 0 else (slope, nothing)
        if own.size:
            found.append(Intervals(own, low, high, sign * ends[:, own].T))
    return found
