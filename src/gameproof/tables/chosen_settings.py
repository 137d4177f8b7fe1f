"""The choice of the settings that are "auto": the multiple of the budgets, and the radius."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from sklearn.base import clone

from gameproof.core.progress import bar_replaces_steps, step
from gameproof.estimators.choice_rows import folds_for
from gameproof.estimators.measures import Measure
from gameproof.estimators.radius_curve import RadiusCurve
from gameproof.estimators.robust import RobustStrategicClassifier
from gameproof.estimators.sample_weight import WeightedRows
from gameproof.estimators.select_budget import BudgetCurve, select_budget
from gameproof.estimators.select_radius import select_radius
from gameproof.estimators.table_budgets import Budgets
from gameproof.tables.defaults import GIVEN
from gameproof.tables.fit_notes import FitNotes


class ChosenSettings(NamedTuple):
    """The multiple of the budgets to train for, the radius, and what they were chosen from."""

    train_for: float
    budget_curve: BudgetCurve | None
    radius: float
    radius_reason: str
    radius_curve: RadiusCurve | None


def choose_settings(
    robust: RobustStrategicClassifier,
    budgets: Budgets,
    rows: WeightedRows,
    train_for: float | Literal["auto"],
    radius: float | Literal["auto"],
    *,
    seed: int,
    measure: Measure,
    notes: FitNotes,
    progress: bool | None,
    title: str,
) -> ChosenSettings:
    """Sets the budgets and the radius of the robust classifier. What is "auto" is chosen by
    cross-validation on these rows: first the multiple of the stated budgets, then the radius."""
    bar = bar_replaces_steps(progress)
    how: dict[str, Any] = {
        "X": rows.X,
        "y": rows.y,
        "sample_weight": rows.weights,
        "folds": folds_for(rows.y > 0),
        "seed": seed,
        "measure": measure,
        "progress": bar,
    }
    budget_curve = None
    if train_for == "auto" and not budgets.columns:
        train_for = 1.0
    if train_for == "auto":
        text = f"{title}choosing the multiple of the budgets on {rows.y.size:,} rows"
        with step(text, progress and not bar), notes.collected("choice of the budgets"):
            budget_curve = select_budget(model=clone(robust).set_params(radius=0.0), **how)
        train_for = budget_curve.recommended
    robust.set_params(budgets=budgets.times(float(train_for)))
    reason, radius_curve = GIVEN, None
    if radius == "auto":
        text = f"{title}choosing the radius on {rows.y.size:,} rows"
        with step(text, progress and not bar), notes.collected("choice of the radius"):
            radius_curve = select_radius(model=robust, **how)
        radius = radius_curve.recommended
        reason = " ".join(filter(None, (radius_curve.reason, radius_curve.note)))
    robust.set_params(radius=radius)
    return ChosenSettings(float(train_for), budget_curve, float(radius), reason, radius_curve)
