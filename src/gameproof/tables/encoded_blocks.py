"""The encoded rows of a table in files, block by block, and what one pass over them finds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, final

import numpy as np

from gameproof.core.size_limits import whole_limit
from gameproof.rows.block_list import BlockList
from gameproof.rows.row_draws import sampled
from gameproof.rows.row_progress import RowProgress
from gameproof.rows.row_source import RowSource, first_places
from gameproof.tables.cell_gaps import Gaps
from gameproof.tables.encoded_rows import EncodedRows, PartEncoder, joined_rows
from gameproof.tables.engines import Engine
from gameproof.tables.table_files import TableFiles


def encoded_blocks(
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


@final
@dataclass(frozen=True, eq=False)
class Seen:
    """What one pass finds in encoded rows: counts, groups, gaps, a fingerprint and a sample.
    `later` says whether some rows come after the value that splits the table, and whether some do
    not."""

    n: int
    n_positive: int
    later: tuple[bool, bool]
    groups: frozenset[str]
    gaps: Gaps
    fingerprint: Any
    sample: EncodedRows

    @classmethod
    def of(cls, rows: EncodedRows, share: float) -> Seen:
        """What a block holds; `share` of its rows are kept."""
        later = np.zeros(0, dtype=bool) if rows.later is None else rows.later
        groups = frozenset() if rows.groups is None else frozenset(rows.groups.tolist())
        return cls(
            len(rows.y),
            int((rows.y > 0).sum()),
            (bool(later.any()), bool((~later).any())),
            groups,
            rows.gaps,
            rows.fingerprint(),
            rows.take(sampled(rows.places, share)),
        )

    @property
    def fingerprint_text(self) -> str:
        """The fingerprint, which is the same for the same rows in any files."""
        return "".join(f"{half:016x}" for half in self.fingerprint.tolist())


def seen_in(blocks: RowSource, share: float) -> Seen:
    """What all blocks hold, in one pass; `share` of the rows are kept."""
    parts = list(blocks.map(Seen.of, share))
    return Seen(
        sum(part.n for part in parts),
        sum(part.n_positive for part in parts),
        (any(part.later[0] for part in parts), any(part.later[1] for part in parts)),
        frozenset().union(*(part.groups for part in parts)),
        reduce(Gaps.merged, (part.gaps for part in parts)),
        np.sum([part.fingerprint for part in parts], axis=0, dtype=np.uint64),
        joined_rows([part.sample for part in parts]),
    )


def _itself(rows: EncodedRows) -> EncodedRows:
    return rows
