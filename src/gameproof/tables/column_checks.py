"""Whether a column can be used as a number, as a category, or not at all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.errors import DataError
from gameproof.tables.column import Column
from gameproof.tables.dates import mixed_dates
from gameproof.tables.number_spelling import RATES
from gameproof.tables.table import Table
from gameproof.tables.written_numbers import clash

MOST_LEVELS = 20
RARE = 10  # levels with fewer rows are pooled
OTHER, GAP = "other", "missing"  # levels for pooled and for missing values
NUMBERING = "it numbers the rows"
MIXED_DATES = "dates in more than one format; to use them as days, write all in one"
TOO_RARE = "none of its values is frequent enough"
FRAME_INDEX = re.compile(r"__index_level_\d+__")  # as pandas writes row labels to Parquet files
CATEGORY = "treat the column as a category (--category)"


def check(table: Table, column: Column, category: bool) -> None:
    """Raises if a column holds values that it cannot be meant to hold."""
    name = repr(column.name)
    if column.kind == "text" and not category:
        require_clear(table, column)
        wrong, at, cell = column.first_text()
        present = len(column.text) - column.text.null_count
        if not wrong:
            detail = clash(column, table.stated, table.place_within)
            raise DataError(
                f"the column {name} of {table.source} {detail}; write all "
                f"numbers in one way, or {CATEGORY}"
            )
        if 2 * wrong < present:
            raise DataError(
                f"{table.place(at)}: the column {name} has {cell!r}, while "
                f"{present - wrong:,} of {present:,} values are numbers; correct the cell, or "
                f"{CATEGORY}"
            )
    if column.kind == "number" and not category:
        infinite = np.flatnonzero(np.isinf(filled(column.numbers)))
        if infinite.size:
            raise DataError(f"{table.place(infinite[0])}: the column {name} has an infinite value")


def require_clear(table: Table, column: Column) -> None:
    """Raises if a column can be read as different numbers."""
    if column.doubtful:
        raise DataError(
            f"the column {column.name!r} of {table.source} can be read in two ways: "
            f"{column.doubt()}; state the decimal sign of the file (--decimal . or --decimal ,)"
        )


def require_same_unit(table: Table, column: Column, unit: str) -> None:
    """Raises if a column shows another unit than the one that a model was fitted to.

    A currency or a unit of measurement may be left out. A percent sign may not: 12 % may be written
    as 0.12 without it.
    """
    if not column.is_text or len(column.readings) != 1 or column.kind == "nothing":
        return
    found = column.readings[0].unit
    if found != unit and ((found and unit) or {found, unit} & set(RATES)):
        written = f"in {found}" if found else "without a unit"
        expected = f"in {unit}" if unit else "without a unit"
        raise DataError(
            f"the column {column.name!r} of {table.source} has numbers {written}, but the model "
            f"was fitted to numbers {expected}; write them as in the first table"
        )


def why_not(column: Column, category: bool, rows: Sequence[int] | None = None) -> str:
    """Why nothing can be learned from a column, or an empty text.

    `rows` are the positions of its cells in the file, None if no row was left out.
    """
    import pyarrow.compute as pc

    if FRAME_INDEX.fullmatch(column.name):
        return "the row labels of a data frame"
    if column.kind == "nothing":
        return "it has no values"
    if column.kind == "date" and not category:
        return "dates; to use them as days, name the column (--date)"
    if column.kind == "other":
        return f"neither numbers nor text, but {column.cells.type}; write it as text to use it"
    if column.kind == "number" and not category:
        values = filled(column.numbers)
        known = values[~np.isnan(values)]
        if known.min() == known.max():
            return "" if known.size < values.size else "one value in every row"
        return NUMBERING if _numbers_rows(values, rows) else ""
    if column.kind == "text" and not category and mixed_dates(column.distinct):
        return MIXED_DATES
    known = pc.drop_null(column.text)
    distinct = pc.count_distinct(known).as_py()
    if distinct == 1 and len(known) == len(column.text):
        return "one value in every row"
    if len(known) > 20 and 2 * distinct > len(known):
        return "text that is different in most rows"
    return ""


def _numbers_rows(values: Vector, rows: Sequence[int] | None) -> bool:
    """True if values count the rows, those that were left out included or not."""
    if values.size <= 20:
        return False
    with np.errstate(over="ignore"):
        steps = np.diff(values)
    ones = np.ones(values.size - 1)
    counts = [ones] if rows is None else [ones, np.diff(np.asarray(rows, dtype=np.float64))]
    return any(np.array_equal(steps, sign * count) for count in counts for sign in (1, -1))


def levels_of(column: Column) -> tuple[tuple[str, ...], int]:
    """The levels of a category, most frequent first, and the number of levels pooled into
    "other"."""
    return levels_by_count(*level_counts(column))


def level_counts(column: Column) -> tuple[Counter[str], int]:
    """The number of rows of each level, and of rows without a level."""
    import pyarrow.compute as pc

    counted = pc.value_counts(pc.drop_null(column.codes))
    pairs = zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True)
    return Counter(dict(pairs)), column.codes.null_count


def levels_by_count(counts: Counter[str], missing: int) -> tuple[tuple[str, ...], int]:
    """The levels of a category with these numbers of rows, as `levels_of` returns them."""
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    kept = [level for level, count in ranked if count >= RARE and level != OTHER]
    gap = [GAP] if missing and GAP not in kept else []
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
