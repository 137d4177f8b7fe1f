"""The set of a strategic problem as inequalities h(v) >= 0 with concave h.

They are the capped cone, the bounds of an intercept and of features with infinite cost, the
constraints u >= |theta| of `ConvexObjective`, and the constraints of the variables of `lifts`. The
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
from gameproof.strategic.newton.objective import Objective
from gameproof.strategic.norms import norm_of

# Newton's method converges quadratically from a close start, so few steps are enough.
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
        """The v[head] at which the height has this positive value, by Newton's method.

        The height is concave, so the iterates stay below the solution."""
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

    def add_bend(self, total: Matrix, v: Vector, multiplier: float) -> None:
        """Adds minus the Hessian, times the multiplier, to `total`, in O(size of the body)."""
        u, y, p = v[self.head], self.weights * v[self.body] / v[self.head], self.p
        # Below p = 2 the curvature is infinite at 0; a large number replaces it.
        powers = np.maximum(np.abs(y), np.finfo(float).tiny) ** (p - 2)
        bent = multiplier * p * (p - 1) / u * powers
        cross = -bent * y * self.weights
        total[self.body, self.body] += bent * self.weights**2
        total[self.body, self.head] += cross
        total[self.head, self.body] += cross
        total[self.head, self.head] += float((bent * y**2).sum())


class Constraints:
    """All constraints h and their derivatives; the curved ones come first."""

    def __init__(self, objective: Objective) -> None:
        self.curves = [_cone(objective), *_curves(objective)]
        rows = [*_bounds(objective), *_lifted(objective)]
        self.number = len(self.curves) + len(rows)
        self._offsets = np.array([offset for offset, _ in rows])
        self._rows = np.zeros((len(rows), objective.size))
        for row, (_, entries) in zip(self._rows, rows, strict=True):
            row[list(entries)] = list(entries.values())
        self._pairs = _Pairs.of([entries for _, entries in rows], objective.size)

    def heights(self, v: Vector) -> Vector:
        """h(v)."""
        return np.append([c.height(v) for c in self.curves], self._offsets + self._rows @ v)

    def follow(self, v: Vector, heights: Vector) -> None:
        """Overwrites the heads of the curved constraints of budgets, so that these constraints have
        the given heights. A step along a tangent would leave the set."""
        for curve, height in zip(self.curves[1:], heights[1:], strict=False):
            v[curve.head] = curve.head_at(v, float(height))

    def slopes(self, v: Vector, which: Indices | None = None) -> Matrix:
        """The gradients of the heights, or of some, row by row."""
        number = len(self.curves)
        chosen = np.arange(self.number) if which is None else which
        curved = [self.curves[j].slope(v) for j in chosen[chosen < number].tolist()]
        return np.vstack([*curved, self._rows[chosen[chosen >= number] - number]])

    def bend(self, v: Vector, multipliers: Vector, which: Indices | None = None) -> Matrix:
        """Minus the Hessians of the curved ones, or of some, each times its multiplier."""
        total = np.zeros((v.size, v.size))
        chosen = np.arange(self.number) if which is None else which
        for multiplier, j in zip(
            multipliers, chosen[chosen < len(self.curves)].tolist(), strict=False
        ):
            self.curves[j].add_bend(total, v, float(multiplier))
        return total

    def add_squares(self, total: Matrix, slopes: Matrix, weights: Vector) -> None:
        """Adds the sum of weights_j s_j s_j' to `total`, for the slopes s_j of all constraints.

        A linear constraint has one or two coordinates, so its square has up to four entries."""
        number = len(self.curves)
        curved = slopes[:number]
        total += (curved.T * weights[:number]) @ curved
        self._pairs.add(total, weights[number:])


class _Pairs(NamedTuple):
    """The entries of the squares of linear constraints: places in a matrix, and for each product of
    two coefficients its place, its constraint and its value."""

    places: Indices
    inverse: Indices
    rows: Indices
    products: Vector

    @classmethod
    def of(cls, constraints: list[dict[int, float]], size: int) -> _Pairs:
        """The entries for these constraints, in a matrix of this size."""
        # A second coordinate that does not exist has coefficient 0.
        where = np.array([[*each, 0][:2] for each in constraints])
        values = np.array([[*each.values(), 0.0][:2] for each in constraints])
        squares = where[:, :, None] * size + where[:, None, :]
        places, inverse = np.unique(squares.ravel(), return_inverse=True)
        products = (values[:, :, None] * values[:, None, :]).ravel()
        return cls(places, inverse, np.repeat(np.arange(len(where)), 4), products)

    def add(self, total: Matrix, weights: Vector) -> None:
        """Adds the squares, each times the weight of its constraint."""
        values = np.bincount(self.inverse, self.products * weights[self.rows], self.places.size)
        total.flat[self.places] += values


LinearConstraint = tuple[
    float, dict[int, float]
]  # offset + sum of coefficients times coordinates >= 0


def _cone(objective: Objective) -> Curved:
    paid = np.flatnonzero(np.isfinite(objective.cost))
    weights = objective.steepness / objective.cost[paid]
    return Curved(objective.alpha, objective.theta.start + paid, weights, 2.0)


def _curves(objective: Objective) -> list[Curved]:
    found = []
    for part, at in objective.lifts:
        if part.curve is not None:
            head, body, weights, of_features, p = part.curve
            places = body + (objective.theta.start if of_features else at)
            found.append(Curved(at + head, places, weights, p))
    return found


def _bounds(objective: Objective) -> list[LinearConstraint]:
    cap, bound, free = (
        objective.problem.alpha_max,
        objective.problem.intercept,
        np.isinf(objective.cost),
    )
    rows: list[LinearConstraint] = [(cap, {objective.alpha: -1.0})]
    if bound is not None:
        rows += [(bound, {0: -1.0}), (bound, {0: 1.0})]
    for c in (objective.theta.start + np.flatnonzero(free)).tolist():
        rows += [(cap / objective.steepness, {c: -1.0}), (cap / objective.steepness, {c: 1.0})]
    return rows


def _lifted(objective: Objective) -> list[LinearConstraint]:
    """The constraints u >= |theta| of powers, and the linear constraints of budgets."""
    rows: list[LinearConstraint] = []
    for k, c in enumerate(objective.movable.tolist() if objective.lifted else ()):
        u = objective.alpha + 1 + (k if objective.lifted > 1 else 0)
        rows += [(0.0, {u: 1.0, c: -1.0}), (0.0, {u: 1.0, c: 1.0})]
    for part, at in objective.lifts:
        for k, feature, slope in part.slopes:
            other = {objective.theta.start + feature: -slope} if feature >= 0 and slope else {}
            rows.append((0.0, {at + k: 1.0, **other}))
    return rows
