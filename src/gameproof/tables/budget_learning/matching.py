"""Matches the people of two tables by a key.

Keys are compared as text, with 2.0 read as 2. A key that occurs twice in a table identifies nobody,
so all rows with this key are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from gameproof.core.errors import DataError
from gameproof.tables.budget_learning.comparable import comparable
from gameproof.tables.table import Table

BETWEEN = "\x1f"  # joins the parts of a key


@final
@dataclass(frozen=True, eq=False)
class TwoTables:
    """Two tables, the columns that can be compared, and notes on what was left out.

    If there is a `key`, row k is the same person in both tables.
    """

    before: Table
    after: Table
    key: tuple[str, ...]
    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def compared(self) -> list[str]:
        """The columns that are compared, in the order of the first table."""
        chosen = {*self.numbers, *self.categories}
        return [name for name in self.before.columns if name in chosen]


def named(columns: str | Sequence[str] | None) -> tuple[str, ...]:
    """Column names as a tuple, from one name or several."""
    return (columns,) if isinstance(columns, str) else tuple(columns or ())


def two_tables(
    first: Table,
    second: Table,
    key: tuple[str, ...],
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
) -> TwoTables:
    """Matches people by `key`, if there is one, and finds the columns that can be compared."""
    notes: list[str] = []
    for role, names in (("column", drop), ("category column", categories)):
        for name in names:
            first.column(name, role)
    if key:
        first, second = _matched(first, second, key, notes)
    numbers, texts = comparable(first, second, (*key, *drop), categories, notes)
    if not numbers and not texts:
        reasons = f"; {'; '.join(notes)}" if notes else ""
        raise DataError(
            f"{first.source} and {second.source} have no column in common that can be compared"
            f"{reasons}"
        )
    return TwoTables(first, second, key, tuple(numbers), tuple(texts), tuple(notes))


def _matched(
    before: Table, after: Table, key: tuple[str, ...], notes: list[str]
) -> tuple[Table, Table]:
    """The rows of people who occur in both tables, in the order of `before`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = [_keys(table, key) for table in (before, after)]
    twice: set[str] = set()
    for table, found in zip((before, after), keys, strict=True):
        if found.null_count:
            notes.append(f"{table.source}: left out {_rows(found.null_count)} without a key")
        counted = pc.value_counts(pc.drop_null(found))
        often = pc.greater(counted.field(1), 1)
        repeated = pc.filter(counted.field(0), often).to_pylist()
        if repeated:
            count = pc.sum(pc.filter(counted.field(1), often)).as_py()
            notes.append(
                f"{table.source}: left out {_rows(count)} whose key occurs more than once, such "
                f"as {_shown(repeated[0])}"
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
    """The key of each row as text, null if a part of it is missing."""
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
            f"every key in {name} that both tables contain occurs more than once; name the columns "
            "that identify a person (--key), or compare the tables without a key"
        )
    examples = [pc.drop_null(found) for found in keys]
    keys_shown = [_shown(found[0].as_py()) if len(found) else "no key at all" for found in examples]
    return (
        f"no person occurs in both tables: in {name}, {before.source} has {keys_shown[0]} and "
        f"{after.source} has {keys_shown[1]}; name the column that identifies people in both "
        "(--key), or compare the tables without a key"
    )


def _shown(key: str) -> str:
    return repr(key.replace(BETWEEN, ", "))


def _rows(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"
