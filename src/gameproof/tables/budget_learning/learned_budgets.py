"""`LearnedBudgets`: what `learn_budgets` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from gameproof.core.errors import DataError
from gameproof.core.naming import suggestion
from gameproof.tables.budget_learning.column_moves import ColumnMoves, Findings
from gameproof.tables.budget_learning.lines import lines


@final
@dataclass(frozen=True, repr=False)
class LearnedBudgets(Findings):
    """What people changed after a model became known, column by column, and the budgets that this
    suggests. Printed, it is a table to be read.

    budgets
        ``{"savings": (0.0, 5000.0), "job": ("retired",)}``, for `RobustStrategicClassifier`.
    movable
        The same as one text for ``gameproof fit --movable``.
    evidence
        "paired", or "unpaired", which is weaker.
    rows, row(column)
        Moves, tests and verdicts of each column: see `ColumnMoves`.
    acceptance
        What the model decides about both tables, where one was given.
    method, notes
        How budgets were chosen; what was left out, and what to be careful about.
    """

    def row(self, column: str) -> ColumnMoves:
        """The row of a column."""
        found = {row.column: row for row in self.rows}
        if column not in found:
            raise DataError(f"{column!r} was not compared; {suggestion(column, found)}")
        return found[column]

    def record(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **_plain(self),
            "weaker_evidence": self.evidence == "unpaired",
            "budgets": {name: list(budget) for name, budget in self.budgets.items()},
            "movable": self.movable,
        }

    def __repr__(self) -> str:
        return "\n".join(lines(self))


def _plain(value: Any) -> Any:
    """With the names of what a NamedTuple holds."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value
