"""`SolverSetting`: the tuned parts of a solver, in units that do not depend on the problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gameproof.minmax.averages import Average, Last, StepWeighted, Suffix
from gameproof.minmax.estimates.gradient import Gradient
from gameproof.minmax.estimates.one_point import OnePoint
from gameproof.minmax.estimates.residual import Residual
from gameproof.minmax.schedules import Power
from gameproof.minmax.solver import Solver
from gameproof.minmax.updates.sgda import SGDA
from gameproof.strategic.robust_problem import StrategicProblem

# The step of a solver that is to stay at its start.
NO_STEP = 1e-10
AVERAGES: tuple[Average, ...] = (Last(), Suffix(), StepWeighted())


@dataclass(frozen=True)
class SolverSetting:
    """A point of the search space.

    `step` is the step of theta in units of 1 / mean |x|^2, `radius` the query radius in units that
    change a score by about 1, and `gamma_step` the first step of gamma, which lies in [-1, 1]."""

    gradient: Gradient
    step: float
    radius: float
    exponent: float = 0.76
    gamma_step: float = 30.0
    average: Average = AVERAGES[0]

    @property
    def stays(self) -> bool:
        """Whether the steps are practically 0."""
        return self.gamma_step <= NO_STEP

    def solver(self, problem: StrategicProblem, batch: int) -> Solver:
        """The solver with this setting, for this problem."""
        mean_square = float(np.mean(problem.population.X**2))  # of one feature
        squared_length = problem.population.d * mean_square + (problem.intercept is not None)
        step = self.step / (max(squared_length, 1.0) if self.stays else squared_length)
        shrinks = 0.25 if isinstance(self.gradient, OnePoint | Residual) else 0.0
        return Solver(
            update=SGDA(),
            gradient=self.gradient,
            step=Power(step, self.exponent),
            radius=Power(self.radius / np.sqrt(mean_square), shrinks),
            scale=(1.0, self.gamma_step * min(batch, problem.n) / step),
            batch=batch,
            average=self.average,
        )
