"""What robust classifiers are compared with: strategic and plain logistic regression.

Strategic logistic regression minimises the mean of log(1 + exp(-y <b(theta), theta>)), convex where
the response is known: it is the strategic problem with radius 0 and labels that stay. Plain
logistic regression is the same where nobody moves. The query-only version needs no code of its own:
solve `strategic_problem(people)` with an estimate from values.
"""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.strategic.losses.logistic_loss import Logistic
from gameproof.strategic.losses.loss import Loss
from gameproof.strategic.newton.minimum import minimum
from gameproof.strategic.population import Population
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.saddle_point import warn_of_cap


def strategic_problem(
    population: Population,
    loss: Loss | None = None,
    *,
    bound: float = 20.0,
    intercept: float | None = None,
) -> StrategicProblem:
    """The mean loss at what people report, with nothing robust about it; |theta| <= bound."""
    chosen = Logistic() if loss is None else loss
    cap = bound * (chosen.K + chosen.s)
    return StrategicProblem(population, 0.0, loss=chosen, intercept=intercept, alpha_max=cap)


def strategic_regression(
    population: Population,
    loss: Loss | None = None,
    *,
    bound: float = 20.0,
    intercept: float | None = None,
) -> tuple[Vector, float]:
    """theta and intercept that minimise the mean loss at what people report.

    >>> import numpy as np
    >>> people = Population([[1.0], [2.0], [-1.0], [0.5]], [1, 1, -1, -1])
    >>> theta, _ = strategic_regression(people)
    >>> bool(theta[0] > 0)
    True
    """
    problem = strategic_problem(population, loss, bound=bound, intercept=intercept)
    problem.require_model("strategic_regression")
    x = minimum(problem).v
    theta, _ = problem.split(x)
    warn_of_cap(float(np.linalg.norm(theta)), bound, "bound")
    return theta, problem.offset(x)


def plain_regression(
    population: Population,
    loss: Loss | None = None,
    *,
    bound: float = 20.0,
    intercept: float | None = None,
) -> tuple[Vector, float]:
    """The same as if nobody moved."""
    still = Population(population.X, population.y, weights=population.weights)
    return strategic_regression(still, loss, bound=bound, intercept=intercept)
