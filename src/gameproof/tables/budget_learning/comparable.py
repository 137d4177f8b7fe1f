"""The columns of two tables that can be compared, and their values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.naming import listed, quoted
from gameproof.tables.budget_learning.evidence import Codes
from gameproof.tables.column import Column
from gameproof.tables.column_checks import filled, why_not
from gameproof.tables.table import Table


def number_values(table: Table, name: str) -> Vector:
    """A numeric column, NaN where a value is missing."""
    column = table.columns[name]
    return np.full(table.n, np.nan) if column.kind == "nothing" else filled(column.numbers)


def level_codes(before: Column, after: Column) -> tuple[Codes, Codes, tuple[str, ...]]:
    """Both columns as positions of levels, -1 where missing, and the sorted levels."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = {*pc.unique(before.codes).to_pylist(), *pc.unique(after.codes).to_pylist()} - {None}
    levels = tuple(sorted(found))
    known = pa.array(levels, pa.string())
    first, second = (
        np.array(pc.fill_null(pc.index_in(column.codes, value_set=known), -1), dtype=np.int64)
        for column in (before, after)
    )
    return first, second, levels


def comparable(
    before: Table,
    after: Table,
    without: Sequence[str],
    categories: Sequence[str],
    notes: list[str],
) -> tuple[list[str], list[str]]:
    """The names of the numeric columns and of the categories; reasons go to `notes`."""
    numbers: list[str] = []
    texts: list[str] = []
    for one, two in ((before, after), (after, before)):
        lacking = [quoted(name) for name in one.columns if name not in (*two.columns, *without)]
        if lacking:
            notes.append(f"only in {one.source}: {listed(lacking)}; not compared")
    for name in before.columns:
        if name in without or name not in after.columns:
            continue
        pair = before.columns[name], after.columns[name]
        reason = _why_not(before, after, pair, name in categories)
        if reason:
            notes.append(f"left out {quoted(name)}: {reason}")
        elif name in categories or "text" in (pair[0].kind, pair[1].kind):
            texts.append(name)
        else:
            numbers.append(name)
    return numbers, texts


def _why_not(before: Table, after: Table, pair: tuple[Column, Column], category: bool) -> str:
    """Why a column cannot be compared, or an empty text."""
    kinds = [column.kind for column in pair]
    for table, kind in zip((before, after), kinds, strict=True):
        if kind == "nothing":
            return f"no values in {table.source}"
    if not category and kinds[0] != kinds[1]:
        named = [f"{kind}s" if kind in ("number", "date") else kind for kind in kinds]
        example = ""
        if "text" in kinds and "number" in kinds:
            table, column = ((before, pair[0]), (after, pair[1]))[kinds.index("text")]
            _, at, cell = column.first_text()
            example = f" ({cell!r} in row {table.row(at)} of {table.source})"
        return f"{named[0]} in {before.source}, {named[1]} in {after.source}{example}"
    for table, column in zip((before, after), pair, strict=True):
        if column.kind == "number" and not category:
            if np.isinf(filled(column.numbers)).any():
                return f"an infinite value in {table.source}"
        elif column.doubtful and not category:
            return f"it can be read in two ways in {table.source}: {column.doubt()} (--decimal)"
    reasons = [why_not(column, category) for column in pair]
    useless = [reason for reason in reasons if reason and reason != "one value in every row"]
    return useless[0] if len(useless) == len(pair) else ""
