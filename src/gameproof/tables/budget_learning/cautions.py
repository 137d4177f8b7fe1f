"""Notes on what limits the learned budgets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gameproof.core.naming import listed, quoted
from gameproof.tables.budget_learning.column_moves import ColumnMoves
from gameproof.tables.budget_learning.phrases import number
from gameproof.tables.budget_learning.scoring import Scored
from gameproof.tables.column import Column
from gameproof.tables.table import Table

FEWEST = 20  # distinct rows: in smaller tables, measurements may differ by chance


def unscored(scored: Scored) -> list[str]:
    """A note on rows that the model cannot score."""
    gaps = [int(np.isnan(part).sum()) for part in (scored.before, scored.after)]
    if not any(gaps):
        return []
    return [
        f"{gaps[0]:,} rows before and {gaps[1]:,} after are not scored: columns of the model have "
        "missing values"
    ]


def possible_key(before: Table, after: Table) -> list[str]:
    """A note on columns that could serve as the key."""
    found = [
        quoted(name)
        for name, column in before.columns.items()
        if name in after.columns and _identifies(column, after.columns[name])
    ]
    if not found:
        return []
    return [
        f"values in {listed(found)} are unique in each table and mostly shared by both: as the key "
        "(--key), it would match people, which is stronger evidence"
    ]


def _identifies(before: Column, after: Column) -> bool:
    """True if values are unique in each table and mostly shared by both.

    Numbers must be integers, since other numbers may be measurements.
    """
    import pyarrow.compute as pc

    for column in (before, after):
        if column.kind not in ("text", "number") or column.codes.null_count:
            return False
        if pc.count_distinct(column.codes).as_py() < max(FEWEST, len(column.codes)):
            return False
        if column.numbers is not None:
            values = np.asarray(column.numbers, dtype=np.float64)
            if (values != np.floor(values)).any():
                return False
    common = pc.sum(pc.is_in(before.codes, value_set=after.codes)).as_py() or 0
    return bool(2 * common > min(len(before.codes), len(after.codes)))


def cautions(rows: Sequence[ColumnMoves]) -> list[str]:
    """Notes on values that went missing, and on budgets hardly larger than ordinary moves."""
    notes = []
    for row in rows:
        name = quoted(row.column)
        if row.became_missing:
            notes.append(
                f"{name}: {row.became_missing:,} people have a value before and none after; a "
                "budget does not cover omitting a value"
            )
        if row.kind == "number" and row.budget is not None and row.ordinary:
            reach = max(abs(float(end)) for end in row.budget)
            if 2 * row.ordinary > reach:
                notes.append(
                    f"{name}: ordinary moves reach {number(row.ordinary)}, so the budget of "
                    f"{number(reach)} is partly ordinary change"
                )
    return notes
