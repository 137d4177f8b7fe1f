"""The training table of a table in files: a sample of its rows, and counts of all rows."""

from __future__ import annotations

import numpy as np

from gameproof.core.progress import step
from gameproof.rows.row_progress import RowProgress
from gameproof.tables.block_split import SAMPLE
from gameproof.tables.column_budgets import by_column, checked_budgets
from gameproof.tables.dataset import Dataset
from gameproof.tables.encoded_blocks import encoded_blocks, seen_in
from gameproof.tables.encoded_rows import PartEncoder
from gameproof.tables.engines import Engine
from gameproof.tables.group_column import require_few
from gameproof.tables.meaning import Meaning
from gameproof.tables.out_of_time import compared, require_both_sides
from gameproof.tables.plan_files import plan_files, target_of_files
from gameproof.tables.table_files import TableFiles
from gameproof.tables.training_table import TrainingTable, WholeTable


def training_files(
    files: TableFiles, engine: Engine, meaning: Meaning, progress: bool | None = None
) -> TrainingTable:
    """Labels the rows of a table in files, plans its columns and checks the budgets."""
    meaning = meaning.checked()
    groups, split_by, test_after = meaning.groups, meaning.split_by, meaning.test_after
    for name, role in ((groups, "column of groups"), (split_by, "column to split by")):
        if name is not None:
            files.column(name, role)
    watch = RowProgress(files.n)
    source = engine.source(files, watch)
    stated = by_column(meaning.budgets)
    with step(f"looking at the columns of {files.n:,} rows", progress, watch):
        aim = target_of_files(files, source, meaning.target, **meaning.outcomes)
        sample, plan = plan_files(files, source, aim, meaning)
    encoder = PartEncoder(plan, groups, split_by, test_after)
    with step(f"encoding {files.n:,} rows", progress, watch):
        blocks = encoded_blocks(files, engine, source, encoder, watch)
        seen = seen_in(blocks, min(1.0, SAMPLE / files.n))
    if split_by is not None and not all(seen.later):
        _, _, values = compared(files.sample, split_by, test_after)
        known = sorted(set(values.drop_null().to_pylist())) or ["nothing"]
        require_both_sides(
            files.source, split_by, test_after, np.full(1, seen.later[0]), (known[0], known[-1])
        )
    aim.require_counts(seen.n_positive, seen.n - seen.n_positive, "learn from and test on")
    require_few(len(seen.groups), str(groups))
    missing = {name: seen.gaps.missing[name] for name in plan.features.names}
    data = Dataset(files.source, seen.sample.X, seen.sample.y, plan.features)
    return TrainingTable(
        table=sample,
        plan=plan,
        data=data,
        budgets=checked_budgets(stated, plan.features, data.X),
        n_rows=files.n,
        n_without_target=files.n - seen.n if split_by is None else 0,
        fingerprint=seen.fingerprint_text,
        split_by=meaning.split_words,
        whole=WholeTable(
            blocks, seen.n, seen.n_positive, {k: v for k, v in missing.items() if v}, watch
        ),
        grouped_by=groups or "",
    )
