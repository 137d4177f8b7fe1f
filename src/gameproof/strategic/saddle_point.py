"""Certified saddle points of problems with a known response, by three methods."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Vector, as_positive, shown
from gameproof.core.errors import CapWarning, IgnoresDataWarning, warn
from gameproof.minmax.saddle import Saddle
from gameproof.strategic.conic import conic_minimum
from gameproof.strategic.descent_ascent import descend_ascend
from gameproof.strategic.newton.minimum import certified_gap, certified_minimum, rough_minimum
from gameproof.strategic.newton.zeros import SMALL, TARGET, with_zeros
from gameproof.strategic.robust_parameters import RobustParameters
from gameproof.strategic.robust_problem import StrategicProblem

# The relative error of sums, about; see `newton.certificate`.
ROUNDING = 1e-14
# The part of the squared relative precision of a radius to which values are computed.
SMALL_GAIN = 1e-4
Method = Literal["newton", "conic", "gda"]
# What each method promises of the duality gap; a larger one is worth a warning.
CERTIFIED = {"newton": 1e-8, "conic": 1e-6, "gda": 1e-6}


def saddle_point(
    problem: StrategicProblem, method: Method = "newton", *, start: ArrayLike | None = None
) -> Saddle:
    """Computes the saddle point of a problem, with a certificate.

    The certificate is the duality gap: with every method, `value` is within that gap of the true
    value. A warning is issued if the gap exceeds 1e-6 (1e-8 for "newton"), if a bound binds, or if
    the best classifier ignores the data.

    Parameters
    ----------
    problem : StrategicProblem
        A problem whose response is in closed form.
    method : {"newton", "conic", "gda"}, default="newton"
        "newton": an interior-point method, to a gap near 1e-11, and x to rounding if it is unique;
        for up to millions of agents. "conic": the solver Clarabel through cvxpy, as an independent
        check; it needs ``pip install 'gameproof[conic]'``. "gda": gradient descent-ascent with full
        gradients, as in the paper, and proximal steps if scores have kinks; to a gap of 1e-6 if it
        converges in time.
    start : array-like, optional
        A point x near the solution, such as the solution of a similar problem. With many agents,
        "newton" begins there, which takes fewer steps; the other methods ignore it.

    Returns
    -------
    Saddle
        The point x = (theta, alpha) and y = gamma, the value and the duality gap.

    Raises
    ------
    TypeError
        If `problem` is not a `StrategicProblem`, or its response is not in closed form.
    ValueError
        If `method` is unknown.
    ImportError
        If the conic solver is not installed.

    Examples
    --------
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
    ways: dict[str, Any] = {"newton": partial(_newton, start=start), "conic": _conic, "gda": _gda}
    if method not in ways:
        raise ValueError(f"method must be one of {', '.join(ways)}, got {method!r}")
    problem.require_model("saddle_point")
    saddle: Saddle = ways[method](problem)
    certified = saddle.duality_gap <= CERTIFIED[method] * max(1.0, abs(saddle.value))
    if not certified:
        warn_of_open_gap(problem, saddle, method)
    theta, alpha = problem.split(saddle.x)
    free = np.abs(theta[np.isinf(problem.feature_cost)]).max(initial=0.0)
    if problem.radius > 0:
        steepness = problem.loss.K + problem.loss.s
        warn_of_cap(max(alpha, steepness * float(free)), problem.alpha_max, "alpha_max")
    if certified and problem.ignores_data(saddle.x):
        warn_of_no_use(problem)
    return saddle


def warn_of_open_gap(problem: RobustParameters[Any], saddle: Saddle, method: Method) -> None:
    """Warns that the duality gap is larger than the method promises."""
    advice = 'method="newton" may come closer'
    if method == "newton":
        advice = "features of about unit size may help, or a smaller alpha_max"
    alpha = problem.split(saddle.x)[1]
    if ROUNDING * float(problem.data.kappa) * alpha > saddle.duality_gap / 10:
        advice = (
            f"rounding at the scale of label_cost = {problem.label_cost:g} causes the rest; "
            "give label_cost=inf if labels are fixed"
        )
    warn(
        f"the saddle point is certified to {saddle.duality_gap:.1e} only: its value is within "
        f"this gap of the true one; {advice}",
    )


HOW_TO_FIND_ONE = ": select_radius compares several, and largest_useful_radius finds the largest"


def warn_of_no_use(problem: RobustParameters[Any]) -> None:
    """Warns that the best classifier ignores the data. The radius that would help is computed on
    request, because it takes a dozen solutions."""
    reason = f"the radius {problem.radius:g} is so large that the best"
    advice = f"a smaller radius may give a useful one{HOW_TO_FIND_ONE}"
    if problem.radius <= problem.least_radius:
        reason = "the best"
        advice = (
            "no smaller radius helps: labels are too cheap, people move too easily, or the "
            "features carry too little information or are too small"
        )
    warn(
        f"{reason} robust classifier ignores the data (theta is 0 or has no effect); {advice}",
        IgnoresDataWarning,
    )


def largest_useful_radius(problem: StrategicProblem, precision: float = 1e-3) -> float:
    """The largest radius at which the best robust classifier still uses the data.

    At theta = 0 the adversary gains nothing, and elsewhere it gains more the larger the radius is.
    So if theta = 0 is optimal, it is optimal for every larger radius, and bisection finds the
    threshold.

    Parameters
    ----------
    problem : StrategicProblem
        A problem whose response is in closed form. Its radius only sets where the search begins.
    precision : float, default=1e-3
        The relative precision; positive.

    Returns
    -------
    float
        The radius. If theta = 0 is optimal for every radius, the smallest radius at which the
        problem is bounded.

    Raises
    ------
    TypeError
        If the response is not in closed form.
    ValueError
        If `precision` is not positive and finite.

    Examples
    --------
    >>> import gameproof as gp
    >>> people = gp.Population([[1.0], [2.0], [-1.0], [0.5]], [1, 1, -1, -1])
    >>> round(largest_useful_radius(gp.StrategicProblem(people, radius=0.1)), 2)
    0.44
    """
    # If no label flips, theta = 0 is optimal from |gradient at theta = 0| / (K + s) on. With flips,
    # the threshold is a problem as large as the saddle point; and if the degree is high, theta has
    # no effect long before it is 0. So the solution is examined, not the threshold computed.
    problem.require_model("largest_useful_radius")
    # Bisection cannot separate neighbouring floats.
    precision = max(as_positive("precision", precision), float(np.finfo(np.float64).eps))
    low, high = problem.least_radius, max(2 * problem.radius, problem.least_radius + 1.0)
    # Below the threshold, the value gains about the square of the relative distance to it.
    target = max(TARGET, SMALL_GAIN * precision**2)
    useful = rough_minimum(problem.at_radius(low), None, target)[0]
    if problem.ignores_data(useful):
        return low

    def ignored(radius: float) -> bool:
        nonlocal useful
        x = rough_minimum(problem.at_radius(radius), useful, target)[0]
        ignores = problem.ignores_data(x)
        useful = useful if ignores else x
        return ignores

    while not ignored(high):
        low, high = high, 2 * high
    while high - low > precision * high:
        middle = (low + high) / 2
        low, high = (low, middle) if ignored(middle) else (middle, high)
    return low


def _newton(problem: StrategicProblem, start: ArrayLike | None = None) -> Saddle:
    near = None if start is None else problem.x_set.project(problem.as_x(start))
    x, gamma, certificate = certified_minimum(problem, near)
    return Saddle(x, gamma, certificate.value, certificate.gap)


def _conic(problem: StrategicProblem) -> Saddle:
    _, x, gamma = conic_minimum(problem)
    return _certified(problem, x, gamma, problem.duality_gap(x, gamma))


def _gda(problem: StrategicProblem) -> Saddle:
    return _certified(problem, *descend_ascend(problem, CERTIFIED["gda"]))


def _certified(problem: StrategicProblem, x: Vector, gamma: Vector, gap: float) -> Saddle:
    """The saddle point with negligible coefficients set to 0, and its gap there."""
    value = problem.robust_value(x)
    settled = with_zeros(problem, x, value - gap, value, SMALL, problem.robust_value)
    certificate = certified_gap(problem, settled, gamma)
    return Saddle(settled, gamma, certificate.value, certificate.gap)


def warn_of_cap(reached: float, cap: float, name: str) -> None:
    """Warns if a technical bound keeps the classifier from being better."""
    if reached >= (1 - 1e-4) * cap:
        warn(
            f"{name} = {cap:g} binds, so that a larger classifier would do better: bring the "
            f"features to about unit size, or give a larger {name}",
            CapWarning,
        )
