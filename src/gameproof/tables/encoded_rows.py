"""The rows of a part of a table, encoded by a plan, and their split into training and test rows.

Test rows are drawn by their place in the table, or are those with later values of a column. So they
are the same in any blocks and on any machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.whole_tallies import AuditedRows
from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.rows.row_draws import Bools, held_out, mixed, sampled
from gameproof.rows.row_source import RawRows
from gameproof.tables.cell_gaps import Gaps
from gameproof.tables.column_plan import ColumnPlan
from gameproof.tables.file_parts import FilePart
from gameproof.tables.group_column import group_labels
from gameproof.tables.out_of_time import compared


class EncodedRows(NamedTuple):
    """Rows with a target: features, labels, places in the table, and groups, if there are any.
    `later` says whether rows come after the value that splits the table; None without one. `gaps`
    counts the gaps of the whole part, and `name` is its file."""

    X: Matrix
    y: Vector
    places: Indices
    later: Bools | None
    groups: NDArray[np.str_] | None
    gaps: Gaps
    name: str

    def take(self, chosen: Bools) -> EncodedRows:
        """Some of the rows."""
        return EncodedRows(
            self.X[chosen],
            self.y[chosen],
            self.places[chosen],
            None if self.later is None else self.later[chosen],
            None if self.groups is None else self.groups[chosen],
            self.gaps,
            self.name,
        )

    def fingerprint(self) -> Indices:
        """Two sums over the rows that change if any number does, whatever the order and the
        blocks."""
        bits: Any = np.column_stack([self.X + 0.0, self.y]).view(np.uint64)
        found: Any = np.zeros(len(self.y), dtype=np.uint64)
        for column in bits.T:
            found = mixed(found ^ column)
        twice = mixed(found + np.uint64(1))
        return np.array([found.sum(dtype=np.uint64), twice.sum(dtype=np.uint64)])


def joined_rows(parts: Sequence[EncodedRows]) -> EncodedRows:
    """The rows of all parts, without their gaps."""
    X, y, places = (np.concatenate([part[k] for part in parts]) for k in range(3))
    later, groups = (
        None if parts[0][k] is None else np.concatenate([part[k] for part in parts]) for k in (3, 4)
    )
    return EncodedRows(X, y, places, later, groups, Gaps(0, Counter(), Counter()), parts[0].name)


class Split(NamedTuple):
    """How rows are held out for testing: a share of them drawn by a seed, or the later ones."""

    share: float
    seed: int

    def test(self, rows: EncodedRows) -> Bools:
        """Whether each row is held out."""
        if rows.later is not None:
            return rows.later
        return held_out(rows.places, self.share, self.seed)

    def part(self, rows: EncodedRows, test: bool) -> EncodedRows:
        """The test rows, or the training rows."""
        return rows.take(self.test(rows) == test)

    def sample(self, rows: EncodedRows, test: bool, share: float) -> EncodedRows:
        """A share of the test rows, or of the training rows."""
        return rows.take((self.test(rows) == test) & sampled(rows.places, share, self.seed))


@final
@dataclass(frozen=True, eq=False)
class PartEncoder:
    """Reads and encodes a part of a table in files."""

    plan: ColumnPlan
    groups: str | None = None
    split_by: str | None = None
    test_after: Any = None

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        more = [self.plan.target.name, self.groups, self.split_by]
        return list(dict.fromkeys([*self.plan.features.names, *(c for c in more if c)]))

    def __call__(self, part: FilePart, start: int) -> EncodedRows:
        """The encoded rows of a part whose first row is at this place in the table."""
        table = part.read(self.columns)
        if table is None:
            return self._nobody(part.name)
        known, y = self.plan.target.labelled(table)
        later = None
        if self.split_by is not None:
            rows, later, _ = compared(known, self.split_by, self.test_after)
            known, y = known.take(rows), y[rows]
        encoded = self.plan.encoded(known)
        groups = None if self.groups is None else group_labels(known, self.groups)
        places = start - part.first + np.array(known.rows, dtype=np.int64)
        gaps = Gaps.of(encoded, self.plan.features.names)
        return EncodedRows(encoded.X, y, places, later, groups, gaps, part.name)

    def _nobody(self, name: str) -> EncodedRows:
        nothing, d = np.zeros(0), len(self.plan.features.names)
        later = None if self.split_by is None else nothing.astype(bool)
        groups = None if self.groups is None else nothing.astype(np.str_)
        gaps = Gaps(0, Counter(), Counter())
        places = nothing.astype(np.int64)
        return EncodedRows(np.empty((0, d)), nothing, places, later, groups, gaps, name)


def raw_rows(rows: EncodedRows, split: Split | None) -> RawRows:
    """The training rows of a block, as a classifier is fitted to them; without a split, all
    rows."""
    chosen = rows if split is None else split.part(rows, test=False)
    return RawRows(chosen.X, chosen.y, None, chosen.name)


def audited_rows(rows: EncodedRows, split: Split | None) -> AuditedRows:
    """The test rows of a block, as an audit takes them; without a split, all rows."""
    chosen = rows if split is None else split.part(rows, test=True)
    return AuditedRows(chosen.X, chosen.y, chosen.groups)
