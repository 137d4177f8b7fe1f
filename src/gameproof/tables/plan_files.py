"""How the columns of a table in files are used.

Types, spellings and roles of columns are found from a sample of rows. What depends on every row is
counted in all files: the values of the target, and the levels of categories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gameproof.core.errors import DataError
from gameproof.core.naming import listed
from gameproof.estimators.features import Features
from gameproof.rows.row_source import RowSource
from gameproof.tables.column import Column
from gameproof.tables.column_checks import (
    NUMBERING,
    TOO_RARE,
    level_counts,
    levels_by_count,
    why_not,
)
from gameproof.tables.column_plan import Plan
from gameproof.tables.date_columns import StatedDates
from gameproof.tables.file_parts import FilePart
from gameproof.tables.out_of_time import SPLITS
from gameproof.tables.table import Table
from gameproof.tables.table_files import SAMPLE, TableFiles, sampled_parts
from gameproof.tables.target import Target, outcome_texts


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
    files: TableFiles,
    source: RowSource,
    target: Target,
    movable: Sequence[str],
    *,
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
    dates: StatedDates = (),
    split_by: str | None = None,
) -> tuple[Table, Plan]:
    """The sampled rows that have a target, and the plan of the columns."""
    sample = target.labelled(files.sample)[0]
    if not sample.n:
        raise DataError(f"no sampled row of {files.source} has a known {target.name!r}")
    numbering = [name for name in _numbering(files) if name not in (target.name, *drop)]
    left_out = dict.fromkeys(numbering, NUMBERING)
    if split_by is not None:
        left_out[split_by] = SPLITS
    taken = [name for name in left_out if name not in drop]
    plan = Plan.of(
        sample, target, movable, drop=[*drop, *taken], categories=categories, dates=dates
    )
    about = {name: why for name, why in left_out.items() if name in plan.left_out}
    plan = replace(plan, left_out={**plan.left_out, **about})
    return sample, _with_levels(plan, source, movable)


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


def _with_levels(plan: Plan, source: RowSource, movable: Sequence[str]) -> Plan:
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
                raise DataError(
                    f"the movable column {name!r} cannot be used: {TOO_RARE}; remove its budget "
                    "(--movable)"
                )
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
