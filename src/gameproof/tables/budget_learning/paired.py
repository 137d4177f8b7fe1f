"""Findings on tables of the same people before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from gameproof.auditing.multiple_tests import holm
from gameproof.tables.budget_learning.column_moves import ColumnMoves
from gameproof.tables.budget_learning.comparable import level_codes, number_values
from gameproof.tables.budget_learning.groups import SMALLEST_GROUP, Groups
from gameproof.tables.budget_learning.matching import TwoTables
from gameproof.tables.budget_learning.moves import Setting
from gameproof.tables.budget_learning.paired_levels import PairedCategory
from gameproof.tables.budget_learning.paired_numbers import PairedNumber
from gameproof.tables.budget_learning.scoring import Scored


class JudgedColumn(Protocol):
    """A column whose p-values are corrected together with those of other columns."""

    def p_values(self) -> dict[str, float]: ...

    def row(self, p: dict[str, float]) -> ColumnMoves: ...


def paired_rows(
    tables: TwoTables, scored: Scored | None, setting: Setting, notes: list[str]
) -> tuple[ColumnMoves, ...]:
    """The findings on each column. May append to `notes`."""
    groups = None if scored is None else Groups.of(scored.before)
    if scored is not None and groups is None:
        notes.append(
            f"fewer than {SMALLEST_GROUP} people were refused before, or fewer than "
            f"{SMALLEST_GROUP} accepted: drift cannot be distinguished from gaming"
        )
    return with_verdicts(
        [_column(tables, name, scored, groups, setting) for name in tables.compared]
    )


def with_verdicts(found: Sequence[JudgedColumn]) -> tuple[ColumnMoves, ...]:
    """Corrects the p-values of each test for the number of columns, and gives the verdicts."""
    p_values = [each.p_values() for each in found]
    corrected = {test: holm([p[test] for p in p_values]) for test in p_values[0]}
    return tuple(
        each.row({test: p[k] for test, p in corrected.items()}) for k, each in enumerate(found)
    )


def _column(
    tables: TwoTables, name: str, scored: Scored | None, groups: Groups | None, setting: Setting
) -> PairedNumber | PairedCategory:
    before, after = tables.before.columns[name], tables.after.columns[name]
    gains = None
    if scored is not None:
        gains = scored.model.gains(tables.before, scored.before, name, after.cells)
    levels: tuple[str, ...] = ()
    first: Any
    second: Any
    if name in tables.numbers:
        first, second = number_values(tables.before, name), number_values(tables.after, name)
        gone, missing = np.isnan(first), np.isnan(second)
    else:
        first, second, levels = level_codes(before, after)
        gone, missing = first < 0, second < 0
    rows = ~gone & ~missing
    shared = (
        name,
        int((missing & ~gone).sum()),
        int((gone & ~missing).sum()),
        None if groups is None else groups.only(rows),
        None if gains is None else gains[rows],
        setting,
    )
    if name in tables.numbers:
        return PairedNumber(*shared, first[rows], second[rows])
    return PairedCategory(*shared, levels, first[rows], second[rows])
