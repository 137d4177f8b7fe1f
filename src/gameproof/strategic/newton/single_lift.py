"""`PriceLift` and `BallLift`: one gain for all features, times the strength of each agent."""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.newton.lift import CurveConstraint, Lift, SlopeConstraint
from gameproof.strategic.newton.nearest import in_norm_ball, in_price_ball
from gameproof.strategic.norms import conjugate_exponent, norm_of


class SingleLift(Lift):
    """One u for all features. w is the strength of each agent, relative to the largest strength.

    So u is the gain of the strongest agent: it has the size of a score, whatever the strength."""

    def __init__(self, strength: Vector, reach: Vector) -> None:
        largest = float(strength.max())
        self.count, self._strength, self._reach = 1, strength / largest, reach * largest
        self._features = np.flatnonzero(reach)

    def rows(self, agents: Indices, own: Matrix | None = None) -> Matrix:
        found = np.zeros((self.count, agents.size))
        found[0] = self._strength[agents] if self._strength.size > 1 else self._strength[0]
        return found


class PriceLift(SingleLift):
    """The constraints u >= reach_c |theta_c| for all c."""

    def __init__(self, strength: Vector, reach: Vector) -> None:
        super().__init__(strength, reach)
        both = [(int(c), sign) for c in self._features for sign in (-1.0, 1.0)]
        self.slopes = [SlopeConstraint(0, c, sign * float(self._reach[c])) for c, sign in both]

    def nearest(self, g: Vector, of_u: Vector, cost: Vector) -> Vector:
        found, own = np.zeros_like(g), self._features
        found[own] = in_price_ball(g[own], cost[own], self._reach[own], max(of_u[0], 0.0))
        return found


class BallLift(SingleLift):
    """The constraint u >= |reach theta|_{p*}; for p* < 2 with sizes y_c >= reach_c |theta_c|."""

    def __init__(self, strength: Vector, reach: Vector, dual_norm: float) -> None:
        super().__init__(strength, reach)
        own, self._p = self._features, dual_norm
        self._split, self.slopes = dual_norm < 2, []
        body, weights = own, self._reach[own]
        if self._split:
            body, self.count = 1 + np.arange(own.size), 1 + own.size
            ends = [(1 + k, int(c), float(weights[k])) for k, c in enumerate(own)]
            self.slopes = [
                SlopeConstraint(k, c, a * sign) for k, c, a in ends for sign in (-1.0, 1.0)
            ]
            self.stretch = np.append(2.0 * own.size, np.ones(own.size))
            weights = np.ones(own.size)
        self.curve = CurveConstraint(0, body, weights, not self._split, dual_norm)

    def largest_slopes(self, d: int) -> Matrix:
        found = np.zeros((self.count, d))
        found[0] = self._reach
        return found

    def least(self, theta: Vector) -> Vector:
        sizes = (self._reach * np.abs(theta))[self._features]
        length = norm_of(sizes, self._p)
        return np.append(length, sizes) if self._split else np.array([length])

    def nearest(self, g: Vector, of_u: Vector, cost: Vector) -> Vector:
        found, own = np.zeros_like(g), self._features
        # The y_c do not enter scores, so only u contributes.
        reach, p = self._reach[own], conjugate_exponent(self._p)
        size = max(of_u[0], 0.0)
        found[own] = reach * in_norm_ball(g[own] / reach, cost[own] * reach, p, size)
        return found

    def along(
        self, theta: Vector, u: Vector, of_u: Vector, multipliers: Vector | None = None
    ) -> Vector:
        assert self.curve is not None
        y = u[self.curve.body] if self._split else theta[self._features]
        pushes = max(of_u[0], 0.0) * self.curve.lean(y, float(u[0]))
        if self._split:
            return super().along(theta, u, np.append(0.0, pushes), multipliers)
        found = np.zeros_like(theta)
        found[self._features] = pushes
        return found
