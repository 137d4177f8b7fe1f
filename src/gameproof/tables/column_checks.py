"""Whether a column can be used as a number, as a category, or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.errors import DataError
from gameproof.tables.column import Column
from gameproof.tables.table import Table

MOST_LEVELS = 20
RARE = 10  # levels with fewer rows are pooled
OTHER, GAP = "other", "missing"  # levels for pooled and for missing values
PLAIN_NUMBERS = (
    "write them with a decimal point and without thousands separators, currencies or units"
)


def check(table: Table, column: Column, category: bool) -> None:
    """Raises if a column holds values that it cannot be meant to hold."""
    name = repr(column.name)
    if column.kind == "nothing":
        raise DataError(f"the column {name} of {table.source} has no values; drop it (--drop)")
    if column.kind == "text" and not category:
        wrong, at, cell = column.first_text()
        present = len(column.text) - column.text.null_count
        if 2 * wrong < present:
            raise DataError(
                f"{table.source}, row {table.row(at)}: the column {name} has {cell!r}, while "
                f"{present - wrong:,} of {present:,} values are numbers; correct the cell, or "
                "treat the column as a category (--category)"
            )
        formatted, example = column.formatted_numbers()
        if 2 * formatted > present:
            raise DataError(
                f"the column {name} of {table.source} holds formatted numbers, such as "
                f"{example!r}; {PLAIN_NUMBERS}, or treat the column as a category (--category)"
            )
    if column.kind == "number" and not category:
        infinite = np.flatnonzero(np.isinf(filled(column.numbers)))
        if infinite.size:
            raise DataError(
                f"{table.source}, row {table.row(infinite[0])}: the column {name} has an infinite "
                "value"
            )


def why_not(column: Column, category: bool) -> str:
    """Why nothing can be learned from a column, or an empty text."""
    import pyarrow.compute as pc

    if column.kind == "date" and not category:
        return "dates; to use them, turn them into a number such as days since an event"
    if column.kind == "other":
        return f"neither numbers nor text, but {column.cells.type}"
    if column.kind == "number" and not category:
        values = filled(column.numbers)
        known = values[~np.isnan(values)]
        if known.min() == known.max():
            return "" if known.size < values.size else "one value in every row"
        with np.errstate(over="ignore"):
            steps = np.diff(values)
        if values.size > 20 and abs(steps[0]) == 1 and (steps == steps[0]).all():
            return "it numbers the rows"
        return ""
    known = pc.drop_null(column.text)
    distinct = pc.count_distinct(known).as_py()
    if distinct == 1 and len(known) == len(column.text):
        return "one value in every row"
    if len(known) > 20 and 2 * distinct > len(known):
        return "text that is different in most rows"
    return ""


def levels_of(column: Column) -> tuple[tuple[str, ...], int]:
    """The levels of a category, most frequent first, and the number of levels pooled into
    "other"."""
    import pyarrow.compute as pc

    counted = pc.value_counts(pc.drop_null(column.codes))
    pairs = zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True)
    ranked = sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
    kept = [level for level, count in ranked if count >= RARE and level != OTHER]
    gap = [GAP] if column.codes.null_count and GAP not in kept else []
    room = MOST_LEVELS - len(gap)
    if len(kept) > room or len(kept) < len(ranked):
        # Pooling a single rare level would only rename it.
        kept = kept[: room - 1] if len(ranked) > room else kept
        rest = [level for level, _ in ranked if level not in kept]
        if len(rest) == 1:
            return (*kept, *rest, *gap), 0
        return (*kept, OTHER, *gap), len(rest) - (OTHER in rest)
    return (*kept, *gap), 0


def filled(numbers: Any) -> Vector:
    """An Arrow array of floats as a new NumPy array, with NaN for null."""
    import pyarrow.compute as pc

    return np.array(pc.fill_null(numbers, np.nan).to_numpy(zero_copy_only=False), dtype=np.float64)
