"""Descent-ascent for scores with kinks: steps that linearise the loss and keep the kinks.

Where people have a budget, or a cost in a norm with kinks, the best theta often sits on a kink, and
gradient steps jump across it forever. Variables u = rho(theta), with convex rho, carry the kinks:
the loss is smooth in v = (x, u) and never falls with u (see `lifts` and `convex_objective`). With
the slopes g by x and h >= 0 by u of L at x, and q the multipliers of the set X of x, a step is

    x+     = argmin over x' of  <g + w q, x'> + <h, rho(theta')> + |x' - x|^2 / (2 eta)
    gamma+ = P(gamma + eta n grad_gamma L(ahead, gamma)),   ahead = 2 x+ - x
    q+     = r - eta w P(r / (eta w)),                      r = q + eta w ahead

It is the primal-dual method of Condat (2013) and Vu (2013), with a descent that is a gradient step
where rho is linear. <h, rho(theta)> is the support function of a convex set C, so that by Moreau's
identity the argmin is x - eta (g + w q) less, in theta, the point of eta C nearest to it. The q are
ascended like gamma, since the projection to X of such a point is no argmin over X; iterates are
projected to X where they are returned.

Steps. eta = 1 / (curvature + coupling). The curvature is that of f along the steps, the largest met
in the second half of the stretch before; where a step meets more than twice as much, it is repeated
with more. The coupling is the norm of what gamma and q multiply. Lengths of alpha are taken in a
unit that changes t as much as theta does: alpha has no curvature, and far to go where labels are
cheap. The w is a number that makes ascents in q and gamma about as fast.
"""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.minmax.sets.box import Box
from gameproof.minmax.sets.cone import Cone
from gameproof.minmax.sets.convex_set import ConvexSet
from gameproof.minmax.sets.product import Product
from gameproof.strategic.newton.convex_objective import ConvexSide

Point = tuple[Vector, Vector]

# w of the module.
WEIGHT = 0.3
# Lifts end this much above the least u, where slopes by u are those from above.
TINY = 1e-300
# Steps shorter than this, in units, show the curvature of rounding.
SHORT = 1e-9
# From a stretch to the next, curvature falls to no less than this part.
LEAST = 1e-3


class Proximal:
    """The steps of the module, for the convex side of a problem with every gamma maximised out."""

    def __init__(self, side: ConvexSide) -> None:
        problem, self._side = side.problem, side
        d, unit = side.cost.size, _unit_of_alpha(side)
        self._units = problem.join(np.ones(d), unit, 1.0)  # a unit of each coordinate of x
        cone = Cone(d + 1, side.steepness / unit, problem.alpha_max / unit, side.cost)
        self._set: ConvexSet = cone  # in units
        if problem.intercept is not None:
            self._set = Product(Box([-problem.intercept], [problem.intercept]), cone)
        T = np.vstack([side.pull_rows[: side.theta.stop], -side.pull_labels])
        squares = float(np.linalg.norm(self._units[:, None] * T, 2)) ** 2 if T.size else 0.0
        self._coupling = float(np.sqrt(squares / side.n + WEIGHT**2))
        self._curvature = 1.0  # until steps show it
        self._q = np.zeros(self._units.size)

    def taken(self, point: Point, share: float, number: int) -> tuple[Point, Point]:
        """The average and the last of so many iterates, with this share of the step eta."""
        side, free, (x, y) = self._side, self._side.free, point
        v, gamma = side.lift(x, TINY), y[free]
        slopes, met = side.gradient(v), 0.0
        x_sum, gamma_sum = np.zeros_like(x), np.zeros_like(gamma)
        for k in range(number):
            pulled = slopes + side.pulled(gamma)
            while True:
                eta = share / (self._curvature + self._coupling)
                lifted = side.lift(self._descended(v, pulled, eta), TINY)
                slopes_there = side.gradient(lifted)
                curvature = self._curvature_along(lifted - v, slopes_there - slopes)
                if not curvature > 2 * self._curvature:
                    break
                self._curvature = curvature
            ahead = 2 * lifted - v
            gamma = np.clip(gamma + eta * side.pulls(ahead), -1.0, 1.0)
            self._ascend(ahead, eta)
            v, slopes = lifted, slopes_there
            met = max(met, curvature) if 2 * k >= number else 0.0
            x_sum += side.unlifted(v)
            gamma_sum += gamma
        self._curvature = max(met, LEAST * self._curvature)
        last = self._point(side.unlifted(v), gamma)
        return self._point(x_sum / number, gamma_sum / number), last

    def _descended(self, v: Vector, slopes: Vector, eta: float) -> Vector:
        """The argmin of the module."""
        side, theta, units = self._side, self._side.theta, self._units
        by_x = units * (units * side.unlifted(slopes) + WEIGHT * self._q)
        x: Vector = side.unlifted(v) - eta * by_x
        pulls = eta * slopes
        pulls[theta] = -x[theta]
        x[theta] = -side.shortened(pulls, np.ones_like(side.cost))
        return x

    def _ascend(self, ahead: Vector, eta: float) -> None:
        step = eta * WEIGHT
        reached = self._q + step * self._side.unlifted(ahead) / self._units
        self._q = reached - step * self._set.project(reached / step)

    def _curvature_along(self, change: Vector, of_slopes: Vector) -> float:
        length = float(np.linalg.norm(self._side.unlifted(change) / self._units))
        return float(change @ of_slopes) / length**2 if length > SHORT else 0.0

    def _point(self, x: Vector, gamma: Vector) -> Point:
        """In the problem's sets, with 0 for the gamma of agents who have none."""
        everyone = np.zeros(self._side.n)
        everyone[self._side.free] = gamma
        return self._side.problem.x_set.project(x), everyone


def _unit_of_alpha(side: ConvexSide) -> float:
    if not side.free.size:
        return 1.0
    by_theta = float(np.linalg.norm(side.pull_rows[: side.theta.stop], 2))
    by_alpha = float(np.linalg.norm(side.pull_labels))
    cap = side.problem.alpha_max
    return by_theta / by_alpha if by_theta < cap * by_alpha else cap
