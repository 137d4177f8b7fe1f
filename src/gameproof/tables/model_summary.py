"""`model_summary`: what a model of a table looks at, how it decides, and how it was made.

Numbers enter a model through a bent scale (`prepare.py`), so that one coefficient in the table's
units does not describe them. The summary gives the effect on the log odds of one unit at the
median, and of going from the lower to the upper quartile of the training rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from gameproof.auditing.number_format import setting
from gameproof.core.naming import quoted
from gameproof.tables.audit_lines import plain, wrapped
from gameproof.tables.table_model import TableModel

STEP = 1e-4  # of the distance between the quartiles, for the effect of one unit


@final
@dataclass(frozen=True)
class ColumnEffect:
    """The effect of a numeric column on the log odds of the favourable outcome."""

    column: str
    movable: str  # the budget; empty if people cannot change the column
    quartiles: tuple[float, float, float] | None
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

    @property
    def coefficients(self) -> dict[str, float]:
        """Coefficients of the prepared features, in log odds."""
        theta, _ = self.model.line
        slope = self.model.calibration.slope
        return {n: slope * float(c) for n, c in zip(self.model.names, theta, strict=True)}

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
                found.append(ColumnEffect(name, movable, None, None, None))
                continue
            low, middle, high = map(float, known[name])
            step = STEP * (high - low) or STEP * (abs(middle) or 1.0)
            below, above, first, last = self._log_odds(
                name, (middle - step / 2, middle + step / 2, low, high)
            )
            effect = ((above - below) / step, last - first)
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
        found: list[float] = (self.model.calibration.slope * (Z @ theta[own])).tolist()
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
            "radius": self.training.get("radius"),
            "training": dict(self.training),
        }

    def lines(self) -> list[str]:
        """The summary, line by line."""
        model, training = self.model, self.training
        target = model.plan.target
        said = (training.get("verdict") or {}).get("sentence")
        budgets = {} if model.budgets is None else model.budgets.by_column()
        lines = [f"verdict of the fit: {plain(said)}"] if said else []
        kind = training.get("model", type(model.classifier).__name__)
        lines.append(
            f"{self.source}: {quoted(target.name)} = {quoted(target.favourable)}, the {kind} "
            f"classifier; approves from a probability of {model.threshold:.3f}"
        )
        lines = [wrapped(line) for line in lines]
        lines += self._effect_lines(budgets) + self._level_lines(budgets)
        lines.append(f"intercept, in log odds: {self.intercept:+.4f}")
        return lines + self._training_lines()

    def _effect_lines(self, budgets: Mapping[str, str]) -> list[str]:
        effects = self.effects()
        if not effects:
            return []
        width = max(len(quoted(effect.column)) for effect in effects) + 2
        lines = [
            "effect of each column on the log odds of the favourable outcome; * can be changed",
            f"  {'':{width}s}{'one unit':>12s}{'quartiles':>12s}   "
            "between the lower quartile, median and upper quartile",
        ]
        for effect in effects:
            name = f"{quoted(effect.column)}{' *' if effect.movable else ''}"
            coefficient = self.coefficients[effect.column]
            if effect.quartiles is None:
                cells = f"{'':24s}   {coefficient:+.4f} per standard deviation"
            else:
                ends = ", ".join(f"{q:,.6g}" for q in effect.quartiles)
                cells = f"{effect.per_unit:>+12.4g}{effect.between_quartiles:>+12.3f}   {ends}"
            gap = self.coefficients.get(f"{effect.column} missing")
            missing = "" if gap is None else f"; missing {gap:+.3f}"
            lines.append(f"  {name:{width}s}{cells}{missing}")
        return lines

    def _level_lines(self, budgets: Mapping[str, str]) -> list[str]:
        lines = []
        for name, levels in self.levels().items():
            shown = ", ".join(f"{quoted(level)} {value:+.3f}" for level, value in levels.items())
            mark = " *" if name in budgets else ""
            lines.append(wrapped(f"  {quoted(name)}{mark}: {shown}"))
        lines += [f"  * {quoted(name)}: {text}" for name, text in budgets.items()]
        return lines

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
            if value not in (None, ""):
                lines.append(wrapped(f"  {title}: {setting(value)}"))
        return lines

    def __repr__(self) -> str:
        return "\n".join(self.lines())
