"""Newton's method with a barrier, for the convex side of a strategic problem.

Minimised over v = (intercept, theta, alpha) in the capped cone is

    G(v) = slope alpha + (1/n) sum_i [phi(z_i) + l_i z_i + gamma_i t_i]
    t_i = s z_i - y_i kappa alpha

with gamma given, or maximised out: gamma t becomes |t|. That is smoothed by the barrier of gamma in
[-1, 1], |t|_mu = max over gamma of gamma t + mu log(1 - gamma^2), whose maximiser is
gamma = t / (mu + sqrt(mu^2 + t^2)); so that one mu leads v and gamma along one central path to the
saddle point. A step costs O(n d^2).

A point comes with a certificate that needs no further solve: L(., gamma) is convex, so its minimum
over the set is at least that of its tangent, which has a closed form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from gameproof.arguments import Vector

if TYPE_CHECKING:
    from gameproof.problem.strategic import StrategicProblem

Matrix = NDArray[np.float64]
LAST_WEIGHT = 1e-10
SHRINK = 0.1
MAX_STEPS = 60


class Local(NamedTuple):
    """G and its derivatives at one v."""

    value: float
    gradient: Vector
    hessian: Matrix
    gamma: Vector


class ConvexSide:
    """G for a problem: with a given gamma, or with gamma maximised out."""

    def __init__(self, problem: StrategicProblem, gamma: Vector | None = None) -> None:
        people, data = problem.population, problem.data
        self.problem, self.data, self._gamma = problem, data, gamma
        self._label = people.y
        self._moving = np.where(people.y < 0, data.zeta, 0.0)
        self._free = problem.has_gamma
        self._linear = np.where(self._free, 0.0, -data.s * people.y)
        self._design = np.zeros((people.n, problem.x_set.dim))
        self._design[:, : data.start] = 1.0
        self._design[:, data.start : -1] = people.X
        self._theta = slice(data.start, data.start + people.d)
        self._steepness = problem.loss.K + problem.loss.s

    def local(self, v: Vector, mu: float) -> Local:
        """G, with the smoothing of weight mu where gamma is maximised out, and its derivatives."""
        data, loss, free = self.data, self.problem.loss, self._free
        theta = v[self._theta] * data.movable
        power, by_theta, bend = power_of_norm(theta, data.dual_norm, data.degree)
        z = self._design @ v + self._moving * power
        t = data.s * z - self._label * data.kappa * v[-1]
        if self._gamma is None:
            gamma = np.where(free, t / (mu + np.hypot(mu, t)), 0.0)
            smoothing = mu * np.log1p(-(gamma**2))
            by_tt = np.where(free, (1 - gamma**2) ** 2 / (2 * mu * (1 + gamma**2)), 0.0)
        else:
            gamma = np.where(free, self._gamma, 0.0)
            smoothing = by_tt = np.zeros_like(t)
        terms = loss.phi(z) + self._linear * z + gamma * t + np.where(free, smoothing, 0.0)
        by_z = loss.slope(z) + self._linear + data.s * gamma
        rows = self._design.copy()
        rows[:, self._theta] += np.outer(self._moving, by_theta * data.movable)
        pulls = data.s * rows
        pulls[:, -1] -= self._label * data.kappa
        n = z.size
        gradient = rows.T @ by_z / n
        gradient[-1] += data.slope - data.kappa * float((gamma * self._label).mean())
        hessian = ((rows.T * loss.curvature(z)) @ rows + (pulls.T * by_tt) @ pulls) / n
        masked = bend * np.outer(data.movable, data.movable)
        hessian[self._theta, self._theta] += float((by_z * self._moving).mean()) * masked
        value = float(data.slope * v[-1] + terms.mean())
        return Local(value, gradient, hessian, gamma)

    def wall(self, v: Vector) -> tuple[float, Vector, Matrix] | None:
        """log(alpha^2 - c^2 |theta|^2) + log(cap - alpha) + those of the intercept, and its
        derivatives; None outside the set."""
        c, bound = self._steepness, self.problem.intercept
        theta, alpha = v[self._theta], v[-1]
        inside = alpha**2 - c**2 * float(theta @ theta)
        room = self.problem.alpha_max - alpha
        if alpha <= 0 or inside <= 0 or room <= 0 or (bound is not None and abs(v[0]) >= bound):
            return None
        slope = np.zeros_like(v)
        slope[self._theta], slope[-1] = -2 * c**2 * theta, 2 * alpha
        bend = np.zeros((v.size, v.size))
        np.fill_diagonal(bend[self._theta, self._theta], -2 * c**2)
        bend[-1, -1] = 2.0
        value = np.log(inside) + np.log(room)
        gradient = slope / inside
        hessian = bend / inside - np.outer(slope, slope) / inside**2
        gradient[-1] -= 1 / room
        hessian[-1, -1] -= 1 / room**2
        if bound is not None:
            value += np.log(bound**2 - v[0] ** 2)
            gradient[0] -= 2 * v[0] / (bound**2 - v[0] ** 2)
            hessian[0, 0] -= 2 * (bound**2 + v[0] ** 2) / (bound**2 - v[0] ** 2) ** 2
        return float(value), gradient, hessian

    def minimise(self, start: Vector) -> tuple[Vector, Vector, float]:
        """v and gamma near the end of the central path, and a lower bound of the minimum of
        L(., gamma): of all points on the path, the ones whose bound is best."""
        v, mu = start.copy(), 1.0
        found = []
        while mu > LAST_WEIGHT:
            mu *= SHRINK
            v = self._centre(v, mu)
            gamma = self.local(v, mu).gamma
            found.append((v, gamma, self.tangent_minimum(v, gamma)))
        if self._gamma is not None:
            return max(found, key=lambda point: point[2])
        return min(found, key=lambda point: self.problem.robust_value(point[0]) - point[2])

    def _merit(self, v: Vector, mu: float) -> tuple[float, Vector, Matrix]:
        """G with the barrier of the set, and its derivatives; infinite outside."""
        wall = self.wall(v)
        if wall is None:
            return np.inf, np.full_like(v, np.inf), np.eye(v.size)
        here = self.local(v, mu)
        return here.value - mu * wall[0], here.gradient - mu * wall[1], here.hessian - mu * wall[2]

    def _centre(self, v: Vector, mu: float) -> Vector:
        """Newton steps for one mu, halved until they help: until the gradient is so small that its
        share in the certificate, its length times that of the set, is a small part of mu."""
        target = 0.01 * mu / self.problem.x_set.diameter
        merit, gradient, hessian = self._merit(v, mu)
        for _ in range(MAX_STEPS):
            size = float(np.linalg.norm(gradient))
            if size <= target:
                break
            step = -cho_solve(_factored(hessian), gradient)
            decrement = -float(gradient @ step)
            length = 1.0
            while True:
                ahead = self._merit(v + length * step, mu)
                # Near the end the merit no longer shows progress, and the gradient still does.
                lower = ahead[0] <= merit - 0.1 * length * decrement
                if lower or (length == 1.0 and np.linalg.norm(ahead[1]) <= 0.5 * size):
                    break
                length /= 2
                if length < 1e-6:
                    return v
            v = v + length * step
            merit, gradient, hessian = ahead
        return v

    def tangent_minimum(self, v: Vector, gamma: Vector) -> float:
        """A lower bound of the minimum of L(., gamma) over the set: that of its tangent at v."""
        side = ConvexSide(self.problem, gamma)
        here = side.local(v, LAST_WEIGHT)
        g = here.gradient
        least = self.problem.alpha_max * min(
            0.0, g[-1] - float(np.linalg.norm(g[self._theta])) / self._steepness
        )
        if self.problem.intercept is not None:
            least -= self.problem.intercept * abs(g[0])
        return float(here.value + least - g @ v)


def _factored(matrix: Matrix) -> tuple[Matrix, bool]:
    """Cholesky, with as little added to the diagonal as lets it succeed."""
    added, size = 0.0, float(np.abs(np.diag(matrix)).max())
    while True:
        try:
            factor: tuple[Matrix, bool] = cho_factor(matrix + added * np.eye(len(matrix)))
            return factor
        except np.linalg.LinAlgError:
            added = max(10 * added, 1e-14 * size)


def power_of_norm(theta: Vector, p: float, q: float) -> tuple[float, Vector, Matrix]:
    """|theta|_p^q with gradient and Hessian; with N the norm and g its gradient,
    q N^(q-1) g and q (q-1) N^(q-2) g g' + q N^(q-1) (p-1)/N [diag((|theta|/N)^(p-2)) - g g']."""
    size = np.abs(theta)
    length = float(np.linalg.norm(theta, p))
    if p == 2.0 and q == 2.0:
        return length**2, 2 * theta, 2 * np.eye(theta.size)
    tiny = np.finfo(float).tiny ** 0.25
    safe = max(length, tiny)
    if np.isinf(p):
        shape = np.zeros_like(theta)
        shape[np.argmax(size)] = np.sign(theta[np.argmax(size)])
        second = np.zeros((theta.size, theta.size))
    else:
        share = size / safe
        shape = np.sign(theta) * share ** (p - 1)
        spread = np.diag(np.maximum(share, 1e-8) ** (p - 2)) if p > 1 else np.zeros(1)
        second = (p - 1) / safe * (spread - np.outer(shape, shape))
    bend = q * (q - 1) * safe ** (q - 2) * np.outer(shape, shape) + q * safe ** (q - 1) * second
    return length**q, q * length ** (q - 1) * shape, bend
