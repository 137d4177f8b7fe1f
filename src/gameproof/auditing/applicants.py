"""The applicants of an audit: a table, labels, and budgets.

Models use the table itself or the columns that a `Prepare` makes from it. Budgets are in the units
of the table in both cases; `gains` computes what they add to each applicant's score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof.core.arguments import Matrix, Vector, shown
from gameproof.estimators.features import Features, default_names
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.table_budgets import Budgets
from gameproof.strategic.budgets import BoxBudget
from gameproof.strategic.population import Population

Given = Budgets | Mapping[int | str, Any] | Sequence[int | str]


@final
@dataclass(frozen=True, eq=False)
class Applicants:
    """Rows of a table, the columns Z that models use, labels, and budgets."""

    table: Matrix
    Z: Matrix
    y: Vector
    names: tuple[str, ...]  # columns of Z
    budgets: Budgets
    prepare: Prepare | None = None
    _boxes: dict[float, BoxBudget] = field(default_factory=dict, init=False)

    @classmethod
    def of(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        budgets: Given | None,
        prepare: Prepare | None,
        names: tuple[str, ...] | None,
    ) -> Applicants:
        """Checks that table, labels, budgets and preparation fit together.

        `names` are the feature names of the models, if they have any. Without budgets, every column
        can be changed by the default amount.
        """
        columns = tuple(str(name) for name in getattr(X, "columns", ()))
        seen: Any = X
        if prepare is not None:
            seen, columns = _prepared(prepare, X, columns), tuple(prepare.get_feature_names_out())
        if names is not None and columns and columns != names:
            what = "X" if prepare is None else "the prepared table"
            raise ValueError(
                f"the columns of {what} are {', '.join(columns)}, and the model has the features "
                f"{', '.join(names)}"
            )
        people = Population(seen, y)  # checks the table and the labels
        called = columns or names or default_names(people.d)
        table: Matrix = people.X
        features = Features(called)
        if prepare is not None:
            table, features = np.asarray(X, dtype=np.float64), prepare.features_
        elif len(called) != people.d:
            raise ValueError(
                f"X has {people.d} columns, and the model has {len(called)} coefficients"
            )
        if budgets is None:
            budgets = list(range(len(features.names)))
        if not isinstance(budgets, Budgets):
            budgets = Budgets.of(budgets, features, table)
        elif budgets.features.names != features.names:
            raise ValueError(
                f"the budgets are for a table with the columns "
                f"{', '.join(budgets.features.names)}, and this table has "
                f"{', '.join(features.names)}"
            )
        return cls(table, people.X, people.y, called, budgets, prepare)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the table that people can change."""
        return self.budgets.columns

    @property
    def owners(self) -> Sequence[str]:
        """For each column of Z, the column of the table that it is made from."""
        return self.names if self.prepare is None else self.prepare.owners_

    def movable_numbers(self) -> tuple[int, ...]:
        """Positions of the columns of Z that are made from numbers that people can change."""
        able = {self.budgets.features.names[at] for at in self.budgets.ranges}
        return tuple(k for k, owner in enumerate(self.owners) if owner in able)

    def gains(self, theta: Vector, multiple: float, only: str | None = None) -> Vector:
        """The gain of each applicant from a multiple of all budgets, or of one column's budget."""
        people = np.arange(self.y.size)
        if only is not None:
            alone = self.budgets.only(only).times(multiple)
            return self._box(alone, slice(None)).gains(theta, people)
        if multiple not in self._boxes:
            self._boxes[multiple] = self._box(self.budgets.times(multiple), slice(None))
        return self._boxes[multiple].gains(theta, people)

    def own_gains(self, theta: Vector, multiples: Vector, chosen: NDArray[np.bool_]) -> Vector:
        """Gains of some applicants, each with a positive multiple of its own."""
        box = self._box(self.budgets, chosen, multiples)
        return box.gains(theta, np.arange(multiples.size))

    def _box(self, budgets: Budgets, rows: Any, times: float | Vector = 1.0) -> BoxBudget:
        if self.prepare is not None:
            return BoxBudget(*self.prepare.checked_moves(self.table[rows], budgets, times))
        lower, upper = np.zeros((2, self.Z.shape[1]))
        for at, (low, high) in budgets.ranges.items():
            lower[at], upper[at] = low, high
        scale = np.reshape(times, (-1, 1))
        return BoxBudget(scale * lower, scale * upper)


def _prepared(prepare: Any, X: Any, columns: tuple[str, ...]) -> Matrix:
    """The prepared table; X may be a data frame or an array."""
    if not isinstance(prepare, Prepare):
        raise TypeError(
            f"prepare must be gameproof's Prepare, got {shown(prepare)}; for another transformer, "
            "audit the transformed table, with budgets in its units"
        )
    known = prepare.features_.names
    if columns and columns != known:
        raise ValueError(
            f"the columns of X are {', '.join(columns)}, and prepare was made for "
            f"{', '.join(known)}"
        )
    named = hasattr(prepare, "feature_names_in_")
    return prepare.transform(X if named else np.asarray(X, dtype=np.float64))
