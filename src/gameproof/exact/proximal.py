"""Descent-ascent for scores with kinks: steps that linearise the loss and keep the kinks.

Where people have a budget, or a cost in a norm with kinks, the best theta often sits on a kink, and
gradient steps jump over it forever. Lifted variables u = rho(theta) carry the kinks: in
v = (x, u) all scores are smooth (see `lifts` and `convex_side`), and the loss never falls with u.
With g and h >= 0 the derivatives of L by x and by u, at the least u, a step is

    x+     = argmin over x' in the set of  <g, x'> + <h, rho(theta')> + |x' - x|^2 / (2 eta)
    gamma+ = P(gamma + eta n grad_gamma L(2 x+ - x, gamma))

The first is convex, agrees with L at x and lies below it elsewhere but for the curvature of the
loss, just as in a gradient step, which it is where rho is linear. The ascent looks ahead, as Condat
(2013) and Vu (2013) do, so that last iterates converge as well.

The argmin has a closed form. sigma(theta) = <h, rho(theta)> is the support function of a convex
set C, so that without the set of x, with w = x - eta g, it is w less the point of eta C nearest to
w (Moreau 1965). And since sigma is positively homogeneous and the normals of a round cone have
theta's own direction, the projection of that point to the cone is the argmin over the cone (Yu
2013). A cone of |theta / cost| is round in theta / cost: lengths of theta are taken in that norm.
Coefficients without a transport cost lie in a box of their own; where that binds, and people have a
budget that is no box, the two steps are no longer exact, and the duality gap will say so.

Lengths of alpha are taken in units that change t as much as theta does: alpha has no curvature, and
where labels are cheap it has far to go.
"""

from __future__ import annotations

import numpy as np

from gameproof.arguments import Vector
from gameproof.problem.newton.convex_side import ConvexSide
from gameproof.problem.sets import Box, Cone, ConvexSet, Product

Point = tuple[Vector, Vector]

# Lifts end this much above the least u, where derivatives by u are those from above.
TINY = 1e-300


class Proximal:
    """The steps of the module, for the convex side of a problem with every gamma maximised out."""

    def __init__(self, side: ConvexSide) -> None:
        problem, cost = side.problem, side.cost
        self._side, paid = side, np.isfinite(cost)
        self._cost = np.where(paid, cost, 1.0)
        unit = self._unit_of_alpha()
        # A unit of each coordinate of x.
        self._units = problem.join(self._cost, unit, 1.0)
        theta = None if paid.all() else np.where(paid, 1.0, np.inf)
        cone = Cone(cost.size + 1, side.steepness / unit, problem.alpha_max / unit, theta)
        self._set: ConvexSet = cone
        if problem.intercept is not None:
            self._set = Product(Box([-problem.intercept], [problem.intercept]), cone)

    @property
    def units(self) -> Vector:
        """A unit of each coordinate of v: of u as much as a unit of one of theta's changes it."""
        ends = [sign * end for end in np.diag(self._units) for sign in (1.0, -1.0)]
        found: Vector = np.abs([self._side.lift(end) for end in ends]).max(axis=0)
        return found

    def taken(self, point: Point, eta: float, number: int) -> tuple[Point, Point]:
        """The average and the last of so many iterates."""
        side, free, (x, y) = self._side, self._side.free, point
        v, gamma = side.lift(x, TINY), y[free]
        x_sum, gamma_sum = np.zeros_like(x), np.zeros_like(gamma)
        for _ in range(number):
            x = self._descended(v, side.gradient(v) + side.pulled(gamma), eta)
            ahead = side.lift(x, TINY)
            gamma = np.clip(gamma + eta * side.pulls(2 * ahead - v), -1.0, 1.0)
            v = ahead
            x_sum += x
            gamma_sum += gamma
        return (x_sum / number, self._of_all(gamma_sum / number)), (x, self._of_all(gamma))

    def _descended(self, v: Vector, slopes: Vector, eta: float) -> Vector:
        """The argmin of the module."""
        side, theta, cost = self._side, self._side.theta, self._cost
        x = side.unlifted(v) - eta * self._units**2 * side.unlifted(slopes)
        pulls = eta * slopes
        pulls[theta] = -x[theta] / cost**2
        x[theta] = -(cost**2) * side.shortened(pulls, cost)
        found: Vector = self._units * self._set.project(x / self._units)
        return found

    def _unit_of_alpha(self) -> float:
        side = self._side
        if not side.free.size:
            return 1.0
        rows = side.pull_rows[: side.theta.stop].copy()
        rows[side.theta] *= self._cost[:, None]
        by_alpha = max(float(np.linalg.norm(side.pull_labels)), np.finfo(float).tiny)
        return min(float(np.linalg.norm(rows, 2)) / by_alpha, side.problem.alpha_max)

    def _of_all(self, gamma: Vector) -> Vector:
        """gamma of all agents, 0 for those who have none."""
        everyone = np.zeros(self._side.n)
        everyone[self._side.free] = gamma
        return everyone
