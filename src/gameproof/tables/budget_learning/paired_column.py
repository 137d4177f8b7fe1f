"""`PairedColumn`: what numbers and categories of the same people, before and after, have in common.

The same tests are made for both kinds, and their p-values have these names. "moved": people moved
in one direction. "further", "away": the refused moved further towards acceptance than the accepted,
or less far. "accepted": the accepted moved in one direction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.tables.budget_learning.column_moves import ColumnMoves
from gameproof.tables.budget_learning.evidence import Bools
from gameproof.tables.budget_learning.groups import NOT_TESTED, Groups, group, verdict_p_value
from gameproof.tables.budget_learning.moves import Group, Setting, Verdict


@dataclass(frozen=True, eq=False)
class PairedColumn(ABC):
    """A column of people who have a value before and after.

    `became_missing` and `became_known` count the people who have only one of the two. `gains` are
    the changes of score that result from changing this column alone.
    """

    column: str
    became_missing: int
    became_known: int
    groups: Groups | None
    gains: Vector | None
    setting: Setting

    @property
    @abstractmethod
    def changes(self) -> Vector:
        """One number for each person, 0 for no change."""

    @abstractmethod
    def one_way(self, rows: Bools) -> float:
        """The p-value that these people moved in one direction."""

    @abstractmethod
    def beyond_accepted(self, groups: Groups) -> dict[str, float]:
        """The p-values "further" and "away"."""

    @cached_property
    def everyone(self) -> Bools:
        """A mask of all people."""
        return np.ones(self.changes.size, dtype=bool)

    @property
    def judged(self) -> Bools:
        """A mask of the people whose moves are judged: the refused, or else everyone."""
        return self.everyone if self.groups is None else self.groups.refused

    def p_values(self) -> dict[str, float]:
        """P-values by test."""
        found = {"moved": self.one_way(self.everyone), **NOT_TESTED}
        if self.groups is not None:
            found |= self.beyond_accepted(self.groups)
            found["accepted"] = self.one_way(self.groups.accepted)
        return found

    def described_groups(self, numbers: bool) -> list[Group]:
        """How everyone and, with a model, the refused and the accepted changed the column."""
        parts = () if self.groups is None else self.groups
        return [
            group(rows, self.changes, self.gains, self.setting, numbers)
            for rows in (self.everyone, *parts)
        ]

    def findings(
        self, verdict: Verdict, why: str, p: dict[str, float], groups: list[Group], **rest: Any
    ) -> ColumnMoves:
        """The findings on this column; `rest` are the fields that only its kind has."""
        everyone, refused, accepted = groups if len(groups) > 1 else (groups[0], None, None)
        return ColumnMoves(
            column=self.column,
            verdict=verdict,
            why=why,
            p_value=verdict_p_value(verdict, p, self.groups is not None),
            people="everyone" if self.groups is None else "refused",
            n=self.changes.size,
            became_missing=self.became_missing,
            became_known=self.became_known,
            everyone=everyone,
            refused=refused,
            accepted=accepted,
            **rest,
        )
