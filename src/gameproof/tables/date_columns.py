"""Columns of dates that are used as numbers: days since a fixed day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.errors import DataError
from gameproof.core.naming import listed, quoted
from gameproof.tables.column import Column
from gameproof.tables.dates import ISO, ORIGIN, SHAPES, mixed_dates
from gameproof.tables.table import Table

StatedDates = Sequence[str] | Mapping[str, str | None]
"""Names of columns, or a mapping from names to formats such as %d/%m/%Y, None to detect them."""


def date_columns(table: Table, stated: StatedDates) -> dict[str, str]:
    """The format of each column of dates to use as days; empty for dates that are not text."""
    formats = dict(stated) if isinstance(stated, Mapping) else dict.fromkeys(stated)
    return {
        name: _format(table, table.column(name, "date column"), form)
        for name, form in formats.items()
    }


def day_values(table: Table, column: Column, form: str) -> Vector:
    """The dates of a column as days, NaN where missing.

    Text is read in the given format if every cell fits it, and else in the only other format that
    every cell fits.
    """
    if column.kind == "nothing":
        return np.full(table.n, np.nan)
    if column.is_text and not (form and _misfit(column, form) is None):
        formats = column.date_formats
        if len(formats) != 1:
            expected = f"dates in the format {form or ISO}"
            raise DataError(f"{_first_cell(table, column)}, but the model takes {expected}")
        form = formats[0]
    elif not column.is_text and column.kind != "date":
        raise DataError(f"{_first_cell(table, column)}, but the model takes dates")
    days = column.days(form)
    return np.array(days.fill_null(np.nan).to_numpy(zero_copy_only=False), dtype=np.float64)


def _format(table: Table, column: Column, stated: str | None) -> str:
    if not column.is_text and column.kind == "date":
        return ""
    if stated is not None:
        at = _misfit(column, stated) if column.is_text else 0
        if at is not None:
            raise DataError(
                f"{table.place(at)}: the column {column.name!r} has "
                f"{column.text[at].as_py()!r}, which is not a date in the format {stated} (--date)"
            )
        return stated
    require_one_format(table, column)
    if column.kind != "date":
        raise DataError(
            f"{_first_cell(table, column)}, not dates in a usual format; state their format, as in "
            f"--date '{column.name}:%d.%m.%Y'"
        )
    require_one_order(table, column)
    return column.date_formats[0]


def require_one_format(table: Table, column: Column) -> None:
    """Raises if the cells of a column are dates, but not in the same format."""
    if column.kind == "text" and mixed_dates(column.distinct):
        raise DataError(
            f"the column {column.name!r} of {table.source} has dates in more than one format, such "
            f"as {listed(_one_of_each(table, column))}; write all of them in one, such as {ISO}"
        )


def require_one_order(table: Table, column: Column) -> None:
    """Raises if the dates of a column can begin with the day or with the month."""
    formats = column.date_formats
    if len(formats) > 1:
        raise DataError(
            f"the dates in {column.name!r} of {table.source}, such as "
            f"{column.distinct[0].as_py()!r}, can begin with the day or with the month; write them "
            f"as {ISO}, or use the column as days in a stated format: --date "
            f"'{column.name}:{formats[0]}' or --date '{column.name}:{formats[1]}'"
        )


def _misfit(column: Column, form: str) -> int | None:
    """The position of the first cell that is not a date in this format."""
    wrong = column.days(form).is_null().to_numpy(zero_copy_only=False)
    wrong = wrong & column.text.is_valid().to_numpy(zero_copy_only=False)
    return int(np.argmax(wrong)) if wrong.any() else None


def _one_of_each(table: Table, column: Column) -> list[str]:
    """A cell of each shape of dates that occurs, and where it is."""
    import pyarrow.compute as pc

    cells = column.distinct
    found = (cells.filter(pc.match_substring_regex(cells, shape)) for shape in SHAPES)
    return [
        f"{quoted(each[0].as_py())} ({table.place_within(pc.index(column.text, each[0]).as_py())})"
        for each in found
        if len(each)
    ]


def _first_cell(table: Table, column: Column) -> str:
    cells = column.text.drop_null()
    return f"the column {column.name!r} of {table.source} has {cells[0].as_py()!r}"


def origin_note(names: Sequence[str]) -> str:
    """How dates are used."""
    return f"used as days since {ORIGIN.isoformat()}: {', '.join(names)}"
