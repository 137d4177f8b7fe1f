"""Coefficients that are 0 at the optimum, as 0.

A method that stays inside the set ends at 1e-12 where the best coefficient is 0: of a feature that
people can move and the classifier does without, of all features where the radius is large. Such a
coefficient is set to 0 where the certificate allows it: the value is computed again there, and may
exceed the bound from below by no more than the gap that the method aims at, or has left open.
Where the point is accurate to rounding, `small` says so: what is larger than rounding stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gameproof.core.arguments import Vector

if TYPE_CHECKING:
    from gameproof.strategic.robust_problem import StrategicProblem

# The gap at which a minimisation ends, in units of the value where that exceeds 1.
TARGET = 1e-11
# What adds less than this to scores may be 0; where not all of it is, ever less is tried.
SMALL, SMALLER, TRIES = 1e-4, 0.1, 12
# What adds less than this is rounding, and 0 where that leaves the gap below the second number.
RESIDUE, WIDER = 1e-9, 1e-9


def with_zeros(
    problem: StrategicProblem, x: Vector, lower: float, upper: float, small: float = SMALL
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
        if problem.robust_value(tried) <= allowed:
            return tried
        threshold *= SMALLER
    return _without_residue(problem, x, sizes, lower, upper)


def _without_residue(
    problem: StrategicProblem, x: Vector, sizes: Vector, lower: float, upper: float
) -> Vector:
    """x without numbers that are rounding and nothing else, at the price of a wider gap."""
    tried = np.where(sizes < RESIDUE, 0.0, x)
    if np.array_equal(tried, x):
        return x
    tried[-1] = _alpha(problem, tried, x[-1])
    allowed = lower + WIDER * max(1.0, abs(upper))
    return tried if problem.robust_value(tried) <= allowed else x


def _scales(problem: StrategicProblem) -> Vector:
    """What a unit of each number adds to scores: features count by their largest."""
    largest = problem.population.largest_by_feature
    return problem.join(np.maximum(largest, np.finfo(float).tiny), 1.0, 1.0)


def _alpha(problem: StrategicProblem, x: Vector, before: float) -> float:
    """The least alpha for this theta where that one was small as well, else the one before."""
    if x[-1] != 0:
        return before
    theta, _ = problem.split(x)
    return (problem.loss.K + problem.loss.s) * problem.dual_length(theta)
