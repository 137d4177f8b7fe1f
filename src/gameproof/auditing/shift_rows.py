"""From a model and people to the rows on its quality, and on data that is inaccurate.

With z the scores, y the labels, delta the radius, kappa the price of a label and |theta| the length
of the scaled coefficients, the worst-case accuracy is found by spending n delta: to be decided
wrongly, a person who is decided rightly must be moved by |z| / |theta|, or, with label +1, have the
label turned at a price of 2 kappa. Each is bought at the lower price, the cheapest first, the last
in part. All gains are equal, so no other way to spend gains more.

With c the prices, 0 for those decided wrongly, and 1 / lambda the price of the last, that
accuracy is the largest over lambda of mean min(1, lambda c) - lambda delta. Where it is largest, a
small change of lambda changes nothing, so its interval is that of the mean, lambda held fixed, and
the interval of the difference of two is that of the difference of these means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import hypot, inf
from typing import NamedTuple

import numpy as np

from gameproof.auditing.gaming_rows import accepted_shares, is_right
from gameproof.auditing.intervals import (
    mean_interval,
    paired_interval,
    paired_mean_interval,
    share_interval,
)
from gameproof.auditing.linear_model import ScoredApplicants
from gameproof.auditing.row_types import Bin, Difference, Quality, Shift, ShiftDifference
from gameproof.auditing.score_rounding import area_under_curve
from gameproof.core.arguments import Vector

BINS = 30
SHIFT = 1e-9  # of the edges of bins, relative to their range
TIE = 1e-9  # relative difference below which a sum of prices equals the adversary's budget


def quality_row(case: ScoredApplicants) -> Quality:
    """Where nobody moves."""
    z, y, n = case.scores, case.y, case.y.size
    k, n_positive = int(is_right(z, y).sum()), int((y > 0).sum())
    return Quality(
        case.name,
        n,
        n_positive,
        k / n,
        *share_interval(k, n),
        max(n_positive, n - n_positive) / n,
        area_under_curve(z, y > 0, case.rounding),
        *accepted_shares(z, y),
        float(not case.gains(1.0).any()),
    )


def bin_rows(case: ScoredApplicants) -> list[Bin]:
    """The scores of both labels, counted between the 1st and the 99th percentile; the outer bins
    take what lies beyond."""
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


class LeastAccuracy(NamedTuple):
    """The least accuracy within a radius: the mean of `kept`, less what the adversary pays for."""

    accuracy: float
    kept: Vector

    @property
    def paid(self) -> float:
        """What the adversary pays for."""
        return float(self.kept.mean()) - self.accuracy


def least_accuracies(
    z: Vector, case: ScoredApplicants, radii: Sequence[float], kappa: float
) -> list[LeastAccuracy]:
    """Radius by radius, where people have the scores z; see the module."""
    y, n, length = case.y, case.y.size, hypot(*case.theta)
    decided_rightly = is_right(z, y) > 0
    far = np.abs(z) / length if length > 0 else np.full(n, inf)
    each = np.where(decided_rightly, np.minimum(far, np.where(y > 0, 2 * kappa, inf)), 0.0)
    price = np.sort(each[decided_rightly & np.isfinite(each)])
    spent = np.concatenate([[0.0], np.cumsum(price)])
    found = []
    for radius in radii:
        budget = n * radius
        # Which price is the last one must not depend on rounding when the budget is spent exactly.
        whole = int(np.searchsorted(spent, (1 + TIE) * budget, side="right")) - 1
        rest = max(0.0, budget - float(spent[whole]))
        part = rest / price[whole] if whole < price.size else 0.0
        least = (int(decided_rightly.sum()) - whole - float(part)) / n
        # Where all that is for sale is bought, lambda is 0.
        last = float(price[whole]) if whole < price.size else inf
        kept = np.minimum(1.0, each / last) if last < inf else np.isinf(each).astype(np.float64)
        found.append(LeastAccuracy(least, kept))
    return found


def shift_rows(
    cases: Sequence[ScoredApplicants], radii: Sequence[float], label_cost: float
) -> tuple[list[Shift], list[ShiftDifference]]:
    """Where bad applicants use their budgets and the data is then inaccurate by each radius: each
    model, and every later model against every earlier one."""
    found = [least_accuracies(case.gamed(1.0), case, radii, label_cost) for case in cases]
    rows = []
    for case, least in zip(cases, found, strict=True):
        for radius, (accuracy, kept) in zip(radii, least, strict=True):
            low, high = mean_interval(kept)
            paid = float(kept.mean()) - accuracy
            ends = max(0.0, low - paid), min(1.0, high - paid)
            rows.append(Shift(case.name, radius, accuracy, *ends))
    pairs = []
    for (one, first), (two, second) in combinations(zip(cases, found, strict=True), 2):
        for radius, a, b in zip(radii, first, second, strict=True):
            low, high = paired_mean_interval(b.kept - a.kept)
            paid = b.paid - a.paid
            ends = max(-1.0, low - paid), min(1.0, high - paid)
            more = b.accuracy - a.accuracy
            pairs.append(ShiftDifference(two.name, one.name, radius, more, *ends))
    return rows, pairs


def difference_rows(
    cases: Sequence[ScoredApplicants], movers: Sequence[str], multiples: Sequence[float]
) -> Iterable[Difference]:
    """Every later model against every earlier one."""
    for one, two in combinations(cases, 2):
        for who in movers:
            for multiple in multiples:
                a, b = (is_right(case.gamed(multiple, who), case.y) for case in (one, two))
                gained, lost = int((b > a).sum()), int((a > b).sum())
                more = (gained - lost) / a.size
                ends = paired_interval(gained, lost, a.size)
                yield Difference(two.name, one.name, who, multiple, more, *ends)
