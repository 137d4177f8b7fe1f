"""The findings of `learn_budgets`: one row for each column, and the proposed budgets."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import Literal, NamedTuple, final

from gameproof.tables.budget_learning.evidence import Mean, Quantile, Share

Verdict = Literal["moved", "drift", "away", "unclear", "undirected", "unchanged", "too few"]
Evidence = Literal["paired", "unpaired"]
Budget = tuple[float, float] | tuple[str, ...]
DIGITS = 3  # significant digits of a proposed budget


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


@final
@dataclass(frozen=True)
class ColumnMoves:
    """What people did to one column, the verdict with its reason, and the proposed budget.

    Attributes
    ----------
    verdict
        "moved": people moved, and a budget is proposed. "drift": everyone's values changed in the
        same way. "away": people refused before moved less far towards acceptance than people
        accepted before. "unclear": people moved, but it may be drift. "undirected": moves up and
        down are equally frequent. "unchanged": no change. "too few": too few people moved.
    p_value
        The p-value of the test behind the verdict, corrected for the number of columns (Holm).
    people
        Whose moves `up`, `down` and `budget` describe: "refused" or "everyone".
    drift
        The median move of people who had no reason to game; 0 if it is not significant or if their
        moves differ too much. It is subtracted from the moves of a column that moved.
    ordinary
        How far people move who do not game, at the quantile of the budget: people accepted before
        or, without a model, people who moved the other way.
    """

    column: str
    kind: Literal["number", "category"]
    verdict: Verdict
    why: str
    p_value: float
    people: Literal["refused", "everyone"]
    n: int
    became_missing: int | None = None
    became_known: int | None = None
    up: Moves | None = None
    down: Moves | None = None
    levels: tuple[LevelMoves, ...] = ()
    drift: float = 0.0
    direction: int = 0
    helps: bool | None = None
    budget: Budget | None = None
    interval: tuple[float, float] | None = None
    ordinary: float | None = None
    everyone: Group | None = None
    refused: Group | None = None
    accepted: Group | None = None


@final
@dataclass(frozen=True)
class Acceptance:
    """What a model decides about both tables. In unpaired tables only the shares are known.

    Attributes
    ----------
    before, after
        The share of people accepted before, and after.
    won, lost
        The share of people refused before who are accepted after, and the share of people
        accepted before who are refused after.
    raised
        The share with a higher score among people refused before whose score changed.
    refused_gain, accepted_gain
        The mean change of score of people refused, and accepted, before.
    """

    model: str
    before: Share
    after: Share
    won: Share | None = None
    lost: Share | None = None
    raised: Share | None = None
    refused_gain: Mean | None = None
    accepted_gain: Mean | None = None


@dataclass(frozen=True, repr=False)
class Findings:
    """The findings on all columns, and their evidence.

    Attributes
    ----------
    evidence
        "paired": the same people before and after. "unpaired": people could not be matched, which
        is weaker evidence.
    n_before, n_after
        The number of people in each table; equal in paired tables.
    rows
        A `ColumnMoves` for each column.
    method
        How budgets were chosen, in a sentence.
    notes
        What was left out, and what limits the findings.
    """

    evidence: Evidence
    n_before: int
    n_after: int
    quantile: float
    confidence: float
    rows: tuple[ColumnMoves, ...]
    method: str
    notes: tuple[str, ...] = ()
    acceptance: Acceptance | None = None

    @property
    def budgets(self) -> dict[str, Budget]:
        """Budgets for ``fit_table`` and ``RobustStrategicClassifier``: ranges or levels."""
        return {row.column: row.budget for row in self.rows if row.budget is not None}

    @property
    def movable(self) -> str:
        """The budgets as one text for ``gameproof fit --movable``."""
        return movable_text(self.budgets)


def movable_text(budgets: Mapping[str, Budget]) -> str:
    """Budgets as a list for ``--movable``, quoted as in a CSV file.

    >>> movable_text({"savings": (0.0, 5000.0), "a, b": (-0.2, 0.0), "job": ("retired", "student")})
    'savings:0..5000,"a, b:-0.2..0",job:=retired|student'
    """
    cells = []
    for name, budget in budgets.items():
        if all(isinstance(part, str) for part in budget):
            cells.append(f"{name}:={'|'.join(map(str, budget))}")
        else:
            lower, upper = (f"{part:.12g}" for part in budget)
            cells.append(f"{name}:{lower}..{upper}")
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def budget_of(moves: Moves, quantile: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """The budget (lower, upper) that reaches this quantile of the moves, and its interval."""
    reach = moves.at(quantile)
    far = away_from_zero(reach.value)
    return (min(far, 0.0), max(far, 0.0)), (reach.low, reach.high)


def away_from_zero(value: float) -> float:
    """Rounds a number to a few digits, away from zero.

    >>> away_from_zero(4981.7), away_from_zero(-0.20001), away_from_zero(12.0), away_from_zero(0.0)
    (4990.0, -0.201, 12.0, 0.0)
    """
    if value == 0 or not isfinite(value):
        return float(value) + 0.0
    step = floor(log10(abs(value))) - DIGITS + 1
    sized = ceil(abs(value) / 10.0**step - 1e-9)
    found = float(f"{sized}e{step}")
    return found if value > 0 else -found
