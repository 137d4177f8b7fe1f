"""A numeric column of the same people, before and after.

A move is after − before. The verdict depends on these tests:

- without a model, whether moves in one direction are more frequent (sign test);
- with a model, whether people refused before moved further towards acceptance than people accepted
  before who had about the same value (stratified rank test). If not, and the accepted moved in the
  same direction (sign test), everyone's values drift.

If the middle half of the accepted moved by about the same amount, the drift is their median move,
weighted so that their values before are distributed like those of the refused. The budget is a
quantile of the moves of the refused beyond the drift.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.tables.budget_learning.column_moves import ColumnMoves
from gameproof.tables.budget_learning.evidence import (
    Bools,
    Codes,
    Quantile,
    directed,
    more_often,
    quantiles,
    share,
    sign_test,
)
from gameproof.tables.budget_learning.groups import (
    FEWEST_MOVES,
    Groups,
)
from gameproof.tables.budget_learning.moves import Moves, Setting, Verdict
from gameproof.tables.budget_learning.paired_column import PairedColumn
from gameproof.tables.budget_learning.proposed_budgets import budget_of
from gameproof.tables.budget_learning.reasons import number_reason

ROUNDING = 1e-6  # smaller changes, relative to the larger value, are rounding
NEARLY_ALL = 0.9  # without a model, a move that this share of people made is drift


@final
@dataclass(frozen=True, eq=False)
class PairedNumber(PairedColumn):
    """The numbers of people who have one before and after."""

    before: Vector
    after: Vector

    @cached_property
    def moves(self) -> Vector:
        """After − before, 0 if the difference is rounding."""
        return _clean(self.after - self.before, self.before, self.after)

    @property
    def changes(self) -> Vector:
        """The moves."""
        return self.moves

    @cached_property
    def towards(self) -> int:
        """The direction that raises the score; 0 if there is none or it is not known."""
        if self.gains is None:
            return 0
        return int(np.sign(np.nansum(np.sign(self.gains) * np.sign(self.moves))))

    @cached_property
    def tails(self) -> tuple[float, float]:
        """One-sided p-values that the refused moved further up, and further down."""
        assert self.groups is not None
        return self.groups.further(self.moves, self.strata)

    @cached_property
    def strata(self) -> Codes:
        """Strata of similar values before."""
        assert self.groups is not None
        return self.groups.strata(self.before)

    def one_way(self, rows: Bools) -> float:
        """The p-value that these people moved up more often than down, or the reverse."""
        return sign_test(*_split(self.moves[rows]))

    def beyond_accepted(self, groups: Groups) -> dict[str, float]:
        """The p-values "further" and "away", from a stratified rank test."""
        return directed(self.tails, self.towards)

    def row(self, p: dict[str, float]) -> ColumnMoves:
        """The findings, from p-values corrected for the number of columns."""
        verdict, direction, drift = self._verdict(p)
        beyond = self.moves
        if verdict == "moved" and drift:
            beyond = _clean(self.moves - drift, self.before, self.after)
        up, down = (_moves(way * beyond[self.judged], way, self.setting) for way in (1, -1))
        chosen = up if direction > 0 else down
        budget = interval = None
        if verdict == "moved" and chosen is not None:
            budget, interval = budget_of(chosen, self.setting.quantile)
        return self.findings(
            verdict,
            self._why(verdict, direction, drift, p),
            p,
            self.described_groups(numbers=True),
            kind="number",
            up=up,
            down=down,
            drift=drift,
            direction=direction if verdict == "moved" else 0,
            helps=self._helps(direction, verdict),
            budget=budget,
            interval=interval,
            ordinary=self._ordinary(beyond, direction) if budget else None,
        )

    def _verdict(self, p: dict[str, float]) -> tuple[Verdict, int, float]:
        """The verdict, the direction and the drift."""
        up, down = _split(self.moves)
        direction = 1 if up >= down else -1
        clear = self.setting.clear
        if up + down == 0:
            return "unchanged", 0, 0.0
        if self.groups is None:
            if up + down < FEWEST_MOVES:
                return "too few", direction, 0.0
            if not clear(p["moved"]):
                return "undirected", 0, 0.0
            if max(up, down) >= NEARLY_ALL * self.moves.size:
                return "drift", direction, float(np.median(self.moves))
            return "moved", direction, 0.0
        drift = self._drift() if clear(p["accepted"]) else 0.0
        if clear(p["further"]):
            way = self.towards or (1 if self.tails[0] <= self.tails[1] else -1)
            own = way * (self._parts()[0] - drift)
            # The difference must not come from the accepted, who may have moved the other way.
            went = more_often(int((own > 0).sum()), int((own < 0).sum()))
            return ("moved" if clear(went) else "unclear"), way, drift
        refused, accepted = (int(np.sign(np.sign(part).sum())) for part in self._parts())
        if clear(p["accepted"]) and refused == accepted:
            return "drift", accepted, drift
        if clear(p["away"]):
            return "away", -self.towards, drift
        if clear(p["moved"]):
            return "unclear", direction, 0.0
        return ("too few" if up + down < FEWEST_MOVES else "undirected"), 0, 0.0

    def _drift(self) -> float:
        """The median move of the accepted if their middle half moved by about the same, else 0."""
        assert self.groups is not None
        low, high = np.quantile(self._parts()[1], [0.25, 0.75])
        middle = self.groups.ordinary_median(self.moves, self.strata)
        return middle if high - low < abs(middle) else 0.0

    def _parts(self) -> tuple[Vector, Vector]:
        """Moves of the refused and of the accepted."""
        assert self.groups is not None
        return self.moves[self.groups.refused], self.moves[self.groups.accepted]

    def _helps(self, direction: int, verdict: Verdict) -> bool | None:
        if self.gains is None or verdict in ("unchanged", "undirected") or not direction:
            return None
        return self.towards == direction

    def _ordinary(self, beyond: Vector, direction: int) -> float | None:
        """How far people move who do not game: see `ColumnMoves`."""
        if self.groups is None:
            sizes = -direction * beyond
        else:
            sizes = direction * beyond[self.groups.accepted]
        found = quantiles(sizes[sizes > 0], [self.setting.quantile], self.setting.confidence)
        return found[0].value if found else 0.0

    def _why(self, verdict: Verdict, direction: int, drift: float, p: dict[str, float]) -> str:
        parts = None if self.groups is None else self._parts()
        clear = self.setting.clear(p["further"])
        return number_reason(verdict, direction, drift, self.towards, p, self.moves, parts, clear)


def _clean(moves: Vector, before: Vector, after: Vector) -> Vector:
    """The moves, with 0 for those that are rounding."""
    size = np.maximum(np.abs(before), np.abs(after))
    cleaned: Vector = np.where(np.abs(moves) <= ROUNDING * size, 0.0, moves)
    return cleaned


def _split(moves: Vector) -> tuple[int, int]:
    """The numbers of moves up and down."""
    return int((moves > 0).sum()), int((moves < 0).sum())


def _moves(sizes: Vector, way: int, setting: Setting) -> Moves | None:
    """The moves in one direction, where sizes are positive."""
    found = share(sizes > 0, setting.confidence)
    if found is None:
        return None
    going = quantiles(sizes[sizes > 0], setting.shares, setting.confidence)
    if way < 0:
        going = tuple(Quantile(q.at, -q.value, -q.high, -q.low) for q in going)
    return Moves(int((sizes > 0).sum()), found, going) if going else None
