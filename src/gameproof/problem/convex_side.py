"""The convex side of a strategic problem: what the learner minimises, and bounds of its value.

With x = (intercept, theta, alpha) in the capped cone and t_i = s z_i - y_i kappa alpha it is

    f(x) + (1/n) sum over the free i of |t_i|
    f(x) = slope alpha + (1/n) sum_i [phi(z_i) + l_i z_i]

where an agent is free if its gamma is maximised out: |t| is the largest gamma t. Where gamma is
given, gamma_i t_i is a part of f, and nobody is free. Agents with a gamma never move, so that t is
linear in x.

Lifting. The scores of agents who move rise by zeta N^q with N = |theta|_{p*} of the movable part.
Below p* = 2 its second derivatives are unbounded where a coordinate vanishes, and p* = 1 or
infinity have kinks. Then N is that of u in place of theta, for u_c >= |theta_c|, or of one number
u >= |theta_c| for all c where p* is infinite; N never falls with u, and their push on the scores is
never negative, so that the least u is best. The variable is v = x, or v = (x, u).

Bounds. L(., gamma) is convex, so its minimum over the set is at least that of its tangent at v, a
constant plus g0 intercept + <g, theta> + ga alpha + <gu, u>. With the least u the last is a norm of
theta, which takes from g what it can: left of g is g - w, with w_c the nearest to g_c in
[-gu_c, gu_c], or w the nearest to g in the l1 ball of radius gu. So the minimum is

    constant - bound |g0| + cap min(0, ga - |left| / (K + s)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gameproof.arguments import Vector
from gameproof.problem.sets import L1Ball

if TYPE_CHECKING:
    from gameproof.problem.strategic import StrategicProblem

Matrix = NDArray[np.float64]


class Power(NamedTuple):
    """N^q for a norm N of theta, and its derivatives."""

    value: float
    gradient: Vector
    hessian: Matrix


class Local(NamedTuple):
    """f at one v, with the scores and the power behind it."""

    v: Vector
    z: Vector
    value: float
    power: Power


class Derivatives(NamedTuple):
    """The gradient of f, and its Hessian with what the free agents add."""

    gradient: Vector
    hessian: Matrix


class ConvexSide:
    """f and |t| for a problem: with gamma given, or maximised out. v is x, or (x, u)."""

    def __init__(self, problem: StrategicProblem, gamma: Vector | None = None) -> None:
        people, data = problem.population, problem.data
        self.problem, self._loss, self._data = problem, problem.loss, data
        self.n: int = people.n
        self.theta = slice(data.start, data.start + people.d)
        self.alpha, self.steepness = self.theta.stop, problem.loss.K + problem.loss.s
        # A row for the intercept, where there is one, and for each feature: contiguous, since all
        # sums run over agents.
        self._rows = np.vstack([np.ones((data.start, people.n)), people.X.T])
        self.movable = data.start + np.flatnonzero(data.movable)
        self._zeta = np.where(people.y < 0, data.zeta, 0.0) * bool(self.movable.size)
        self._norm, self.lifted = data.dual_norm, 0
        if not self._zeta.any():
            self._norm = 2.0
        elif np.isinf(self._norm):
            self._norm, self.lifted = 2.0, 1  # that of one number
        elif self._norm < 2:
            self.lifted = self.movable.size
        self._risers = self.alpha + 1 + np.arange(self.lifted) if self.lifted else self.movable
        own = problem.has_gamma
        self._linear, self._slope = np.where(own, 0.0, -data.s * people.y), data.slope
        if gamma is None:
            self.free = np.flatnonzero(own)
        else:
            self.free = np.zeros(0, dtype=np.int64)
            fixed = np.where(own, gamma, 0.0)
            self._linear = self._linear + data.s * fixed
            self._slope -= data.kappa * float((fixed * people.y).mean())
        self._free_rows = data.s * self._rows[:, self.free]
        self._free_label = data.kappa * people.y[self.free]

    def lift(self, x: Vector, room: float = 0.0) -> Vector:
        """(x, u) with u that much above its least."""
        sizes = np.abs(x[self.movable])
        least = sizes if self.lifted == sizes.size else np.array([sizes.max(initial=0.0)])
        return np.append(x, least[: self.lifted] + room)

    def at(self, v: Vector) -> Local:
        """f at v."""
        power = power_of_norm(v[self._risers], self._norm, self._data.degree)
        z = _combined(v[: self.alpha], self._rows) + self._zeta * power.value
        terms = self._loss.phi(z) + self._linear * z
        return Local(v, z, float(self._slope * v[self.alpha] + terms.mean()), power)

    def pulls(self, v: Vector) -> Vector:
        """t of the free agents."""
        t: Vector = _combined(v[: self.alpha], self._free_rows) - self._free_label * v[self.alpha]
        return t

    def pulled(self, gamma: Vector) -> Vector:
        """The gradient of (1/n) sum of gamma_i t_i over the free agents."""
        gradient = np.zeros(self.alpha + 1 + self.lifted)
        gradient[: self.alpha] = _sums(self._free_rows, gamma) / self.n
        gradient[self.alpha] = -float((self._free_label * gamma).sum()) / self.n
        return gradient

    def derivatives(self, here: Local, bends: Vector, reach: Vector | float = 0.0) -> Derivatives:
        """The gradient of f, and its Hessian plus (1/n) sum of bends_i grad t_i grad t_i'. The
        curvature of phi is at least its mean over scores within `reach`: where phi has kinks in its
        slope, those that a step may meet are seen before it does."""
        loss, rows, n, zeta, at = self._loss, self._rows, self.n, self._zeta, self.alpha
        z, width = here.z, np.maximum(reach, 1e-6)
        by_z, mean = loss.slope(z) + self._linear, loss.slope(z + width) - loss.slope(z - width)
        curvature = np.maximum(loss.curvature(z), mean / (2 * width))
        gradient, hessian = np.zeros_like(here.v), np.zeros((here.v.size, here.v.size))
        gradient[:at], gradient[at] = _sums(rows, by_z) / n, self._slope
        both = curvature.copy()
        both[self.free] += loss.s**2 * bends
        hessian[:at, :at] = _gram(rows, both) / n
        hessian[at, :at] = -_sums(self._free_rows, bends * self._free_label) / n
        hessian[:at, at] = hessian[at, :at]
        hessian[at, at] = float((bends * self._free_label**2).sum()) / n
        # Scores of agents who move rise by zeta times the power as well.
        rise, cross, push = (
            np.zeros_like(here.v),
            np.zeros_like(here.v),
            float((by_z * zeta).mean()),
        )
        rise[self._risers] = here.power.gradient
        cross[:at] = _sums(rows, curvature * zeta) / n
        mixed = np.outer(cross, rise)
        hessian += mixed + mixed.T + float((curvature * zeta**2).mean()) * np.outer(rise, rise)
        hessian[np.ix_(self._risers, self._risers)] += push * here.power.hessian
        return Derivatives(gradient + push * rise, hessian)

    def bounds(self, here: Local, slopes: Derivatives, gamma: Vector) -> tuple[float, float]:
        """Of the value of the game: from below the least of the tangent of L(., gamma) at v over
        the set, from above the value at v with the best gamma."""
        t, problem = self.pulls(here.v), self.problem
        upper = here.value + float(np.abs(t).sum()) / self.n
        value = here.value + float((gamma * t).sum()) / self.n
        g = slopes.gradient + self.pulled(gamma)
        least = g[self.alpha] - float(np.linalg.norm(self._left(g))) / self.steepness
        lower = value - float(g @ here.v) + problem.alpha_max * min(0.0, least)
        if problem.intercept is not None:
            lower -= problem.intercept * abs(g[0])
        return float(lower), upper

    def _left(self, g: Vector) -> Vector:
        """g of theta, shortened by what u >= |theta| takes off it."""
        part, of_u = g[self.movable], np.maximum(g[self.alpha + 1 :], 0.0)
        left = g.copy()
        if self.lifted == part.size:
            left[self.movable] -= np.clip(part, -of_u, of_u)
        elif self.lifted and of_u[0] > 0:
            left[self.movable] -= L1Ball(np.zeros_like(part), of_u[0]).project(part)
        return left[self.theta]


# NumPy hands products of matrices to a library that splits long ones between cores, and where those
# are busy each split waits for its turn: sums over many agents are better taken as here.


def _combined(weights: Vector, rows: Matrix) -> Vector:
    """A weighted sum of rows."""
    total: Vector = np.einsum("c,cn->n", weights, rows)
    return total


def _sums(rows: Matrix, weights: Vector) -> Vector:
    """The weighted sum of each row."""
    sums: Vector = np.einsum("cn,n->c", rows, weights)
    return sums


def _gram(rows: Matrix, weights: Vector) -> Matrix:
    """rows diag(weights) rows', in pieces short enough for one core and its cache."""
    total = np.zeros((len(rows), len(rows)))
    piece = max(256, 2**18 // len(rows) ** 2)
    for start in range(0, weights.size, piece):
        part = rows[:, start : start + piece]
        total += (part * weights[start : start + piece]) @ part.T
    return total


def power_of_norm(theta: Vector, p: float, q: float) -> Power:
    """|theta|_p^q for finite p; with N the norm and g its gradient, the derivatives are q N^(q-1) g
    and q (q-1) N^(q-2) g g' + q N^(q-1) (p-1)/N [diag((|theta|/N)^(p-2)) - g g']."""
    length = float(np.linalg.norm(theta, p))
    if p == 2.0 and q == 2.0:
        return Power(length**2, 2 * theta, 2 * np.eye(theta.size))
    safe = max(length, float(np.finfo(float).tiny) ** 0.25)
    share = np.abs(theta) / safe
    shape = np.sign(theta) * share ** (p - 1)
    square = np.outer(shape, shape)
    second = (p - 1) / safe * (np.diag(np.maximum(share, 1e-8) ** (p - 2)) - square)
    bend = q * (q - 1) * safe ** (q - 2) * square + q * safe ** (q - 1) * second
    return Power(length**q, q * length ** (q - 1) * shape, bend)
