"""From a block of a table to the rows of a problem.

A `RowRecipe` holds what was learned about the whole table: classes, weights, preparation, units and
budgets. It contains no rows, so it can be sent to where the blocks are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.core.errors import DataError
from gameproof.estimators.fitted_preparation import FittedPreparation, takes_frames, takes_gaps
from gameproof.estimators.outcomes import Outcomes
from gameproof.estimators.response_choice import as_box_budget
from gameproof.estimators.scaling import Units
from gameproof.estimators.table_budgets import Budgets
from gameproof.estimators.table_columns import is_frame
from gameproof.rows.row_blocks import Rows
from gameproof.rows.row_source import RawRows
from gameproof.strategic.budgets import BoxBudget
from gameproof.strategic.newton.lift import Lift


class CheckedRows(NamedTuple):
    """The rows of a block with a positive weight: a table of numbers or a frame, labels and
    weights."""

    X: Any
    y: NDArray[Any]
    weights: Vector | None


class Columns(NamedTuple):
    """What the columns of every block must be: their number and, if it is a frame, their names.

    `prepare` decides whether text and missing numbers are allowed."""

    d: int
    names: tuple[str, ...] | None
    prepare: Any

    def checked(self, raw: RawRows) -> CheckedRows:
        """The rows of a block; raises an error that names the block."""
        X, y = raw.X, np.asarray(raw.y)
        if is_frame(X) and self.names is not None and tuple(map(str, X.columns)) != self.names:
            raise DataError(
                f"{raw.name} has the columns {', '.join(map(str, X.columns))}, and the first block "
                f"has {', '.join(self.names)}"
            )
        if X.ndim != 2 or X.shape[1] != self.d or y.shape != X.shape[:1]:
            raise DataError(
                f"{raw.name} has {X.shape} values and {y.shape} labels; expected are {self.d} "
                "columns and one label per row"
            )
        if not (takes_frames(self.prepare) and is_frame(X)):
            X = self._numbers(raw)
        missing = _missing(y)
        if missing.size:
            raise DataError(f"{raw.name} has no label in row {missing[0]}; leave out such rows")
        if raw.weights is None:
            return CheckedRows(X, y, None)
        weights = np.asarray(raw.weights, dtype=np.float64)
        if weights.shape != y.shape or not (np.isfinite(weights) & (weights >= 0)).all():
            raise DataError(f"{raw.name} must have one weight per row, finite and at least 0")
        chosen = np.flatnonzero(weights)
        kept = X.iloc[chosen] if is_frame(X) else X[chosen]
        return CheckedRows(kept, y[chosen], weights[chosen])

    def _numbers(self, raw: RawRows) -> Matrix:
        """The table as numbers, finite unless the preparation fills gaps."""
        try:
            X: Matrix = np.ascontiguousarray(raw.X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"{raw.name} has a column that does not hold numbers: {error}"
            ) from error
        wrong = np.isinf(X) if takes_gaps(self.prepare) else ~np.isfinite(X)
        if wrong.any():
            row, k = (int(at) for at in np.argwhere(wrong)[0])
            name = f"column {k}" if self.names is None else f"column {self.names[k]!r}"
            raise DataError(
                f"{raw.name}: {name} has {X[row, k]} in row {row}; fill missing numbers first, or "
                "use prepare=gameproof.Prepare()"
            )
        return X


def _missing(y: NDArray[Any]) -> Indices:
    """The rows without a label."""
    if y.dtype.kind == "f":
        return np.flatnonzero(np.isnan(y))
    if y.dtype.kind != "O":
        return np.zeros(0, dtype=np.int64)
    # Comparing a missing value of pandas gives neither True nor False.
    return np.flatnonzero([label is None or (label == label) is not True for label in y.tolist()])


@final
@dataclass(frozen=True, eq=False)
class RowRecipe:
    """How a block becomes rows of a problem.

    `by_class` are the weights of both classes, times a factor that makes the mean weight 1; None if
    all rows count the same. If people differ in their moves, `lifts` say which numbers a row needs
    for them."""

    columns: Columns
    outcomes: Outcomes
    by_class: Vector | None
    preparation: FittedPreparation
    units: Units
    budgets: Budgets | None
    lifts: tuple[Lift, ...] = ()

    def __call__(self, raw: RawRows, start: int) -> Rows:
        """The rows of a block whose first row is at this place."""
        people = self.columns.checked(raw)
        Z, places = self.prepared(people), start + np.arange(len(people.y))
        y, own = self.outcomes.signs(people.y), None
        if self.lifts and len(people.y):
            box = self.box(people)
            own = np.hstack([lift.own(box) for lift in self.lifts if lift.own_count])
        elif self.lifts:
            own = np.empty((0, sum(lift.own_count for lift in self.lifts)))
        return Rows(places, self.units.standardised(Z), y, self.weights(people), own)

    def prepared(self, people: CheckedRows) -> Matrix:
        """The prepared columns, in their own units."""
        if not len(people.y):
            return np.empty((0, self.units.mean.size))
        return self.preparation.transform(people.X)

    def weights(self, people: CheckedRows) -> Vector | None:
        """Weights with mean 1 over the whole table."""
        if self.by_class is None:
            return None
        second = (people.y == self.outcomes.classes[1]).astype(np.int64)
        weights: Vector = self.by_class[second]
        return weights if people.weights is None else weights * people.weights

    def box(self, people: CheckedRows) -> BoxBudget:
        """How far each of these people can move, in the units of the fit."""
        assert self.budgets is not None
        if not len(people.y):
            nothing = np.zeros(self.units.mean.size)
            return BoxBudget(nothing, nothing)
        return as_box_budget(self.preparation.moves(people.X, self.budgets), self.units)


class Extremes(NamedTuple):
    """The widest moves of some people: the lowest and highest change of each column, and the
    levels that people who move have in each category that can be claimed."""

    lower: Vector
    upper: Vector
    levels: tuple[Indices, ...]
    example: BoxBudget

    @classmethod
    def of(cls, raw: RawRows, recipe: RowRecipe) -> Extremes | None:
        """The extremes of a block; None if it is empty."""
        people = recipe.columns.checked(raw)
        if not len(people.y):
            return None
        box = recipe.box(people)
        lower, upper = box.bounds
        movers = np.flatnonzero(recipe.outcomes.signs(people.y) < 0)
        levels = tuple(np.unique(claim.current[movers]) for claim in box.claims)
        few = box.of_agents(np.zeros(1, dtype=np.int64))
        return cls(lower.min(axis=0), upper.max(axis=0), levels, few)

    def merged(self, other: Extremes) -> Extremes:
        """The extremes of both groups of people."""
        pairs = zip(self.levels, other.levels, strict=True)
        return Extremes(
            np.minimum(self.lower, other.lower),
            np.maximum(self.upper, other.upper),
            tuple(np.union1d(*pair) for pair in pairs),
            self.example,
        )

    def response(self) -> BoxBudget:
        """The response of a few agents who together can do whatever anyone can do."""
        number = max([2, *(level.size for level in self.levels)])
        pairs = zip(self.example.claims, self.levels, strict=True)
        claims = tuple(
            claim._replace(current=np.resize(level if level.size else claim.current, number))
            for claim, level in pairs
        )
        lower, upper = (np.tile(end, (number, 1)) for end in (self.lower, self.upper))
        return BoxBudget(lower, upper, claims)
