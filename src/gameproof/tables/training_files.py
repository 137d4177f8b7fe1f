"""The training table of a table in files: a sample of its rows, and what all rows say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gameproof.core.arguments import Indices
from gameproof.core.progress import step
from gameproof.core.size_limits import whole_limit
from gameproof.rows.block_list import BlockList
from gameproof.rows.row_draws import row_draws
from gameproof.rows.row_progress import RowProgress
from gameproof.rows.row_source import RowSource, first_places
from gameproof.tables.block_split import SAMPLE
from gameproof.tables.column_budgets import StatedBudgets, by_column, checked_budgets
from gameproof.tables.dataset import Dataset
from gameproof.tables.date_columns import StatedDates
from gameproof.tables.encoded_rows import CHOSEN, EncodedRows, PartEncoder
from gameproof.tables.engines import Engine
from gameproof.tables.group_column import require_few
from gameproof.tables.out_of_time import compared, require_both_sides
from gameproof.tables.plan_files import plan_files, target_of_files
from gameproof.tables.table_files import TableFiles
from gameproof.tables.training_table import (
    TrainingTable,
    WholeTable,
    require_split,
    split_words,
)


class Seen(NamedTuple):
    """What one pass finds in a block of encoded rows: counts, whether rows are later than the value
    that splits the table, groups, a fingerprint, and a sample."""

    n: int
    n_positive: int
    missing: Indices
    later: tuple[bool, bool]
    groups: frozenset[str]
    fingerprint: Indices
    sample: EncodedRows

    @classmethod
    def of(cls, rows: EncodedRows, share: float) -> Seen:
        """What is seen in a block; `share` of its rows are kept."""
        later = (False, False) if rows.later is None else (rows.later.any(), (~rows.later).any())
        groups = frozenset() if rows.groups is None else frozenset(rows.groups.tolist())
        return cls(
            len(rows.y),
            int((rows.y > 0).sum()),
            np.isnan(rows.X).sum(axis=0),
            (bool(later[0]), bool(later[1])),
            groups,
            rows.fingerprint(),
            rows.take(row_draws(rows.places, 0, CHOSEN) < share),
        )


def training_files(
    files: TableFiles,
    engine: Engine,
    target: str,
    favourable: Any,
    budgets: StatedBudgets,
    *,
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
    rest: bool = False,
    unfavourable: Sequence[Any] = (),
    ignore: Sequence[Any] = (),
    dates: StatedDates = (),
    groups: str | None = None,
    split_by: str | None = None,
    test_after: Any = None,
    progress: bool | None = None,
) -> TrainingTable:
    """Labels the rows of a table in files, plans its columns and checks the budgets."""
    require_split(split_by, test_after)
    for name, role in ((groups, "column of groups"), (split_by, "column to split by")):
        if name is not None:
            files.column(name, role)
    watch = RowProgress(files.n)
    source = engine.source(files, watch)
    stated = by_column(budgets)
    with step(f"looking at the columns of {files.n:,} rows", progress, watch):
        aim = target_of_files(
            files, source, target, favourable, rest, unfavourable=unfavourable, ignore=ignore
        )
        sample, plan = plan_files(
            files,
            source,
            aim,
            list(stated),
            drop=drop,
            categories=categories,
            dates=dates,
            split_by=split_by,
        )
    encoder = PartEncoder(plan, groups, split_by, test_after)
    with step(f"encoding {files.n:,} rows", progress, watch):
        blocks = _encoded(files, engine, source, encoder, watch)
        seen = list(blocks.map(Seen.of, min(1.0, SAMPLE / files.n)))
    n, positive = sum(part.n for part in seen), sum(part.n_positive for part in seen)
    later = np.any([part.later for part in seen], axis=0)
    if split_by is not None and not later.all():
        _, _, values = compared(files.sample, split_by, test_after)
        known = sorted(set(values.drop_null().to_pylist())) or ["nothing"]
        require_both_sides(
            files.source, split_by, test_after, np.full(1, later[0]), (known[0], known[-1])
        )
    aim.require_both(np.repeat([1.0, -1.0], [min(5, positive), min(5, n - positive)]), PURPOSE)
    require_few(len({name for part in seen for name in part.groups}), str(groups))
    counts = np.sum([part.missing for part in seen], axis=0)
    missing = {
        name: int(count) for name, count in zip(plan.features.names, counts, strict=True) if count
    }
    X, y = (np.concatenate([getattr(part.sample, field) for part in seen]) for field in ("X", "y"))
    data = Dataset(files.source, X, y, plan.features)
    return TrainingTable(
        sample,
        plan,
        data,
        checked_budgets(stated, plan.features, X),
        files.n,
        files.n - n if split_by is None else 0,
        fingerprint_text(seen),
        None,
        None,
        split_words(split_by, test_after),
        WholeTable(blocks, n, positive, missing, watch),
    )


PURPOSE = "learn from and test on"


def fingerprint_text(seen: Sequence[Seen]) -> str:
    """The fingerprint of all rows, whatever the files that they are in."""
    total: Any = np.sum([part.fingerprint for part in seen], axis=0, dtype=np.uint64)
    return "".join(f"{half:016x}" for half in total.tolist())


def _encoded(
    files: TableFiles, engine: Engine, source: RowSource, encoder: PartEncoder, watch: RowProgress
) -> RowSource:
    """The encoded rows: on the cluster, in memory if they fit, or read again in every pass."""
    starts = first_places([part.size for part in files.parts])
    blocks = source.mapped(encoder, each=starts, n=files.n)
    size = 8 * files.n * (len(encoder.plan.features.names) + 2)
    if engine.client is not None or size > whole_limit():
        return blocks
    held = list(blocks.map(_itself))
    return BlockList(held, [len(rows.y) for rows in held], watch)


def _itself(rows: EncodedRows) -> EncodedRows:
    return rows
