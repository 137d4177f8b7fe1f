"""The objective that the interior-point method minimises, and lower bounds of its minimum.

    f(v) + (1/n) sum over the free i of |t_i|,   t linear in v,

over the set of a strategic problem. v is x = (intercept, theta, alpha) with additional variables:
variables of budgets, in which scores are linear, come before alpha (`lifts`), and variables of
powers after it. `ConvexObjective` has the problem's own f. `LocalModel` has a quadratic model of f,
and few agents.

Bounds. L(., gamma) is convex, so it is nowhere below its tangent at v,

    constant + g0 intercept + <g, theta> + ga alpha + <gu, u>,

whose minimum over the set is known. The best u is the smallest, |theta_c| for each c or the largest
of them. Over all theta with |theta / cost| = r, the minimum of <g, theta> + <gu, u> is
-r |cost left|. Here left is g with each g_c moved toward 0 by gu_c, but no farther than 0; if u is
one number, left is g minus its projection to the l1 ball of radius gu. With r = alpha / (K + s) the
minimum is

    constant - bound |g0| + cap min(0, ga - |cost left| / (K + s)).

If the cost of a feature is infinite, only |theta_c| <= cap / (K + s) bounds its coefficient, which
subtracts cap |left_c| / (K + s).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.newton.lift import Lift
from gameproof.strategic.newton.nearest import in_price_ball
from gameproof.strategic.robust_parameters import RobustParameters

MUCH = 1e7  # replaces an infinite feature cost, in units of the largest finite one


class Local(NamedTuple):
    """f at one v, and the scores there (none for a quadratic model)."""

    v: Vector
    z: Vector
    value: float


class Derivatives(NamedTuple):
    """The gradient of f, and its Hessian plus the terms of the free agents."""

    gradient: Vector
    hessian: Matrix


class Objective(ABC):
    """f, |t| and the layout of v. `free` are the agents whose gamma is maximised out."""

    n: int
    free: Indices
    # The derivatives of t in the intercept and each feature, one row per free agent, and minus the
    # derivatives in alpha.
    pull_rows: Matrix
    pull_labels: Vector

    def __init__(self, problem: RobustParameters[Any], moves: bool, parts: list[Lift]) -> None:
        people, data = problem.population, problem.data
        self.problem, self.data, self.cost = problem, data, problem.feature_cost
        self.theta = slice(data.start, data.start + people.d)
        starts = np.cumsum([self.theta.stop, *(part.count for part in parts)]).tolist()
        # The parts of a budget, each with the position of its first variable.
        self.lifts = list(zip(parts, starts[:-1], strict=True))
        self.alpha, self.steepness = starts[-1], problem.loss.K + problem.loss.s
        self.movable = data.start + np.flatnonzero(data.reach)
        self.moves = moves  # whether scores rise by a power of theta
        self.norm, self.lifted = data.dual_norm, 0
        if not self.moves:
            self.norm = 2.0
        elif np.isinf(self.norm):
            self.norm, self.lifted = 2.0, 1  # one number: all norms are the same
        elif self.norm < 2:
            self.lifted = self.movable.size
        self.size = self.alpha + 1 + self.lifted

    @abstractmethod
    def at(self, v: Vector) -> Local:
        """f at v."""

    @abstractmethod
    def derivatives(self, here: Local, bends: Vector, reach: Vector | float = 0.0) -> Derivatives:
        """The gradient of f, and its Hessian plus (1/n) sum of bends_i grad t_i grad t_i'.

        They are computed for a step that changes scores by about `reach`."""

    def lift(self, x: Vector, room: float = 0.0) -> Vector:
        """v for this x, with lifted variables about `room` above their smallest values."""
        sizes, theta = np.abs(x[self.movable]), x[self.theta]
        least = sizes if self.lifted == sizes.size else np.array([sizes.max(initial=0.0)])
        own = [part.least(theta) + room * part.stretch for part, _ in self.lifts]
        head, tail = x[: self.theta.stop], x[self.theta.stop :]
        return np.concatenate([head, *own, tail, least[: self.lifted] + room])

    def unlifted(self, v: Vector) -> Vector:
        """The x that belongs to v."""
        return np.append(v[: self.theta.stop], v[self.alpha])

    def pulls(self, v: Vector) -> Vector:
        """t of the free agents."""
        t: Vector = self.pull_rows @ v[: self.alpha] - self.pull_labels * v[self.alpha]
        return t

    def pulled(self, gamma: Vector) -> Vector:
        """The gradient of (1/n) sum of gamma_i t_i over the free agents."""
        gradient = np.zeros(self.size)
        gradient[: self.alpha] = gamma @ self.pull_rows / self.n
        gradient[self.alpha] = -float((self.pull_labels * gamma).sum()) / self.n
        return gradient

    def bounds(self, here: Local, slopes: Derivatives, gamma: Vector) -> tuple[float, float]:
        """Bounds of the value of the game: the minimum of the tangent of L(., gamma) at v over the
        set, and the value at v with the best gamma."""
        t = self.pulls(here.v)
        upper = here.value + float(np.abs(t).sum()) / self.n
        value = here.value + float((gamma * t).sum()) / self.n
        return self.least(here.v, value, slopes.gradient + self.pulled(gamma)), upper

    def least(self, v: Vector, value: float, g: Vector, multipliers: Vector | None = None) -> float:
        """The minimum over the set of the tangent with this value and gradient at v.

        `multipliers` are the multipliers of the constraints, if they are known."""
        cap, best = self.problem.alpha_max, -np.inf
        paid = np.isfinite(self.cost)
        for left in self.residuals(v, g, multipliers):
            length = float(np.linalg.norm(self.cost[paid] * left[paid]))
            taken = cap * min(0.0, g[self.alpha] - length / self.steepness)
            taken -= cap / self.steepness * float(np.abs(left[~paid]).sum())
            best = max(best, taken)
        lower = value - float(g @ v) + best
        if self.problem.intercept is not None:
            lower -= self.problem.intercept * abs(g[0])
        return float(lower)

    def shortened(self, g: Vector, cost: Vector) -> Vector:
        """g of theta, shortened by as much as lifted variables can take off it, in the norm
        |cost s| of theta's coordinates."""
        near = self._without_lifted(g, cost)
        for budget, at in self.lifts:
            near += budget.nearest(near, g[at : at + budget.count], cost)
        return near

    def _without_lifted(self, g: Vector, cost: Vector) -> Vector:
        """g of theta, less what the lifted variables of a power cost take off it."""
        part, of_u = g[self.movable], np.maximum(g[self.alpha + 1 :], 0.0)
        left = g.copy()
        if self.lifted == part.size:
            left[self.movable] -= np.clip(part, -of_u, of_u)
        elif self.lifted and of_u[0] > 0:
            own = cost[self.movable - self.theta.start]
            left[self.movable] += in_price_ball(part, own, np.ones_like(part), of_u[0])
        return left[self.theta]

    def residuals(self, v: Vector, g: Vector, multipliers: Vector | None) -> list[Vector]:
        """g of theta, shortened in one way, or in two if there are budgets."""
        cost = self._finite_cost
        near = self.shortened(g, cost)
        if not self.lifts:
            return [near]
        along = self._without_lifted(g, cost)
        # The constraints of budgets come last.
        first = -sum(len(budget.slopes) for budget, _ in self.lifts)
        for budget, at in self.lifts:
            there, last = slice(at, at + budget.count), first + len(budget.slopes)
            known = None if multipliers is None else multipliers[first : last or None]
            along += budget.along(v[self.theta], v[there], g[there], known)
            first = last
        return [near, along]

    @cached_property
    def _finite_cost(self) -> Vector:
        """The cost of each feature, with infinite costs replaced by a number so large that the
        projection leaves nearly nothing of g there."""
        paid = np.isfinite(self.cost)
        largest = float(self.cost[paid].max()) if paid.any() else 1.0
        found: Vector = np.where(paid, self.cost, MUCH * largest)
        return found
