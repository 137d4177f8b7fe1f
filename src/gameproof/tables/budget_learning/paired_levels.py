"""A category of the same people, before and after: who switched to which level.

Without a model, a level that is claimed has more people coming than leaving (exact binomial test).
With one, it is a level to which those refused before switched more often than those accepted before
who had the same level (stratified rank test), and it raises their scores. Columns and levels are
both corrected for their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.tables.budget_learning.column_moves import ColumnMoves, LevelMoves, Setting, Verdict
from gameproof.tables.budget_learning.evidence import (
    Bools,
    Codes,
    holm,
    more_often,
    sign_test,
    ways,
)
from gameproof.tables.budget_learning.groups import FEW, NOT_ASKED, Groups, decisive, group
from gameproof.tables.budget_learning.phrases import category_reason

MOST = 50  # levels that are looked at, those with most people coming first


@final
@dataclass(frozen=True, eq=False)
class PairedCategory:
    """Numbers of levels of the people whose level is known before and after, and what their
    switches of this column alone do to their scores."""

    column: str
    levels: tuple[str, ...]
    before: Codes
    after: Codes
    became_missing: int
    became_known: int
    groups: Groups | None
    gains: Vector | None
    setting: Setting

    @cached_property
    def switched(self) -> Bools:
        """Who has another level."""
        found: Bools = self.before != self.after
        return found

    @cached_property
    def looked_at(self) -> Codes:
        """The levels that people switched to, most of them first."""
        coming = np.bincount(self.after[self.switched], minlength=len(self.levels))
        order = np.argsort(-coming, kind="stable")[:MOST]
        found: Codes = order[coming[order] > 0]
        return found

    @cached_property
    def weighs(self) -> bool:
        """Whether any switch changes a score."""
        return self.gains is not None and bool(np.nan_to_num(self.gains).any())

    def p_values(self) -> dict[str, float]:
        """As of a number: see `PairedNumber`."""
        everyone = np.ones(self.before.size, dtype=bool)
        found = {"moved": _least(self._flows(everyone)), **NOT_ASKED}
        if self.groups is not None:
            values = self.switched.astype(np.float64)
            if self.weighs and self.gains is not None:
                values = np.nan_to_num(self.gains)
            found |= ways(self.groups.further(values, self.before), 1)
            found["accepted"] = _least(self._flows(self.groups.accepted))
        return found

    def row(self, p: dict[str, float]) -> ColumnMoves:
        """The verdict, from p-values corrected for the number of columns."""
        verdict = self._verdict(p)
        levels = self._levels(verdict)
        claimed = tuple(each.level for each in levels if each.claim)
        everyone = np.ones(self.before.size, dtype=bool)
        parts = () if self.groups is None else self.groups
        moves = self.switched.astype(np.float64)
        groups = [
            group(rows, moves, self.gains, self.setting, False) for rows in (everyone, *parts)
        ]
        helps = None
        if self.gains is not None and verdict in ("moved", "drift", "unclear"):
            helps = float(np.nansum(self.gains)) > 0
        return ColumnMoves(
            self.column,
            "category",
            verdict,
            category_reason(verdict, p, levels, groups, self.setting.clear(p["further"])),
            decisive(verdict, p, self.groups is not None),
            "everyone" if self.groups is None else "refused",
            self.before.size,
            self.became_missing,
            self.became_known,
            levels=levels,
            helps=helps,
            budget=claimed or None,
            everyone=groups[0],
            refused=groups[1] if parts else None,
            accepted=groups[2] if parts else None,
        )

    def _verdict(self, p: dict[str, float]) -> Verdict:
        clear, count = self.setting.clear, int(self.switched.sum())
        if not count:
            return "unchanged"
        if self.groups is None:
            if count < FEW:
                return "too few"
            return "moved" if clear(p["moved"]) else "undirected"
        if clear(p["further"]):
            return "moved" if clear(self._refused_gain()) else "unclear"
        if clear(p["accepted"]):
            return "drift"
        if self.weighs and clear(p["away"]):
            return "away"
        if clear(p["moved"]):
            return "unclear"
        return "too few" if count < FEW else "undirected"

    def _refused_gain(self) -> float:
        """How likely it is that switches of the refused raise their scores so often."""
        if not self.weighs or self.groups is None or self.gains is None:
            return 0.0
        own = self.gains[self.groups.refused]
        return more_often(int((own > 0).sum()), int((own < 0).sum()))

    def _flows(self, rows: Bools) -> list[float]:
        """For each level looked at, how likely it is that so many come and so many leave."""
        moved = rows & self.switched
        coming = np.bincount(self.after[moved], minlength=len(self.levels))
        leaving = np.bincount(self.before[moved], minlength=len(self.levels))
        return [sign_test(int(coming[k]), int(leaving[k])) for k in self.looked_at]

    def _levels(self, verdict: Verdict) -> tuple[LevelMoves, ...]:
        """What people did level by level, and which they claim."""
        everyone = np.ones(self.before.size, dtype=bool)
        judged = everyone if self.groups is None else self.groups.refused
        moved = judged & self.switched
        coming = np.bincount(self.after[moved], minlength=len(self.levels))
        leaving = np.bincount(self.before[moved], minlength=len(self.levels))
        gains = [self._gain(moved, k) for k in self.looked_at]
        if self.groups is None:
            p_values = self._flows(everyone)
            open_to = [bool(coming[k] > leaving[k]) for k in self.looked_at]
        else:
            p_values = [self._claimed_more(k) for k in self.looked_at]
            open_to = [not self.weighs or (gain or 0.0) > 0 for gain in gains]
        adjusted = holm(p_values)
        claims = [
            verdict == "moved" and able and self.setting.clear(p)
            for able, p in zip(open_to, adjusted, strict=True)
        ]
        if verdict == "moved" and not any(claims) and any(open_to):
            ranked = sorted(range(len(claims)), key=lambda at: (not open_to[at], p_values[at]))
            claims[ranked[0]] = True
        return tuple(
            LevelMoves(self.levels[k], int(coming[k]), int(leaving[k]), p, claim, gain=gain)
            for k, p, claim, gain in zip(self.looked_at, adjusted, claims, gains, strict=True)
        )

    def _claimed_more(self, level: int) -> float:
        """How likely it is that so many of the refused switch to a level, beside the accepted who
        had the same one before."""
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


def _least(p_values: list[float]) -> float:
    """Of several tests of one column, corrected for their number."""
    return min(1.0, len(p_values) * min(p_values)) if p_values else 1.0
