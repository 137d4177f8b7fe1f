"""Reasons for decisions: which columns of a row move its score most.

A column adds to the score the sum of coefficient times value over the features made from it,
compared with the mean of the training rows. Times the mean slope of the log odds on the way from
the mean score to the score, this is its contribution to the log odds: contributions and the log
odds at the mean score add up to the log odds of the row (Aumann and Shapley's values). The reasons
of a refusal are the columns that lower the score most; those of an approval raise it most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Matrix, Vector
from gameproof.core.naming import quoted
from gameproof.tables.column_checks import filled
from gameproof.tables.table import Table
from gameproof.tables.table_model import TableModel


def contributions(model: TableModel, table: Table) -> Matrix:
    """What each column of the model adds to the log odds of each row."""
    Z, _ = model.prepared(table)
    theta, offset = model.line
    middle = model.classifier.units_.mean
    start = float(middle @ theta) + offset
    slopes = model.calibration.moved(model.cut).mean_slopes(Z @ theta + offset, start)
    each = slopes[:, None] * (Z - middle) * theta
    names, owners = model.plan.features.names, list(model.prepare.owners_)
    found = np.zeros((table.n, len(names)))
    for k, owner in enumerate(owners):
        found[:, names.index(owner)] += each[:, k]
    return found


def reasons(model: TableModel, table: Table, scores: Vector, count: int) -> dict[str, list[str]]:
    """Columns ``reason 1``, ``reason 2``, … with the strongest reasons of each decision.

    A reason reads ``utilisation = 0.95 (-1.20)``: the column, its value, and what it adds to the
    log odds. It is empty if fewer columns speak for the decision.
    """
    added = contributions(model, table)
    towards = np.where(scores > 0, 1.0, -1.0)[:, None] * added
    order = np.argsort(-towards, axis=1, kind="stable")[:, :count]
    names = model.plan.features.names
    cells = [_texts(table, name) for name in names]
    return {
        f"reason {k + 1}": [
            _reason(names[at], cells[at][row], float(added[row, at]))
            if towards[row, at] > 0
            else ""
            for row, at in enumerate(order[:, k].tolist())
        ]
        for k in range(min(count, len(names)))
    }


def _reason(name: str, cell: str, added: float) -> str:
    return f"{quoted(name)} = {cell} ({added:+.2f})"


def _texts(table: Table, name: str) -> NDArray[np.str_]:
    """The cells as a person would write them."""
    import pyarrow.compute as pc

    column = table.columns[name]
    if column.kind == "number":
        return np.array(
            ["missing" if np.isnan(value) else f"{value:.6g}" for value in filled(column.numbers)]
        )
    return np.array(pc.fill_null(column.text, "missing").to_pylist(), dtype=np.str_)
