"""Rows on the worst case over inaccurate data.

With z the scores, y the labels, delta the radius, kappa the label cost and |theta| the norm of the
scaled coefficients, an adversary with n delta to spend minimises the accuracy. To make a correct
decision wrong, it moves the applicant by |z| / |theta|, or flips a label +1 at a price of 2 kappa,
whichever is cheaper. It buys wrong decisions in the order of their prices, the last one in part.
Every wrong decision is worth the same, so this is optimal.

With c the prices, 0 for decisions that are already wrong, the worst-case accuracy is the maximum
over lambda of mean min(1, lambda c) - lambda delta, attained when 1 / lambda is the price of the
last decision. The derivative in lambda vanishes there, so the interval of the accuracy is that of
the mean with lambda held fixed, and the same holds for the difference of two models.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import hypot, inf
from typing import NamedTuple

import numpy as np

from gameproof.auditing.gaming_rows import is_right
from gameproof.auditing.intervals import mean_interval, paired_mean_interval
from gameproof.auditing.row_types import Shift, ShiftDifference
from gameproof.auditing.scored_applicants import ScoredApplicants
from gameproof.core.arguments import Vector

TIE = 1e-9  # relative difference below which a sum of prices equals the adversary's budget


class LeastAccuracy(NamedTuple):
    """The worst-case accuracy within a radius: the mean of `kept` minus `paid`."""

    accuracy: float
    kept: Vector

    @property
    def paid(self) -> float:
        """lambda delta in the notation of the module's docstring."""
        return float(self.kept.mean()) - self.accuracy


def least_accuracies(
    z: Vector, case: ScoredApplicants, radii: Sequence[float], kappa: float
) -> list[LeastAccuracy]:
    """The worst-case accuracy at each radius, for applicants with scores z."""
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
        # If every decision with a finite price is bought, lambda is 0.
        last = float(price[whole]) if whole < price.size else inf
        kept = np.minimum(1.0, each / last) if last < inf else np.isinf(each).astype(np.float64)
        found.append(LeastAccuracy(least, kept))
    return found


def shift_rows(
    cases: Sequence[ScoredApplicants], radii: Sequence[float], label_cost: float
) -> tuple[list[Shift], list[ShiftDifference]]:
    """Rows for each model, and paired differences of every later model against every earlier one.

    Bad applicants use their budgets; then the data is inaccurate by each radius.
    """
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
