"""Cells that a model cannot use as they are: missing ones, and levels that it has not seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gameproof.core.naming import quoted, quoted_list
from gameproof.estimators.features import Features
from gameproof.estimators.prepare import Prepare
from gameproof.tables.column_checks import OTHER
from gameproof.tables.column_plan import Encoded


class Gaps(NamedTuple):
    """Numbers of cells by column, among n rows: those without a value for the model, and those
    whose level the plan lacks."""

    n: int
    missing: Counter[str]
    unknown: Counter[str]

    @classmethod
    def of(cls, encoded: Encoded, names: Sequence[str]) -> Gaps:
        """The gaps of an encoded table with columns of these names."""
        counts = np.isnan(encoded.X).sum(axis=0).tolist()
        return cls(
            len(encoded.X), Counter(dict(zip(names, counts, strict=True))), Counter(encoded.unknown)
        )

    def merged(self, other: Gaps) -> Gaps:
        """The gaps of both tables."""
        return Gaps(self.n + other.n, self.missing + other.missing, self.unknown + other.unknown)

    def notes(self, features: Features, prepare: Prepare) -> list[str]:
        """Notes on cells with unknown levels and on missing cells."""
        notes = [
            f"{quoted(name)}: {_unknown(self.unknown[name], self.n, features.levels[name])}"
            for name in features.names
            if self.unknown[name]
        ]
        for name, encoder in zip(features.names, prepare.encoders_, strict=True):
            pooled = OTHER in features.levels.get(name, ())
            missing = self.missing[name] - (0 if pooled else self.unknown[name])
            if missing:
                notes.append(f"{quoted(name)}: {missing:,} missing, {encoder.missing_value()}")
        return notes


def _unknown(count: int, n: int, levels: tuple[str, ...]) -> str:
    """How cells with unknown levels are treated.

    If they are most of the n cells, this may be another column, so the known levels are listed.
    """
    cells, are, they = f"{count:,} cells have levels", "are", "they count"
    if count == 1:
        cells, are, they = "1 cell has a level", "is", "it counts"
    note = f"{cells} that the model has not seen; {they} as missing"
    if OTHER in levels:
        note = f"{cells} that {are} rare or new to the model; {they} as other"
    if 2 * count <= n:
        return note
    known = quoted_list(levels, 4)
    return f"{note}, and are most of the {n:,} cells; the model knows {known}"
