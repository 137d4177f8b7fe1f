"""The adversary's ball and its best label flips, and checks that `worst_case` and `estimate_risk`
share."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Vector, as_numbers, require_finite
from gameproof.strategic.robust_parameters import RobustParameters
from gameproof.strategic.robust_problem import StrategicProblem

EPS = float(np.finfo(np.float64).eps)


def ball_radius(problem: RobustParameters[Any]) -> float:
    """The radius of the adversary's ball. The printed form's radius is converted to the exact
    form's."""
    if np.isinf(problem.radius):
        raise ValueError("an infinite radius has no worst case; give the problem a finite one")
    radius: float = problem.radius
    if problem.form == "exact":
        return radius
    negative = 1 - problem.population.positive_share
    return max(0.0, radius - float(problem.label_cost) * float(negative))


def affordable_flips(problem: RobustParameters[Any], radius: float) -> float:
    """The weight of the agents whose labels the adversary can flip if it spends nothing else.

    A margin keeps rounding from leaving a tiny share of an agent."""
    kappa = float(problem.label_cost)
    return inf if kappa == 0 else problem.n * radius / (2 * kappa) * (1 + 8 * EPS)


def best_flips(
    problem: StrategicProblem, pull: Vector, rate: float, radius: float
) -> tuple[Vector, float, float]:
    """The share of each agent whose label flips, the budget left after that, and alpha.

    `pull` is s y z. A unit of budget that is spent on distance gains `rate`. The cost and the gain
    of an agent's flip are proportional to its weight."""
    share, kappa, n = np.zeros(problem.n), problem.label_cost, problem.n
    can_flip = problem.has_gamma
    if not can_flip.any():
        return share, radius, rate
    worthwhile = np.flatnonzero(can_flip & (pull > 0) & (pull >= rate * kappa))
    order = worthwhile[np.argsort(-pull[worthwhile], kind="stable")]
    affordable = affordable_flips(problem, radius)
    weights = problem.population.weights[order]
    spent = np.cumsum(weights)
    whole = int(np.searchsorted(spent, affordable, side="right"))
    if whole == order.size:
        share[order] = 1.0
        return share, max(0.0, radius - 2 * kappa * float(spent[-1:].sum()) / n), rate
    share[order[:whole]] = 1.0
    part = (affordable - (spent[whole - 1] if whole else 0.0)) / weights[whole]
    share[order[whole]] = part if part > 16 * EPS * affordable else 0.0
    return share, 0.0, max(rate, float(pull[order[whole]]) / kappa)


def as_theta(problem: StrategicProblem, theta: ArrayLike) -> Vector:
    """A finite vector with one number per feature; raises for anything else."""
    vector = as_numbers("theta", theta, "a vector")
    if vector.shape != (problem.population.d,):
        raise ValueError(
            f"theta has shape {vector.shape}, the population {problem.population.d} features; "
            "problem.split(x) extracts theta from a point x"
        )
    require_finite("theta", vector)
    return vector


def as_intercept(problem: StrategicProblem, value: float | None) -> float:
    """A finite number, 0 if none is given; raises if the problem has an intercept and none is
    given."""
    if value is None:
        if problem.intercept is not None:
            raise ValueError("the problem has an intercept: pass it, for example problem.offset(x)")
        return 0.0
    number = as_numbers("intercept", value, "a number")
    if number.shape != ():
        raise ValueError(f"intercept must be one number, got shape {number.shape}")
    if not np.isfinite(number):
        raise ValueError(f"intercept must be finite, got {value}")
    return float(number)
