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
from gameproof.rows.row_blocks import Rows
from gameproof.strategic.newton.convex_objective import ConvexObjective

# Rows that are examined first, and the relative size below which an eigenvalue counts as 0.
SAMPLE, NOTHING = 5000, 1e-12
HALVINGS, ROUNDING = 40, 1e-15


def without_ties(objective: ConvexObjective, x: Vector) -> Vector:
    """x, or a point with smaller coefficients and the same value but for rounding: a wider margin
    would lead past the end of a tie."""
    problem, still = objective.problem, _directions(objective)
    if not still.size:
        return x
    start = 0 if problem.intercept is None else 1
    cost = np.where(np.isinf(problem.feature_cost), 1.0, problem.feature_cost)
    theta = x[start:-1] / cost
    by = np.linalg.lstsq(still[start:] / cost[:, None], theta, rcond=None)[0]
    change: Vector = np.append(-still @ by, 0.0)
    value = objective.robust_value(x)
    allowed = value + ROUNDING * max(1.0, abs(value))

    def moved(share: float) -> Vector:
        return problem.x_set.project(x + share * change)

    def good(share: float) -> bool:
        return objective.robust_value(moved(share)) <= allowed

    if good(1.0):
        return moved(1.0)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if good(middle) else (low, middle)
    return moved(low)


def _directions(objective: ConvexObjective) -> Matrix:
    """Changes of intercept and theta that change no score, one per column; usually none."""
    problem, rows = objective.problem, objective.rows
    sizes = np.maximum(problem.population.largest_by_feature, np.finfo(float).tiny)
    number = min(SAMPLE, rows.n)
    head = np.ones((number, 0 if problem.intercept is None else 1))
    # The first rows of a file may be similar, so the examined rows are spread over all.
    places = np.unique(np.linspace(0, rows.n - 1, number).astype(np.int64))
    table = np.hstack([head[: places.size], rows.take(places).X / sizes])
    gram, scale = table.T @ table / len(table), np.append(np.ones(head.shape[1]), 1 / sizes)
    if _is_positive_definite(gram - NOTHING * np.trace(gram) * np.eye(len(gram))):
        return np.empty((len(gram), 0))
    values, vectors = np.linalg.eigh(gram)
    found: Matrix = scale[:, None] * vectors[:, values < NOTHING * max(float(values[-1]), 1e-300)]
    if not found.size:
        return found
    offset = found[: head.shape[1]].sum(axis=0)
    most = np.max(list(rows.map(_largest_change, found[head.shape[1] :], offset)), axis=0)
    return found[:, most <= np.sqrt(NOTHING)]


def _is_positive_definite(matrix: Matrix) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def _largest_change(rows: Rows, directions: Matrix, offset: Vector) -> Vector:
    """The largest change of a score of these rows along each direction."""
    found: Vector = np.abs(rows.X @ directions + offset).max(axis=0)
    return found
