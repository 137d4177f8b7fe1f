"""Audit cases of gameproof's models, which know their target, their columns and their budgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Matrix, Vector
from gameproof.core.naming import quoted, rows_of
from gameproof.estimators.table_budgets import Budgets
from gameproof.tables.audit_case import (
    FITTED_FOR,
    PURPOSE,
    AuditCase,
    Chosen,
    Stated,
    chosen,
    constant_notes,
    stated_groups,
)
from gameproof.tables.cell_gaps import Gaps
from gameproof.tables.column_budgets import checked_budgets
from gameproof.tables.dataset import Dataset
from gameproof.tables.defaults import GIVEN, LABEL_COST, POWER
from gameproof.tables.table import Table
from gameproof.tables.table_model import TableModel
from gameproof.tables.target import Target, same_value

AS_FITTED = "as when it was fitted"


def own_table_case(model: TableModel, table: Table, stated: Stated) -> AuditCase:
    """One of our models, on the rows that have a target."""
    target = own_target(model, stated)
    if stated.rest:
        target = Target.of(table, target.name, target.favourable, True)
    known, y = target.labelled(table)
    target.require_both(y, PURPOSE)
    encoded = model.plan.encoded(known)
    rows = CaseRows(
        encoded.X,
        y,
        stated_groups(known, stated),
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
    # The baselines beside the robust model are fitted for no budgets, label cost or radius.
    radius = training.get("radius") if model.is_robust else None
    fitted_for = FITTED_FOR if model.is_robust else AS_FITTED
    # A model fitted without movable columns was fitted for no power.
    power = training.get("power") if model.plan.features.movable else None
    return AuditCase(
        kind="fitted by gameproof",
        target=target,
        coef=coef,
        intercept=intercept,
        names=model.names,
        X=rows.X,
        y=rows.y,
        budgets=_own_budgets(model, rows.X, stated, fitted_for),
        power=chosen(stated.power, power, POWER, AS_FITTED),
        label_cost=chosen(stated.label_cost, training.get("label_cost"), LABEL_COST, fitted_for),
        notes=notes + constant_notes(coef),
        scale=model.classifier.units_.scale,
        prepare=model.prepare,
        radius=None if radius is None else float(radius),
        learned_from=learned_from,
        calibration=model.calibration.moved(model.cut),
        groups=rows.groups,
        grouped_by=stated.groups or "",
        measure=training.get("measure"),
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


def _own_budgets(model: TableModel, X: Matrix, stated: Stated, reason: str) -> Chosen:
    """The budgets that the user states, or else those of the fit, with this reason."""
    features = model.plan.features
    if stated.budgets is not None:
        for name in stated.budgets:
            if name not in features.names:
                raise ValueError(f"the model does not use the movable column {name!r}")
        return Chosen(checked_budgets(stated.budgets, features, X), GIVEN)
    if model.budgets is not None:
        return Chosen(model.budgets, reason)
    return Chosen(Budgets.of(features.movable, features, X), reason)
