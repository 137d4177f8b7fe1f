"""A category of the same people, before and after: who switched to which level.

Without a model, a level is claimed if more people switch to it than from it (exact binomial test).
With a model, people refused before must switch to it more often than people accepted before who had
the same level (stratified rank test), and it must raise their scores. P-values are corrected for
the number of columns and of levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from gameproof.auditing.multiple_tests import holm
from gameproof.core.arguments import Vector
from gameproof.tables.budget_learning.column_moves import ColumnMoves
from gameproof.tables.budget_learning.evidence import (
    Bools,
    Codes,
    bonferroni,
    directed,
    more_often,
    sign_test,
)
from gameproof.tables.budget_learning.groups import (
    FEWEST_MOVES,
    Groups,
)
from gameproof.tables.budget_learning.moves import LevelMoves, Verdict
from gameproof.tables.budget_learning.paired_column import PairedColumn
from gameproof.tables.budget_learning.reasons import category_reason

MOST_LEVELS_TESTED = 50  # the levels that most people switch to


@final
@dataclass(frozen=True, eq=False)
class PairedCategory(PairedColumn):
    """The levels, by position in `levels`, of people who have one before and after."""

    levels: tuple[str, ...]
    before: Codes
    after: Codes

    @cached_property
    def switched(self) -> Bools:
        """True for people with another level after."""
        found: Bools = self.before != self.after
        return found

    @cached_property
    def changes(self) -> Vector:
        """1 for people who switched, else 0."""
        return self.switched.astype(np.float64)

    @cached_property
    def tested(self) -> Codes:
        """The levels that people switched to, the most frequent first."""
        coming = np.bincount(self.after[self.switched], minlength=len(self.levels))
        order = np.argsort(-coming, kind="stable")[:MOST_LEVELS_TESTED]
        found: Codes = order[coming[order] > 0]
        return found

    @cached_property
    def matters(self) -> bool:
        """True if any switch changes a score."""
        return self.gains is not None and bool(np.nan_to_num(self.gains).any())

    def one_way(self, rows: Bools) -> float:
        """The p-value that these people switched to a level more often than from it."""
        return bonferroni(self._flows(rows))

    def beyond_accepted(self, groups: Groups) -> dict[str, float]:
        """The p-values "further" and "away", by gains of score or else by switches."""
        values = self.changes
        if self.matters and self.gains is not None:
            values = np.nan_to_num(self.gains)
        return directed(groups.further(values, self.before), 1)

    def row(self, p: dict[str, float]) -> ColumnMoves:
        """The findings, from p-values corrected for the number of columns."""
        verdict = self._verdict(p)
        levels = self._levels(verdict)
        groups = self.described_groups(numbers=False)
        helps = None
        if self.gains is not None and verdict in ("moved", "drift", "unclear"):
            helps = float(np.nansum(self.gains)) > 0
        return self.findings(
            verdict,
            category_reason(verdict, p, levels, groups, self.setting.clear(p["further"])),
            p,
            groups,
            kind="category",
            levels=levels,
            helps=helps,
            budget=tuple(each.level for each in levels if each.claim) or None,
        )

    def _verdict(self, p: dict[str, float]) -> Verdict:
        clear, count = self.setting.clear, int(self.switched.sum())
        if not count:
            return "unchanged"
        if self.groups is None:
            if count < FEWEST_MOVES:
                return "too few"
            return "moved" if clear(p["moved"]) else "undirected"
        if clear(p["further"]):
            return "moved" if clear(self._refused_gain()) else "unclear"
        if clear(p["accepted"]):
            return "drift"
        if self.matters and clear(p["away"]):
            return "away"
        if clear(p["moved"]):
            return "unclear"
        return "too few" if count < FEWEST_MOVES else "undirected"

    def _refused_gain(self) -> float:
        """The p-value that switches of the refused raise scores more often than not."""
        if not self.matters or self.groups is None or self.gains is None:
            return 0.0
        own = self.gains[self.groups.refused]
        return more_often(int((own > 0).sum()), int((own < 0).sum()))

    def _flows(self, rows: Bools) -> list[float]:
        """For each tested level, the p-value that switches to it and from it differ in number."""
        moved = rows & self.switched
        coming = np.bincount(self.after[moved], minlength=len(self.levels))
        leaving = np.bincount(self.before[moved], minlength=len(self.levels))
        return [sign_test(int(coming[k]), int(leaving[k])) for k in self.tested]

    def _levels(self, verdict: Verdict) -> tuple[LevelMoves, ...]:
        """The switches of each level, and whether it is claimed."""
        moved = self.judged & self.switched
        coming = np.bincount(self.after[moved], minlength=len(self.levels))
        leaving = np.bincount(self.before[moved], minlength=len(self.levels))
        gains = [self._gain(moved, k) for k in self.tested]
        if self.groups is None:
            p_values = self._flows(self.everyone)
            helpful = [bool(coming[k] > leaving[k]) for k in self.tested]
        else:
            p_values = [self._claimed_more(k) for k in self.tested]
            helpful = [not self.matters or (gain or 0.0) > 0 for gain in gains]
        adjusted = holm(p_values)
        claims = [
            verdict == "moved" and able and self.setting.clear(p)
            for able, p in zip(helpful, adjusted, strict=True)
        ]
        if verdict == "moved" and not any(claims) and any(helpful):
            ranked = sorted(range(len(claims)), key=lambda at: (not helpful[at], p_values[at]))
            claims[ranked[0]] = True
        return tuple(
            LevelMoves(self.levels[k], int(coming[k]), int(leaving[k]), p, claim, gain=gain)
            for k, p, claim, gain in zip(self.tested, adjusted, claims, gains, strict=True)
        )

    def _claimed_more(self, level: int) -> float:
        """The p-value that the refused switch to a level more often than the accepted who had the
        same level before."""
        assert self.groups is not None
        elsewhere = self.before != level
        others = Groups(self.groups.refused & elsewhere, self.groups.accepted & elsewhere)
        return others.further((self.after == level).astype(np.float64), self.before)[0]

    def _gain(self, moved: Bools, level: int) -> float | None:
        if self.gains is None:
            return None
        found = self.gains[moved & (self.after == level)]
        found = found[~np.isnan(found)]
        return float(found.mean()) if found.size else None
