"""`AuditCase`: a model and the rows of a table, as an audit takes them.

A model of gameproof knows its target, its columns and its budgets. A model of scikit-learn knows
only coefficients, so the user states the target and the budgets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.linear_model import LinearModel
from gameproof.core.arguments import Matrix, Vector
from gameproof.core.errors import DataError
from gameproof.core.naming import listed, quoted
from gameproof.estimators.features import Features
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.probability_calibration import LOGISTIC, Calibration
from gameproof.estimators.sklearn_import import ImportedClassifier
from gameproof.estimators.table_budgets import Budgets
from gameproof.tables.column_budgets import checked_budgets
from gameproof.tables.column_plan import number_columns
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
    measure: str | None = None

    @property
    def model(self) -> LinearModel:
        """The model without its name."""
        return LinearModel(self.coef, self.intercept, self.names, calibration=self.calibration)


def audit_case(model: TableModel | ImportedClassifier, table: Table, stated: Stated) -> AuditCase:
    """Applies a model to a table, or raises an error that says what does not fit."""
    if isinstance(model, TableModel):
        return _own_model(model, table, stated)
    return _sklearn_model(model, table, stated)


def _own_model(model: TableModel, table: Table, stated: Stated) -> AuditCase:
    target = _own_target(model, table, stated)
    known, y = target.labelled(table)
    target.require_both(y, PURPOSE)
    X, notes = model.plan.encoded(known).X, model.prepared(known).notes
    if known.n < table.n:
        notes.append(f"left out {table.n - known.n:,} rows without {quoted(target.name)}")
    training, (coef, intercept) = model.training, model.line
    radius = training.get("radius")
    # A model fitted without movable columns was fitted for no power.
    power = training.get("power") if model.plan.features.movable else None
    return AuditCase(
        "fitted by gameproof",
        target,
        coef,
        intercept,
        model.names,
        X,
        y,
        _own_budgets(model, X, stated),
        _chosen(stated.power, power, POWER, AS_FITTED),
        _chosen(stated.label_cost, training.get("label_cost"), LABEL_COST),
        notes + _constant(coef),
        model.classifier.units_.scale,
        model.prepare,
        None if radius is None else float(radius),
        _learned_from(model, known, y),
        model.calibration.moved(model.cut),
        _groups(known, stated),
        training.get("measure"),
    )


def _own_target(model: TableModel, table: Table, stated: Stated) -> Target:
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
    return Target.of(table, target.name, target.favourable, True) if stated.rest else target


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


def _learned_from(model: TableModel, table: Table, y: Vector) -> float | None:
    """The share of these rows that the model learned from, if this is its training table."""
    data = Dataset(table.source, model.plan.encoded(table).X, y, model.plan.features)
    if data.fingerprint == model.training.get("fingerprint"):
        return float(model.training["rows_trained"] / len(data))
    return None


def _sklearn_model(model: ImportedClassifier, table: Table, stated: Stated) -> AuditCase:
    if stated.target is None or stated.budgets is None:
        raise ValueError(
            "a model of scikit-learn does not know what the table means: give the target "
            "(--target), its favourable value (--favourable) and the budgets (--movable)"
        )
    target = Target.of(table, stated.target, stated.favourable, stated.rest)
    matching = [label for label in model.classes if same_value(str(label), target.favourable)]
    if len(matching) != 1:
        raise ValueError(
            f"the favourable value is {target.favourable!r}, but the classes of the model are "
            f"{' and '.join(map(str, model.classes))}"
        )
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
    for name in stated.budgets:
        if name not in columns:
            table.column(name, "movable column")
            raise ValueError(f"the model does not use the movable column {name!r}")
    coef, intercept = model.towards(matching[0])
    return AuditCase(
        f"{model.kind} of scikit-learn",
        target,
        coef,
        intercept,
        list(columns),
        X,
        y,
        Chosen(checked_budgets(stated.budgets, Features(tuple(columns)), X), GIVEN),
        _chosen(stated.power, None, POWER),
        _chosen(stated.label_cost, None, LABEL_COST),
        notes + _constant(coef),
        calibration=LOGISTIC if model.kind == "LogisticRegression" else None,
        groups=None if stated.groups is None else _groups(table, stated)[rows][complete],
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
