"""The rows of people who are in both tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gameproof.tables.budget_learning.column_moves import ColumnMoves, Setting
from gameproof.tables.budget_learning.comparable import level_codes, number_values
from gameproof.tables.budget_learning.evidence import holm
from gameproof.tables.budget_learning.groups import LEAST, Groups
from gameproof.tables.budget_learning.matching import TwoTables
from gameproof.tables.budget_learning.paired_levels import PairedCategory
from gameproof.tables.budget_learning.paired_numbers import PairedNumber
from gameproof.tables.budget_learning.scoring import Scored


def paired_rows(
    tables: TwoTables, scored: Scored | None, setting: Setting, notes: list[str]
) -> tuple[ColumnMoves, ...]:
    """Column by column; what is worth a note is added to `notes`."""
    groups = None if scored is None else Groups.of(scored.before)
    if scored is not None and groups is None:
        notes.append(
            f"fewer than {LEAST} people were refused before, or fewer than {LEAST} accepted: too "
            "few to compare the two, so drift is not told from gaming"
        )
    return judged([_column(tables, name, scored, groups, setting) for name in tables.compared])


def judged(found: Sequence[Any]) -> tuple[ColumnMoves, ...]:
    """Verdicts, after the p-values of each question are corrected for the number of columns."""
    p_values = [each.p_values() for each in found]
    corrected = {ask: holm([p[ask] for p in p_values]) for ask in p_values[0]}
    return tuple(
        each.row({ask: p[k] for ask, p in corrected.items()}) for k, each in enumerate(found)
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
    rest = (
        int((missing & ~gone).sum()),
        int((gone & ~missing).sum()),
        None if groups is None else groups.only(rows),
        None if gains is None else gains[rows],
        setting,
    )
    if name in tables.numbers:
        return PairedNumber(name, first[rows], second[rows], *rest)
    return PairedCategory(name, levels, first[rows], second[rows], *rest)
