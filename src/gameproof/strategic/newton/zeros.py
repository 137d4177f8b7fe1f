"""Sets coefficients to exactly 0 that are 0 at the optimum.

An interior-point method ends at about 1e-12 if the best coefficient is 0: for a movable feature
that the classifier ignores, or for all features if the radius is large. Such a coefficient is set
to 0 if the certificate allows it: the value is computed again at the new point, and may
exceed the bound from below by no more than the gap that the method aims at, or has left open.
Where the point is accurate to rounding, `small` says so: what is larger than rounding stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.strategic.robust_parameters import RobustParameters

# The gap at which a minimisation ends, relative to max(1, |value|).
TARGET = 1e-11
# Coefficients that add less than SMALL to scores may be 0. If not all of them can be, the threshold
# is lowered by the factor SMALLER, up to TRIES times.
SMALL, SMALLER, TRIES = 1e-4, 0.1, 12
# Coefficients that add less than RESIDUE are rounding, and set to 0 if the gap stays below WIDER.
RESIDUE, WIDER = 1e-9, 1e-9


def with_zeros(
    problem: RobustParameters[Any],
    x: Vector,
    lower: float,
    upper: float,
    small: float,
    value: Callable[[Vector], float],
) -> Vector:
    """x with 0 in place of as many small numbers as the value, between these bounds, allows."""
    allowed = max(upper, lower + TARGET * max(1.0, abs(upper)))
    sizes = np.abs(x) * _scales(problem)
    threshold = min(small, 2 * float(sizes[sizes < small].max(initial=0.0)))
    for _ in range(TRIES):
        tried = np.where(sizes < threshold, 0.0, x)
        if np.array_equal(tried, x):
            break
        tried[-1] = _alpha(problem, tried, x[-1])
        if value(tried) <= allowed:
            return tried
        threshold *= SMALLER
    return _without_residue(problem, x, sizes, lower, upper, value)


def _without_residue(
    problem: RobustParameters[Any],
    x: Vector,
    sizes: Vector,
    lower: float,
    upper: float,
    value: Callable[[Vector], float],
) -> Vector:
    """x with numbers that are only rounding set to 0, even if that widens the gap a little."""
    tried = np.where(sizes < RESIDUE, 0.0, x)
    if np.array_equal(tried, x):
        return x
    tried[-1] = _alpha(problem, tried, x[-1])
    allowed = lower + WIDER * max(1.0, abs(upper))
    return tried if value(tried) <= allowed else x


def _scales(problem: RobustParameters[Any]) -> Vector:
    """How much a unit of each coordinate of x can add to a score."""
    largest = problem.population.largest_by_feature
    return problem.join(np.maximum(largest, np.finfo(float).tiny), 1.0, 1.0)


def _alpha(problem: RobustParameters[Any], x: Vector, before: float) -> float:
    """alpha as before; or, if it was set to 0, the smallest alpha for this theta."""
    if x[-1] != 0:
        return before
    theta, _ = problem.split(x)
    return problem.least_alpha(theta)
