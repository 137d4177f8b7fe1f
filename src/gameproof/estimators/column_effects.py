"""How the columns of a table enter the columns that a fitted transformer makes.

A prepared column is a sum of one term per column of the table. A term is affine, rising, falling,
or a function of the level of a category; `Effect` says which. If a movable column enters a linear
score affinely, its best change is an end of its range. If it enters through a rising or falling
function, the best change is the end that the direction says. For a category, every level that can
be claimed is tried. A column that enters in another way has no effect that could be maximised
exactly, and its effect says which step is the reason.

`trace_steps.py` finds the effects of scikit-learn's transformers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from gameproof.core.arguments import Vector

# Kinds of effects.
AFFINE, RISING, LEVELS, BINS, OTHER = "affine", "rising", "levels", "bins", "other"


class Effect(NamedTuple):
    """The term of one column of the table in a prepared column or a score.

    `factor` is the slope of an affine term. For a rising term only its sign matters: the term falls
    if it is negative. `why` says which step makes a term that is neither.
    """

    kind: str = AFFINE
    factor: float = 1.0
    why: str = ""

    def times(self, factor: float) -> Effect:
        """A multiple of the term."""
        return self._replace(factor=self.factor * factor)

    def rising(self) -> Effect:
        """The term after an increasing function."""
        return self._replace(kind=RISING) if self.kind == AFFINE else self


Column = Mapping[int, Effect]  # the effects on a prepared column, by column of the table


def combined(effects: Iterable[Effect]) -> Effect | None:
    """The sum of several terms of one column of the table; None if there is none.

    Terms that rise in the same direction rise together. Other sums cannot be maximised by looking
    at the ends of a range.
    """
    terms = [effect for effect in effects if effect.factor]
    if not terms:
        return None
    kinds = {term.kind for term in terms}
    whys = [term.why for term in terms if term.kind == OTHER]
    if whys:
        return Effect(OTHER, 1.0, whys[0])
    if kinds == {AFFINE}:
        total = sum(term.factor for term in terms)
        return Effect(AFFINE, total) if total else None
    if kinds in ({LEVELS}, {BINS}):
        return Effect(kinds.pop())
    if kinds <= {AFFINE, RISING}:
        signs = {float(np.sign(term.factor)) for term in terms}
        if len(signs) == 1:
            return Effect(RISING, signs.pop())
        return Effect(OTHER, 1.0, "it enters the score once rising and once falling")
    return Effect(OTHER, 1.0, "it enters the score both as a number and as a category")


@final
@dataclass(frozen=True, eq=False)
class ColumnEffects:
    """The effects of a fitted transformer.

    `columns` has one entry per prepared column. `levels` holds the categories of each column of the
    table that is encoded as a category, and `edges` the bins of each number that is cut into bins.
    """

    names: tuple[str, ...]
    columns: Sequence[Column]
    levels: Mapping[int, tuple[Any, ...]]
    edges: Mapping[int, Vector]

    def places(self, at: int) -> list[int]:
        """Positions of the prepared columns that a column of the table enters."""
        return [k for k, column in enumerate(self.columns) if at in column]

    def on_score(self, at: int, theta: Vector) -> Effect | None:
        """The effect of a column of the table on the score; raises if it cannot be maximised."""
        found = combined(
            column[at].times(float(weight))
            for column, weight in zip(self.columns, theta, strict=True)
            if at in column
        )
        if found is not None and found.kind == OTHER:
            raise TypeError(
                f"what people gain by changing {self.names[at]!r} cannot be computed exactly: "
                f"{found.why}; use a preparation that scales each column, applies an increasing "
                "function to it or encodes it, or state no budget for this column"
            )
        return found
