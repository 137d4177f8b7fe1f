"""A classifier's problem and its exact solution, for a response that is known."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Real

import numpy as np

from gameproof.core.arguments import as_positive
from gameproof.core.errors import CapWarning, warn
from gameproof.minmax.problem import Saddle
from gameproof.strategic.losses.logistic_loss import Logistic
from gameproof.strategic.population import Population
from gameproof.strategic.robust_objective import NOTHING
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.saddle_point import saddle_point

# A solution beyond this part of the bound counts as touching it.
NEARLY = 0.999
# A smaller loss counts as 0.
NO_LOSS = 1e-6
# The largest cap on alpha; a larger one would lose digits.
LARGEST_CAP = 1e4


def pose_problem(
    people: Population, ball: tuple[float, float], bound: float, intercept: bool
) -> StrategicProblem:
    """The strategic problem of a classifier; the optimum does not reach its cap on alpha."""
    radius, label_cost = ball
    loss = Logistic()
    cap = (loss.K + loss.s) * as_positive("bound", bound)
    if isinstance(radius, Real) and radius > 0:
        # The value is alpha radius plus a term that is not negative. At the optimum, alpha is
        # therefore at most the value of theta = 0 divided by the radius.
        cap = max(cap, min(1.1 * float(loss.phi(np.zeros(1))[0]) / float(radius), LARGEST_CAP))
    return StrategicProblem(
        people, radius, label_cost, loss, alpha_max=cap, intercept=cap if intercept else None
    )


def solve_exactly(problem: StrategicProblem, bound: float) -> Saddle:
    """The certified saddle point."""
    if not problem.has_duality_gap:
        raise TypeError(
            "the response of these people is not known, so they must be queried; give a solver "
            "such as solver=gp.ogda_rr(gradient=gp.TwoPoint()) and a limit such as queries=5000"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CapWarning)  # `_warn_at_bound` names the parameter
        saddle = saddle_point(problem)
    _warn_at_bound(problem, saddle, bound)
    return ignore_data(problem, saddle) if problem.ignores_data(saddle.x) else saddle


def ignore_data(problem: StrategicProblem, saddle: Saddle) -> Saddle:
    """The saddle point with theta = 0 exactly, for a solution that is 0 up to rounding.

    Such a classifier makes the same decision about everyone. If the best intercept is 0 too, the
    adversary makes both decisions equally bad, and a tiny intercept decides for the majority.
    """
    _, alpha = problem.split(saddle.x)
    offset, people = problem.offset(saddle.x), problem.population
    if abs(offset) < NOTHING:
        offset = NOTHING * float(np.sign(people.weights @ people.y))
    given = offset if problem.intercept is not None else 0.0
    x = problem.x_set.project(problem.join(np.zeros(people.d), alpha, given))
    value = problem.robust_value(x)
    gap = saddle.duality_gap + max(0.0, value - saddle.value)
    return replace(saddle, x=x, value=value, duality_gap=gap)


def _warn_at_bound(problem: StrategicProblem, saddle: Saddle, bound: float) -> None:
    theta, alpha = problem.split(saddle.x)
    reached = [(problem.loss.K + problem.loss.s) * float(np.linalg.norm(theta))]
    reached.append(abs(problem.offset(saddle.x)))
    if problem.radius > 0:
        reached.append(alpha)
    # On separable data the loss vanishes long before theta reaches the bound.
    separable = problem.radius == 0 and saddle.value < NO_LOSS
    if separable or max(reached) >= NEARLY * problem.alpha_max:
        warn(
            f"only the bound of {bound:g} keeps the classifier finite: the classes are separable, "
            "or features are far from unit size; a larger radius keeps it finite as well, or give "
            "a larger bound",
            CapWarning,
        )
