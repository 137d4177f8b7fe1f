"""Descent-ascent for scores with kinks: steps that linearise the loss and keep the kinks.

If people have a budget, or a cost in a norm with kinks, the best theta often lies on a kink, and
gradient steps jump across it forever. Variables u = rho(theta), with convex rho, carry the kinks:
the loss is smooth in v = (x, u) and never falls with u (see `lifts` and `convex_objective`). With
the slopes g by x and h >= 0 by u of L at x, and q the multipliers of the set X of x, a step is

    x+     = argmin over x' of  <g + w q, x'> + <h, rho(theta')> + |x' - x|^2 / (2 eta)
    gamma+ = P(gamma + eta n grad_gamma L(ahead, gamma)),   ahead = 2 x+ - x
    q+     = r - eta w P(r / (eta w)),                      r = q + eta w ahead

This is the primal-dual method of Condat (2013) and Vu (2013). Its descent is a gradient step where
rho is linear. <h, rho(theta)> is the support function of a convex set C. By Moreau's identity the
argmin is therefore x - eta (g + w q) minus, in theta, the nearest point of eta C. Projecting that
point to X would not give the argmin over X, so q ascends like gamma, and iterates are projected to
X only when they are returned.

Steps. eta = 1 / (curvature + coupling). The curvature is the largest curvature of f along the steps
of the second half of the previous stretch. A step that finds more than twice as much is repeated
with the larger curvature. The coupling is the norm of the linear map that gamma and q multiply.
Lengths of alpha are measured in a unit that changes t as much as theta does: alpha has no
curvature, and a long way to go if labels are cheap. The weight w makes q and gamma ascend at about
the same speed.
"""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.minmax.sets.box import Box
from gameproof.minmax.sets.cone import Cone
from gameproof.minmax.sets.convex_set import ConvexSet
from gameproof.minmax.sets.product import Product
from gameproof.strategic.newton.convex_objective import ConvexObjective

Point = tuple[Vector, Vector]

# The weight w of the module's docstring.
WEIGHT = 0.3
# u is this much above its smallest value, so that slopes by u are slopes from above.
TINY = 1e-300
# Steps shorter than this, in units, are too short to measure curvature: they show rounding.
SHORT = 1e-9
# From one stretch to the next, the curvature falls at most to this share.
LEAST = 1e-3


class Proximal:
    """The steps of the module, for the convex objective with every gamma maximised out."""

    def __init__(self, objective: ConvexObjective) -> None:
        problem, self._objective = objective.problem, objective
        d, unit = objective.cost.size, _unit_of_alpha(objective)
        self._units = problem.join(np.ones(d), unit, 1.0)  # a unit of each coordinate of x
        cone = Cone(d + 1, objective.steepness / unit, problem.alpha_max / unit, objective.cost)
        self._set: ConvexSet = cone  # in units
        if problem.intercept is not None:
            self._set = Product(Box([-problem.intercept], [problem.intercept]), cone)
        T = np.column_stack(
            [objective.pull_rows[:, : objective.theta.stop], -objective.pull_labels]
        )
        squares = float(np.linalg.norm(T * self._units, 2)) ** 2 if T.size else 0.0
        self._coupling = float(np.sqrt(squares / objective.n + WEIGHT**2))
        self._curvature = 1.0  # until steps show it
        self._q = np.zeros(self._units.size)

    def taken(self, point: Point, share: float, number: int) -> tuple[Point, Point]:
        """Takes `number` steps with this share of the step size eta.

        Returns the average iterate and the last one."""
        objective, free, (x, y) = self._objective, self._objective.free, point
        v, gamma = objective.lift(x, TINY), y[free]
        slopes, met = objective.gradient(v), 0.0
        x_sum, gamma_sum = np.zeros_like(x), np.zeros_like(gamma)
        for k in range(number):
            pulled = slopes + objective.pulled(gamma)
            while True:
                eta = share / (self._curvature + self._coupling)
                lifted = objective.lift(self.descended(v, pulled, eta), TINY)
                slopes_there = objective.gradient(lifted)
                curvature = self._curvature_along(lifted - v, slopes_there - slopes)
                if not curvature > 2 * self._curvature:
                    break
                self._curvature = curvature
            ahead = 2 * lifted - v
            gamma = np.clip(gamma + eta * objective.pulls(ahead), -1.0, 1.0)
            self._ascend(ahead, eta)
            v, slopes = lifted, slopes_there
            met = max(met, curvature) if 2 * k >= number else 0.0
            x_sum += objective.unlifted(v)
            gamma_sum += gamma
        self._curvature = max(met, LEAST * self._curvature)
        last = self._point(objective.unlifted(v), gamma)
        return self._point(x_sum / number, gamma_sum / number), last

    def descended(self, v: Vector, slopes: Vector, eta: float) -> Vector:
        """The argmin of the module's docstring."""
        objective, theta, units = self._objective, self._objective.theta, self._units
        by_x = units * (units * objective.unlifted(slopes) + WEIGHT * self._q)
        x: Vector = objective.unlifted(v) - eta * by_x
        pulls = eta * slopes
        pulls[theta] = -x[theta]
        x[theta] = -objective.shortened(pulls, np.ones_like(objective.cost))
        return x

    def _ascend(self, ahead: Vector, eta: float) -> None:
        step = eta * WEIGHT
        reached = self._q + step * self._objective.unlifted(ahead) / self._units
        self._q = reached - step * self._set.project(reached / step)

    def _curvature_along(self, change: Vector, of_slopes: Vector) -> float:
        length = float(np.linalg.norm(self._objective.unlifted(change) / self._units))
        return float(change @ of_slopes) / length**2 if length > SHORT else 0.0

    def _point(self, x: Vector, gamma: Vector) -> Point:
        """The point in the problem's sets, with gamma 0 for agents who have no gamma."""
        everyone = np.zeros(self._objective.n)
        everyone[self._objective.free] = gamma
        return self._objective.problem.x_set.project(x), everyone


def _unit_of_alpha(objective: ConvexObjective) -> float:
    if not objective.free.size:
        return 1.0
    by_theta = float(np.linalg.norm(objective.pull_rows[:, : objective.theta.stop], 2))
    by_alpha = float(np.linalg.norm(objective.pull_labels))
    cap = objective.problem.alpha_max
    return by_theta / by_alpha if by_theta < cap * by_alpha else cap
