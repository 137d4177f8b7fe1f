"""Certified saddle points of problems whose response is known, by three methods."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gameproof.core.arguments import Vector, as_positive, shown
from gameproof.core.errors import CapWarning, IgnoresDataWarning, warn
from gameproof.minmax.problem import Saddle
from gameproof.strategic.conic import conic_minimum
from gameproof.strategic.descent_ascent import descend_ascend
from gameproof.strategic.newton.minimum import minimum
from gameproof.strategic.newton.zeros import with_zeros
from gameproof.strategic.robust_problem import StrategicProblem

Method = Literal["newton", "conic", "gda"]
# What each method promises of the duality gap; a larger one is worth a warning.
CERTIFIED = {"newton": 1e-8, "conic": 1e-6, "gda": 1e-6}


def saddle_point(problem: StrategicProblem, method: Method = "newton") -> Saddle:
    """The saddle point, with the duality gap that certifies it: `value` is within that gap of the
    true one, whichever the method.

    method
        "newton": an interior-point method of our own, to a gap near 1e-11, and x to rounding where
        it is unique; for a million agents too. "conic": Clarabel through cvxpy, for a second
        opinion; it needs ``pip install 'gameproof[conic]'``. "gda": full gradient descent-ascent,
        the paper's own way to its reference, with proximal steps where scores have kinks; to a gap
        of 1e-6 where it can.

    A gap above 1e-8, or for the other two methods above 1e-6, comes with a warning.

    >>> import gameproof as gp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> y = np.sign(X[:, 0] + 0.3 * rng.standard_normal(200))
    >>> people = gp.Population(X, y, gp.QuadraticCost(0.1))
    >>> saddle = gp.saddle_point(gp.StrategicProblem(people, radius=0.05, label_cost=0.5))
    >>> saddle.duality_gap < 1e-8
    True
    """
    if not isinstance(problem, StrategicProblem):
        raise TypeError(f"saddle_point solves a StrategicProblem, got {shown(problem)}")
    ways = {"newton": _newton, "conic": _conic, "gda": _gda}
    if method not in ways:
        raise ValueError(f"method must be one of {', '.join(ways)}, got {method!r}")
    problem.require_model("saddle_point")
    saddle = ways[method](problem)
    certified = saddle.duality_gap <= CERTIFIED[method] * max(1.0, abs(saddle.value))
    if not certified:
        advice = 'method="newton" may come closer'
        if method == "newton":
            advice = "features of about unit size may help, or a smaller alpha_max"
        if problem.rounding(saddle.x) > saddle.duality_gap / 2:
            advice = (
                f"rounding of numbers as large as label_cost = {problem.label_cost:g} takes the "
                "rest; give label_cost=inf for labels that stay"
            )
        warn(
            f"the saddle point is certified to {saddle.duality_gap:.1e} only: its value is within "
            f"that of the true one; {advice}",
        )
    theta, alpha = problem.split(saddle.x)
    free = np.abs(theta[np.isinf(problem.feature_cost)]).max(initial=0.0)
    if problem.radius > 0:
        steepness = problem.loss.K + problem.loss.s
        warn_of_cap(max(alpha, steepness * float(free)), problem.alpha_max, "alpha_max")
    if certified and problem.ignores_data(saddle.x):
        useful = largest_useful_radius(problem)
        reason = f"the radius {problem.radius:g} is so large that the best"
        advice = f"radii below {useful:.3g} give a useful one"
        if useful <= problem.least_radius:
            reason = "the best"
            advice = (
                "no smaller radius helps: labels are too cheap, people move too easily, or the "
                "features tell too little or are too small"
            )
        warn(
            f"{reason} robust classifier ignores the data (theta is 0 or counts for nothing); "
            f"{advice}",
            IgnoresDataWarning,
        )
    return saddle


def largest_useful_radius(problem: StrategicProblem, precision: float = 1e-3) -> float:
    """The radius up to which the best robust classifier looks at the data at all, by bisection.

    At theta = 0 the adversary has nothing to gain, and elsewhere the more, the larger the radius:
    so where theta = 0 is best, it is best for every larger radius. Where it is best for all, the
    smallest radius is returned. `precision` is relative.
    """
    # Where no label flips, theta = 0 is best from |gradient at theta = 0| / (K + s) on. Flips make
    # that a problem as large as the saddle point, and where people's degree is high, theta counts
    # for nothing long before it is 0: it is looked at, not computed.
    problem.require_model("largest_useful_radius")
    # Neighbouring floats have nothing between them.
    precision = max(as_positive("precision", precision), float(np.finfo(np.float64).eps))
    low, high = problem.least_radius, max(2 * problem.radius, problem.least_radius + 1.0)
    if problem.ignores_data(_newton(problem.at_radius(low)).x):
        return low
    while not problem.ignores_data(_newton(problem.at_radius(high)).x):
        low, high = high, 2 * high
    while high - low > precision * high:
        middle = (low + high) / 2
        if problem.ignores_data(_newton(problem.at_radius(middle)).x):
            high = middle
        else:
            low = middle
    return low


def _newton(problem: StrategicProblem) -> Saddle:
    found = minimum(problem)
    value = problem.robust_value(found.v)
    return Saddle(found.v, found.gamma, value, value - found.lower + problem.rounding(found.v))


def _conic(problem: StrategicProblem) -> Saddle:
    _, x, gamma = conic_minimum(problem)
    return _certified(problem, x, gamma, problem.duality_gap(x, gamma))


def _gda(problem: StrategicProblem) -> Saddle:
    return _certified(problem, *descend_ascend(problem, CERTIFIED["gda"]))


def _certified(problem: StrategicProblem, x: Vector, gamma: Vector, gap: float) -> Saddle:
    """A saddle point with zeros for coefficients that are 0 but for rounding, and its gap there."""
    value = problem.robust_value(x)
    settled = with_zeros(problem, x, value - gap, value)
    there = problem.robust_value(settled)
    return Saddle(settled, gamma, there, gap + there - value)


def warn_of_cap(reached: float, cap: float, name: str) -> None:
    """Warns where a bound that is there to have one keeps the answer from being better."""
    if reached >= (1 - 1e-4) * cap:
        warn(
            f"{name} = {cap:g} binds, so that a larger classifier would do better: bring the "
            f"features to about unit size, or give a larger {name}",
            CapWarning,
        )
