"""Of classifiers that are equally good, one with small coefficients.

Where columns say the same, as copies do, or the levels of a category beside an intercept, scores
stay as they are along some directions, and so may the worst-case risk: then a large coefficient of
one column and a large negative one of its copy are as good as two small ones. From the classifier
found, the one with the smallest |theta / cost| among those with the same scores is approached as
far as the value allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.strategic.newton.zeros import allowed_value

if TYPE_CHECKING:
    from gameproof.strategic.robust_problem import StrategicProblem

# Rows that are looked at first, and the part of a column's size that counts for nothing.
SAMPLE, NOTHING = 5000, 1e-12
HALVINGS = 40
EPS = float(np.finfo(np.float64).eps)


def without_ties(problem: StrategicProblem, x: Vector, lower: float, upper: float) -> Vector:
    """x, or a point with smaller coefficients whose value is as good, between these bounds."""
    still = _directions(problem)
    if not still.size:
        return x
    start = 0 if problem.intercept is None else 1
    cost = np.where(np.isinf(problem.feature_cost), 1.0, problem.feature_cost)
    theta = x[start:-1] / cost
    by = np.linalg.lstsq(still[start:] / cost[:, None], theta, rcond=None)[0]
    change: Vector = np.append(-still @ by, 0.0)

    def moved(share: float) -> Vector:
        return problem.x_set.project(x + share * change)

    def good(share: float, most: float) -> bool:
        return problem.robust_value(moved(share)) <= most

    if good(1.0, allowed_value(lower, upper)):
        return moved(1.0)
    # Part of the way, nothing but rounding is allowed: near its minimum the value is so flat that
    # the whole tolerance would be spent on coefficients that are less accurate than those of x.
    most = problem.robust_value(x) + 64 * EPS * max(1.0, abs(upper))
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if good(middle, most) else (low, middle)
    return moved(low)


def _directions(problem: StrategicProblem) -> Matrix:
    """Changes of intercept and theta that change no score, a column each; none in most problems."""
    people = problem.population
    sizes = np.maximum(people.largest_by_feature, np.finfo(float).tiny)
    head = np.ones((min(SAMPLE, people.n), 0 if problem.intercept is None else 1))
    rows = np.hstack([head, people.X[:SAMPLE] / sizes])
    values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    scale = np.append(np.ones(head.shape[1]), 1 / sizes)
    found: Matrix = scale[:, None] * vectors[:, values < NOTHING * max(float(values[-1]), 1e-300)]
    if not found.size:
        return found
    offset = found[: head.shape[1]].sum(axis=0)
    most = np.abs(people.X @ found[head.shape[1] :] + offset).max(axis=0)
    return found[:, most <= np.sqrt(NOTHING)]
