"""`model_summary`: what a model of a table looks at, how it decides, and how it was made.

Numbers enter a model through a bent scale (`prepare.py`), so that one coefficient in the table's
units does not describe them. The summary gives the effect on the log odds of one unit more than
the median, and of going from the lower to the upper quartile of the training rows. The unit is a
power of ten below the distance between the quartiles: 1,000 for incomes, 0.1 for shares. Log odds
are not a line of the score (`probability_calibration.py`), so effects are those near the threshold,
where decisions change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import floor, log10
from typing import Any, final

import numpy as np

from gameproof.auditing.number_format import cell, setting, signed_decimal
from gameproof.core.naming import quoted
from gameproof.tables.audit_lines import plain, wrapped
from gameproof.tables.table_model import TableModel

# Settings of a fit that shape the robust model only.
ONLY_ROBUST = ("train_for", "radius", "why_this_radius", "label_cost")
EFFECT_COLUMNS = ("unit", "one more", "quartiles", "missing", "25 %", "median", "75 %")


@final
@dataclass(frozen=True)
class ColumnEffect:
    """The effect of a numeric column on the log odds of the favourable outcome, near the threshold.

    `movable` is the budget, empty if people cannot change the column. `per_unit` is the effect of
    one `unit` more than the median. Files of older versions know no quartiles.
    """

    column: str
    movable: str
    quartiles: tuple[float, float, float] | None
    unit: float | None
    per_unit: float | None
    between_quartiles: float | None


@final
@dataclass(frozen=True, eq=False, repr=False)
class ModelSummary:
    """A model in numbers. Printed, it is what ``gameproof show`` prints."""

    model: TableModel
    source: str = "the model"

    @property
    def training(self) -> Mapping[str, Any]:
        """The record of the fit."""
        return self.model.training

    @cached_property
    def coefficients(self) -> dict[str, float]:
        """Coefficients of the prepared features, in log odds near the threshold."""
        theta, _ = self.model.line
        return {n: self._slope * float(c) for n, c in zip(self.model.names, theta, strict=True)}

    @property
    def _slope(self) -> float:
        """How much the log odds rise with the score at the threshold."""
        return self.model.calibration.slope_at(self.model.cut)

    @property
    def intercept(self) -> float:
        """The log odds of a row whose prepared features are all 0."""
        _, intercept = self.model.line
        found = self.model.calibration.moved(self.model.cut).log_odds(np.array([intercept]))
        return float(found[0])

    def effects(self) -> list[ColumnEffect]:
        """The effect of each numeric column, in the units of the table."""
        features, known = self.model.plan.features, self.training.get("quartiles", {})
        budgets = {} if self.model.budgets is None else self.model.budgets.by_column()
        found = []
        for name in features.names:
            if name in features.levels:
                continue
            movable = budgets.get(name, "")
            if name not in known:
                found.append(ColumnEffect(name, movable, None, None, None, None))
                continue
            low, middle, high = map(float, known[name])
            unit = spoken_unit(low, middle, high)
            at, above, first, last = self._log_odds(name, (middle, middle + unit, low, high))
            effect = (unit, above - at, last - first)
            found.append(ColumnEffect(name, movable, (low, middle, high), *effect))
        return found

    def _log_odds(self, name: str, values: tuple[float, ...]) -> list[float]:
        """What the features made from a column add to the log odds at some of its values."""
        features = self.model.plan.features
        at = features.names.index(name)
        X = np.zeros((len(values), len(features.names)))
        X[:, at] = values
        theta, _ = self.model.line
        own = [k for k, owner in enumerate(self.model.prepare.owners_) if owner == name]
        Z = self.model.prepare.transform(X)[:, own]
        found: list[float] = (self._slope * (Z @ theta[own])).tolist()
        return found

    def levels(self) -> dict[str, dict[str, float]]:
        """The coefficient of each level of a category; 0 for a level without a feature."""
        features, coefficients = self.model.plan.features, self.coefficients
        return {
            name: {level: coefficients.get(f"{name}={level}", 0.0) for level in levels}
            for name, levels in features.levels.items()
        }

    def record(self) -> dict[str, Any]:
        """The summary for JSON."""
        target = self.model.plan.target
        budgets = self.model.budgets
        return {
            "target": target.name,
            "favourable": target.favourable,
            "verdict": self.training.get("verdict"),
            "columns": [effect.__dict__ for effect in self.effects()],
            "levels": self.levels(),
            "coefficients": self.coefficients,
            "intercept": self.intercept,
            "threshold": self.model.threshold,
            "budgets": None if budgets is None else budgets.record(),
            "radius": self.training.get("radius") if self.model.is_robust else None,
            "training": dict(self.training),
        }

    def lines(self) -> list[str]:
        """The summary, line by line."""
        model, training = self.model, self.training
        target = model.plan.target
        said = (training.get("verdict") or {}).get("sentence")
        budgets = {} if model.budgets is None else model.budgets.by_column()
        lines = [f"verdict of the fit: {said}"] if said else []
        kind = training.get("model", type(model.classifier).__name__)
        lines.append(
            f"{self.source}: {quoted(target.name)} = {quoted(target.favourable)}, the {kind} "
            f"classifier; approves from a probability of {model.threshold:.3f}"
        )
        lines = [wrapped(line) for line in lines]
        lines += self._effect_lines() + self._level_lines(budgets)
        lines.append(f"intercept, in log odds: {self.intercept:+.3f}{self._bend()}")
        return lines + self._training_lines()

    def _effect_lines(self) -> list[str]:
        effects = self.effects()
        if not effects:
            return []
        width = max(len(quoted(effect.column)) for effect in effects) + 2
        lines = [
            wrapped(
                "effect on the log odds of the favourable outcome, near the threshold: of one unit "
                "more than the median, and of the upper quartile compared with the lower one; * "
                "can be changed"
            ),
            f"  {'':{width}s}" + "".join(f"{title:>10s}" for title in EFFECT_COLUMNS),
        ]
        for effect in effects:
            name = f"{quoted(effect.column)}{' *' if effect.movable else ''}"
            gap = self.coefficients.get(f"{effect.column} missing")
            cells = [_effect(value) for value in (effect.per_unit, effect.between_quartiles, gap)]
            known = [effect.unit, *(effect.quartiles or [None] * 3)]
            unit, *quartiles = [plain(cell(value, "number")) for value in known]
            if effect.quartiles is None:
                cells[0], unit = _effect(self.coefficients[effect.column]), "std. dev."
            lines.append(
                f"  {name:{width}s}" + "".join(f"{c:>10s}" for c in (unit, *cells, *quartiles))
            )
        return lines

    def _level_lines(self, budgets: Mapping[str, str]) -> list[str]:
        lines = []
        for name, levels in self.levels().items():
            shown = ", ".join(
                f"{quoted(level)} {_effect(value)}" for level, value in levels.items()
            )
            mark = " *" if name in budgets else ""
            lines.append(wrapped(f"  {quoted(name)}{mark}: {shown}"))
        lines += [f"  * {quoted(name)}: {text}" for name, text in budgets.items()]
        return lines

    def _bend(self) -> str:
        """How much larger effects are far from the threshold; empty if they are the same."""
        curve = self.model.calibration
        if curve.straight:
            return ""
        low, high = (curve.slope * end / self._slope for end in (curve.low, curve.high))
        return f"; effects are {low:.2g} times as large at low scores, {high:.2g} at high ones"

    def _training_lines(self) -> list[str]:
        names = {
            "table": "table",
            "rows_trained": "rows trained on",
            "rows_tested": "rows tested on",
            "split_by": "test rows",
            "base_rate": "base rate of the favourable outcome",
            "measure": "measure",
            "balanced": "class weights balanced",
            "train_for": "trained for this multiple of the budgets",
            "radius": "radius",
            "why_this_radius": "why this radius",
            "label_cost": "label cost",
            "seed": "seed",
            "command": "command",
            "fingerprint": "fingerprint of the rows",
        }
        lines = ["how it was made"]
        for key, title in names.items():
            value = self.training.get(key)
            if value not in (None, "") and (self.model.is_robust or key not in ONLY_ROBUST):
                lines.append(wrapped(f"  {title}: {setting(value)}"))
        return lines

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def spoken_unit(low: float, middle: float, high: float) -> float:
    """The amount that a person would speak of, for a column with these quartiles.

    >>> spoken_unit(3400, 5400, 8249), spoken_unit(0.03, 0.15, 0.56), spoken_unit(0, 0, 0)
    (1000.0, 0.1, 1.0)
    """
    size = high - low or abs(middle) or 1.0
    return float(f"1e{floor(log10(size))}")


def _effect(value: float | None) -> str:
    if value is None:
        return "-"
    return signed_decimal(value)
