"""`ColumnPlan`: how each column is used, so that later tables are encoded in the same way.

The target becomes labels: +1 for the favourable value. Numeric columns stay numeric. Text becomes a
category: rare levels are pooled into "other", and missing values get a level. Row numbers, text
that identifies rows, constant and empty columns are left out, each with a reason, and so are dates
that are not named to be used as days. Apparent mistakes raise an error, such as a few words among
numbers.

The plan knows how numbers and dates were written. Later tables may be written differently where
that is clear; where it is not, they are read as the first table was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.core.errors import DataError
from gameproof.core.naming import listed, quoted_list, suggestion
from gameproof.estimators.features import Features
from gameproof.tables.column import Column
from gameproof.tables.column_checks import (
    GAP,
    OTHER,
    TOO_RARE,
    check,
    filled,
    levels_of,
    require_clear,
    require_same_unit,
    why_not,
)
from gameproof.tables.date_columns import StatedDates, date_columns, day_values
from gameproof.tables.number_spelling import PLAIN, Spelling
from gameproof.tables.table import Table
from gameproof.tables.target import Target
from gameproof.tables.written_numbers import clash


class Encoded(NamedTuple):
    """An encoded table, and by column the number of cells with levels that the plan lacks."""

    X: Matrix
    unknown: Mapping[str, int]


@final
@dataclass(frozen=True)
class ColumnPlan:
    """The target, the features, why columns are left out, and how the others are read.

    `left_out` maps a column to a reason, `pooled` a column to a number of levels, `dates` a column
    that is used as days to the format of its dates, and `units` a numeric column to the unit that
    its cells show. `spelling` is how numbers were written.
    """

    target: Target
    features: Features
    left_out: Mapping[str, str] = field(default_factory=dict)
    pooled: Mapping[str, int] = field(default_factory=dict)
    dates: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    spelling: Spelling = PLAIN

    @classmethod
    def of(
        cls,
        table: Table,
        target: Target,
        movable: Sequence[str] = (),
        *,
        drop: Sequence[str] = (),
        categories: Sequence[str] = (),
        dates: StatedDates = (),
        left_out: Mapping[str, str] | None = None,
    ) -> ColumnPlan:
        """Plans the columns of a table whose rows all have a target.

        `dates` names columns to use as days, and may map them to their formats. `left_out` are
        further columns to leave out, and why.
        """
        roles = {"movable": movable, "drop": drop, "category": categories, "date": [*dates]}
        for role, named in roles.items():
            for name in named:
                table.column(name, "column" if role == "drop" else f"{role} column")
                if name == target.name:
                    raise DataError(f"the target {name!r} cannot also be a {role} column")
        for name in movable:
            if name in drop:
                raise DataError(f"the movable column {name!r} cannot be dropped")
            if name in (left_out or {}):
                raise unusable(name, (left_out or {})[name])
        why = {**dict.fromkeys(drop, "as requested"), **(left_out or {})}
        levels: dict[str, tuple[str, ...]] = {}
        pooled: dict[str, int] = {}
        units: dict[str, str] = {}
        days = date_columns(table, dates)
        for name, column in table.columns.items():
            if name in (target.name, *why, *days):
                continue
            check(table, column, name in categories)
            reason, found = why_not(column, name in categories, table.rows), None
            if not reason and (column.kind == "text" or name in categories):
                found = levels_of(column)
                reason = "" if len(found[0]) > 1 else TOO_RARE
            if reason and name in movable:
                raise unusable(name, reason)
            if reason:
                why[name] = reason
            elif found is not None:
                levels[name], pooled[name] = found
            elif column.is_text and (unit := column.readings[0].unit):
                units[name] = unit
        names = tuple(n for n in table.columns if n not in why and n != target.name)
        if not names:
            raise DataError(f"{table.source} has no column to learn from besides {target.name!r}")
        features = Features(names, levels, tuple(dict.fromkeys(movable)))
        pools = {n: k for n, k in pooled.items() if k}
        return cls(target, features, why, pools, days, units, table.spelling)

    def encoded(self, table: Table) -> Encoded:
        """Encodes a table as a matrix, with NaN for missing values."""
        lacking = [name for name in self.features.names if name not in table.columns]
        if lacking:
            raise DataError(
                f"{table.source} lacks {listed(list(map(repr, lacking)), 3)}; "
                f"{suggestion(lacking[0], table.columns)}"
            )
        X = np.empty((table.n, len(self.features.names)))
        unknown: dict[str, int] = {}
        for k, name in enumerate(self.features.names):
            column = table.columns[name]
            if name in self.features.levels:
                X[:, k], count = _coded(column, self.features.levels[name])
                if count:
                    unknown[name] = count
            elif name in self.dates:
                X[:, k] = day_values(table, column, self.dates[name])
            else:
                clear = column.settled(self.spelling)
                require_same_unit(table, clear, self.units.get(name, ""))
                X[:, k] = _numbers(table, clear)
        return Encoded(X, unknown)


def unusable(name: str, reason: str) -> DataError:
    """The error that a column with a budget cannot be used."""
    return DataError(
        f"the movable column {name!r} cannot be used: {reason}; remove its budget (--movable)"
    )


def number_columns(
    table: Table, target: str, names: Sequence[str] | None, d: int
) -> tuple[dict[str, Vector], bool]:
    """The numeric columns that a model of d features takes, and whether they were guessed.

    Without `names` they are all numeric columns but the target, in the order of the table.
    """
    if names is None:
        found = [
            name
            for name, column in table.columns.items()
            if name != target and (column.kind == "number" or column.doubtful)
        ]
        if len(found) != d:
            raise DataError(
                f"the model takes {d} columns and does not name them, but {table.source} has "
                f"{len(found)} numeric columns besides {target!r}: "
                f"{quoted_list(found)}"
            )
        return {name: _numbers(table, table.columns[name]) for name in found}, True
    return {name: _numbers(table, table.column(name)) for name in names}, False


def data_frame(table: Table, names: Sequence[str]) -> Any:
    """These columns as a pandas data frame: numbers as floats, everything else as text."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "models with transformers take data frames: pip install 'gameproof[frames]'"
        ) from error
    columns = {}
    for name in names:
        column = table.column(name)
        if column.kind == "number":
            columns[name] = _numbers(table, column)
        else:
            columns[name] = np.array(column.text.to_pylist(), dtype=object)
    return pd.DataFrame(columns)


def _coded(column: Column, levels: tuple[str, ...]) -> tuple[Vector, int]:
    """The codes of the levels, and the number of cells whose level is unknown.

    An unknown level gets the code of "other", or NaN if there is none.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    absent = column.codes.is_null().to_numpy(zero_copy_only=False)
    codes = filled(pc.cast(pc.index_in(column.codes, pa.array(levels)), pa.float64()))
    unknown = np.isnan(codes) & ~absent
    if column.kind == "number":
        codes[unknown] = _coded_by_value(filled(column.numbers)[unknown], levels)
        unknown &= np.isnan(codes)
    if OTHER in levels:
        codes[unknown] = levels.index(OTHER)
    if GAP in levels:
        codes[absent] = levels.index(GAP)
    return codes, int(unknown.sum())


def _coded_by_value(values: Vector, levels: tuple[str, ...]) -> Vector:
    """The codes of numbers that are written differently, such as 2.0 for the level 2.

    NaN where no level has this value, or where several have it and are therefore names.
    """
    codes: dict[float, float] = {}
    for k, level in enumerate(levels):
        try:
            value = float(level)
        except ValueError:
            continue
        codes[value] = np.nan if value in codes else k
    return np.array([codes.get(value, np.nan) for value in values.tolist()])


def _numbers(table: Table, column: Column) -> Vector:
    if column.kind == "nothing":
        return np.full(table.n, np.nan)
    require_clear(table, column)
    if column.kind != "number":
        detail = f"holds {column.kind}s"
        if column.kind == "text":
            wrong, at, cell = column.first_text()
            detail = clash(column, table.stated, table.place_within)
            if wrong:
                detail = f"has {cell!r} in row {table.row(at)}"
        raise DataError(
            f"{table.source}: the column {column.name!r} {detail}, but the model takes numbers"
        )
    values = filled(column.numbers)
    if np.isinf(values).any():
        at = int(np.argmax(np.isinf(values)))
        raise DataError(f"{table.place(at)}: the column {column.name!r} has an infinite value")
    return values
