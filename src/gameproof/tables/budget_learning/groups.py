"""People refused and people accepted before, by the scores of a model.

People refused before have a reason to move towards acceptance; people accepted before have none.
What both groups do is drift, and only what the refused do beyond it is gaming. Values that are
extreme by chance return to the mean, however, and the refused have more of the bad ones. Therefore
the groups are compared among people who had about the same value before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.tables.budget_learning.evidence import (
    Bools,
    Codes,
    mean,
    rank_test,
    share,
    shares_a_stratum,
    strata_of,
)
from gameproof.tables.budget_learning.moves import Group, Setting, Verdict

SMALLEST_GROUP = 5  # people that a group needs to be compared with another
FEWEST_MOVES = 6  # with fewer moves, no test of their direction can reject at 95 %
NOT_TESTED = {"further": 1.0, "away": 1.0, "accepted": 1.0}  # p-values without two groups
IN_STRATUM = 20  # people of the smaller group in a stratum
MOST_STRATA = 500


def verdict_p_value(verdict: Verdict, p: dict[str, float], compared: bool) -> float:
    """The p-value of the test behind the verdict."""
    by = {"moved": "further", "drift": "accepted", "away": "away"}
    return p[by.get(verdict, "moved") if compared else "moved"]


class Groups(NamedTuple):
    """Masks of people refused before and accepted before; some people may be neither."""

    refused: Bools
    accepted: Bools

    @classmethod
    def of(cls, scores: Vector) -> Groups | None:
        """The groups by scores before; None if one of them is too small."""
        with np.errstate(invalid="ignore"):
            found = cls(scores <= 0, scores > 0)
        return found if min(found.refused.sum(), found.accepted.sum()) >= SMALLEST_GROUP else None

    def only(self, rows: Bools) -> Groups | None:
        """The groups among these people; None if one of them is too small."""
        found = Groups(self.refused[rows], self.accepted[rows])
        return found if min(found.refused.sum(), found.accepted.sum()) >= SMALLEST_GROUP else None

    def further(self, values: Vector, strata: Codes) -> tuple[float, float]:
        """One-sided p-values that the refused have higher values, and lower ones.

        They are compared with the accepted in the same stratum, or in the whole table if the groups
        hardly share a stratum.
        """
        known = self.refused | self.accepted
        first, level = self.refused[known], strata[known]
        near = shares_a_stratum(first, level)
        if min((near & first).sum(), (near & ~first).sum()) < SMALLEST_GROUP:
            level = np.zeros_like(level)
        return rank_test(values[known], first, level)

    def ordinary_median(self, moves: Vector, strata: Codes) -> float:
        """The median move of the accepted, weighted to have the refused's distribution over strata.

        If the groups hardly share a stratum, the weights are equal.
        """
        counts = [np.bincount(strata[rows], minlength=strata.max() + 1) for rows in self]
        shared = (counts[0] > 0) & (counts[1] > 0)
        if min(count[shared].sum() for count in counts) < SMALLEST_GROUP:
            return float(np.median(moves[self.accepted]))
        weights = np.where(shared, counts[0] / np.maximum(counts[1], 1), 0.0)[strata[self.accepted]]
        order = np.argsort(moves[self.accepted], kind="stable")
        reached = np.cumsum(weights[order])
        middle = int(np.searchsorted(reached, reached[-1] / 2))
        return float(moves[self.accepted][order[middle]])

    def strata(self, before: Vector) -> Codes:
        """Strata of similar values before.

        Larger groups get more strata: with many people, the remaining differences within a stratum
        would become significant.
        """
        fewer = int(min(self.refused.sum(), self.accepted.sum()))
        return strata_of(before, max(1, min(MOST_STRATA, fewer // IN_STRATUM)))


def group(
    rows: Bools, moves: Vector, gains: Vector | None, setting: Setting, numbers: bool = True
) -> Group:
    """How these people changed a column. A move is 0 for no change, 1 for a switched category."""
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
