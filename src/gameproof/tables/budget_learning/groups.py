"""The people whose moves are judged: by what a model decided about them before, where one is given.

Those refused before have a reason to move towards acceptance, those accepted before have none. So
what both did is drift, and only what the refused did beyond it is gaming. Values that are extreme
by chance come back to the middle, though, and the refused have the worse ones. So the two groups
are compared among people who had about the same value before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.tables.budget_learning.column_moves import Group, Setting, Verdict
from gameproof.tables.budget_learning.evidence import (
    Bools,
    Codes,
    mean,
    rank_test,
    share,
    shares_a_stratum,
    strata_of,
)

LEAST = 5  # people in a group, to compare it with another
FEW = 6  # moves of which a test of their direction can reject at all, at 95 %
NOT_ASKED = {"further": 1.0, "away": 1.0, "accepted": 1.0}  # where there are no two groups
IN_STRATUM, MOST_STRATA = 20, 500  # people of the smaller group in a stratum, and strata


def decisive(verdict: Verdict, p: dict[str, float], compared: bool) -> float:
    """The p-value of the test that the verdict rests on."""
    by = {"moved": "further", "drift": "accepted", "away": "away"}
    return p[by.get(verdict, "moved") if compared else "moved"]


class Groups(NamedTuple):
    """Who was refused before, and who was accepted; some may be neither."""

    refused: Bools
    accepted: Bools

    @classmethod
    def of(cls, scores: Vector) -> Groups | None:
        """By scores before, unless one of the groups is too small."""
        with np.errstate(invalid="ignore"):
            found = cls(scores <= 0, scores > 0)
        return found if min(found.refused.sum(), found.accepted.sum()) >= LEAST else None

    def only(self, rows: Bools) -> Groups | None:
        """Among these people, unless one of the groups is too small."""
        found = Groups(self.refused[rows], self.accepted[rows])
        return found if min(found.refused.sum(), found.accepted.sum()) >= LEAST else None

    def further(self, values: Vector, strata: Codes) -> tuple[float, float]:
        """The probabilities that the refused have values so high, and so low, beside the accepted
        in the same stratum; where the groups hardly share one, in the whole table."""
        known = self.refused | self.accepted
        first, level = self.refused[known], strata[known]
        near = shares_a_stratum(first, level)
        if min((near & first).sum(), (near & ~first).sum()) < LEAST:
            level = np.zeros_like(level)
        return rank_test(values[known], first, level)

    def ordinary_median(self, moves: Vector, strata: Codes) -> float:
        """The median move of the accepted, each weighted so that they are spread over the strata as
        the refused are; of all of them where the groups hardly share a stratum."""
        counts = [np.bincount(strata[rows], minlength=strata.max() + 1) for rows in self]
        shared = (counts[0] > 0) & (counts[1] > 0)
        if min(count[shared].sum() for count in counts) < LEAST:
            return float(np.median(moves[self.accepted]))
        weights = np.where(shared, counts[0] / np.maximum(counts[1], 1), 0.0)[strata[self.accepted]]
        order = np.argsort(moves[self.accepted], kind="stable")
        reached = np.cumsum(weights[order])
        middle = int(np.searchsorted(reached, reached[-1] / 2))
        return float(moves[self.accepted][order[middle]])

    def strata(self, before: Vector) -> Codes:
        """People of about the same number before; finer where there are more of them, or what they
        differ by in a stratum would show in the end."""
        fewer = int(min(self.refused.sum(), self.accepted.sum()))
        return strata_of(before, max(1, min(MOST_STRATA, fewer // IN_STRATUM)))


def group(
    rows: Bools, moves: Vector, gains: Vector | None, setting: Setting, numbers: bool = True
) -> Group:
    """What these people did. A move is 0 for people who changed nothing; a switch of a category
    is 1."""
    moved, level = moves[rows], setting.confidence
    changed = moved != 0
    gained = None
    if gains is not None:
        gained = gains[rows][changed]
        gained = gained[~np.isnan(gained)]
    return Group(
        int(rows.sum()),
        share(changed, level),
        share(moved > 0, level) if numbers else None,
        share(moved < 0, level) if numbers else None,
        float(np.median(moved)) if numbers and moved.size else None,
        None if gained is None else share(gained > 0, level),
        None if gained is None else mean(gained, level),
    )
