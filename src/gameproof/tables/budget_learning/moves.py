"""Moves of people in one column: numbers, levels of a category, and groups of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, final

from gameproof.tables.budget_learning.evidence import Mean, Quantile, Share

Verdict = Literal["moved", "drift", "away", "unclear", "undirected", "unchanged", "too few"]


class Setting(NamedTuple):
    """The quantile and the confidence that `learn_budgets` uses."""

    quantile: float
    confidence: float

    @property
    def shares(self) -> tuple[float, ...]:
        """The quantiles that are reported."""
        return tuple(sorted({0.5, 0.75, 0.9, 0.95, self.quantile}))

    def clear(self, p_value: float) -> bool:
        """True if a corrected p-value is significant."""
        return p_value <= 1 - self.confidence


@final
@dataclass(frozen=True)
class Moves:
    """Moves in one direction, in the units of the table.

    `share` is the share of people who moved this way. `quantiles` are quantiles of the moves,
    negative for moves down. In unpaired tables, these are shifts of ranks, not moves of people.
    """

    n: int
    share: Share
    quantiles: tuple[Quantile, ...]

    def at(self, share: float) -> Quantile:
        """The quantile at this share."""
        return next(each for each in self.quantiles if each.at == share)


@final
@dataclass(frozen=True)
class LevelMoves:
    """How many people switched to a level of a category (`came`) and from it (`left`).

    `p_value` is corrected. `claim` is True if the proposed budget lets people claim the level. In
    unpaired tables `came` and `left` are None, and `before` and `after` hold the level's shares.
    """

    level: str
    came: int | None
    left: int | None
    p_value: float
    claim: bool
    before: Share | None = None
    after: Share | None = None
    gain: float | None = None


@final
@dataclass(frozen=True)
class Group:
    """How a group of people changed one column.

    `changed`, `up` and `down` are shares of the group, the last two for numbers only. `raised` is
    the share of changes that raise the score, each change taken alone, and `gain` is their mean
    effect on the score.
    """

    n: int
    changed: Share | None
    up: Share | None = None
    down: Share | None = None
    median: float | None = None
    raised: Share | None = None
    gain: Mean | None = None
