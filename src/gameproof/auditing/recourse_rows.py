"""Rows on burden and recourse: the multiple of their budgets that refused applicants need."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.intervals import share_interval
from gameproof.auditing.metric_rows import group_masks
from gameproof.auditing.people_groups import fewest_of
from gameproof.auditing.row_types import Hurt
from gameproof.auditing.score_rounding import without_rounding
from gameproof.auditing.scored_applicants import ScoredApplicants
from gameproof.core.arguments import Vector

# Applicants who need more than this multiple of their budgets are reported as out of reach.
MOST = 100.0
# Bisection steps below MOST: they find multiples to 1e-13.
HALVINGS = 50
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def needed_multiples(case: ScoredApplicants) -> Vector:
    """The multiple of their budgets that each applicant needs to be accepted.

    The multiple is 0 for accepted applicants and infinite beyond `MOST`. Gains never fall as the
    multiple grows, so bisection finds the smallest one that is enough. A score counts as positive
    where it exceeds its rounding error, as in every other row, so that a multiple that lifts a
    score to exactly 0 is treated the same at every scale of the model.
    """
    found = np.where(case.scores > 0, 0.0, inf)
    refused = case.scores <= 0
    if not (refused.any() and case.people.columns):
        return found
    z, error = case.scores[refused], 2 * case.rounding[refused]

    def enough(multiples: Vector) -> NDArray[np.bool_]:
        gains = case.people.own_gains(case.coefficients, multiples, refused)
        return without_rounding(z + gains, error) > 0

    low, high = np.zeros(z.size), np.full(z.size, MOST)
    reached = enough(high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        accepts = enough(middle)
        low, high = np.where(accepts, low, middle), np.where(accepts, middle, high)
    found[refused] = np.where(reached, high, inf)
    return found


def recourse_rows(case: ScoredApplicants, groups: NDArray[np.str_] | None = None) -> list[Hurt]:
    """One row per label, for all applicants and for each group."""
    multiples = needed_multiples(case)
    by_one = case.gained(case.gains(1.0)) > 0
    rows = []
    for name, chosen in group_masks(groups):
        inside = np.zeros(case.y.size, dtype=bool)
        inside[chosen] = True
        for label in (1, -1):
            own = inside & (case.y == label)
            refused = own & (case.scores <= 0)
            n, k, fewest = int(own.sum()), int(refused.sum()), fewest_of(name)
            if not n:
                continue
            share = k / n if n >= fewest else None
            needs: list[Any] = [None] * 8
            if k >= fewest:
                # Quantiles are values of applicants: infinite multiples cannot be interpolated.
                quantiles = np.quantile(multiples[refused], QUANTILES, method="inverted_cdf")
                known = [float(q) if np.isfinite(q) else None for q in quantiles]
                reached = int(by_one[refused].sum())
                needs = [reached / k, *share_interval(reached, k), *known]
            rows.append(Hurt(case.name, name, label, n, share, *needs))
    return rows
