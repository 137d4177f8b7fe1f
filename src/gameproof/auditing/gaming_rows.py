"""Rows on gaming by budgets: people change what they can, as far as they can, to be accepted.

With z the scores and g the gains from a multiple of the budgets, a person who moves is accepted if
z + g > 0. Either everyone who should be refused moves, or everyone who is refused. Multiplying a
model by a positive number multiplies both z and g, and changes no row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gameproof.auditing.intervals import paired_interval, share_interval
from gameproof.auditing.row_types import Difference, Gaming, Weakness
from gameproof.auditing.score_rounding import area_under_curve
from gameproof.auditing.scored_applicants import ScoredApplicants
from gameproof.core.arguments import Vector


class Costs(NamedTuple):
    """Costs of accepting a bad applicant and of refusing a good one."""

    accept_bad: float = 1.0
    refuse_good: float = 1.0


def is_right(scores: Vector, y: Vector) -> Vector:
    """1 for a correct decision, else 0."""
    found: Vector = ((scores > 0) == (y > 0)).astype(np.float64)
    return found


def accepted_shares(z: Vector, y: Vector) -> tuple[float, float]:
    """The shares of good and of bad applicants who are accepted."""
    return float((z[y > 0] > 0).mean()), float((z[y < 0] > 0).mean())


def gaming_row(case: ScoredApplicants, movers: str, multiple: float, costs: Costs) -> Gaming:
    """The row for movers who use this multiple of their budgets."""
    z, y, n = case.gamed(multiple, movers), case.y, case.y.size
    k, (good, bad) = int(is_right(z, y).sum()), accepted_shares(z, y)
    n_good = int((y > 0).sum())
    lost = costs.accept_bad * bad * (n - n_good) + costs.refuse_good * (1 - good) * n_good
    return Gaming(
        case.name,
        movers,
        multiple,
        k / n,
        *share_interval(k, n),
        area_under_curve(z, y > 0, case.rounding),
        good,
        bad,
        lost / n,
    )


def weakness_rows(case: ScoredApplicants) -> list[Weakness]:
    """One row per column that people can change, largest gain first."""
    bad = case.y < 0
    whole = float(case.gains(1.0)[bad].mean())
    plain, (_, before) = (
        float(is_right(case.scores, case.y).mean()),
        accepted_shares(case.scores, case.y),
    )
    rows = []
    for column, budget in case.people.budgets.by_column().items():
        z = case.gamed(1.0, only=column)
        gain = float(case.gains(1.0, column)[bad].mean())
        left, (_, after) = float(is_right(z, case.y).mean()), accepted_shares(z, case.y)
        share = gain / whole if whole > 0 else None
        row = (column, budget, share, left, plain - left, after, after - before)
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
                more = (gained - lost) / a.size
                ends = paired_interval(gained, lost, a.size)
                yield Difference(two.name, one.name, who, multiple, more, *ends)
