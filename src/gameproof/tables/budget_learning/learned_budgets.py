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
    """What people changed after a model became known, and the budgets that follow.

    `learn_budgets` returns it. Printed, it is a summary.

    Attributes
    ----------
    budgets : dict
        ``{"savings": (0.0, 5000.0), "job": ("retired",)}``, for `fit_table` and
        `RobustStrategicClassifier`.
    movable : str
        The budgets as one text for ``gameproof fit --movable``.
    evidence : str
        "paired", or "unpaired", which is weaker.
    rows : tuple
        Moves, tests and verdict of each column, as `ColumnMoves`.
    acceptance : Acceptance or None
        What the model decides about both tables, if one was given.
    method : str
        How budgets were chosen.
    notes : tuple of str
        What was left out, and what limits the findings.

    Examples
    --------
    >>> import gameproof as gp
    >>> before = {"id": list(range(40)), "savings": [100.0 * k for k in range(40)]}
    >>> after = {**before, "savings": [100.0 * k + 500 * (k % 2) for k in range(40)]}
    >>> found = gp.learn_budgets(before, after, key="id")
    >>> found.movable, found.row("savings").verdict
    ('savings:0..500', 'moved')
    """

    def row(self, column: str) -> ColumnMoves:
        """The findings on one column."""
        found = {row.column: row for row in self.rows}
        if column not in found:
            raise DataError(f"{column!r} was not compared; {suggestion(column, found)}")
        return found[column]

    def record(self) -> dict[str, Any]:
        """The findings as JSON holds them."""
        return {
            "verdict": self.verdict,
            **_plain(self),
            "weaker_evidence": self.evidence == "unpaired",
            "budgets": {name: list(budget) for name, budget in self.budgets.items()},
            "movable": self.movable,
        }

    def __repr__(self) -> str:
        return "\n".join(lines(self))


def _plain(value: Any) -> Any:
    """Nested tuples and dataclasses as lists and dicts, with the names of their fields."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value
