"""What was learned of the moves of people: a row for each column, and the budgets they suggest."""

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
DIGITS = 3  # of a proposed budget


class Setting(NamedTuple):
    """What `learn_budgets` was asked for."""

    quantile: float
    confidence: float

    @property
    def shares(self) -> tuple[float, ...]:
        """The quantiles that are reported."""
        return tuple(sorted({0.5, 0.75, 0.9, 0.95, self.quantile}))

    def clear(self, p_value: float) -> bool:
        """Whether a corrected test rejects."""
        return p_value <= 1 - self.confidence


@final
@dataclass(frozen=True)
class Moves:
    """Moves in one direction, in the units of the table: how many, the share of the people in
    question, and quantiles of their sizes, negative for moves down.

    In unpaired tables these are shifts of ranks in place of moves of people.
    """

    n: int
    share: Share
    quantiles: tuple[Quantile, ...]

    def at(self, share: float) -> Quantile:
        """The quantile of this share."""
        return next(each for each in self.quantiles if each.at == share)


@final
@dataclass(frozen=True)
class LevelMoves:
    """How many people switched to a level of a category and from it, the corrected p-value of that,
    and whether to `claim` it is part of the proposed budget. In unpaired tables `came` and `left`
    are None, and the shares before and after take their place."""

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
    """People and their changes of one column: who changed it, up and down (of numbers), the median
    move; the share of changes that raise the score by themselves, and the mean change of score."""

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
    """A column: what people did, what that means and why, and the budget that it suggests.

    verdict
        "moved": people moved, and a budget is proposed. "drift": everyone's values changed in the
        same way. "away": those refused before went less far towards acceptance than those accepted
        before. "unclear": people moved, and it cannot be told whether that is drift.
        "undirected": as often up as down. "unchanged", "too few" people.
    p_value
        Of the test behind the verdict, corrected for the number of columns (Holm).
    people
        Whose moves `up`, `down` and `budget` are about: "refused" or "everyone".
    drift
        The median move of people who had no reason to game, 0 where it is not clear or where they
        did not move by about the same. It is subtracted from the moves of a column that moved.
    ordinary
        How far people move who do not game, by the same quantile as the budget: those accepted
        before, or, without a model, those who moved the other way.
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
    """What a model decides about both tables.

    won, lost
        The share of people refused before who are accepted after, and the share of people
        accepted before who are refused after. None for unpaired tables, like the rest.
    raised
        Of those refused before who changed their score, the share who raised it.
    refused_gain, accepted_gain
        Mean changes of score.
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
    """All rows, and what they rest on.

    evidence
        "paired": the same people before and after. "unpaired": two tables of people who could not
        be matched, which is weaker evidence.
    n_before, n_after
        People compared: in paired tables the same number.
    rows
        A `ColumnMoves` for each column.
    method
        How budgets were chosen, in a sentence.
    notes
        What was left out, and what to be careful about.
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
        """Column by column (lower, upper) in the units of the table, or levels that can be claimed;
        for ``RobustStrategicClassifier(budgets=…)``."""
        return {row.column: row.budget for row in self.rows if row.budget is not None}

    @property
    def movable(self) -> str:
        """The same as ``gameproof fit --movable`` takes it."""
        return movable_text(self.budgets)


def movable_text(budgets: Mapping[str, Budget]) -> str:
    """Budgets in one line, a cell each as in a CSV file.

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
    """The budget (lower, upper) that lets people go as far as this quantile of the moves, and the
    interval of the quantile."""
    reach = moves.at(quantile)
    far = away_from_zero(reach.value)
    return (min(far, 0.0), max(far, 0.0)), (reach.low, reach.high)


def away_from_zero(value: float) -> float:
    """Rounded to a few digits, never to less than it is.

    >>> away_from_zero(4981.7), away_from_zero(-0.20001), away_from_zero(12.0), away_from_zero(0.0)
    (4990.0, -0.201, 12.0, 0.0)
    """
    if value == 0 or not isfinite(value):
        return float(value) + 0.0
    step = floor(log10(abs(value))) - DIGITS + 1
    sized = ceil(abs(value) / 10.0**step - 1e-9)
    found = float(f"{sized}e{step}")
    return found if value > 0 else -found
