"""The robust objective L(x, gamma), and its values if the response is known.

`robust_problem` states the mathematics. This module adds rows to the numbers of a problem
(`robust_parameters`): the form that compiled code takes, the values of L and the adversary's best
gamma. `newton` and the conic solver build on it. `StrategicProblem` adds what a solver asks people,
and the duality gap.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof.core.arguments import Vector, shown
from gameproof.kernels import samples, strategic
from gameproof.kernels.jit import for_data
from gameproof.minmax.problem import Problem
from gameproof.minmax.schedules import Power, Schedule
from gameproof.minmax.sets.box import Box
from gameproof.rows.array_rows import ArrayRows
from gameproof.rows.row_blocks import RowBlocks
from gameproof.strategic.losses.loss import Loss
from gameproof.strategic.population import Population
from gameproof.strategic.problem_checks import Flips, Form
from gameproof.strategic.robust_parameters import RobustParameters

# A classifier whose scores are all smaller than this ignores the data.
NOTHING = 1e-6


class RobustObjective(Problem, RobustParameters[Population]):
    """L(x, gamma) for x = (intercept, theta, alpha) in a cone and gamma in [-1, 1]^n."""

    private_y = True

    def __init__(
        self,
        population: Population,
        radius: float,
        label_cost: float = float("inf"),
        loss: Loss | None = None,
        *,
        form: Form = "exact",
        flips: Flips | None = None,
        alpha_max: float = 20.0,
        intercept: float | None = None,
        positive: Literal["exact", "estimated"] = "exact",
        smooth: bool = True,
        feature_cost: ArrayLike | None = None,
    ) -> None:
        if not isinstance(population, Population):
            raise TypeError(f"population must be a Population, got {shown(population)}")
        RobustParameters.__init__(
            self,
            population,
            radius,
            label_cost,
            loss,
            form=form,
            flips=flips,
            alpha_max=alpha_max,
            intercept=intercept,
            positive=positive,
            smooth=smooth,
            feature_cost=feature_cost,
        )
        self.name = f"strategic problem with {self.n} agents and {population.d} features"
        self.y_set = Box(np.full(self.n, -1.0), np.full(self.n, 1.0))
        # Compiled code would compute answers without the journal.
        self.compiled_values = self.model is not None and population.journal is None
        _ = self.data  # raises for a loss that cannot be compiled

    # --- x and its parts

    @property
    def start(self) -> tuple[Vector, Vector]:
        """theta = 0, alpha = 1, gamma = 0."""
        x = np.zeros(self.x_set.dim)
        x[-1] = min(1.0, self.alpha_max)
        return x, np.zeros(self.n)

    @property
    def default_schedules(self) -> tuple[Schedule, Schedule]:
        """The step sizes and radii of the paper."""
        return Power(0.003, 0.76), Power(4.0, 0.25)

    def ignores_data(self, x: ArrayLike) -> bool:
        """Whether theta is so small that no score differs from the intercept."""
        return float(np.abs(self.population.X @ self.split(x)[0]).max()) < NOTHING

    # --- values, and the adversary's best gamma

    @property
    def has_gamma(self) -> NDArray[np.bool_]:
        """The agents whose label the adversary can change; their gamma has an effect."""
        if self.flips == "both":
            return np.ones(self.n, dtype=bool)
        return (self.population.y > 0) & (self.flips == "one-way")

    def value(self, x: ArrayLike, y: ArrayLike) -> float:
        if self.model is None:
            raise TypeError(
                f"the mean loss of {self.name} needs an answer from every agent, and nobody may be "
                "asked for it here; estimate_risk asks for fresh answers"
            )
        return float(self.call(samples.mean_value, self.n, *self.point(x, y)))

    def best_gamma(self, x: ArrayLike) -> Vector:
        """The gamma that maximises L(x, .)."""
        self.require_model("best_gamma")
        point, _ = self.point(x, np.zeros(self.n))
        scores = np.empty(self.n)
        self.call(strategic.scores_at, point, scores)
        pull = self.data.s * scores - self.population.y * self.data.kappa * point[-1]
        return np.where(self.has_gamma, np.sign(pull), 0.0)

    def robust_value(self, x: ArrayLike) -> float:
        """max over gamma of L(x, gamma).

        It is an upper bound of the worst-case risk of theta, and equal to it for the best alpha."""
        return self.value(x, self.best_gamma(x))

    # --- the form that compiled code takes

    def call(self, kernel: Any, *arguments: Any) -> Any:
        """Calls a compiled function with the data of this problem."""
        own = samples.has_user_functions(self.data)
        return for_data(kernel, own)(self.data, *arguments)

    @cached_property
    def data(self) -> strategic.Strategic:
        """The problem as compiled code takes it.

        All arrays but the labels, which are made here, are read-only. A read-only array has a type
        of its own, so compiling anew is avoided for people in a file or from another process."""
        people = self.population
        return self.encoded(people.X, people.y, people.weights if people.weighted else np.zeros(0))

    @cached_property
    def rows(self) -> RowBlocks:  # type: ignore[override]
        people = self.population
        return ArrayRows(people.X, people.y, people.weights if people.weighted else None)
