"""A classifier's problem and its exact solution, for a response that is known."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from numbers import Real
from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Vector, as_positive
from gameproof.core.errors import CapWarning, DataError, warn
from gameproof.minmax.saddle import Saddle
from gameproof.strategic.losses.logistic_loss import Logistic
from gameproof.strategic.newton.minimum import rough_minimum
from gameproof.strategic.population import Population
from gameproof.strategic.robust_objective import NOTHING
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.row_problem import RowProblem
from gameproof.strategic.saddle_point import saddle_point

# A solution beyond this part of the bound counts as touching it.
NEARLY = 0.999
# A smaller loss counts as 0.
NO_LOSS = 1e-6
# The largest cap on alpha; a larger one would lose digits.
LARGEST_CAP = 1e4
# The most columns of an exact fit, unless the environment variable says otherwise.
MAX_COLUMNS = 2000
VARIABLE = "GAMEPROOF_MAX_COLUMNS"
# The gap of solutions that are only compared with others.
ROUGH = 1e-8

AnyProblem = StrategicProblem | RowProblem


class ProblemOptions(NamedTuple):
    """What the problem of a classifier is made of, apart from people."""

    radius: float
    label_cost: float
    loss: Logistic
    alpha_max: float
    intercept: float | None


def problem_options(ball: tuple[float, float], bound: float, intercept: bool) -> ProblemOptions:
    """The options of a classifier's problem; the optimum does not reach its cap on alpha."""
    (radius, label_cost), loss = ball, Logistic()
    cap = (loss.K + loss.s) * as_positive("bound", bound)
    if isinstance(radius, Real) and radius > 0:
        # The value is alpha radius plus a term that is not negative. At the optimum, alpha is
        # therefore at most the value of theta = 0 divided by the radius.
        cap = max(cap, min(1.1 * float(loss.phi(np.zeros(1))[0]) / float(radius), LARGEST_CAP))
    return ProblemOptions(radius, label_cost, loss, cap, cap if intercept else None)


def pose_problem(people: Population, options: ProblemOptions) -> StrategicProblem:
    """The strategic problem of a classifier."""
    radius, label_cost, loss, cap, offset = options
    return StrategicProblem(people, radius, label_cost, loss, alpha_max=cap, intercept=offset)


def solve_exactly(problem: StrategicProblem, bound: float, start: Vector | None = None) -> Saddle:
    """The certified saddle point; the search begins at `start`, if that is given."""
    if not problem.has_duality_gap:
        raise TypeError(
            "the response of these people is not known, so they must be queried; give a solver "
            "such as solver=gp.ogda_rr(gradient=gp.TwoPoint()) and a limit such as queries=5000"
        )
    require_few_columns(problem.population.d)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CapWarning)  # `warn_at_bound` names the parameter
        saddle = saddle_point(problem, start=start)
    warn_at_bound(problem, saddle, bound)
    return ignore_data(problem, saddle) if problem.ignores_data(saddle.x) else saddle


def require_few_columns(d: int) -> None:
    """Raises if an exact fit to this many columns would seem to hang: its time grows with the cube
    of their number, and its memory with the square."""
    text = os.environ.get(VARIABLE) or str(MAX_COLUMNS)
    if not (text.isdecimal() and int(text) > 0):
        raise ValueError(
            f"the environment variable {VARIABLE} must be a number of columns, got {text!r}"
        )
    if d > int(text):
        raise DataError(
            f"the table has {d:,} columns after preparation, more than the limit of "
            f"{int(text):,} for an exact fit, whose time grows with the cube of their number; "
            "leave columns out (--drop), pool rare levels, reduce the columns first (SelectKBest, "
            f"PCA), or set the environment variable {VARIABLE} to a larger number"
        )


def solve_roughly(problem: StrategicProblem, start: Vector) -> Saddle:
    """A point within about 1e-8 of the minimum, from a start near it, without gamma: to compare
    settings."""
    x, value, gap = rough_minimum(problem, problem.x_set.project(start), ROUGH)
    saddle = Saddle(x, np.zeros(0), value, gap)
    return ignore_data(problem, saddle) if problem.ignores_data(x) else saddle


def ignore_data(problem: AnyProblem, saddle: Saddle) -> Saddle:
    """The saddle point with theta = 0 exactly, for a solution that is 0 up to rounding.

    Such a classifier makes the same decision about everyone. If the best intercept is 0 too, the
    adversary makes both decisions equally bad, and a tiny intercept decides for the majority.
    """
    _, alpha = problem.split(saddle.x)
    offset, people = problem.offset(saddle.x), problem.population
    if abs(offset) < NOTHING:
        offset = NOTHING * float(np.sign(2 * people.positive_share - 1))
    given = offset if problem.intercept is not None else 0.0
    x = problem.x_set.project(problem.join(np.zeros(people.d), alpha, given))
    value = problem.robust_value(x)
    gap = saddle.duality_gap + max(0.0, value - saddle.value)
    return replace(saddle, x=x, value=value, duality_gap=gap)


def warn_at_bound(problem: AnyProblem, saddle: Saddle, bound: float) -> None:
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
