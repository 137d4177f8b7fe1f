"""`Audit`: what an audit found, as rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, final

from gameproof.auditing.gaming_rows import Costs
from gameproof.auditing.json_safe import json_safe
from gameproof.auditing.linear_model import BAD
from gameproof.auditing.row_types import (
    Bin,
    Coefficient,
    Difference,
    Gaming,
    Hurt,
    Loss,
    PowerGaming,
    Quality,
    Shift,
    ShiftDifference,
    Weakness,
)
from gameproof.auditing.scale_rows import WHY_SCALE_MATTERS
from gameproof.estimators.table_budgets import Budgets

UNIT = "standard deviations"
# What changes when a model is multiplied by a positive number; all else does not.
BY_SCALE = ("power", "why_power", "by_power", "losses", "coefficients")


@final
@dataclass(frozen=True)
class Audit:
    """Rows on one classifier, or on several beside each other; the last one is in question.

    `budgets` are what people can change; weak spots and the worst case are about these, and
    `gaming` about multiples of them. `power`, `by_power`, `losses` and `coefficients` depend on the
    scale of the scores, and nothing else does.

    With `splits` above 1 the rows are means over that many splits of a table, and so are their
    intervals. `fingerprint` tells the people from others. `radius` is what the model in question
    was fitted for, `outcomes` what labels +1 and -1 are called, `why_…` why these, and
    `learned_from` the share of these people that the model learned from, where that is known.
    """

    models: tuple[str, ...]
    budgets: Budgets
    costs: Costs
    label_cost: float
    quality: tuple[Quality, ...]
    bins: tuple[Bin, ...]
    gaming: tuple[Gaming, ...]
    shifts: tuple[Shift, ...]
    weaknesses: tuple[Weakness, ...]
    hurt: tuple[Hurt, ...]
    power: float
    by_power: tuple[PowerGaming, ...]
    losses: tuple[Loss, ...]
    coefficients: tuple[Coefficient, ...]
    differences: tuple[Difference, ...] = ()
    shift_differences: tuple[ShiftDifference, ...] = ()
    splits: int = 1
    unit: str = UNIT
    fingerprint: str = ""
    radius: float | None = None
    outcomes: tuple[str, ...] = ()
    why_budgets: str = ""
    why_power: str = ""
    learned_from: float | None = None
    why_label_cost: str = ""

    @property
    def movable(self) -> tuple[str, ...]:
        """The columns of the table that people can change."""
        return self.budgets.columns

    @property
    def multiples(self) -> tuple[float, ...]:
        """The multiples of the budgets that were looked at."""
        return tuple(dict.fromkeys(row.multiple for row in self.gaming))

    def record(self) -> dict[str, Any]:
        """All of it as JSON takes it; what is not finite is None."""
        found = asdict(self)
        found["budgets"] = {**self.budgets.record(), "description": self.budgets.describe()}
        found["movable"], found["costs"] = self.movable, self.costs._asdict()
        found["depends_on_scale"] = {"why": WHY_SCALE_MATTERS} | {
            name: found.pop(name) for name in BY_SCALE
        }
        checked: dict[str, Any] = json_safe(found)
        return checked

    def of(self, rows: Iterable[Any], model: str) -> list[Any]:
        """Those rows that are about one model."""
        return [row for row in rows if row.model == model]

    def at(self, model: str, multiple: float, movers: str = BAD) -> Gaming:
        """The row of one model where these people use this multiple of their budgets."""
        rows: list[Gaming] = self.of(self.gaming, model)
        return next(r for r in rows if (r.movers, r.multiple) == (movers, multiple))
