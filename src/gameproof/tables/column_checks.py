"""What a single column can be used for: as it is, as a category, or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.errors import DataError
from gameproof.tables.column import Column
from gameproof.tables.table import Table

MOST_LEVELS, RARE = 20, 10
OTHER, GAP = "other", "missing"


def check(table: Table, column: Column, category: bool) -> None:
    """Refuses a column that cannot be what it should."""
    name = repr(column.name)
    if column.kind == "nothing":
        raise DataError(f"the column {name} of {table.source} has no values; drop it (--drop)")
    if column.kind == "text" and not category:
        wrong, at, cell = column.first_text()
        present = len(column.text) - column.text.null_count
        if 2 * wrong < present:
            raise DataError(
                f"{table.source}, row {table.row(at)}: {cell!r} stands in the column {name}, where "
                f"{present - wrong:,} of {present:,} values are numbers; mend it, or name "
                "the column as a category (--category)"
            )
        meant, cell_meant = column.dressed()
        if 2 * meant > present:
            raise DataError(
                f"the column {name} of {table.source} holds numbers that are not written as such: "
                f"{cell_meant!r}; write them with a decimal point, and without marks between "
                "thousands, currencies or units, or name the column as a category (--category)"
            )
    if column.kind == "number" and not category:
        infinite = np.flatnonzero(np.isinf(filled(column.numbers)))
        if infinite.size:
            raise DataError(
                f"{table.source}, row {table.row(infinite[0])}: the column {name} has an infinite "
                "value"
            )


def why_not(column: Column, category: bool) -> str:
    """Why nothing can be learned of a column, if so."""
    import pyarrow.compute as pc

    if column.kind == "date" and not category:
        return "dates; make a number of them, such as days since, if they should count"
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
            return "it counts the rows"
        return ""
    known = pc.drop_null(column.text)
    distinct = pc.count_distinct(known).as_py()
    if distinct == 1 and len(known) == len(column.text):
        return "one value in every row"
    if len(known) > 20 and 2 * distinct > len(known):
        return "text with a value of its own in most rows"
    return ""


def levels_of(column: Column) -> tuple[tuple[str, ...], int]:
    """The levels of a category, most frequent first, and how many others went into "other"."""
    import pyarrow.compute as pc

    counted = pc.value_counts(pc.drop_null(column.codes))
    pairs = zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True)
    ranked = sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
    kept = [level for level, count in ranked if count >= RARE and level != OTHER]
    gap = [GAP] if column.codes.null_count and GAP not in kept else []
    room = MOST_LEVELS - len(gap)
    if len(kept) > room or len(kept) < len(ranked):
        # One rare level alone would only change its name.
        kept = kept[: room - 1] if len(ranked) > room else kept
        rest = [level for level, _ in ranked if level not in kept]
        if len(rest) == 1:
            return (*kept, *rest, *gap), 0
        return (*kept, OTHER, *gap), len(rest) - (OTHER in rest)
    return (*kept, *gap), 0


def filled(numbers: Any) -> Vector:
    """An Arrow array of floats with NaN for null, as an array of its own."""
    import pyarrow.compute as pc

    return np.array(pc.fill_null(numbers, np.nan).to_numpy(zero_copy_only=False), dtype=np.float64)
