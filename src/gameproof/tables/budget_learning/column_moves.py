"""The findings of `learn_budgets`: one row for each column, and the proposed budgets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from gameproof.core.naming import listed, quoted
from gameproof.tables.budget_learning.evidence import Mean, Share
from gameproof.tables.budget_learning.moves import Group, LevelMoves, Moves, Verdict
from gameproof.tables.budget_learning.proposed_budgets import Budget, movable_text

Evidence = Literal["paired", "unpaired"]


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
    def verdict(self) -> str:
        """What people changed, and the budgets to train for, in a sentence."""
        moved = [quoted(row.column) for row in self.rows if row.verdict == "moved"]
        if not moved:
            return "No column moved significantly, so no budget is proposed."
        weak = " The evidence is weak: people are not matched." * (self.evidence == "unpaired")
        if not self.budgets:
            return f"People changed {listed(moved)}, but no budget can be proposed.{weak}"
        return f"People changed {listed(moved)}; the budgets to train for are {self.movable}.{weak}"

    @property
    def budgets(self) -> dict[str, Budget]:
        """Budgets for ``fit_table`` and ``RobustStrategicClassifier``: ranges or levels."""
        return {row.column: row.budget for row in self.rows if row.budget is not None}

    @property
    def movable(self) -> str:
        """The budgets as one text for ``gameproof fit --movable``."""
        return movable_text(self.budgets)
