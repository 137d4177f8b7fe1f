"""`Meaning`: what the user says about the columns of a table from which a classifier learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gameproof.core.naming import quoted
from gameproof.tables.column_budgets import StatedBudgets
from gameproof.tables.date_columns import StatedDates
from gameproof.tables.out_of_time import SPLITS


class Meaning(NamedTuple):
    """What columns mean, and which rows are used how; `fit_table` explains each."""

    target: str
    favourable: Any
    budgets: StatedBudgets
    drop: Sequence[str] = ()
    categories: Sequence[str] = ()
    rest: bool = False
    unfavourable: Sequence[Any] = ()
    ignore: Sequence[Any] = ()
    dates: StatedDates = ()
    groups: str | None = None
    split_by: str | None = None
    test_after: Any = None

    def checked(self) -> Meaning:
        """Itself; raises if only one half of an out-of-time test is stated."""
        if (self.split_by is None) != (self.test_after is None):
            raise ValueError(
                "an out-of-time test needs both the column (--split-by) and the value after which "
                "rows are tested (--test-after)"
            )
        return self

    @property
    def outcomes(self) -> dict[str, Any]:
        """Which values of the target are outcomes, as arguments of `Target.of`."""
        return {
            "favourable": self.favourable,
            "rest": self.rest,
            "unfavourable": self.unfavourable,
            "ignore": self.ignore,
        }

    @property
    def columns(self) -> dict[str, Any]:
        """How columns are used, as arguments of `ColumnPlan.of`."""
        return {"drop": self.drop, "categories": self.categories, "dates": self.dates}

    @property
    def left_out(self) -> dict[str, str]:
        """The column that says which rows are tested, and why it is left out."""
        return {} if self.split_by is None else {self.split_by: SPLITS}

    @property
    def split_words(self) -> str:
        """How rows are divided, in words; empty for a random split."""
        if self.split_by is None:
            return ""
        return f"{quoted(self.split_by)} after {self.test_after}"
