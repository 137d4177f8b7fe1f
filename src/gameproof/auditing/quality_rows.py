"""Rows on the quality of a model when nobody moves."""

from __future__ import annotations

import numpy as np

from gameproof.auditing.decision_counts import DecisionCounts
from gameproof.auditing.row_types import Bin, Quality
from gameproof.auditing.score_rounding import tie_groups
from gameproof.auditing.scored_applicants import ScoredApplicants

BINS = 30
SHIFT = 1e-9  # of the edges of bins, relative to their range


def quality_row(case: ScoredApplicants) -> Quality:
    """Accuracy, AUC and acceptance rates when nobody moves."""
    z = case.scores
    idle = float(not case.gains(1.0).any())
    same_score = float(np.bincount(tie_groups(z, case.rounding)).max() / z.size)
    return quality_row_of(case.name, case.decisions(z), case.area(z), idle, same_score)


def quality_row_of(
    model: str, found: DecisionCounts, area: float, idle: float, same_score: float
) -> Quality:
    """The row from decisions and the area under the ROC curve."""
    n, n_good = found.n, found.n_good
    majority = max(n_good, n - n_good) / n
    row = (*found.accuracy, majority, area, *found.accepted_shares, idle, same_score)
    return Quality(model, n, n_good, *row)


def bin_rows(case: ScoredApplicants) -> list[Bin]:
    """Counts of scores by label, in bins between the 1st and the 99th percentile.

    The first and last bins include the scores beyond.
    """
    spread = float(case.scores.std())
    far = np.abs(case.scores - case.scores[0])
    # Scores that differ by rounding only have no spread.
    scores = case.scores / spread if (far > 2 * case.rounding).any() else np.sign(case.scores)
    low, high = np.quantile(scores, (0.01, 0.99))
    if not high > low:
        low, high = low - 1.0, high + 1.0
    # Scores are often equal to an edge up to rounding: shifted edges put them all on one side.
    edges = np.linspace(low, high, BINS + 1) - SHIFT * (high - low)
    inside = np.clip(scores, edges[0], edges[-1])
    positive, negative = (np.histogram(inside[case.y == label], edges)[0] for label in (1, -1))
    return [
        Bin(case.name, float(edges[k]), float(edges[k + 1]), int(positive[k]), int(negative[k]))
        for k in range(BINS)
    ]
