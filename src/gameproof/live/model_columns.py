"""A classifier column by column, in the units of the study's table where there is one."""

from __future__ import annotations

from typing import Any

from gameproof.core.arguments import Vector
from gameproof.tables.model_summary import ModelSummary
from gameproof.tables.table_model import TableModel


def model_columns(theta: Vector, intercept: float, model: TableModel | None) -> dict[str, Any]:
    """The effect of each column on the score, for the page.

    Without a table, features are numbered and have one coefficient each."""
    if model is None:
        numbers = [
            {"name": f"x{k}", "movable": "", "per_unit": value, "between_quartiles": None}
            for k, value in enumerate(theta.tolist())
        ]
        return {"outcome": None, "numbers": numbers, "levels": [], "intercept": intercept}
    summary = ModelSummary(model)
    target = model.plan.target
    budgets = {} if model.budgets is None else model.budgets.by_column()
    return {
        "outcome": f"{target.name} = {target.favourable}",
        "numbers": [
            {
                "name": effect.column,
                "movable": effect.movable,
                "per_unit": effect.per_unit,
                "between_quartiles": effect.between_quartiles,
            }
            for effect in summary.effects()
        ],
        "levels": [
            {"name": f"{name} = {level}", "movable": budgets.get(name, ""), "effect": effect}
            for name, levels in summary.levels().items()
            for level, effect in levels.items()
        ],
        "intercept": summary.intercept,
    }
