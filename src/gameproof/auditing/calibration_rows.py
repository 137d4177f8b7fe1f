"""Rows on calibration: do the predicted probabilities come true?"""

from __future__ import annotations

import numpy as np

from gameproof.auditing.intervals import share_interval
from gameproof.auditing.metric_types import CalibrationBin
from gameproof.auditing.score_rounding import tie_groups
from gameproof.auditing.scored_applicants import ScoredApplicants

BINS = 10


def calibration_rows(case: ScoredApplicants) -> list[CalibrationBin]:
    """Tenths of the people by predicted probability, when nobody games.

    People with equal probabilities are in the same bin, so there may be fewer bins.
    """
    if case.calibration is None:
        return []
    probability = case.calibration.probability(case.scores)
    rank = tie_groups(case.scores, case.rounding)
    shares = np.linspace(0, 1, BINS + 1)[1:-1]
    edges = np.unique(np.quantile(rank, shares, method="inverted_cdf"))
    bins = np.searchsorted(edges, rank, side="right")
    rows: list[CalibrationBin] = []
    for number in np.unique(bins):
        inside = bins == number
        k, n = int((case.y[inside] > 0).sum()), int(inside.sum())
        ends = share_interval(k, n)
        mean = float(probability[inside].mean())
        rows.append(CalibrationBin(case.name, len(rows) + 1, n, mean, k / n, *ends))
    return rows
