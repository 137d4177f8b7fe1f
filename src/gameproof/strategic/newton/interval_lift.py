"""`IntervalLift`: a gain for each feature, for boxes and balls of norm inf."""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.budgets import BoxBudget
from gameproof.strategic.newton.lift import Lift, SlopeConstraint


class IntervalLift(Lift):
    """One u per feature: the gain from moving that feature between two ends."""

    def __init__(self, features: Indices, fall: Vector, rise: Vector, weights: Matrix) -> None:
        self.count, self._features, self._fall, self._rise = features.size, features, fall, rise
        self._weights = weights  # one row per u; one column per agent, or one for all
        # Together, the distances add about as much to scores as the distance of one number.
        self.stretch = 1 / (features.size * np.maximum(weights.max(axis=1), 1e-100))
        ends = zip(features.tolist(), fall.tolist(), rise.tolist(), strict=True)
        self.slopes = [SlopeConstraint(k, c, a) for k, (c, *both) in enumerate(ends) for a in both]
        self.own_count = self.count if weights.shape[1] > 1 else 0
        self.same_columns = weights.shape[1] == 1 and bool((weights == weights[0]).all())

    def rows(self, agents: Indices, own: Matrix | None = None) -> Matrix:
        if own is not None:
            return own.T
        weights = self._weights
        return weights[:, agents] if weights.shape[1] > 1 else np.repeat(weights, agents.size, 1)

    def own(self, box: BoxBudget) -> Matrix:
        lower, upper = box.bounds
        ends = upper if self._rise.any() else -lower
        found: Matrix = ends[:, self._features]
        return found

    def nearest(self, g: Vector, of_u: Vector, cost: Vector) -> Vector:
        low, high = np.zeros_like(g), np.zeros_like(g)
        np.add.at(low, self._features, of_u * self._fall)
        np.add.at(high, self._features, of_u * self._rise)
        return np.clip(-g, low, high)
