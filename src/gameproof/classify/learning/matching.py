"""From two tables to rows of the same people, and to the columns that can be compared.

People are matched by the text of their key, with 2.0 read as 2. A key that occurs twice in a table
identifies nobody, so all rows that have it are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np

from gameproof.arguments import Vector
from gameproof.classify.learning.evidence import Codes
from gameproof.data.column import Column
from gameproof.data.naming import listed, quoted
from gameproof.data.reading import Table, as_table, require_pyarrow
from gameproof.data.usable import filled, why_not
from gameproof.errors import DataError

BETWEEN = "\x1f"  # joins the parts of a key


@final
@dataclass(frozen=True, eq=False)
class TwoTables:
    """Both tables, row by row the same people if `key` is given; what can be compared, and notes
    on what was left out."""

    before: Table
    after: Table
    key: tuple[str, ...]
    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def compared(self) -> list[str]:
        """The columns that are compared, in the order of the table."""
        chosen = {*self.numbers, *self.categories}
        return [name for name in self.before.columns if name in chosen]


def read(source: Any, name: str) -> Table:
    """A table in a file, or a data frame, which is then called after `name`."""
    table = _as_table(source, name)
    if not table.n:
        raise DataError(f"the table {name} has no rows")
    given = isinstance(source, (str, Path, Table))
    return table if given else replace(table, source=f"the table {name}")


def _as_table(source: Any, name: str) -> Table:
    if isinstance(source, (str, Path, Table)):
        return as_table(source)
    require_pyarrow()
    import pyarrow as pa

    try:
        return as_table(source)
    except pa.ArrowException as error:
        raise DataError(
            f"the table {name} has a column that is not of one type: "
            f"{' '.join(map(str, error.args))}"
        ) from error


def named(columns: str | Sequence[str] | None) -> tuple[str, ...]:
    """Names of columns, from one or several."""
    return (columns,) if isinstance(columns, str) else tuple(columns or ())


def two_tables(
    first: Table,
    second: Table,
    key: tuple[str, ...],
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
) -> TwoTables:
    """Matches people by `key` and finds the columns that can be compared."""
    notes: list[str] = []
    for role, names in (("drop", drop), ("category", categories)):
        for name in names:
            first.column(name, f"{role} column")
    if key:
        first, second = _matched(first, second, key, notes)
    numbers, texts = _comparable(first, second, (*key, *drop), categories, notes)
    if not numbers and not texts:
        told = f"; {'; '.join(notes)}" if notes else ""
        raise DataError(
            f"{first.source} and {second.source} have no column in common that can be compared"
            f"{told}"
        )
    return TwoTables(first, second, key, tuple(numbers), tuple(texts), tuple(notes))


def number_values(table: Table, name: str) -> Vector:
    """A column of numbers, NaN where it is missing."""
    column = table.columns[name]
    return np.full(table.n, np.nan) if column.kind == "nothing" else filled(column.numbers)


def level_codes(before: Column, after: Column) -> tuple[Codes, Codes, tuple[str, ...]]:
    """Both columns as numbers of levels, -1 where they are missing, and the levels in order."""
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


def _matched(
    before: Table, after: Table, key: tuple[str, ...], notes: list[str]
) -> tuple[Table, Table]:
    """The rows of people who are in both tables, in the order of `before`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = [_keys(table, key) for table in (before, after)]
    twice: set[str] = set()
    for table, found in zip((before, after), keys, strict=True):
        if found.null_count:
            notes.append(f"{table.source}: {_rows(found.null_count)} without a key, left out")
        counted = pc.value_counts(pc.drop_null(found))
        often = pc.greater(counted.field(1), 1)
        repeated = pc.filter(counted.field(0), often).to_pylist()
        if repeated:
            count = pc.sum(pc.filter(counted.field(1), often)).as_py()
            notes.append(
                f"{table.source}: {_rows(count)} whose key occurs more than once, such as "
                f"{_shown(repeated[0])}, left out"
            )
        twice |= set(repeated)
    single = [
        pc.fill_null(pc.invert(pc.is_in(k, value_set=pa.array(sorted(twice), pa.string()))), False)
        for k in keys
    ]
    single = [pc.and_(one, pc.is_valid(k)) for one, k in zip(single, keys, strict=True)]
    place = pc.index_in(keys[0], value_set=keys[1])
    both = pc.and_(single[0], pc.is_valid(place)).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(both)
    if not rows.size:
        raise DataError(_no_match(before, after, key, keys, bool(twice)))
    others = np.asarray(pc.fill_null(place, 0))[rows]
    alone = [int(pc.sum(one).as_py() or 0) - rows.size for one in single]
    for table, count in zip((before, after), alone, strict=True):
        if count:
            people = "person is" if count == 1 else "people are"
            notes.append(f"{count:,} {people} only in {table.source}, not compared")
    return before.take(rows), after.take(others)


def _keys(table: Table, key: tuple[str, ...]) -> Any:
    """The key of each row as text, null where a part of it is missing."""
    import pyarrow.compute as pc

    parts = [table.column(name, "key column") for name in key]
    for part in parts:
        if part.kind in ("nothing", "other"):
            what = "no values" if part.kind == "nothing" else "neither numbers nor text"
            raise DataError(f"the key column {part.name!r} of {table.source} holds {what}")
    codes = [part.codes for part in parts]
    return codes[0] if len(codes) == 1 else pc.binary_join_element_wise(*codes, BETWEEN)


def _no_match(
    before: Table, after: Table, key: tuple[str, ...], keys: list[Any], repeated: bool
) -> str:
    import pyarrow.compute as pc

    name = " and ".join(map(repr, key))
    common = pc.any(pc.is_in(pc.drop_null(keys[0]), value_set=pc.drop_null(keys[1]))).as_py()
    if common and repeated:
        return (
            f"every key in {name} that both tables have occurs more than once; name the columns "
            "that identify a person (--key), or compare the tables unpaired, without a key"
        )
    examples = [pc.drop_null(found) for found in keys]
    told = [_shown(found[0].as_py()) if len(found) else "no key at all" for found in examples]
    return (
        f"no person is in both tables: by {name}, {before.source} has {told[0]} and "
        f"{after.source} has {told[1]}; name the column that identifies people in both (--key), "
        "or compare the tables unpaired, without a key"
    )


def _comparable(
    before: Table,
    after: Table,
    without: Sequence[str],
    categories: Sequence[str],
    notes: list[str],
) -> tuple[list[str], list[str]]:
    """Columns of numbers and of categories."""
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
    """Why a column cannot be compared, if so."""
    kinds = [column.kind for column in pair]
    for table, kind in zip((before, after), kinds, strict=True):
        if kind == "nothing":
            return f"no values in {table.source}"
    if not category and kinds[0] != kinds[1]:
        told = [f"{kind}s" if kind in ("number", "date") else kind for kind in kinds]
        example = ""
        if "text" in kinds and "number" in kinds:
            table, column = ((before, pair[0]), (after, pair[1]))[kinds.index("text")]
            _, at, cell = column.first_text()
            example = f" ({cell!r} in row {table.row(at)} of {table.source})"
        return f"{told[0]} in {before.source}, {told[1]} in {after.source}{example}"
    for table, column in zip((before, after), pair, strict=True):
        if column.kind == "number" and not category:
            if np.isinf(filled(column.numbers)).any():
                return f"an infinite value in {table.source}"
        elif column.kind == "text" and not category:
            meant, cell = column.dressed()
            if 2 * meant > len(column.text) - column.text.null_count:
                return (
                    f"numbers that are not written as such in {table.source}: {cell!r}; write them "
                    "with a decimal point and nothing else"
                )
    reasons = [why_not(column, category) for column in pair]
    useless = [reason for reason in reasons if reason and reason != "one value in every row"]
    return useless[0] if len(useless) == len(pair) else ""


def _shown(key: str) -> str:
    return repr(key.replace(BETWEEN, ", "))


def _rows(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"
