"""The applicants of an audit: a table, labels, and budgets.

Models use the table itself or the columns that a preparation makes from it. Budgets are in the
units of the table in both cases; `gains` computes what they add to each applicant's score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing

from gameproof.core.arguments import Matrix, Vector, as_numbers
from gameproof.core.naming import all_quoted
from gameproof.estimators.averaged_score import AveragedRows, AveragedScore
from gameproof.estimators.column_effects import AFFINE, RISING
from gameproof.estimators.effect_gains import EffectGains
from gameproof.estimators.fitted_preparation import FittedPreparation
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.table_budgets import Budgets
from gameproof.estimators.table_columns import as_rows, column_names, is_frame
from gameproof.strategic.budgets import BoxBudget
from gameproof.strategic.population import Population

Given = Budgets | Mapping[int | str, Any] | Sequence[int | str]


@final
@dataclass(frozen=True, eq=False)
class Applicants:
    """Rows of a table, the columns Z that models use, labels, and budgets.

    `X` is the table as given, and `table` the same as numbers. `average` is the score of a model
    that is a mean of several; Z then holds that score.
    """

    X: Any
    table: Matrix
    Z: Matrix
    y: Vector
    names: tuple[str, ...]  # columns of Z
    budgets: Budgets
    preparation: FittedPreparation
    average: AveragedScore | None = None
    _boxes: dict[float, BoxBudget] = field(default_factory=dict, init=False)
    _parts: list[tuple[Any, Part]] = field(default_factory=list, init=False)

    @classmethod
    def of(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        budgets: Given | None,
        prepare: Any,
        names: tuple[str, ...] | None,
        average: AveragedScore | None = None,
        *,
        one_label: bool = False,
    ) -> Applicants:
        """Checks that table, labels, budgets and preparation fit together.

        `names` are the feature names of the models, if they have any. Without budgets, every column
        can be changed by the default amount. With `one_label`, all labels may be the same.
        """
        rows, columns = as_rows(X), column_names(X)
        if prepare is None and average is None:
            rows = as_numbers("X", X if not is_frame(X) else rows.to_numpy(), "a table")
            columns = _agreed(columns, names, "X")
            if columns and np.ndim(rows) == 2 and len(columns) != rows.shape[1]:
                raise ValueError(
                    f"X has {rows.shape[1]} columns, and the model has {len(columns)} coefficients"
                )
        if np.ndim(rows) != 2:
            raise ValueError(f"X must have one row per person, got shape {np.shape(rows)}")
        preparation = average.first if average else _preparation(prepare, rows, columns)
        Z = average.rows(rows).scores[:, None] if average else preparation.transform(rows)
        called = preparation.features.names
        if prepare is not None:
            called = tuple(preparation.names_out(Z.shape[1]))
            _agreed(called, names, "the prepared table")
        people = Population(Z, y, one_label=one_label)  # checks the rows and the labels
        table = preparation.numbers(rows)
        checked = _budgets(budgets, preparation, table)
        shown = ("mean probability",) if average is not None else called
        return cls(rows, table, people.X, people.y, shown, checked, preparation, average)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the table that people can change."""
        return self.budgets.columns

    def movable_numbers(self) -> tuple[int, ...]:
        """Positions of the columns of Z that are made from numbers that people can change."""
        if self.average is not None:
            return ()
        effects, ranges = self.preparation.effects, sorted(self.budgets.ranges)
        if effects is None:
            return tuple(self.preparation.places(ranges, self.Z.shape[1]).tolist())
        return tuple(
            k
            for k, column in enumerate(effects.columns)
            if any(at in column and column[at].kind in (AFFINE, RISING) for at in ranges)
        )

    def gains(self, theta: Vector, multiple: float, only: str | None = None) -> Vector:
        """The gain of each applicant from a multiple of all budgets, or of one column's budget."""
        budgets = self.budgets if only is None else self.budgets.only(only)
        if not self._boxed:
            return self._part(None).gains(budgets.times(multiple), theta)
        if only is not None:
            return self._box(budgets.times(multiple)).gains(theta, np.arange(self.y.size))
        if multiple not in self._boxes:  # the same for all models with this preparation
            self._boxes[multiple] = self._box(budgets.times(multiple))
        return self._boxes[multiple].gains(theta, np.arange(self.y.size))

    def own_gains(self, theta: Vector, multiples: Vector, chosen: NDArray[np.bool_]) -> Vector:
        """Gains of some applicants, each with a positive multiple of its own."""
        return self._part(chosen).gains(self.budgets, theta, multiples)

    @property
    def _boxed(self) -> bool:
        """Whether moves are boxes that do not depend on the model."""
        transformer = self.preparation.transformer
        own = transformer is None or isinstance(transformer, Prepare)
        return own and self.average is None

    def _box(self, budgets: Budgets) -> BoxBudget:
        return BoxBudget(*self.preparation.moves(self.X, budgets))

    def _part(self, chosen: NDArray[np.bool_] | None) -> Part:
        """Some of the applicants, or all; the last ones are remembered, for repeated questions."""
        if not self._parts or self._parts[0][0] is not chosen:
            X = self.X if chosen is None else _safe_indexing(self.X, np.flatnonzero(chosen))
            Z = self.Z if chosen is None else self.Z[chosen]
            rows = None if self.average is None else self.average.rows(X)
            effects = self.preparation.effect_gains(X, Z) if rows is None else None
            self._parts[:] = [(chosen, Part(self.preparation, X, Z, rows, effects))]
        return self._parts[0][1]


class Part(NamedTuple):
    """Some of the applicants, as a model sees them."""

    preparation: FittedPreparation
    X: Any
    Z: Matrix
    average: AveragedRows | None
    effects: EffectGains | None

    def gains(self, budgets: Budgets, theta: Vector, times: float | Vector = 1.0) -> Vector:
        """The largest gain of each of them within `times` their budget."""
        if self.average is not None:
            return float(theta[0]) * self.average.gains(budgets, times)
        if self.effects is not None:
            return self.effects.gains(budgets, theta, times)
        return self.preparation.gains(self.X, budgets, theta, times, self.Z)


def _preparation(prepare: Any, rows: Any, names: tuple[str, ...] | None) -> FittedPreparation:
    """The preparation of rows with these names, after a check that it was made for them."""
    if isinstance(prepare, FittedPreparation):
        return prepare
    known = getattr(prepare, "features_", None)
    own = getattr(prepare, "feature_names_in_", None)
    own = own if known is None else known.names
    if names is not None and own is not None and names != tuple(map(str, own)):
        raise ValueError(
            f"the columns of X are {all_quoted(names)}, and prepare was made for {all_quoted(own)}"
        )
    named = names if names is not None or own is None else tuple(map(str, own))
    return FittedPreparation(prepare, named, rows.shape[1])


def _agreed(
    columns: tuple[str, ...] | None, names: tuple[str, ...] | None, what: str
) -> tuple[str, ...] | None:
    """The names of the table or else those of the model, which must not contradict each other."""
    if columns and names is not None and columns != names:
        raise ValueError(
            f"the columns of {what} are {all_quoted(columns)}, and the model has the features "
            f"{all_quoted(names)}"
        )
    return columns or names


def _budgets(given: Given | None, preparation: FittedPreparation, table: Matrix) -> Budgets:
    features = preparation.features
    if given is None:
        given = list(range(len(features.names)))
    if not isinstance(given, Budgets):
        return Budgets.of(given, features, table)
    if given.features.names != features.names:
        raise ValueError(
            f"the budgets are for a table with the columns {all_quoted(given.features.names)}, "
            f"and this table has {all_quoted(features.names)}"
        )
    return given
