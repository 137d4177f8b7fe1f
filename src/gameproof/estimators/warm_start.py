"""The starting point of a fit that continues from an earlier one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.estimators.scaling import Units
from gameproof.strategic.robust_problem import StrategicProblem


class WarmStart(NamedTuple):
    """Coefficients and intercept of an earlier fit, towards the favourable class, and its alpha.

    `alpha` is 0 for a model that was loaded from a file, which does not hold it.
    """

    coef: Vector
    intercept: float
    alpha: float

    def start(self, problem: StrategicProblem, units: Units) -> tuple[Vector, Vector] | None:
        """The earlier solution in the units of the new fit; None if the columns differ."""
        if self.coef.size != problem.population.d:
            return None
        theta = units.theta(self.coef)
        offset = self.intercept + float(units.mean @ self.coef)
        # The projection leaves theta unchanged only if alpha is at least this large.
        least = (problem.loss.K + problem.loss.s) * float(np.linalg.norm(theta))
        alpha = max(self.alpha, least)
        return problem.x_set.project(problem.join(theta, alpha, offset)), problem.start[1]
