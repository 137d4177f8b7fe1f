"""The set of a strategic problem as inequalities h(v) >= 0 with concave h.

The capped cone, bounds of an intercept, and u >= |theta| where `ConvexSide` lifts:

    alpha - c^2 |theta|^2 / alpha,   cap - alpha,   bound -/+ intercept,   u -/+ theta

with c = K + s. The first is the cone, being (alpha - c |theta|)(1 + c |theta| / alpha), and has no
kink where theta = 0.
"""

from __future__ import annotations

import numpy as np

from gameproof.arguments import Matrix, Vector
from gameproof.problem.newton.side import Side


class Walls:
    """h, its first derivatives, and the second of the one that is curved, the cone's."""

    def __init__(self, side: Side) -> None:
        self._theta, self._alpha, self._c = side.theta, side.alpha, side.steepness
        bound, movable = side.problem.intercept, side.movable
        rows: list[tuple[float, dict[int, float]]] = [(side.problem.alpha_max, {side.alpha: -1.0})]
        if bound is not None:
            rows += [(bound, {0: -1.0}), (bound, {0: 1.0})]
        for k, c in enumerate(movable.tolist() if side.lifted else ()):
            u = side.alpha + 1 + (k if side.lifted > 1 else 0)
            rows += [(0.0, {u: 1.0, c: -1.0}), (0.0, {u: 1.0, c: 1.0})]
        self.number = 1 + len(rows)
        self._offsets = np.array([offset for offset, _ in rows])
        self._rows = np.zeros((len(rows), side.size))
        for row, (_, entries) in zip(self._rows, rows, strict=True):
            row[list(entries)] = list(entries.values())

    def heights(self, v: Vector) -> Vector:
        """h(v); negative where alpha is."""
        alpha, length = v[self._alpha], self._c * float(np.linalg.norm(v[self._theta]))
        cone = (alpha - length) * (1 + length / alpha) if alpha > 0 else -1.0
        return np.append(cone, self._offsets + self._rows @ v)

    def slopes(self, v: Vector) -> Matrix:
        """The gradients of the heights, row by row."""
        lean, cone = self._c * v[self._theta] / v[self._alpha], np.zeros_like(v)
        cone[self._theta], cone[self._alpha] = -2 * self._c * lean, 1 + float(lean @ lean)
        return np.vstack([cone, self._rows])

    def bend(self, v: Vector, force: float) -> Matrix:
        """-force times the Hessian of the first height."""
        across = np.zeros((self._theta.stop - self._theta.start, v.size))
        np.fill_diagonal(across[:, self._theta], self._c)
        across[:, self._alpha] = -self._c * v[self._theta] / v[self._alpha]
        bend: Matrix = 2 * force / v[self._alpha] * across.T @ across
        return bend
