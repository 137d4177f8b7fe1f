"""Certified saddle points of problems whose response is known."""

from __future__ import annotations

import warnings

import numpy as np

from gameproof.arguments import Vector
from gameproof.errors import IgnoresDataWarning
from gameproof.problem.barrier import minimise
from gameproof.problem.convex_side import ConvexSide
from gameproof.problem.problem import Saddle
from gameproof.problem.strategic import StrategicProblem

# A duality gap above this is worth a warning.
CERTIFIED = 1e-6


def saddle_point(problem: StrategicProblem) -> Saddle:
    """The saddle point, by Newton's method along a central path, with the duality gap that
    certifies it: `value` is within that gap of the true one.

    >>> import gameproof as gp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> y = np.sign(X[:, 0] + 0.3 * rng.standard_normal(200))
    >>> people = gp.Population(X, y, gp.QuadraticCost(0.1))
    >>> saddle = gp.saddle_point(gp.StrategicProblem(people, radius=0.05, label_cost=0.5))
    >>> saddle.duality_gap < 1e-8
    True
    """
    problem.require_model("saddle_point")
    saddle = _solved(problem)
    if saddle.duality_gap > CERTIFIED:
        warnings.warn(
            f"the saddle point is certified to {saddle.duality_gap:.1e} only; its value is within "
            "that of the true one",
            stacklevel=2,
        )
    if _ignores_data(problem, saddle.x):
        useful = largest_useful_radius(problem)
        warnings.warn(
            f"the radius {problem.radius:g} is so large that the best robust classifier ignores "
            f"the data (theta = 0); radii below {useful:.3g} give a useful one",
            IgnoresDataWarning,
            stacklevel=2,
        )
    return saddle


def largest_useful_radius(problem: StrategicProblem, precision: float = 1e-3) -> float:
    """The radius up to which the best robust classifier looks at the data at all, by bisection.

    At theta = 0 the adversary has nothing to gain, and elsewhere the more, the larger the radius:
    so where theta = 0 is best, it is best for every larger radius.
    """
    problem.require_model("largest_useful_radius")
    low, high = problem.least_radius, max(2 * problem.radius, problem.least_radius + 1.0)
    while not _ignores_data(problem, _solved(problem.at_radius(high)).x):
        low, high = high, 2 * high
    while high - low > precision * high:
        middle = (low + high) / 2
        if _ignores_data(problem, _solved(problem.at_radius(middle)).x):
            high = middle
        else:
            low = middle
    return low


def _solved(problem: StrategicProblem) -> Saddle:
    found = minimise(ConvexSide(problem), problem.interior)
    value = problem.robust_value(found.v)
    return Saddle(found.v, found.gamma, value, value - found.lower)


def _ignores_data(problem: StrategicProblem, x: Vector) -> bool:
    return float(np.linalg.norm(problem.split(x)[0])) < 1e-6
