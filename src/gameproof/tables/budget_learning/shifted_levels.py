"""A category in two tables of people who cannot be matched: levels that became more frequent.

The shares of levels must have changed (chi-squared test). With a model, a level that is claimed
must have gained more among the others than among people well above the threshold, and raise the
scores of people refused before. Levels with few people are taken together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from scipy.stats import chi2_contingency, norm

from gameproof.core.arguments import Vector
from gameproof.tables.budget_learning.column_moves import ColumnMoves, LevelMoves, Setting, Verdict
from gameproof.tables.budget_learning.evidence import Bools, Codes, either, holm, share
from gameproof.tables.budget_learning.groups import LEAST, NOT_ASKED, decisive
from gameproof.tables.budget_learning.phrases import level_shift_reason
from gameproof.tables.budget_learning.shifted import SAFE


@final
@dataclass(frozen=True, eq=False)
class ShiftedCategory:
    """Known levels of both tables, with sides where a model is given. `gains` are mean changes of
    score of people refused before, if each had the level, level by level."""

    column: str
    levels: tuple[str, ...]
    before: Codes
    after: Codes
    sides: tuple[Codes, Codes] | None
    gains: Vector | None
    setting: Setting

    @cached_property
    def safe(self) -> tuple[Bools, Bools]:
        """Who is well above the threshold, in both tables."""
        assert self.sides is not None
        return self.sides[0] == SAFE, self.sides[1] == SAFE

    def p_values(self) -> dict[str, float]:
        """As of a number: see `ShiftedNumber`."""
        found = {"moved": _changed(self.before, self.after), **NOT_ASKED}
        if self.sides is not None:
            one, two = self.safe
            found["accepted"] = _changed(self.before[one], self.after[two])
            for ask, wanted in (("further", self.open_to), ("away", ~self.open_to)):
                tests = [self._further(int(k)) for k in np.flatnonzero(wanted)]
                found[ask] = min(1.0, len(tests) * min(tests)) if tests else 1.0
        return found

    @cached_property
    def open_to(self) -> Bools:
        """Levels that do not lower the score of people refused before."""
        if self.gains is None:
            return np.ones(len(self.levels), dtype=bool)
        found: Bools = self.gains >= 0
        return found

    def row(self, p: dict[str, float]) -> ColumnMoves:
        """The verdict, from p-values corrected for the number of columns."""
        verdict = self._verdict(p)
        levels = self._levels(verdict)
        claimed = tuple(each.level for each in levels if each.claim)
        return ColumnMoves(
            self.column,
            "category",
            verdict,
            level_shift_reason(verdict, p, levels, self.sides is not None),
            max(p["moved"], decisive(verdict, p, self.sides is not None)),
            "everyone" if self.sides is None else "refused",
            min(self.before.size, self.after.size),
            levels=levels,
            budget=claimed or None,
        )

    def _verdict(self, p: dict[str, float]) -> Verdict:
        clear = self.setting.clear
        if min(self.before.size, self.after.size) < LEAST:
            return "too few"
        if not clear(p["moved"]):
            return "unchanged"
        if self.sides is None or clear(p["further"]):
            return "moved"
        if clear(p["accepted"]):
            return "drift"
        return "away" if clear(p["away"]) else "unclear"

    def _levels(self, verdict: Verdict) -> tuple[LevelMoves, ...]:
        """How frequent each level is in both tables, and which are claimed."""
        confidence, found = self.setting.confidence, []
        tests = [_rose(self.before == k, self.after == k) for k in range(len(self.levels))]
        raised = holm([either(test) for test in tests])
        further = [1.0] * len(tests)
        if self.sides is not None:
            further = holm([self._further(k) for k in range(len(self.levels))])
        for k, level in enumerate(self.levels):
            gain = None if self.gains is None else float(self.gains[k])
            claim = verdict == "moved" and self.setting.clear(raised[k]) and tests[k][0] < 0.5
            if self.sides is not None:
                claim = claim and self.setting.clear(further[k]) and bool(self.open_to[k])
            shares = share(self.before == k, confidence), share(self.after == k, confidence)
            p_value = raised[k] if self.sides is None else max(raised[k], further[k])
            found.append(LevelMoves(level, None, None, p_value, claim, *shares, gain))
        return tuple(found)

    def _further(self, level: int) -> float:
        """How likely it is that a level gains so much more among the others than among the safe."""
        one, two = self.safe
        parts = [(part == level, rows) for part, rows in ((self.before, one), (self.after, two))]
        difference = variance = 0.0
        for sign, (has, rows) in zip((-1, 1), parts, strict=True):
            for way, chosen in ((-1, has[rows]), (1, has[~rows])):
                if not chosen.size:
                    return 1.0
                # One more of each kind, so that no share is known without error.
                q = (chosen.sum() + 1) / (chosen.size + 2)
                difference += sign * way * q
                variance += q * (1 - q) / chosen.size
        return float(norm.sf(difference / np.sqrt(variance)))


def _changed(before: Codes, after: Codes) -> float:
    """The p-value of the chi-squared test that both have one distribution of levels."""
    if not before.size or not after.size:
        return 1.0
    size = int(max(before.max(), after.max())) + 1
    counts = np.array([np.bincount(each, minlength=size) for each in (before, after)])
    smaller = min(before.size, after.size) / (before.size + after.size)
    few = counts.sum(axis=0) * smaller < LEAST
    pooled = np.column_stack([counts[:, ~few], counts[:, few].sum(axis=1)])
    pooled = pooled[:, pooled.sum(axis=0) > 0]
    return float(chi2_contingency(pooled).pvalue) if pooled.shape[1] > 1 else 1.0


def _rose(before: Bools, after: Bools) -> tuple[float, float]:
    """How likely it is that a level is so much more, and so much less, frequent after."""
    n, m = before.size, after.size
    pooled = (before.sum() + after.sum() + 1) / (n + m + 2)
    z = (after.mean() - before.mean()) / np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    return float(norm.sf(z)), float(norm.cdf(z))
