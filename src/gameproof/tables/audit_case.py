"""`AuditCase`: a model and the rows of a table, as an audit takes them.

A model of gameproof knows its target, its columns and its budgets. A model of scikit-learn knows
only coefficients, so the user states the target and the budgets.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.linear_model import LinearModel
from gameproof.core.arguments import Matrix, Vector
from gameproof.core.errors import DataError
from gameproof.core.naming import listed, quoted, rows_of
from gameproof.estimators.features import Features
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.probability_calibration import LOGISTIC, Calibration
from gameproof.estimators.sklearn_import import ImportedClassifier, ImportedPipeline
from gameproof.estimators.table_budgets import Budgets
from gameproof.tables.cell_gaps import Gaps
from gameproof.tables.column_budgets import checked_budgets
from gameproof.tables.column_plan import data_frame, number_columns
from gameproof.tables.dataset import Dataset
from gameproof.tables.defaults import GIVEN, LABEL_COST, POWER
from gameproof.tables.group_column import group_labels
from gameproof.tables.table import Table
from gameproof.tables.table_model import TableModel
from gameproof.tables.target import FEWEST, Target, fewest, same_value

FITTED_FOR = "which the model was fitted for"
AS_FITTED = "as when it was fitted"
DEFAULT = "the default of gameproof fit"
PURPOSE = "judge a model by"
CONSTANT = "this model ignores the data: it makes the same decision about everyone"
UNKNOWN_ROWS = (
    "a model of scikit-learn does not record which rows it learned from; if these are among them, "
    "its accuracy is optimistic"
)


class Stated(NamedTuple):
    """What the user states about a table and about gaming; None where the model knows it."""

    target: str | None = None
    favourable: Any = None
    rest: bool = False
    budgets: Mapping[str, Any] | None = None
    power: float | None = None
    label_cost: float | None = None
    groups: str | None = None


class Chosen(NamedTuple):
    """A value, and why it was chosen."""

    value: Any
    reason: str


@final
@dataclass(frozen=True, eq=False)
class AuditCase:
    """A linear model, and people with the columns that it takes.

    `X` is in the units of the table. `prepare` is None where the model takes the table as it is.
    `radius` is the one of the fit, and `learned_from` the share of these rows that the model
    learned from, each None where it is not known.
    """

    kind: str
    target: Target
    coef: Vector
    intercept: float
    names: list[str]
    X: Matrix
    y: Vector
    budgets: Chosen
    power: Chosen
    label_cost: Chosen
    notes: list[str]
    scale: Vector | None = None
    prepare: Prepare | None = None
    radius: float | None = None
    learned_from: float | None = None
    calibration: Calibration | None = None
    groups: NDArray[np.str_] | None = None
    grouped_by: str = ""
    measure: str | None = None
    estimator: Any = None  # a model with transformers of its own, instead of coefficients
    labels: Any = None  # the labels as the estimator knows them
    favourable: Any = None

    @property
    def model(self) -> Any:
        """The model without its name."""
        if self.estimator is not None:
            return self.estimator
        return LinearModel(self.coef, self.intercept, self.names, calibration=self.calibration)


def audit_case(
    model: TableModel | ImportedClassifier | ImportedPipeline, table: Table, stated: Stated
) -> AuditCase:
    """Applies a model to a table, or raises an error that says what does not fit."""
    if isinstance(model, TableModel):
        return _own_model(model, table, stated)
    if isinstance(model, ImportedPipeline):
        return _pipeline(model, table, stated)
    return _sklearn_model(model, table, stated)


def _own_model(model: TableModel, table: Table, stated: Stated) -> AuditCase:
    target = own_target(model, stated)
    if stated.rest:
        target = Target.of(table, target.name, target.favourable, True)
    known, y = target.labelled(table)
    target.require_both(y, PURPOSE)
    encoded = model.plan.encoded(known)
    rows = CaseRows(
        encoded.X,
        y,
        _groups(known, stated),
        Gaps.of(encoded, model.plan.features.names),
        table.n - known.n,
        Dataset(table.source, encoded.X, y, model.plan.features).fingerprint,
    )
    return own_case(model, target, rows, stated, table.notes)


class CaseRows(NamedTuple):
    """Encoded rows of a table: all rows with a target, or a sample of them. Gaps, the number of
    rows without a target, and the fingerprint are those of the whole table."""

    X: Matrix
    y: Vector
    groups: NDArray[np.str_] | None
    gaps: Gaps
    n_without_target: int
    fingerprint: str


def own_case(
    model: TableModel, target: Target, rows: CaseRows, stated: Stated, read: Sequence[str]
) -> AuditCase:
    """A model of gameproof and encoded rows; `read` are notes on how the table was read."""
    notes = [*read, *rows.gaps.notes(model.plan.features, model.prepare)]
    if rows.n_without_target:
        notes.append(f"left out {rows_of(rows.n_without_target)} without {quoted(target.name)}")
    training, (coef, intercept) = model.training, model.line
    learned_from = None
    if rows.fingerprint == training.get("fingerprint"):
        learned_from = float(training["rows_trained"] / rows.gaps.n)
    radius = training.get("radius")
    # A model fitted without movable columns was fitted for no power.
    power = training.get("power") if model.plan.features.movable else None
    return AuditCase(
        "fitted by gameproof",
        target,
        coef,
        intercept,
        model.names,
        rows.X,
        rows.y,
        _own_budgets(model, rows.X, stated),
        _chosen(stated.power, power, POWER, AS_FITTED),
        _chosen(stated.label_cost, training.get("label_cost"), LABEL_COST),
        notes + _constant(coef),
        model.classifier.units_.scale,
        model.prepare,
        None if radius is None else float(radius),
        learned_from,
        model.calibration.moved(model.cut),
        rows.groups,
        stated.groups or "",
        training.get("measure"),
    )


def own_target(model: TableModel, stated: Stated) -> Target:
    """The model's target, after a check that the user states no other."""
    target = model.plan.target
    if stated.target not in (None, target.name):
        raise ValueError(f"the model's target is {target.name!r}, got {stated.target!r} (--target)")
    given = stated.favourable
    if given is not None and not same_value(str(given), target.favourable):
        raise ValueError(
            f"the model's favourable value is {target.favourable!r}, got {str(given)!r} "
            "(--favourable)"
        )
    return target


def _own_budgets(model: TableModel, X: Matrix, stated: Stated) -> Chosen:
    """The budgets that the user states, or else those that the model was fitted for."""
    features = model.plan.features
    if stated.budgets is not None:
        for name in stated.budgets:
            if name not in features.names:
                raise ValueError(f"the model does not use the movable column {name!r}")
        return Chosen(checked_budgets(stated.budgets, features, X), GIVEN)
    if model.budgets is not None:
        return Chosen(model.budgets, FITTED_FOR)
    return Chosen(Budgets.of(features.movable, features, X), FITTED_FOR)


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


def _pipeline(model: ImportedPipeline, table: Table, stated: Stated) -> AuditCase:
    target, favourable, budgets = _stated_target(model.classes, table, stated)
    _require_used(budgets, model.names, table)
    rows, y = target.labels(table)
    X = data_frame(table, model.names).iloc[rows]
    groups, notes = _groups(table, stated), [UNKNOWN_ROWS]
    groups = None if groups is None else groups[rows]
    complete = X.notna().all(axis=1).to_numpy()
    if not complete.all() and not _takes_gaps(model.estimator, X[~complete]):
        notes.append(f"left out {int((~complete).sum()):,} rows with missing values")
        X, y = X[complete], y[complete]
        groups = None if groups is None else groups[complete]
    target.require_both(y, PURPOSE)
    (other,) = (label for label in model.classes if label != favourable)
    return AuditCase(
        f"{model.kind} of scikit-learn",
        target,
        np.empty(0),
        0.0,
        list(model.names),
        X,
        y,
        Chosen(budgets, GIVEN),
        _chosen(stated.power, None, POWER),
        _chosen(stated.label_cost, None, LABEL_COST),
        notes,
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


def _sklearn_model(model: ImportedClassifier, table: Table, stated: Stated) -> AuditCase:
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
        notes.append(f"left out {int((~complete).sum()):,} rows with missing values")
        _require_complete(table, dict(zip(columns, X.T, strict=True)), y, complete)
    X, y = X[complete], y[complete]
    target.require_both(y, PURPOSE)
    _require_used(budgets, columns, table)
    coef, intercept = model.towards(favourable)
    return AuditCase(
        f"{model.kind} of scikit-learn",
        target,
        coef,
        intercept,
        list(columns),
        X,
        y,
        Chosen(checked_budgets(budgets, Features(tuple(columns)), X), GIVEN),
        _chosen(stated.power, None, POWER),
        _chosen(stated.label_cost, None, LABEL_COST),
        notes + _constant(coef),
        calibration=LOGISTIC if model.kind == "LogisticRegression" else None,
        groups=None if stated.groups is None else _groups(table, stated)[rows][complete],
        grouped_by=stated.groups or "",
    )


def _groups(table: Table, stated: Stated) -> Any:
    return None if stated.groups is None else group_labels(table, stated.groups)


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


def _chosen(
    given: float | None, fitted_for: float | None, default: float, reason: str = FITTED_FOR
) -> Chosen:
    """The value that the user gave, or else that of the fit, or else the default."""
    if given is not None:
        return Chosen(given, GIVEN)
    return Chosen(default, DEFAULT) if fitted_for is None else Chosen(float(fitted_for), reason)


def _constant(coef: Vector) -> list[str]:
    return [] if coef.any() else [CONSTANT]
