"""Audit cases of scikit-learn's models, for which the user states the target and the budgets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Vector
from gameproof.core.errors import DataError
from gameproof.core.naming import listed, quoted, rows_of
from gameproof.estimators.features import Features
from gameproof.estimators.probability_calibration import LOGISTIC
from gameproof.estimators.sklearn_import import ImportedClassifier, ImportedPipeline
from gameproof.tables.audit_case import (
    PURPOSE,
    AuditCase,
    Chosen,
    Stated,
    chosen,
    constant_notes,
    stated_groups,
)
from gameproof.tables.column_budgets import checked_budgets
from gameproof.tables.column_plan import data_frame, number_columns
from gameproof.tables.defaults import GIVEN, LABEL_COST, POWER
from gameproof.tables.table import Table
from gameproof.tables.target import FEWEST, Target, fewest, same_value

UNKNOWN_ROWS = (
    "a model of scikit-learn does not record which rows it learned from; if these are among them, "
    "its accuracy is optimistic"
)


def pipeline_case(model: ImportedPipeline, table: Table, stated: Stated) -> AuditCase:
    """A model with transformers of its own, on the columns that it takes."""
    target, favourable, budgets = _stated_target(model.classes, table, stated)
    _require_used(budgets, model.names, table)
    rows, y = target.labels(table)
    X = data_frame(table, model.names).iloc[rows]
    groups, notes = stated_groups(table, stated), [UNKNOWN_ROWS]
    groups = None if groups is None else groups[rows]
    complete = X.notna().all(axis=1).to_numpy()
    if not complete.all() and not _takes_gaps(model.estimator, X[~complete]):
        notes.append(f"left out {rows_of(int((~complete).sum()))} with missing values")
        X, y = X[complete], y[complete]
        groups = None if groups is None else groups[complete]
    target.require_both(y, PURPOSE)
    (other,) = (label for label in model.classes if label != favourable)
    return AuditCase(
        kind=f"{model.kind} of scikit-learn",
        target=target,
        coef=np.empty(0),
        intercept=0.0,
        names=list(model.names),
        X=X,
        y=y,
        budgets=Chosen(budgets, GIVEN),
        power=chosen(stated.power, None, POWER),
        label_cost=chosen(stated.label_cost, None, LABEL_COST),
        notes=notes,
        groups=groups,
        grouped_by=stated.groups or "",
        estimator=model.estimator,
        labels=np.where(y > 0, favourable, other),
        favourable=favourable,
    )


def _takes_gaps(model: Any, X: Any) -> bool:
    """Whether the model predicts rows with missing values."""
    try:
        model.predict(X)
    except ValueError:
        return False
    return True


def classifier_case(model: ImportedClassifier, table: Table, stated: Stated) -> AuditCase:
    """A linear classifier, on columns of numbers."""
    target, favourable, budgets = _stated_target(model.classes, table, stated)
    columns, guessed = number_columns(table, target.name, model.names, model.coef.size)
    rows, y = target.labels(table)
    X = np.column_stack(list(columns.values()))[rows]
    complete = ~np.isnan(X).any(axis=1)
    notes = [UNKNOWN_ROWS]
    if guessed:
        names = ", ".join(map(quoted, columns))
        notes.append(f"the model does not name its columns; they are assumed to be {names}")
    if not complete.all():
        notes.append(f"left out {rows_of(int((~complete).sum()))} with missing values")
        _require_complete(table, dict(zip(columns, X.T, strict=True)), y, complete)
    X, y = X[complete], y[complete]
    target.require_both(y, PURPOSE)
    _require_used(budgets, columns, table)
    coef, intercept = model.towards(favourable)
    return AuditCase(
        kind=f"{model.kind} of scikit-learn",
        target=target,
        coef=coef,
        intercept=intercept,
        names=list(columns),
        X=X,
        y=y,
        budgets=Chosen(checked_budgets(budgets, Features(tuple(columns)), X), GIVEN),
        power=chosen(stated.power, None, POWER),
        label_cost=chosen(stated.label_cost, None, LABEL_COST),
        notes=notes + constant_notes(coef),
        calibration=LOGISTIC if model.kind == "LogisticRegression" else None,
        groups=None if stated.groups is None else stated_groups(table, stated)[rows][complete],
        grouped_by=stated.groups or "",
    )


def _stated_target(
    classes: tuple[Any, ...], table: Table, stated: Stated
) -> tuple[Target, Any, Mapping[str, Any]]:
    """The target, its favourable value as the model knows it, and the budgets."""
    if stated.target is None or stated.budgets is None:
        raise ValueError(
            "a model of scikit-learn does not know what the table means: give the target "
            "(--target), its favourable value (--favourable) and the budgets (--movable)"
        )
    target = Target.of(table, stated.target, stated.favourable, stated.rest)
    matching = [label for label in classes if same_value(str(label), target.favourable)]
    if len(matching) != 1:
        raise ValueError(
            f"the favourable value is {target.favourable!r}, but the classes of the model are "
            f"{' and '.join(map(str, classes))}"
        )
    return target, matching[0], stated.budgets


def _require_used(budgets: Mapping[str, Any], names: Collection[str], table: Table) -> None:
    """Raises if a movable column is not one of those that the model takes."""
    for name in budgets:
        if name not in names:
            table.column(name, "movable column")
            raise ValueError(f"the model does not use the movable column {name!r}")


def _require_complete(
    table: Table, columns: Mapping[str, Vector], y: Vector, complete: NDArray[np.bool_]
) -> None:
    """Raises if it is missing values that leave too few rows of an outcome."""
    if fewest(y[complete]) >= FEWEST or fewest(y) < FEWEST:
        return
    counts = {name: int(np.isnan(column).sum()) for name, column in columns.items()}
    worst = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])
    shown = [f"{quoted(name)} {counts[name]:,}" for name in worst]
    raise DataError(
        f"{table.source}: {int((~complete).sum()):,} of {y.size:,} rows are left out for missing "
        f"values ({listed(shown, 4)}), and too few are left: at least {FEWEST} rows of each "
        "outcome are needed"
    )
