"""A category in two tables of people who cannot be matched: levels that became more frequent.

The shares of levels must have changed (chi-squared test, with rare levels pooled). With a model, a
claimed level must also have grown more among the others than among people well above the threshold,
and must raise the scores of people refused before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from scipy.stats import chi2_contingency, norm

from gameproof.auditing.multiple_tests import holm
from gameproof.core.arguments import Vector
from gameproof.tables.budget_learning.column_moves import ColumnMoves
from gameproof.tables.budget_learning.evidence import (
    Bools,
    Codes,
    bonferroni,
    share,
    two_sided,
)
from gameproof.tables.budget_learning.groups import NOT_TESTED, SMALLEST_GROUP, verdict_p_value
from gameproof.tables.budget_learning.moves import LevelMoves, Setting, Verdict
from gameproof.tables.budget_learning.reasons import level_shift_reason
from gameproof.tables.budget_learning.shifted import SAFE


@final
@dataclass(frozen=True, eq=False)
class ShiftedCategory:
    """Known levels of both tables, with sides if a model is given.

    `gains` holds for each level the mean change of score of people refused before, if all had it.
    """

    column: str
    levels: tuple[str, ...]
    before: Codes
    after: Codes
    sides: tuple[Codes, Codes] | None
    gains: Vector | None
    setting: Setting

    @cached_property
    def safe(self) -> tuple[Bools, Bools]:
        """Masks of the people well above the threshold, in both tables."""
        assert self.sides is not None
        return self.sides[0] == SAFE, self.sides[1] == SAFE

    def p_values(self) -> dict[str, float]:
        """P-values of the same tests as in `ShiftedNumber`."""
        found = {"moved": _changed(self.before, self.after), **NOT_TESTED}
        if self.sides is not None:
            one, two = self.safe
            found["accepted"] = _changed(self.before[one], self.after[two])
            for test, wanted in (("further", self.helpful), ("away", ~self.helpful)):
                found[test] = bonferroni([self._further(int(k)) for k in np.flatnonzero(wanted)])
        return found

    @cached_property
    def helpful(self) -> Bools:
        """Levels that do not lower the score of people refused before."""
        if self.gains is None:
            return np.ones(len(self.levels), dtype=bool)
        found: Bools = self.gains >= 0
        return found

    def row(self, p: dict[str, float]) -> ColumnMoves:
        """The findings, from p-values corrected for the number of columns."""
        verdict = self._verdict(p)
        levels = self._levels(verdict)
        claimed = tuple(each.level for each in levels if each.claim)
        return ColumnMoves(
            self.column,
            "category",
            verdict,
            level_shift_reason(verdict, p, levels, self.sides is not None),
            max(p["moved"], verdict_p_value(verdict, p, self.sides is not None)),
            "everyone" if self.sides is None else "refused",
            min(self.before.size, self.after.size),
            levels=levels,
            budget=claimed or None,
        )

    def _verdict(self, p: dict[str, float]) -> Verdict:
        clear = self.setting.clear
        if min(self.before.size, self.after.size) < SMALLEST_GROUP:
            return "too few"
        if not clear(p["moved"]):
            return "unchanged"
        if self.sides is None or clear(p["further"]):
            return "moved"
        if clear(p["accepted"]):
            return "drift"
        return "away" if clear(p["away"]) else "unclear"

    def _levels(self, verdict: Verdict) -> tuple[LevelMoves, ...]:
        """The shares of each level in both tables, and whether it is claimed."""
        confidence, found = self.setting.confidence, []
        tests = [_rose(self.before == k, self.after == k) for k in range(len(self.levels))]
        raised = holm([two_sided(test) for test in tests])
        further = [1.0] * len(tests)
        if self.sides is not None:
            further = holm([self._further(k) for k in range(len(self.levels))])
        for k, level in enumerate(self.levels):
            gain = None if self.gains is None else float(self.gains[k])
            claim = verdict == "moved" and self.setting.clear(raised[k]) and tests[k][0] < 0.5
            if self.sides is not None:
                claim = claim and self.setting.clear(further[k]) and bool(self.helpful[k])
            shares = share(self.before == k, confidence), share(self.after == k, confidence)
            p_value = raised[k] if self.sides is None else max(raised[k], further[k])
            found.append(LevelMoves(level, None, None, p_value, claim, *shares, gain))
        return tuple(found)

    def _further(self, level: int) -> float:
        """The p-value that a level grows more among the others than among the safe."""
        one, two = self.safe
        parts = [(part == level, rows) for part, rows in ((self.before, one), (self.after, two))]
        difference = variance = 0.0
        for sign, (has, rows) in zip((-1, 1), parts, strict=True):
            for way, chosen in ((-1, has[rows]), (1, has[~rows])):
                if not chosen.size:
                    return 1.0
                # One more person with the level and one without, so that no variance is 0.
                q = (chosen.sum() + 1) / (chosen.size + 2)
                difference += sign * way * q
                variance += q * (1 - q) / chosen.size
        return float(norm.sf(difference / np.sqrt(variance)))


def _changed(before: Codes, after: Codes) -> float:
    """The p-value of the chi-squared test that both have the same distribution of levels."""
    if not before.size or not after.size:
        return 1.0
    size = int(max(before.max(), after.max())) + 1
    counts = np.array([np.bincount(each, minlength=size) for each in (before, after)])
    smaller = min(before.size, after.size) / (before.size + after.size)
    few = counts.sum(axis=0) * smaller < SMALLEST_GROUP
    pooled = np.column_stack([counts[:, ~few], counts[:, few].sum(axis=1)])
    pooled = pooled[:, pooled.sum(axis=0) > 0]
    return float(chi2_contingency(pooled).pvalue) if pooled.shape[1] > 1 else 1.0


def _rose(before: Bools, after: Bools) -> tuple[float, float]:
    """One-sided p-values that a level became more frequent, and less frequent."""
    n, m = before.size, after.size
    pooled = (before.sum() + after.sum() + 1) / (n + m + 2)
    z = (after.mean() - before.mean()) / np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    return float(norm.sf(z)), float(norm.cdf(z))
