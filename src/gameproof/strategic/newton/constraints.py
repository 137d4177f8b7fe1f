"""The set of a strategic problem as inequalities h(v) >= 0 with concave h.

They are the capped cone, the bounds of an intercept and of features with infinite cost, the
constraints u >= |theta| of `ConvexSide`, and the constraints of the variables of `lifts`. The
nonlinear ones are u >= |y|_p. (The cone of the problem has p = 2, u = alpha and
y = (K + s) theta / cost.) They are written as

    u - sum |y_c|^p / u^(p-1) >= 0

which has no kink at y = 0. With r_c = |y_c| / u, the gradient is -p sign(y_c) r_c^(p-1) in y_c and
1 + (p-1) sum r_c^p in u. Minus the Hessian is p (p-1)/u times the sum of r_c^(p-2) k_c k_c', with
k_c = e_c - (y_c/u) e_u.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.newton.objective import Side
from gameproof.strategic.norms import norm_of

# Of Newton's method, which is quadratic from a start that is close.
STEPS = 6


class Curved(NamedTuple):
    """The constraint v[head] >= |weights v[body]|_p."""

    head: int
    body: Indices
    weights: Vector
    p: float

    def height(self, v: Vector) -> float:
        """u (1 - (|y|/u)^p), accurate also if |y| is close to u; negative if u is."""
        u, length = float(v[self.head]), norm_of(self.weights * v[self.body], self.p)
        if u <= 0:
            return -1.0
        if length < u / 2:
            return float(u * (1 - (length / u) ** self.p))
        return -u * float(np.expm1(self.p * np.log1p((length - u) / u)))

    def head_at(self, v: Vector, height: float) -> float:
        """The v[head] at which the height is this one, which is positive, by Newton's method: from
        below, where it stays, for the height is concave."""
        length, p = norm_of(self.weights * v[self.body], self.p), self.p
        u = max(length, height)
        for _ in range(STEPS):
            share = (length / u) ** p
            u += (height - u * (1 - share)) / (1 + (p - 1) * share)
        return u

    def slope(self, v: Vector) -> Vector:
        """The gradient."""
        y, p = self.weights * v[self.body] / v[self.head], self.p
        found, powers = np.zeros_like(v), np.abs(y) ** (p - 1)
        found[self.body] = -p * np.sign(y) * powers * self.weights
        found[self.head] = 1 + (p - 1) * float((powers * np.abs(y)).sum())
        return found

    def bend(self, v: Vector) -> Matrix:
        """Minus the Hessian."""
        u, y, p = v[self.head], self.weights * v[self.body] / v[self.head], self.p
        across = np.zeros((y.size, v.size))
        across[np.arange(y.size), self.body] = self.weights
        across[:, self.head] = -y
        # Below p = 2, a number where the curvature is infinite.
        powers = np.maximum(np.abs(y), np.finfo(float).tiny) ** (p - 2)
        bent: Matrix = (p * (p - 1) / u * powers) * across.T @ across
        return bent


class Walls:
    """All constraints h and their derivatives; the curved ones come first."""

    def __init__(self, side: Side) -> None:
        self.curves = [_cone(side), *_curves(side)]
        rows = [*_bounds(side), *_lifted(side)]
        self.number = len(self.curves) + len(rows)
        self._offsets = np.array([offset for offset, _ in rows])
        self._rows = np.zeros((len(rows), side.size))
        for row, (_, entries) in zip(self._rows, rows, strict=True):
            row[list(entries)] = list(entries.values())

    def heights(self, v: Vector) -> Vector:
        """h(v)."""
        return np.append([c.height(v) for c in self.curves], self._offsets + self._rows @ v)

    def follow(self, v: Vector, heights: Vector) -> None:
        """Overwrites the heads of the curves of budgets, such that these walls have the heights
        given. A step along a tangent would leave the set where the curve bends away."""
        for curve, height in zip(self.curves[1:], heights[1:], strict=False):
            v[curve.head] = curve.head_at(v, float(height))

    def slopes(self, v: Vector, which: Indices | None = None) -> Matrix:
        """The gradients of the heights, or of some, row by row."""
        number = len(self.curves)
        chosen = np.arange(self.number) if which is None else which
        curved = [self.curves[j].slope(v) for j in chosen[chosen < number].tolist()]
        return np.vstack([*curved, self._rows[chosen[chosen >= number] - number]])

    def bend(self, v: Vector, forces: Vector, which: Indices | None = None) -> Matrix:
        """Minus the Hessians of the curved ones, or of some, each times its force."""
        total = np.zeros((v.size, v.size))
        chosen = np.arange(self.number) if which is None else which
        for force, j in zip(forces, chosen[chosen < len(self.curves)].tolist(), strict=False):
            total += force * self.curves[j].bend(v)
        return total


Wall = tuple[float, dict[int, float]]  # offset + sum of coefficients times coordinates >= 0


def _cone(side: Side) -> Curved:
    paid = np.flatnonzero(np.isfinite(side.cost))
    weights = side.steepness / side.cost[paid]
    return Curved(side.alpha, side.theta.start + paid, weights, 2.0)


def _curves(side: Side) -> list[Curved]:
    found = []
    for part, at in side.parts:
        if part.curve is not None:
            head, body, weights, of_features, p = part.curve
            places = body + (side.theta.start if of_features else at)
            found.append(Curved(at + head, places, weights, p))
    return found


def _bounds(side: Side) -> list[Wall]:
    cap, bound, free = side.problem.alpha_max, side.problem.intercept, np.isinf(side.cost)
    rows: list[Wall] = [(cap, {side.alpha: -1.0})]
    if bound is not None:
        rows += [(bound, {0: -1.0}), (bound, {0: 1.0})]
    for c in (side.theta.start + np.flatnonzero(free)).tolist():
        rows += [(cap / side.steepness, {c: -1.0}), (cap / side.steepness, {c: 1.0})]
    return rows


def _lifted(side: Side) -> list[Wall]:
    """The constraints u >= |theta| of powers, and the linear constraints of budgets."""
    rows: list[Wall] = []
    for k, c in enumerate(side.movable.tolist() if side.lifted else ()):
        u = side.alpha + 1 + (k if side.lifted > 1 else 0)
        rows += [(0.0, {u: 1.0, c: -1.0}), (0.0, {u: 1.0, c: 1.0})]
    for part, at in side.parts:
        for k, feature, slope in part.slopes:
            other = {side.theta.start + feature: -slope} if feature >= 0 and slope else {}
            rows.append((0.0, {at + k: 1.0, **other}))
    return rows
