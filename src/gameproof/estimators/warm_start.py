"""Where a fit starts that follows another one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.estimators.scaling import Units
from gameproof.strategic.robust_problem import StrategicProblem


class WarmStart(NamedTuple):
    """Coefficients and intercept towards the favourable class, and alpha, of a fit before; 0 where
    a file held none."""

    coef: Vector
    intercept: float
    alpha: float

    def start(self, problem: StrategicProblem, units: Units) -> tuple[Vector, Vector] | None:
        """Where the fit before ended, in the units of this one; None for other columns."""
        if self.coef.size != problem.population.d:
            return None
        theta = units.theta(self.coef)
        offset = self.intercept + float(units.mean @ self.coef)
        # No less than leaves theta as it is.
        least = (problem.loss.K + problem.loss.s) * float(np.linalg.norm(theta))
        alpha = max(self.alpha, least)
        return problem.x_set.project(problem.join(theta, alpha, offset)), problem.start[1]
