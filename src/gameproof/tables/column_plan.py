"""`Plan`: what is made of a table's columns, so that another table can be treated alike.

The target becomes labels: +1 where it has the favourable value. A column of numbers stays one; text
becomes a category, its rare levels pooled into "other" and its gaps a level of their own. Dates,
row numbers, text that names single rows and columns of one value are left out, and the plan says
so. What cannot be right is an error: a few words among numbers, a column without any value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, final

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.core.errors import DataError
from gameproof.core.naming import listed, quoted, suggestion
from gameproof.estimators.features import Features
from gameproof.tables.column import Column
from gameproof.tables.column_checks import GAP, OTHER, check, filled, levels_of, why_not
from gameproof.tables.dataset import Dataset
from gameproof.tables.table import Table, open_table
from gameproof.tables.target import Target


class Encoded(NamedTuple):
    """A table as a plan sees it, and how many cells of which column had levels that the plan does
    not know by name."""

    X: Matrix
    unknown: Mapping[str, int]


@final
@dataclass(frozen=True)
class Plan:
    """What the columns are, which are left out and why, how many levels were pooled.

    `left_out` maps a name to a reason, and `pooled` one to a number of levels.
    """

    target: Target
    features: Features
    left_out: Mapping[str, str] = field(default_factory=dict)
    pooled: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        table: Table,
        target: Target,
        movable: Sequence[str] = (),
        *,
        drop: Sequence[str] = (),
        categories: Sequence[str] = (),
    ) -> Plan:
        """For the rows of this table; leave out those without a target first."""
        for role, named in (("movable", movable), ("drop", drop), ("category", categories)):
            for name in named:
                table.column(name, f"{role} column")
                if name == target.name:
                    raise DataError(f"the target {name!r} cannot be a {role} column as well")
        for name in movable:
            if name in drop:
                raise DataError(f"the movable column {name!r} cannot be dropped")
        levels: dict[str, tuple[str, ...]] = {}
        left_out = dict.fromkeys(drop, "as asked for")
        pooled: dict[str, int] = {}
        for name, column in table.columns.items():
            if name in (target.name, *drop):
                continue
            check(table, column, name in categories)
            reason = why_not(column, name in categories)
            if reason and name in movable:
                raise DataError(
                    f"the movable column {name!r} cannot be used: {reason}; take it out of movable "
                    "(--movable)"
                )
            if reason:
                left_out[name] = reason
            elif column.kind == "text" or name in categories:
                levels[name], pooled[name] = levels_of(column)
                if len(levels[name]) < 2:
                    if name in movable:
                        raise DataError(
                            f"the movable column {name!r} cannot be used: no value of it is "
                            "frequent enough; take it out of movable (--movable)"
                        )
                    left_out[name] = "no value of it is frequent enough"
                    del levels[name], pooled[name]
        names = tuple(n for n in table.columns if n not in left_out and n != target.name)
        if not names:
            raise DataError(f"{table.source} has no column to learn from besides {target.name!r}")
        features = Features(names, levels, tuple(dict.fromkeys(movable)))
        return cls(target, features, left_out, {n: k for n, k in pooled.items() if k})

    def encoded(self, table: Table) -> Encoded:
        """The matrix of another table, or of the same one: NaN for what is missing."""
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
            else:
                X[:, k] = _numbers(table, column)
        return Encoded(X, unknown)


def read_table(
    path: str | Path,
    target: str,
    favourable: str,
    movable: Sequence[str] = (),
    *,
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
    rest: bool = False,
) -> Dataset:
    """The people in a file: CSV, TSV or Parquet, packed or not.

    The label is +1 where the column `target` has the value `favourable`, the outcome that people
    want; a target of more than two values needs `rest`, by which all others count as one. Rows
    without a target are left out, as are columns of which nothing can be learned. Needs
    ``pip install 'gameproof[tables]'``.
    """
    table = open_table(path)
    aim = Target.of(table, target, favourable, rest)
    known, y = aim.labelled(table)
    plan = Plan.of(known, aim, movable, drop=drop, categories=categories)
    return Dataset(str(path), plan.encoded(known).X, y, plan.features, source=str(path))


def number_columns(
    table: Table, target: str, names: Sequence[str] | None, d: int
) -> tuple[dict[str, Vector], bool]:
    """The columns that a model of d features sees, by its names, or else in the order of the
    table; and whether that was a guess."""
    if names is None:
        found = [n for n, c in table.columns.items() if n != target and c.kind == "number"]
        if len(found) != d:
            raise DataError(
                f"the model takes {d} columns and names none, and {table.source} has {len(found)} "
                f"of numbers besides {target!r}: {listed([quoted(name) for name in found])}"
            )
        return {name: _numbers(table, table.columns[name]) for name in found}, True
    return {name: _numbers(table, table.column(name)) for name in names}, False


def _coded(column: Column, levels: tuple[str, ...]) -> tuple[Vector, int]:
    """The numbers of the levels, that of "other" or NaN where none fits, and in how many cells."""
    import pyarrow as pa
    import pyarrow.compute as pc

    absent = column.codes.is_null().to_numpy(zero_copy_only=False)
    codes = filled(pc.cast(pc.index_in(column.codes, pa.array(levels)), pa.float64()))
    strange = np.isnan(codes) & ~absent
    if column.kind == "number":
        codes[strange] = _coded_by_value(filled(column.numbers)[strange], levels)
        strange &= np.isnan(codes)
    if OTHER in levels:
        codes[strange] = levels.index(OTHER)
    if GAP in levels:
        codes[absent] = levels.index(GAP)
    return codes, int(strange.sum())


def _coded_by_value(values: Vector, levels: tuple[str, ...]) -> Vector:
    """The numbers of levels that are written otherwise, 2 or 2.0, as programs disagree on; NaN
    where no level has this value, or where several have it, which must then be names."""
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
    if column.kind != "number":
        detail = f"holds {column.kind}s"
        if column.kind == "text":
            _, at, cell = column.first_text()
            detail = f"has {cell!r} in row {table.row(at)}"
        raise DataError(
            f"{table.source}: the column {column.name!r} {detail}, and the model takes numbers"
        )
    values = filled(column.numbers)
    if np.isinf(values).any():
        at = int(np.argmax(np.isinf(values)))
        raise DataError(
            f"{table.source}, row {table.row(at)}: the column {column.name!r} has an infinite value"
        )
    return values
