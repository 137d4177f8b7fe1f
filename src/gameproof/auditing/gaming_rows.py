"""Gaming by budgets: people change what they can, by as much as they can, to be accepted.

With z the scores and g the gains from a multiple of the budgets, a person who moves is accepted
where z + g > 0. Who moves is looked at in two ways: those who should be refused, and everyone who
is refused. Multiplying a model by a positive number multiplies both z and g, and changes no row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.intervals import share_interval
from gameproof.auditing.linear_model import ScoredApplicants
from gameproof.auditing.row_types import Gaming, Hurt, Weakness
from gameproof.auditing.score_rounding import area_under_curve, without_rounding
from gameproof.core.arguments import Vector

# Applicants who need more than this multiple of their budgets are reported as out of reach.
MOST = 100.0
# Bisection steps below MOST: they find multiples to 1e-13.
HALVINGS = 50
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


class Costs(NamedTuple):
    """What a bad applicant who is accepted costs, and a good one who is refused."""

    accept_bad: float = 1.0
    refuse_good: float = 1.0


def is_right(scores: Vector, y: Vector) -> Vector:
    """1 where a decision is right, else 0."""
    found: Vector = ((scores > 0) == (y > 0)).astype(np.float64)
    return found


def accepted_shares(z: Vector, y: Vector) -> tuple[float, float]:
    """The shares of each label that are accepted."""
    return float((z[y > 0] > 0).mean()), float((z[y < 0] > 0).mean())


def gaming_row(case: ScoredApplicants, movers: str, multiple: float, costs: Costs) -> Gaming:
    """Where these people use this multiple of their budgets."""
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
    """One row a column that can be changed, what gains most first."""
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
    """Label by label, for all and for each group."""
    sets: list[tuple[str | None, NDArray[np.bool_]]] = [(None, np.ones(case.y.size, dtype=bool))]
    if groups is not None:
        sets += [(str(group), groups == group) for group in np.unique(groups)]
    multiples = needed_multiples(case)
    by_one = case.gained(case.gains(1.0)) > 0
    rows = []
    for name, chosen in sets:
        for label in (1, -1):
            own = chosen & (case.y == label)
            refused = own & (case.scores <= 0)
            if not own.any():
                continue
            share = float(refused.sum() / own.sum())
            if not refused.any():
                rows.append(Hurt(case.name, name, label, int(own.sum()), share, *[None] * 6))
                continue
            # Of people, not between them: beyond reach there is no number to go between.
            quantiles = np.quantile(multiples[refused], QUANTILES, method="inverted_cdf")
            known = [float(q) if np.isfinite(q) else None for q in quantiles]
            within = float(by_one[refused].mean())
            rows.append(Hurt(case.name, name, label, int(own.sum()), share, within, *known))
    return rows
