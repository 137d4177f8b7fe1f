"""`Lift`: variables u of a budget, and the constraints that tie them to theta.

`lifts.py` has the mathematics.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.budgets import BoxBudget


class SlopeConstraint(NamedTuple):
    """The constraint u_k >= slope theta_feature, or u_k >= 0 if the feature is -1."""

    k: int
    feature: int
    slope: float


class CurveConstraint(NamedTuple):
    """The constraint u_head >= |weights u_body|_p; with theta_body in place of u_body if the body
    consists of features."""

    head: int
    body: Indices
    weights: Vector
    of_features: bool
    p: float

    def lean(self, y: Vector, u: float) -> Vector:
        """The slopes of u by y along a level set of the constraint, at a point inside it.

        They are a point of the unit ball of the dual norm, times the weights."""
        r, p = self.weights * np.abs(y) / max(u, np.finfo(float).tiny), self.p
        powers = r ** (p - 1)
        found: Vector = np.sign(y) * self.weights * p * powers / (1 + (p - 1) * float(r @ powers))
        return found


class Lift(ABC):
    """Some of the u, and the constraints that tie them to theta."""

    count: int
    slopes: list[SlopeConstraint]
    # How far above the smallest u a search begins, in units of the problem's own distance.
    stretch: Vector | float = 1.0
    curve: CurveConstraint | None = None
    # Whether 0 is a subgradient of each rho_k at 0.
    can_stay = True
    # How many numbers of an agent's own w depends on.
    own_count = 0
    # Whether some moves do not depend on theta.
    shifts = False
    # Whether all u have the same w.
    same_columns = False

    @abstractmethod
    def rows(self, agents: Indices, own: Matrix | None = None) -> Matrix:
        """w of these agents, who move: one row per u.

        `own` are the numbers on which w depends, one row per agent, if the rows contain them."""

    def own(self, box: BoxBudget) -> Matrix:
        """The numbers on which w depends, one row per agent of a box."""
        raise TypeError(f"w of {type(self).__name__} is the same for all agents")

    @abstractmethod
    def nearest(self, g: Vector, of_u: Vector, cost: Vector) -> Vector:
        """The sum of gu_k s_k that is nearest to -g."""

    def along(
        self, theta: Vector, u: Vector, of_u: Vector, multipliers: Vector | None = None
    ) -> Vector:
        """The sum of gu_k s_k with the slopes of the constraints weighted by their multipliers, or
        by 1 / height if there are none."""
        found, total = np.zeros_like(theta), np.zeros(self.count)
        weights = self._pushes(theta, u) if multipliers is None else np.maximum(multipliers, 0.0)
        for push, (k, _, _) in zip(weights, self.slopes, strict=True):
            total[k] += push
        for push, (k, feature, slope) in zip(weights, self.slopes, strict=True):
            if feature >= 0 and push > 0:
                found[feature] += max(of_u[k], 0.0) * slope * push / total[k]
        return found

    def _pushes(self, theta: Vector, u: Vector) -> Vector:
        """1 / height of each constraint."""
        heights = [u[k] - (a * theta[c] if c >= 0 else 0.0) for k, c, a in self.slopes]
        return 1 / np.maximum(heights, np.finfo(float).tiny)

    def shifted(self, rows: Matrix, agents: Indices, own: Matrix | None = None) -> Matrix:
        """The features of these agents, one row per feature, after moves that do not depend on
        theta."""
        return rows

    def largest_slopes(self, d: int) -> Matrix:
        """The largest |s_k| in each feature over all subgradients s_k, one row per u."""
        found = np.zeros((self.count, d))
        for k, feature, slope in self.slopes:
            if feature >= 0:
                found[k, feature] = max(found[k, feature], abs(slope))
        return found

    def least(self, theta: Vector) -> Vector:
        """The smallest u for this theta."""
        found = np.full(self.count, -np.inf)
        for k, feature, slope in self.slopes:
            found[k] = max(found[k], slope * theta[feature] if feature >= 0 else 0.0)
        return found
