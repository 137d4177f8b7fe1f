"""Rows on thresholds: what each approval rate means for bad rates and costs, clean and gamed.

The threshold that approves a share of applicants is set on scores when nobody games, as a credit
desk sets it on past data. The same threshold is then applied to the scores of people who game.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.decision_counts import Costs, DecisionCounts
from gameproof.auditing.intervals import paired_difference
from gameproof.auditing.metric_rows import reported_multiples
from gameproof.auditing.metric_types import EqualApproval, ThresholdRow
from gameproof.auditing.score_rounding import tie_groups, without_rounding
from gameproof.auditing.scored_applicants import ScoredApplicants
from gameproof.core.arguments import Vector

APPROVALS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)

# How far below all scores everybody is approved, relative to their size: more than rounding.
BELOW = 1e-6


def approving_score(scores: Vector, share: float, error: Vector | float = 0.0) -> float:
    """The score above which this share of people lies, as nearly as ties allow.

    `error` is the rounding error of each score: people who differ by no more are approved together.

    >>> approving_score(np.array([1.0, 2.0, 3.0, 4.0]), 0.5)
    2.5
    >>> approving_score(np.array([1.0, 3.0, 3.0, 3.0]), 0.5)
    2.0
    """
    order = np.argsort(-scores, kind="stable")
    ordered, ranks = scores[order], tie_groups(scores, np.broadcast_to(error, scores.shape))[order]
    k = round(share * scores.size)
    if k > 0:
        above, up_to = int((ranks > ranks[k - 1]).sum()), int((ranks >= ranks[k - 1]).sum())
        k = above if k - above < up_to - k else up_to
    if k == 0:
        return float(ordered[0])
    if k == scores.size:
        least, most = float(ordered[-1]), float(ordered[0])
        return least - BELOW * (max(most - least, abs(least)) or 1.0)
    return float(ordered[k - 1] / 2 + ordered[k] / 2)


def threshold_rows(case: ScoredApplicants, costs: Costs) -> list[ThresholdRow]:
    """The model's own threshold first, and then one row for each approval rate."""
    multiples = reported_multiples(case.people.columns)
    ways = [case.gamed(multiple) for multiple in (0.0, multiples[-1])]
    cuts: list[tuple[float | None, float]] = [(None, 0.0)]
    cuts += [(share, approving_score(case.scores, share, case.rounding)) for share in APPROVALS]
    good, rows = case.y > 0, []
    for share, cut in cuts:
        probability = None
        if case.calibration is not None:
            probability = float(case.calibration.probability(np.array([cut]))[0])
        clean, gamed = (DecisionCounts.of(_above(case, scores, cut), good) for scores in ways)
        rows.append(threshold_row_of(case.name, share, probability, clean, gamed, costs))
    return rows


def threshold_row_of(
    model: str,
    share: float | None,
    probability: float | None,
    clean: DecisionCounts,
    gamed: DecisionCounts,
    costs: Costs,
) -> ThresholdRow:
    """The row from the decisions when nobody games, and when bad applicants do."""
    first, second = (
        (found.approval, found.bad_rate, found.accepted_shares[1], found.cost(costs))
        for found in (clean, gamed)
    )
    return ThresholdRow(model, share, probability, *first, *second)


def equal_approval_rows(cases: Sequence[ScoredApplicants]) -> list[EqualApproval]:
    """Bad applicants approved by every later model and every earlier one, at equal approval."""
    multiples = reported_multiples(cases[0].people.columns)
    rows = []
    for one, two in combinations(cases, 2):
        for share in APPROVALS:
            cuts = [approving_score(case.scores, share, case.rounding) for case in (one, two)]
            for multiple in multiples:
                first, second = (
                    _above(case, case.gamed(multiple), cut)[case.y < 0]
                    for case, cut in zip((one, two), cuts, strict=True)
                )
                more, less = int((second & ~first).sum()), int((first & ~second).sum())
                found = paired_difference(more, less, first.size)
                rows.append(EqualApproval(two.name, one.name, share, multiple, *found))
    return rows


def _above(case: ScoredApplicants, scores: Vector, cut: float) -> NDArray[np.bool_]:
    """Whose score exceeds the cut by more than rounding, so that ties get one decision."""
    found: NDArray[np.bool_] = without_rounding(scores - cut, 2 * case.rounding) > 0
    return found
