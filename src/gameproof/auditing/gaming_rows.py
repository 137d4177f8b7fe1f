"""Rows on gaming by budgets: people change what they can, as far as they can, to be accepted.

With z the scores and g the gains from a multiple of the budgets, a person who moves is accepted if
z + g > 0. Either everyone who should be refused moves, or everyone who is refused. Multiplying a
model by a positive number multiplies both z and g, and changes no row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from gameproof.auditing.decision_counts import Costs, DecisionCounts
from gameproof.auditing.intervals import paired_difference
from gameproof.auditing.row_types import Difference, Gaming, Weakness
from gameproof.auditing.scored_applicants import ScoredApplicants
from gameproof.core.arguments import Vector


def is_right(scores: Vector, y: Vector) -> Vector:
    """1 for a correct decision, else 0."""
    found: Vector = ((scores > 0) == (y > 0)).astype(np.float64)
    return found


def gaming_row(case: ScoredApplicants, movers: str, multiple: float, costs: Costs) -> Gaming:
    """The row for movers who use this multiple of their budgets."""
    z = case.gamed(multiple, movers)
    return gaming_row_of(case.name, movers, multiple, case.decisions(z), case.area(z), costs)


def gaming_row_of(
    model: str, movers: str, multiple: float, found: DecisionCounts, area: float, costs: Costs
) -> Gaming:
    """The row from decisions and the area under the ROC curve."""
    row = (*found.accuracy, area, *found.accepted_shares, found.cost(costs))
    return Gaming(model, movers, multiple, *row)


def weakness_rows(case: ScoredApplicants) -> list[Weakness]:
    """One row per column that people can change, largest gain first."""
    bad = case.y < 0
    whole = float(case.gains(1.0)[bad].mean())
    clean = case.decisions(case.scores)
    rows = []
    for column, budget in case.people.budgets.by_column().items():
        gamed = case.decisions(case.gamed(1.0, only=column))
        gain = float(case.gains(1.0, column)[bad].mean())
        (left, *_), (_, after) = gamed.accuracy, gamed.accepted_shares
        share = gain / whole if whole > 0 else None
        gained = after - clean.accepted_shares[1]
        row = (column, budget, share, left, clean.accuracy[0] - left, after, gained)
        rows.append(Weakness(case.name, *row))
    return most_gained_first(rows, [case.name])


def most_gained_first(rows: Iterable[Weakness], models: Sequence[str]) -> list[Weakness]:
    """The rows sorted by model, then by decreasing share of the gain.

    Shares that differ only by rounding are ties and keep the order of the columns.
    """
    return sorted(rows, key=lambda row: (models.index(row.model), -round(row.share or 0.0, 9)))


def difference_rows(
    cases: Sequence[ScoredApplicants], movers: Sequence[str], multiples: Sequence[float]
) -> Iterable[Difference]:
    """Paired differences in accuracy of every later model against every earlier one."""
    for one, two in combinations(cases, 2):
        for who in movers:
            for multiple in multiples:
                a, b = (is_right(case.gamed(multiple, who), case.y) for case in (one, two))
                gained, lost = int((b > a).sum()), int((a > b).sum())
                found = paired_difference(gained, lost, a.size)
                yield Difference(two.name, one.name, who, multiple, *found)
