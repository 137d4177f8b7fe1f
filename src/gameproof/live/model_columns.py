"""A classifier column by column, in the units of the study's table where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.tables.model_summary import ColumnEffect, ModelSummary, spoken_unit
from gameproof.tables.table_model import TableModel


def usual_units(X: Matrix) -> list[float]:
    """The unit of each feature, in which its effect has few zeros."""
    return [spoken_unit(*each) for each in np.quantile(X, [0.25, 0.5, 0.75], axis=0).T.tolist()]


def model_columns(
    theta: Vector, intercept: float, model: TableModel | None, units: Sequence[float]
) -> dict[str, Any]:
    """The effect of each column on the score, for the page.

    Without a table, features are numbered and have one coefficient each, for these units."""
    if model is None:
        numbers = [
            {"name": f"x{k}", "movable": "", "unit": unit, "per_unit": unit * value}
            | {"between_quartiles": None}
            for k, (value, unit) in enumerate(zip(theta.tolist(), units, strict=True))
        ]
        return {"outcome": None, "numbers": numbers, "levels": [], "intercept": intercept}
    summary = ModelSummary(model)
    target = model.plan.target
    budgets = {} if model.budgets is None else model.budgets.by_column()
    return {
        "outcome": f"{target.name} = {target.favourable}",
        "numbers": [_number(effect) for effect in summary.effects()],
        "levels": [
            {"name": f"{name} = {level}", "movable": budgets.get(name, ""), "effect": effect}
            for name, levels in summary.levels().items()
            for level, effect in levels.items()
        ],
        "intercept": summary.intercept,
    }


def _number(effect: ColumnEffect) -> dict[str, Any]:
    return {
        "name": effect.column,
        "movable": effect.movable,
        "unit": effect.unit,
        "per_unit": effect.per_unit,
        "between_quartiles": effect.between_quartiles,
    }
