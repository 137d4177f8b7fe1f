"""Rounding errors of scores, and a ROC curve that ignores them.

A score is a sum of d products and an intercept. In floating point it is accurate to about
(d + 1) eps times the sum of the absolute values of its terms. A score closer to 0 than that counts
as 0, and scores closer to each other than that count as equal: rounding decides nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.ranking import Ranking
from gameproof.core.arguments import Matrix, Vector


def rounding_errors(X: Matrix, theta: Vector, intercept: float) -> Vector:
    """A bound on the rounding error of each score."""
    size: Vector = np.abs(X) @ np.abs(theta) + abs(intercept)
    return 4 * (theta.size + 1) * np.finfo(np.float64).eps * size


def without_rounding(scores: Vector, error: Vector) -> Vector:
    """Scores with 0 in place of those that may be 0 up to rounding.

    >>> without_rounding(np.array([1e-17, -2.0]), np.array([1e-15, 1e-15]))
    array([ 0., -2.])
    """
    found: Vector = np.where(np.abs(scores) <= error, 0.0, scores)
    return found


def tie_groups(scores: Vector, error: Vector) -> NDArray[np.int64]:
    """Ranks from 0 on, equal for scores that differ by rounding only.

    >>> tie_groups(np.array([0.3, 1.0, 0.1 + 0.2]), np.full(3, 1e-15))
    array([0, 1, 0])
    """
    order = np.argsort(scores, kind="stable")
    z, slack = scores[order], error[order]
    ranks = np.empty(scores.size, dtype=np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum(np.diff(z) > slack[1:] + slack[:-1])])
    return ranks


def area_under_curve(scores: Vector, good: NDArray[np.bool_], error: Vector) -> float:
    """The area under the ROC curve; scores that differ by rounding only are ties.

    It is the share of pairs of a good and a bad applicant in which the good one has the larger
    score. Ties count half.

    >>> scores, good = np.array([0.3, 0.1 + 0.2, 1.0]), np.array([True, False, True])
    >>> area_under_curve(scores, good, np.full(3, 1e-15))
    0.75
    """
    return Ranking.of(tie_groups(scores, error), good).area()
