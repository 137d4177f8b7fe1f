"""A primal-dual interior-point method for the convex side of a strategic problem.

With e_i in place of |t_i|, of the free agents, and the set written as walls h_j(v) >= 0, it is

    min f(v) + (1/n) sum_i e_i   subject to   e_i - t_i >= 0,   e_i + t_i >= 0,   h_j(v) >= 0

and the multipliers of the first two, times n, add up to 1: they are (1 + gamma_i)/2 and
(1 - gamma_i)/2, with gamma the adversary's. So v and gamma go to the saddle point together, along
the path where each slack times its multiplier is mu:

    slack = (e - t, e + t, h),   dual = ((1 + gamma)/2, (1 - gamma)/2, lambda),   slack dual = mu
    grad f + (1/n) sum gamma_i grad t_i = sum lambda_j grad h_j

A step is Newton's for these equations, with Mehrotra's correction (SIAM Journal on Optimization 2,
1992) where that helps, at a cost of O(n d^2). It is cut until the merit of Forsgren and Gill (the
same, 8, 1998)

    f + (1/n) sum e + sum of shares [slack dual - mu log(slack^2 dual / mu)]

falls, for which Newton's step is a direction of descent; a trial costs O(n d). The bounds of
`ConvexSide` say how far v and gamma are, and mu follows the gap between them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from gameproof.arguments import Vector
from gameproof.problem.convex_side import ConvexSide, Derivatives, Local

Matrix = NDArray[np.float64]
# The gap at which a minimisation ends, in units of the value where that exceeds 1.
TARGET = 1e-11
# mu aims at this part of the gap.
SHRINK = 0.1
MAX_STEPS = 200
# A step goes no farther than this part of the way to where a slack or multiplier is 0, and gains
# this part of what the merit's slope promises.
INSIDE = 0.99
ENOUGH = 0.25
# Below this length a corrected step is not worth it, and below that any.
WORTHWHILE = 0.1
SHORTEST = 1e-10
ROUNDING = 1e-15


class Minimum(NamedTuple):
    """A point, a gamma, and bounds: of the minimum of L(., gamma) from below, and of the maximum
    over gamma at the point from above."""

    v: Vector
    gamma: Vector
    lower: float
    upper: float


class Move(NamedTuple):
    """A change of an iterate."""

    v: Vector
    slack: Vector
    dual: Vector


class Iterate(NamedTuple):
    """A point with its slacks and multipliers: of e - t, of e + t, and of the walls."""

    local: Local
    slack: Vector
    dual: Vector


def minimise(side: ConvexSide, start: Vector) -> Minimum:
    """The point on the way along the path whose bounds are closest, and its gamma, which is 0 for
    agents that are not free."""
    path, best = _Path(side), Minimum(start, np.zeros(side.free.size), -np.inf, np.inf)
    here, mu = path.begin(side.lift(start, start[-1] / side.steepness), 1.0), 1.0
    reach: Vector | float = 0.0
    for _ in range(MAX_STEPS):
        gamma, slopes = path.gamma(here), side.derivatives(here.local, path.bends(here), reach)
        lower, upper = side.bounds(here.local, slopes, gamma)
        if upper - lower < best.upper - best.lower:
            best = Minimum(here.local.v[: start.size].copy(), gamma, lower, upper)
        if upper - lower <= TARGET * max(1.0, abs(upper)):
            break
        mu = min(mu, SHRINK * (upper - lower) / path.total)
        ahead = path.step(here, slopes, mu)
        if ahead is None:
            break
        reach = np.abs(ahead.local.z - here.local.z)
        here = ahead
    everyone = np.zeros(side.n)
    everyone[side.free] = best.gamma
    return best._replace(gamma=everyone)


class _Path:
    """The equations of the module, and steps towards their solution."""

    def __init__(self, side: ConvexSide) -> None:
        self.side, self._walls, self._m = side, _Walls(side), side.free.size
        # Each agent's pair counts 1/n, each wall 1; on the path the gap is mu times their total.
        self._share = np.append(np.full(2 * self._m, 1 / side.n), np.ones(self._walls.number))
        self.total = float(self._share.sum())

    def begin(self, v: Vector, mu: float) -> Iterate:
        """On the path, but for the equation of v."""
        t = self.side.pulls(v)
        gamma = t / (mu + np.hypot(mu, t))
        dual = np.concatenate([(1 + gamma) / 2, (1 - gamma) / 2, mu / self._walls.heights(v)])
        return Iterate(self.side.at(v), mu / dual, dual)

    def gamma(self, here: Iterate) -> Vector:
        """The multipliers of the agents' pairs, as gamma."""
        m, dual = self._m, here.dual
        return np.clip(dual[:m] - dual[m : 2 * m], -1.0, 1.0)

    def bends(self, here: Iterate) -> Vector:
        """d gamma / d t of the free agents, by the equations of their pair and of e."""
        m, ratio = self._m, here.slack / here.dual
        return 4 / (ratio[:m] + ratio[m : 2 * m])

    def step(self, here: Iterate, slopes: Derivatives, mu: float) -> Iterate | None:
        """The next iterate, or None where rounding leaves nothing to gain."""
        newton = self._newton(here, slopes)
        level = np.full(here.slack.size, mu)
        # Mehrotra's correction: a step to mu = 0 shows what the equations' products leave out.
        away = newton(0 * level)
        corrected = newton(level - away.slack * away.dual)
        ahead = self._along(here, slopes, mu, corrected, WORTHWHILE)
        return ahead or self._along(here, slopes, mu, newton(level), SHORTEST)

    def _newton(self, here: Iterate, slopes: Derivatives) -> Callable[[Vector], Move]:
        """Newton's step for products of slack and dual that are what is given."""
        m, v, force, bends = self._m, here.local.v, here.dual / here.slack, self.bends(here)
        jacobian, gamma = self._walls.slopes(v), self.gamma(here)
        hessian = slopes.hessian + self._walls.bend(v, here.dual[2 * m])
        solve = _factored(hessian + (jacobian.T * force[2 * m :]) @ jacobian)

        def move(target: Vector) -> Move:
            aim = target / here.dual - here.slack
            # Without a change of v, gamma would change by this.
            own = bends * (aim[:m] - aim[m : 2 * m]) / 2
            gradient = slopes.gradient + self.side.pulled(gamma + own)
            dv = solve(jacobian.T @ (target / here.slack)[2 * m :] - gradient)
            half = (own + bends * self.side.pulls(dv)) / 2
            slack, dual = np.empty_like(aim), np.empty_like(aim)
            dual[:m], dual[m : 2 * m], slack[2 * m :] = half, -half, jacobian @ dv
            slack[: 2 * m] = (aim - dual / force)[: 2 * m]
            dual[2 * m :] = ((aim - slack) * force)[2 * m :]
            return Move(dv, slack, dual)

        return move

    def _along(
        self, here: Iterate, slopes: Derivatives, mu: float, move: Move, shortest: float
    ) -> Iterate | None:
        """The iterate after as much of a move as lowers the merit, at least `shortest`, or None."""
        slack, dual, n = here.slack, here.dual, self.side.n
        products = dual * move.slack + slack * move.dual
        logs = 2 * move.slack / slack + move.dual / dual
        rise = float(slopes.gradient @ move.v) + float(move.slack[: 2 * self._m].sum()) / (2 * n)
        rise += float(self._share @ (products - mu * logs))
        longest = min(_longest(slack, move.slack), _longest(dual, move.dual))
        length, merit = min(1.0, INSIDE * longest), self._merit(here, mu)
        while length > shortest and rise < 0:
            ahead = self._moved(here, move, length)
            allowed = merit + ENOUGH * length * rise + ROUNDING * abs(merit)
            if ahead is not None and self._merit(ahead, mu) <= allowed:
                return ahead
            length /= 2
        return None

    def _moved(self, here: Iterate, move: Move, length: float) -> Iterate | None:
        """The iterate after a part of a move, or None where that goes too far towards a wall: one
        is curved, and at the others there is rounding."""
        v, slack = here.local.v + length * move.v, here.slack + length * move.slack
        slack[2 * self._m :] = self._walls.heights(v)
        if (slack <= (1 - INSIDE) / 2 * here.slack)[2 * self._m :].any():
            return None
        return Iterate(self.side.at(v), slack, here.dual + length * move.dual)

    def _merit(self, here: Iterate, mu: float) -> float:
        slack, dual = here.slack, here.dual
        e = float(slack[: 2 * self._m].sum()) / 2
        barrier = float(self._share @ (slack * dual - mu * np.log(slack**2 * dual / mu)))
        return here.local.value + e / self.side.n + barrier


class _Walls:
    """The set as h(v) >= 0 with concave h: the cone, its cap, the bounds of the intercept, and
    u >= |theta|. Only the first is curved."""

    def __init__(self, side: ConvexSide) -> None:
        self._theta, self._alpha, self._c = side.theta, side.alpha, side.steepness
        bound, movable = side.problem.intercept, side.movable
        rows: list[tuple[float, dict[int, float]]] = [(side.problem.alpha_max, {side.alpha: -1.0})]
        if bound is not None:
            rows += [(bound, {0: -1.0}), (bound, {0: 1.0})]
        for k, c in enumerate(movable if side.lifted else ()):
            u = side.alpha + 1 + (k if side.lifted > 1 else 0)
            rows += [(0.0, {u: 1.0, c: -1.0}), (0.0, {u: 1.0, c: 1.0})]
        self.number = 1 + len(rows)
        self._offsets = np.array([offset for offset, _ in rows])
        self._rows = np.zeros((len(rows), side.alpha + 1 + side.lifted))
        for row, (_, entries) in zip(self._rows, rows, strict=True):
            row[list(entries)] = list(entries.values())

    def heights(self, v: Vector) -> Vector:
        """The cone's is alpha - c^2 |theta|^2 / alpha, smooth also where theta = 0."""
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


def _longest(values: Vector, changes: Vector) -> float:
    """How long a step keeps the values positive."""
    steepest = float((-changes / values).max())
    return np.inf if steepest <= 0 else 1 / steepest


def _factored(matrix: Matrix) -> Callable[[Vector], Vector]:
    """Solves by Cholesky of the matrix scaled to a diagonal of ones, features being of any size,
    with as little added to it as lets that succeed."""
    scale = 1 / np.sqrt(np.diag(matrix))
    scaled, added = matrix * np.outer(scale, scale), 0.0
    while True:
        try:
            factor = cho_factor(scaled + added * np.eye(scale.size))
        except np.linalg.LinAlgError:
            added = max(10 * added, 1e-15)
        else:
            return lambda right: scale * cho_solve(factor, scale * right)
