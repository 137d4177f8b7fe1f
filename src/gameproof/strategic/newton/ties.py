"""Chooses a classifier with small coefficients among those that are equally good.

If columns are linearly dependent (copies, or all levels of a category beside an intercept), some
directions change no score, and possibly not the worst-case risk: a large coefficient of a column
and a large negative one of its copy are as good as two small ones. From the classifier
found, the one with the smallest |theta / cost| among those with the same scores is approached as
far as the value stays.
"""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.strategic.robust_objective import RobustObjective

# Rows that are examined first, and the relative size below which an eigenvalue counts as 0.
SAMPLE, NOTHING = 5000, 1e-12
HALVINGS, ROUNDING = 40, 1e-15


def without_ties(problem: RobustObjective, x: Vector) -> Vector:
    """x, or a point with smaller coefficients and the same value but for rounding: a wider margin
    would lead past the end of a tie."""
    still = _directions(problem)
    if not still.size:
        return x
    start = 0 if problem.intercept is None else 1
    cost = np.where(np.isinf(problem.feature_cost), 1.0, problem.feature_cost)
    theta = x[start:-1] / cost
    by = np.linalg.lstsq(still[start:] / cost[:, None], theta, rcond=None)[0]
    change: Vector = np.append(-still @ by, 0.0)
    value = problem.robust_value(x)
    allowed = value + ROUNDING * max(1.0, abs(value))

    def moved(share: float) -> Vector:
        return problem.x_set.project(x + share * change)

    def good(share: float) -> bool:
        return problem.robust_value(moved(share)) <= allowed

    if good(1.0):
        return moved(1.0)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if good(middle) else (low, middle)
    return moved(low)


def _directions(problem: RobustObjective) -> Matrix:
    """Changes of intercept and theta that change no score, one per column; usually none."""
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
