"""A numeric column in two tables of people who cannot be matched.

The distribution must have changed (Kolmogorov-Smirnov test). With a model, the others must also
have shifted further towards acceptance than people well above the threshold (bootstrap); otherwise
everyone's values drift. The module `shifted` defines shifts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from scipy.stats import norm

from gameproof.core.arguments import Matrix, Vector
from gameproof.tables.budget_learning.column_moves import ColumnMoves
from gameproof.tables.budget_learning.evidence import Codes, Quantile, Share, directed, mean
from gameproof.tables.budget_learning.groups import NOT_TESTED, SMALLEST_GROUP, verdict_p_value
from gameproof.tables.budget_learning.moves import Group, Moves, Setting, Verdict
from gameproof.tables.budget_learning.proposed_budgets import budget_of
from gameproof.tables.budget_learning.reasons import shift_reason
from gameproof.tables.budget_learning.shifted import (
    RANKS,
    SAFE,
    Cells,
    beyond_the_safe,
    changed_at_all,
    safe_shifts,
    shifts,
)

SAME_SHIFT = 0.1  # if quartiles differ by less than this times the median, all ranks drift


@final
@dataclass(frozen=True, eq=False)
class ShiftedNumber:
    """Known values of both tables, with sides if a model is given.

    `steps` are the moves of people refused before to the values of the same rank after, and `gains`
    the changes of their scores.
    """

    column: str
    before: Vector
    after: Vector
    sides: tuple[Codes, Codes] | None
    gains: Vector | None
    steps: Vector | None
    setting: Setting
    seed: Any

    @cached_property
    def cells(self) -> tuple[Cells, Cells]:
        """Both tables as cells."""
        sides = self.sides
        if sides is None:  # nobody is known to be refused
            sides = np.full(self.before.size, SAFE), np.full(self.after.size, SAFE)
        return Cells.of(self.before, sides[0]), Cells.of(self.after, sides[1])

    @cached_property
    def drawn(self) -> list[tuple[Cells, Cells]]:
        """Bootstrap samples of both tables."""
        rng = np.random.default_rng(self.seed)
        one, two = (cells.drawn(rng) for cells in self.cells)
        return list(zip(one, two, strict=True))

    @cached_property
    def towards(self) -> int:
        """The direction that raises the score; 0 if there is none or it is not known."""
        if self.gains is None or self.steps is None:
            return 0
        return int(np.sign(np.nansum(np.sign(self.gains) * np.sign(self.steps))))

    def p_values(self) -> dict[str, float]:
        """P-values by test.

        "moved": the distribution changed. "further", "away": the others shifted further towards
        acceptance than the safe, or less far. "accepted": the safe shifted.
        """
        found = {"moved": changed_at_all(self.before, self.after), **NOT_TESTED}
        if self.sides is not None:
            safe = [
                v[s == SAFE] for v, s in zip((self.before, self.after), self.sides, strict=True)
            ]
            found["accepted"] = changed_at_all(*safe)
            found |= directed(self._beyond_the_safe(), self.towards)
        return found

    def _beyond_the_safe(self) -> tuple[float, float]:
        """One-sided p-values that the others shifted further up than the safe, and further down."""
        error = float(np.std([beyond_the_safe(*pair) for pair in self.drawn], ddof=1))
        seen = beyond_the_safe(*self.cells)
        if error == 0:
            return (1.0, 1.0) if seen == 0 else (float(seen < 0), float(seen > 0))
        return float(norm.sf(seen / error)), float(norm.cdf(seen / error))

    def row(self, p: dict[str, float]) -> ColumnMoves:
        """The findings, from p-values corrected for the number of columns."""
        drift = 0.0
        if self.sides is not None and self.setting.clear(p["accepted"]):
            drift = float(np.median(safe_shifts(*self.cells)))
        before, after = self.cells[0], self.cells[1].moved(-drift)
        seen = shifts(before, after)
        drawn = np.array([shifts(one, two.moved(-drift)) for one, two in self.drawn])
        verdict, direction = self._verdict(p, seen, drawn, drift)
        if verdict == "drift" and self.sides is None:
            drift = float(np.median(seen))
        up, down = (_moves(way, seen, drawn, self.setting) for way in (1, -1))
        chosen = up if direction > 0 else down
        budget = interval = None
        if verdict == "moved" and chosen is not None:
            budget, interval = budget_of(chosen, self.setting.quantile)
        return ColumnMoves(
            self.column,
            "number",
            verdict,
            shift_reason(verdict, direction, drift, self.towards, p, self.sides is not None),
            max(p["moved"], verdict_p_value(verdict, p, self.sides is not None)),
            "everyone" if self.sides is None else "refused",
            min(self.before.size, self.after.size),
            up=up,
            down=down,
            drift=drift,
            direction=direction if verdict == "moved" else 0,
            helps=None if self.gains is None or not direction else self.towards == direction,
            budget=budget,
            interval=interval,
            refused=self._group(),
        )

    def _verdict(
        self, p: dict[str, float], seen: Vector, drawn: Matrix, drift: float
    ) -> tuple[Verdict, int]:
        clear = self.setting.clear
        if min(self.before.size, self.after.size) < SMALLEST_GROUP:
            return "too few", 0
        if not clear(p["moved"]):
            return "unchanged", 0
        direction = int(np.sign(seen.mean()))
        if self.sides is not None:
            if clear(p["further"]):
                return "moved", self.towards or int(np.sign(beyond_the_safe(*self.cells)))
            if clear(p["accepted"]):
                return "drift", int(np.sign(drift)) or direction
            if clear(p["away"]):
                return "away", -self.towards
            return "unclear", direction
        quartiles = np.quantile(seen, [0.25, 0.5, 0.75])
        if abs(quartiles[2] - quartiles[0]) < SAME_SHIFT * abs(quartiles[1]):
            return "drift", direction
        tail = (1 - self.setting.confidence) / 2
        low, high = np.quantile(drawn.mean(axis=1), [tail, 1 - tail])
        return ("moved", direction) if low > 0 or high < 0 else ("undirected", 0)

    def _group(self) -> Group | None:
        """The effect of the shift on scores of people refused before.

        There are no intervals, because ranks are not independent people.
        """
        if self.gains is None or self.steps is None:
            return None
        gained = self.gains[(self.steps != 0) & ~np.isnan(self.gains)]
        if not gained.size:
            return Group(self.gains.size, None)
        raised = Share(float((gained > 0).mean()), np.nan, np.nan, gained.size)
        centre = mean(gained, self.setting.confidence)
        assert centre is not None
        return Group(
            self.gains.size, None, raised=raised, gain=centre._replace(low=np.nan, high=np.nan)
        )


def _moves(way: int, seen: Vector, drawn: Matrix, setting: Setting) -> Moves | None:
    """The ranks that shifted in one direction, with bootstrap intervals."""
    sizes = way * seen
    if not (sizes > 0).any():
        return None
    again = [_quantiles(way * each, setting) for each in drawn]
    tail = (1 - setting.confidence) / 2
    ends = np.quantile(np.array(again), [tail, 1 - tail], axis=0)
    shares = np.quantile((way * drawn > 0).mean(axis=1), [tail, 1 - tail])
    found = []
    for k, (at, value) in enumerate(zip(setting.shares, _quantiles(sizes, setting), strict=True)):
        low, high = sorted(way * ends[:, k])
        found.append(Quantile(at, float(way * value), float(low), float(high)))
    share = Share(float((sizes > 0).mean()), float(shares[0]), float(shares[1]), RANKS.size)
    return Moves(int((sizes > 0).sum()), share, tuple(found))


def _quantiles(sizes: Vector, setting: Setting) -> Vector:
    going = sizes[sizes > 0]
    if not going.size:
        return np.zeros(len(setting.shares))
    found: Vector = np.quantile(going, setting.shares, method="inverted_cdf")
    return found
