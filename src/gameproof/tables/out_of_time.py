"""Out-of-time tests: rows with later values of a column are held out.

A random split tests a model on people of the same period. Testing on a later period shows whether
it still holds when the world has moved on.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gameproof.core.errors import DataError
from gameproof.core.naming import quoted
from gameproof.tables.date_columns import require_one_format, require_one_order
from gameproof.tables.dates import ISO, TIME, day_of_text
from gameproof.tables.table import Table

SPLITS = "it separates training rows from test rows"


def rows_after(table: Table, name: str, after: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The rows that have a value in the column, and for each of them whether it is a test row.

    Raises if all or none of them are test rows.
    """
    import pyarrow.compute as pc

    present, mask, values = compared(table, name, after)
    known = pc.drop_null(values)
    ends = pc.min_max(known).as_py() if len(known) else {"min": "nothing", "max": "nothing"}
    require_both_sides(table.source, name, after, mask, (ends["min"], ends["max"]))
    return present, mask


def require_both_sides(
    source: str, name: str, after: Any, later: NDArray[np.bool_], ends: tuple[Any, Any]
) -> None:
    """Raises if all or none of the rows are test rows. `ends` are the smallest and the largest
    value of the column."""
    if not later.any() or later.all():
        side = "after" if later.all() else "up to"
        raise DataError(
            f"all rows of {source} have {quoted(name)} {side} {str(after).strip()!r} "
            f"(--test-after); it goes from {ends[0]} to {ends[1]}"
        )


def compared(
    table: Table, name: str, after: Any
) -> tuple[NDArray[np.int64], NDArray[np.bool_], Any]:
    """The rows that have a value in the column, whether each is a test row, and all values.

    Test rows have a larger value than `after`. Numbers are compared as numbers, dates by day unless
    `after` has a time, and text in alphabetical order. Dates are returned as ISO dates.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.column(name, "column to split by")
    text = str(after).strip()
    if column.kind == "number":
        try:
            limit = float(text)
        except ValueError:
            raise DataError(
                f"the column to split by, {name!r}, holds numbers, but test rows are to come after "
                f"{text!r} (--test-after); give a number"
            ) from None
        values = column.numbers
        later = pc.greater(values, limit)
    elif column.kind == "text":
        require_one_format(table, column)  # 31.01.2023 comes after 2024-06-30 in the alphabet
        values = column.text
        later = pc.greater(values, pa.scalar(text))
    elif column.kind == "date":
        form = column.date_formats[0] if column.date_formats else ISO
        require_one_order(table, column)
        day = day_of_text(text, form)
        if day is None:
            kinds = "" if form == ISO else f" or in the format {ISO}"
            raise DataError(
                f"the column to split by, {name!r}, holds dates in the format {form}, but test "
                f"rows are to come after {text!r} (--test-after); give a date in this format{kinds}"
            )
        if form == ISO and re.search(TIME, text):
            # A time was stated too. Times as ISO writes them sort as text.
            values = pc.replace_substring(column.text, "T", " ")
            later = pc.greater(values, pa.scalar(text.replace("T", " ")))
        else:
            days = column.days(form)
            later, values = pc.greater(days, day), _iso(days)
    else:
        raise DataError(f"the column to split by, {name!r}, has no values that can be ordered")
    present = np.flatnonzero(pc.is_valid(values).to_numpy(zero_copy_only=False))
    mask = pc.fill_null(later, False).to_numpy(zero_copy_only=False)[present]
    return present, mask, values


def _iso(days: Any) -> Any:
    """Days since 2000-01-01 as ISO dates, which sort as text."""
    import pyarrow as pa

    found = [
        None if day is None else str(np.datetime64("2000-01-01") + int(day))
        for day in days.to_pylist()
    ]
    return pa.array(found, pa.string())
