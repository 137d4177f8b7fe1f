"""Findings on two tables of people who are not matched."""

from __future__ import annotations

from typing import Any

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.tables.budget_learning.column_moves import ColumnMoves
from gameproof.tables.budget_learning.comparable import level_codes, number_values
from gameproof.tables.budget_learning.matching import TwoTables
from gameproof.tables.budget_learning.moves import Setting
from gameproof.tables.budget_learning.paired import with_verdicts
from gameproof.tables.budget_learning.scoring import Scored
from gameproof.tables.budget_learning.shifted import REFUSED, Sides, by_rank
from gameproof.tables.budget_learning.shifted_levels import ShiftedCategory
from gameproof.tables.budget_learning.shifted_numbers import ShiftedNumber

SAMPLE = 5000  # people whose scores are computed to see the effect of a shift


def unpaired_rows(
    tables: TwoTables, scored: Scored | None, setting: Setting, notes: list[str], seed: int
) -> tuple[ColumnMoves, ...]:
    """The findings on each column. May append to `notes`."""
    sides = None if scored is None else Sides.of(scored.before, scored.after)
    if scored is not None and sides is None:
        notes.append(
            "too few people were refused before, or too few accepted: drift cannot be "
            "distinguished from gaming"
        )
        scored = None
    seeds = np.random.SeedSequence(seed).spawn(len(tables.compared))
    return with_verdicts(
        [
            _number(tables, name, scored, sides, setting, own)
            if name in tables.numbers
            else _category(tables, name, scored, sides, setting)
            for name, own in zip(tables.compared, seeds, strict=True)
        ]
    )


def _number(
    tables: TwoTables,
    name: str,
    scored: Scored | None,
    sides: Sides | None,
    setting: Setting,
    seed: np.random.SeedSequence,
) -> ShiftedNumber:
    before, after = number_values(tables.before, name), number_values(tables.after, name)
    known = ~np.isnan(before), ~np.isnan(after)
    placed = gains = steps = None
    if scored is not None and sides is not None:
        placed = sides.before[known[0]], sides.after[known[1]]
        rng = np.random.default_rng(seed)
        moved = np.full(before.size, np.nan)
        moved[known[0]] = by_rank(before[known[0]], after[known[1]], rng)
        rows = rng.permutation(np.flatnonzero(known[0] & (sides.before == REFUSED)))[:SAMPLE]
        if rows.size:
            gains, steps = _gains(tables, scored, rows, name, moved[rows]), (moved - before)[rows]
    values = before[known[0]], after[known[1]]
    return ShiftedNumber(name, *values, placed, gains, steps, setting, seed)


def _category(
    tables: TwoTables, name: str, scored: Scored | None, sides: Sides | None, setting: Setting
) -> ShiftedCategory:
    before, after, levels = level_codes(tables.before.columns[name], tables.after.columns[name])
    known = before >= 0, after >= 0
    placed = gains = None
    if scored is not None and sides is not None:
        placed = sides.before[known[0]], sides.after[known[1]]
        rows = np.flatnonzero(sides.before == REFUSED)[:SAMPLE]
        claimed = [_gains(tables, scored, rows, name, [level] * rows.size) for level in levels]
        gains = np.array([np.nan_to_num(each).mean() for each in claimed])
    values = before[known[0]], after[known[1]]
    return ShiftedCategory(name, levels, *values, placed, gains, setting)


def _gains(tables: TwoTables, scored: Scored, rows: Any, name: str, cells: Any) -> Vector:
    """The change of score of rows of the table before, if a column had these cells."""
    import pyarrow as pa

    return scored.model.gains(tables.before.take(rows), scored.before[rows], name, pa.array(cells))
