"""How the numbers of a whole table are written.

Columns of one file are usually written in one way. A column that can be read as different numbers
is therefore settled by columns that are clear: if 0,5 occurs in one, then 1,234 in another is a
little more than one. What the user states comes first, and a column that is still in doubt is
reported when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gameproof.core.naming import listed, quoted
from gameproof.tables.column import Column
from gameproof.tables.number_spelling import (
    RATES,
    STYLES,
    Spelling,
    minus_elsewhere,
    plain_readings,
    readings,
    take_apart,
    without_gaps,
)
from gameproof.tables.table_format import TableFormat

SHOWN = 6  # columns in a note
SEARCHED = 1000  # cells among which an example is searched


def with_readings(column: Column, stated: TableFormat) -> Column:
    """The column with the ways in which its texts can be read as numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not column.is_text:
        return column
    cells = column.distinct
    allowed = tuple(style for style in STYLES if _fits(style, stated))
    if allowed == STYLES:
        try:
            pc.cast(cells, pa.float64())
        except pa.ArrowInvalid:
            pass
        else:
            return replace(column, readings=plain_readings(cells))
    return replace(column, readings=readings(cells, allowed))


def settled_columns(columns: Sequence[Column], stated: TableFormat) -> list[Column]:
    """The columns with their readings; clear columns settle those in doubt."""
    found = [with_readings(column, stated) for column in columns]
    clear = spellings(found)
    return [column.settled(*clear) for column in found]


def read_again(columns: Sequence[Column], stated: TableFormat) -> list[Column]:
    """The columns, after rows were left out that kept some texts from being read as numbers, such
    as a row of totals."""
    found = [
        with_readings(column, stated) if column.is_text and not column.readings else column
        for column in columns
    ]
    clear = spellings(found)
    return [column.settled(*clear) for column in found]


def spellings(columns: Sequence[Column]) -> tuple[Spelling, ...]:
    """The different spellings of all columns that are clear and contain a sign to judge by."""
    signs = [
        without_unit(column.readings[0])
        for column in columns
        if column.is_text and len(column.readings) == 1
    ]
    return tuple(dict.fromkeys(each for each in signs if each != Spelling()))


def without_unit(spelling: Spelling) -> Spelling:
    """The spelling without its unit."""
    return spelling._replace(unit="")


def common_spelling(columns: Sequence[Column]) -> Spelling:
    """The decimal sign and the thousands separator of a table, empty where they are not known or
    not the same in all columns."""
    clear = spellings(columns)
    decimals = {each.decimal for each in clear if each.decimal}
    groups = {each.thousands for each in clear if each.thousands}
    return Spelling(
        decimals.pop() if len(decimals) == 1 else "", groups.pop() if len(groups) == 1 else ""
    )


def spelling_notes(columns: Mapping[str, Column]) -> list[str]:
    """Notes on columns whose numbers are not written plainly."""
    written: dict[Spelling, list[str]] = {}
    percent: list[str] = []
    negative: list[str] = []
    for name, column in columns.items():
        if column.is_text and len(column.readings) == 1 and column.kind == "number":
            spelling = column.readings[0]
            if not spelling.plain:
                written.setdefault(spelling, []).append(quoted(name))
            if spelling.unit in RATES:
                percent.append(quoted(name))
        if column.is_text and column.kind == "number" and minus_elsewhere(column.distinct):
            negative.append(quoted(name))
    notes = [
        f"numbers written like {spelling.example()!r} in {listed(names, SHOWN)}"
        for spelling, names in written.items()
    ]
    if negative:
        notes.append(f"(1) and 1- are read as -1: {listed(negative, SHOWN)}")
    if percent:
        notes.append(f"values stay in percent, 12 % is 12: {listed(percent, SHOWN)}")
    return notes


def clash(column: Column, stated: TableFormat, place: Callable[[int], str]) -> str:
    """Why cells that all look like numbers cannot be read as numbers of one kind.

    `place` says where a row is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = without_gaps(column.distinct)
    units = take_apart(cells)[1].units
    if len(units) > 1:
        named = [*sorted(units - {""}), *(["no unit"] if "" in units else [])]
        return f"has numbers with different units: {listed(named)}"
    allowed = tuple(style for style in STYLES if _fits(style, stated))
    texts = cells[:SEARCHED].to_pylist()
    for text in texts if allowed != STYLES else ():
        if not readings(pa.array([text]), allowed):
            return f"has {text!r}, which is not a number in the stated format{_stated(stated)}"
    odd = cells[_first_misfit(cells, allowed)].as_py()
    pairs = (text for text in texts if not readings(pa.array([text, odd]), allowed))
    where = place(pc.index(column.text, odd).as_py())
    return (
        f"has numbers in different formats, such as {next(pairs, texts[0])!r} and {odd!r} ({where})"
    )


def _first_misfit(cells: Any, allowed: tuple[Spelling, ...]) -> int:
    """The position of a cell that cannot be read together with those before it."""
    fit, misfit = 1, len(cells)  # so many cells can be read together, and so many cannot
    while misfit - fit > 1:
        middle = (fit + misfit) // 2
        if readings(cells[:middle], allowed):
            fit = middle
        else:
            misfit = middle
    return misfit - 1


def _stated(stated: TableFormat) -> str:
    options = {"--decimal": stated.decimal, "--thousands": stated.thousands}
    given = [f"{name} {sign or 'none'}" for name, sign in options.items() if sign is not None]
    return f" ({' '.join(given)})"


def _fits(style: Spelling, stated: TableFormat) -> bool:
    """False if the user states otherwise."""
    if stated.decimal is not None and style.decimal != stated.decimal:
        return False
    if stated.thousands is None:
        return True
    return style.thousands in ("", stated.thousands) and style.decimal != stated.thousands
