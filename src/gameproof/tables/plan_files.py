"""How the columns of a table in files are used.

Types, spellings and roles of columns are found from a sample of rows. A column that does not vary
in the sample may vary elsewhere, so all files are searched for other values of it. What depends on
every row is counted in all files: the values of the target, and the levels of categories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gameproof.core.errors import DataError
from gameproof.core.naming import listed
from gameproof.estimators.features import Features
from gameproof.rows.row_source import RowSource
from gameproof.tables.column import Column
from gameproof.tables.column_budgets import by_column
from gameproof.tables.column_checks import (
    NUMBERING,
    TOO_RARE,
    level_counts,
    levels_by_count,
    why_not,
)
from gameproof.tables.column_plan import ColumnPlan, unusable
from gameproof.tables.file_parts import FilePart, joined_tables
from gameproof.tables.meaning import Meaning
from gameproof.tables.table import Table
from gameproof.tables.table_files import SAMPLE, TableFiles, sampled_parts
from gameproof.tables.target import Target, outcome_texts

# Rows that are added to the sample for values that it lacks: of a part and column, and at most.
FEW_RARE, MOST_RARE = 20, 10_000


def target_of_files(
    files: TableFiles, source: RowSource, name: str, favourable: Any, rest: bool, **stated: Any
) -> Target:
    """The target column, whose values are collected from all files."""
    import pyarrow as pa

    files.column(name, "target column")
    places: dict[str, set[str]] = {}
    for part, values in zip(files.parts, source.map(_target_values, name), strict=True):
        for value in values:
            places.setdefault(value, set()).add(part.name)
    cells = pa.array(sorted(places), pa.string())
    alone = Table(files.source, {name: Column(name, cells)}, len(cells), stated=files.stated)
    try:
        return Target.of(alone, name, favourable, rest, **stated)
    except DataError as error:
        rare = {value: min(own) for value, own in places.items() if len(own) == 1}
        if not rare or len({part.name for part in files.parts}) == 1:
            raise
        where = listed([f"{value!r} only in {file}" for value, file in sorted(rare.items())], 3)
        raise DataError(f"{error}; there is {where}") from error


def plan_files(
    files: TableFiles, source: RowSource, target: Target, meaning: Meaning
) -> tuple[Table, ColumnPlan]:
    """The sampled rows that have a target, and the plan of the columns."""
    sample = target.labelled(files.sample)[0]
    if not sample.n:
        raise DataError(f"no sampled row of {files.source} has a known {target.name!r}")
    numbering = [name for name in _numbering(files) if name not in (target.name, *meaning.drop)]
    left_out = {**dict.fromkeys(numbering, NUMBERING), **meaning.left_out}
    sample = _with_rare_values(
        files, source, target, sample, {target.name, *meaning.drop, *left_out}
    )
    movable = list(by_column(meaning.budgets))
    plan = ColumnPlan.of(sample, target, movable, left_out=left_out, **meaning.columns)
    return sample, _with_levels(plan, source, movable)


def _with_rare_values(
    files: TableFiles, source: RowSource, target: Target, sample: Table, known: set[str]
) -> Table:
    """The sample, and rows with other values for columns that have at most one value in it."""
    if files.n <= SAMPLE:
        return sample
    constant = {
        name: column.codes[0].as_py()
        for name, column in sample.columns.items()
        if name not in known and column.kind != "other" and _constant(column)
    }
    if not constant:
        return sample
    found = [part for part in source.map(_rare_rows, target, constant) if part is not None]
    joined = joined_tables([sample, *found], files.source, files.names)
    return replace(joined.take(range(min(joined.n, sample.n + MOST_RARE))), notes=sample.notes)


def _constant(column: Column) -> bool:
    import pyarrow.compute as pc

    return bool(pc.count_distinct(column.codes, mode="all").as_py() <= 1)


def _rare_rows(part: FilePart, target: Target, constant: Mapping[str, str | None]) -> Table | None:
    """A few rows of a part, for each of these columns, whose value is not the stated one."""
    import pyarrow.compute as pc

    table = part.read([*constant, target.name])
    if table is None:
        return None
    rows: set[int] = set()
    for name, value in constant.items():
        codes = table.columns[name].codes
        other = codes.is_valid() if value is None else pc.not_equal(codes, value).fill_null(True)
        rows |= {*np.flatnonzero(other.to_numpy(zero_copy_only=False))[:FEW_RARE].tolist()}
    whole = part.read() if rows else None
    return None if whole is None else target.labelled(whole.take(sorted(rows)))[0]


def _numbering(files: TableFiles) -> list[str]:
    """Columns that number the rows in each of the sampled files.

    In a table that is sampled whole, the plan finds them itself."""
    if files.n <= SAMPLE:
        return []
    parts = [part.read(most=SAMPLE // 100) for part in sampled_parts(files.parts)[:3]]
    tables = [table for table in parts if table is not None and table.n > 20]
    return [
        name
        for name in files.names
        if tables and all(why_not(table.columns[name], False) == NUMBERING for table in tables)
    ]


def _with_levels(plan: ColumnPlan, source: RowSource, movable: Sequence[str]) -> ColumnPlan:
    """The plan with the levels that all rows have, most frequent first."""
    names = list(plan.features.levels)
    if not names:
        return plan
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    missing = dict.fromkeys(names, 0)
    for part in source.map(_level_counts, plan.target, names):
        for name, (counted, gaps) in part.items():
            counts[name] += counted
            missing[name] += gaps
    levels: dict[str, tuple[str, ...]] = {}
    pooled: dict[str, int] = {}
    left_out = dict(plan.left_out)
    for name in names:
        own, many = levels_by_count(counts[name], missing[name])
        if len(own) < 2:
            if name in movable:
                raise unusable(name, TOO_RARE)
            left_out[name] = TOO_RARE
            continue
        levels[name] = own
        if many:
            pooled[name] = many
    features = plan.features
    kept = tuple(name for name in features.names if name not in left_out)
    return replace(
        plan,
        features=Features(kept, levels, features.movable),
        left_out=left_out,
        pooled=pooled,
    )


def _target_values(part: FilePart, name: str) -> list[str]:
    table = part.read([name])
    return [] if table is None else outcome_texts(table, name)


def _level_counts(
    part: FilePart, target: Target, names: list[str]
) -> Mapping[str, tuple[Counter[str], int]]:
    """The levels of each category in the rows that have a target."""
    table = part.read([*names, target.name])
    if table is None:
        return {}
    known, _ = target.labelled(table)
    return {name: level_counts(known.columns[name]) for name in names}
