"""An audit of a table in files: a sample in memory, and passes over all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.people_groups import in_order
from gameproof.auditing.whole_audit import rows_used, whole_audit
from gameproof.auditing.whole_tallies import AuditedRows, Tallies, WholeAudit
from gameproof.core.errors import DataError
from gameproof.core.progress import step
from gameproof.estimators.sklearn_import import ImportedClassifier, ImportedPipeline
from gameproof.rows.row_draws import sampled
from gameproof.rows.row_progress import RowProgress
from gameproof.rows.row_source import RowSource, first_places
from gameproof.tables.audit_case import PURPOSE, AuditCase, Stated
from gameproof.tables.block_split import SAMPLE
from gameproof.tables.encoded_blocks import encoded_blocks, seen_in
from gameproof.tables.encoded_rows import PartEncoder, audited_rows
from gameproof.tables.engines import Engine
from gameproof.tables.file_parts import FilePart, joined_tables
from gameproof.tables.group_column import require_few
from gameproof.tables.own_case import CaseRows, own_case, own_table_case, own_target
from gameproof.tables.plan_files import target_of_files
from gameproof.tables.sklearn_case import classifier_case, pipeline_case
from gameproof.tables.table import Table
from gameproof.tables.table_files import TableFiles
from gameproof.tables.table_model import TableModel


@final
@dataclass(frozen=True, eq=False)
class SampledCase:
    """A case with a sample of rows. If `blocks` are given, they hold all n rows."""

    case: AuditCase
    table: Table
    n: int
    good_share: float
    groups: tuple[str, ...] = ()
    blocks: RowSource | None = None

    def audited(self, audit: Audit, name: str) -> Audit:
        """The audit of the sample, with numbers from all rows if there are more."""
        if self.blocks is None or self.case.y.size == self.n:
            return audit
        case = self.case
        lines = [replace(case.model, name=name)]
        sample = AuditedRows(case.X, case.y, case.groups)
        given = WholeAudit.of(audit, lines, case.prepare, sample, self.groups)
        source = self.blocks.mapped(audited_rows, None, n=self.n)
        return whole_audit(audit, Tallies.of(given, source))


def table_case(
    model: TableModel | ImportedClassifier | ImportedPipeline, table: Table, stated: Stated
) -> AuditCase:
    """Applies a model to a table in memory, or raises an error that says what does not fit."""
    if isinstance(model, TableModel):
        return own_table_case(model, table, stated)
    if isinstance(model, ImportedPipeline):
        return pipeline_case(model, table, stated)
    return classifier_case(model, table, stated)


def files_case(
    model: TableModel | ImportedClassifier | ImportedPipeline,
    files: TableFiles,
    engine: Engine,
    stated: Stated,
    progress: bool | None = None,
) -> SampledCase:
    """Applies a model to a table in files."""
    watch = RowProgress(files.n)
    source = engine.source(files, watch)
    with step(f"encoding {files.n:,} rows", progress, watch):
        if isinstance(model, TableModel):
            return _own_case(model, files, engine, source, stated, watch)
        return _sampled_case(model, files, source, stated)


def _own_case(
    model: TableModel,
    files: TableFiles,
    engine: Engine,
    source: RowSource,
    stated: Stated,
    watch: RowProgress,
) -> SampledCase:
    target = own_target(model, stated)
    if stated.rest:
        target = target_of_files(files, source, target.name, target.favourable, True)
    files.column(target.name, "target column")
    if stated.groups is not None:
        files.column(stated.groups, "column of groups")
    encoder = PartEncoder(replace(model.plan, target=target), stated.groups)
    blocks = encoded_blocks(files, engine, source, encoder, watch)
    seen = seen_in(blocks, min(1.0, SAMPLE / files.n))
    target.require_counts(seen.n_positive, seen.n - seen.n_positive, PURPOSE)
    require_few(len(seen.groups), str(stated.groups))
    sample = seen.sample
    rows = CaseRows(
        sample.X, sample.y, sample.groups, seen.gaps, files.n - seen.n, seen.fingerprint_text
    )
    case = own_case(model, target, rows, stated, files.sample.notes)
    if len(sample.y) < seen.n:
        case.notes.append(rows_used(f"{seen.n:,} rows", len(sample.y)))
    groups = tuple(in_order(seen.groups))
    return SampledCase(case, files.sample, seen.n, seen.n_positive / seen.n, groups, blocks)


def _sampled_case(
    model: ImportedClassifier | ImportedPipeline,
    files: TableFiles,
    source: RowSource,
    stated: Stated,
) -> SampledCase:
    """A model of scikit-learn is audited on a sample, if the table is large."""
    starts = first_places([part.size for part in files.parts])
    share = min(1.0, SAMPLE / files.n)
    parts = list(source.map(_drawn, share, each=starts))
    tables = [part for part in parts if part is not None]
    if not tables:
        raise DataError(f"{files.source} has no rows")
    table = joined_tables(tables, files.source, files.names)
    case = table_case(model, table, stated)
    if share < 1:
        case.notes.append(f"audited on a random sample of {table.n:,} of {files.n:,} rows")
    return SampledCase(case, table, case.y.size, float((case.y > 0).mean()))


def _drawn(part: FilePart, start: int, share: float) -> Table | None:
    """A share of the rows of a part."""
    table = part.read()
    if table is None or share >= 1:
        return table
    chosen = np.flatnonzero(sampled(start + np.arange(table.n), share))
    return table.take(chosen) if chosen.size else None
