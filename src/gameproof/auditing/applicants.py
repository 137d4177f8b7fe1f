"""The people of an audit: a table, labels, and what each of them can change.

Models see the table as it is, or what a `Prepare` makes of it. Budgets are in the table's own units
in both cases; `gains` says what they add to each person's score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof.core.arguments import Matrix, Vector, shown
from gameproof.estimators.features import Features
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.table_budgets import Budgets
from gameproof.strategic.budgets import BoxBudget
from gameproof.strategic.population import Population

Given = Budgets | Mapping[int | str, Any] | Sequence[int | str]


@final
@dataclass(frozen=True, eq=False)
class Applicants:
    """Rows of a table as given, Z as models see them, labels, and budgets."""

    table: Matrix
    Z: Matrix
    y: Vector
    names: tuple[str, ...]  # of Z
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
        """Checks that they fit together; `names` are what a model calls its features, if it does.
        Without budgets, everything can be changed by the default amount."""
        columns = tuple(str(name) for name in getattr(X, "columns", ()))
        seen: Any = X
        if prepare is not None:
            seen, columns = _made(prepare, X, columns), tuple(prepare.get_feature_names_out())
        if names is not None and columns and columns != names:
            what = "X are" if prepare is None else "the prepared table are"
            raise ValueError(
                f"the columns of {what} {', '.join(columns)}, and the model has the features "
                f"{', '.join(names)}"
            )
        people = Population(seen, y)  # knows what a table and labels may be
        called = columns or names or tuple(f"x{k}" for k in range(people.d))
        table: Matrix = people.X
        features = Features(called)
        if prepare is not None:
            table, features = np.asarray(X, dtype=np.float64), prepare.features_
        elif len(called) != people.d:
            raise ValueError(f"X has {people.d} columns, the model {len(called)} coefficients")
        if budgets is None:
            budgets = list(range(len(features.names)))
        if not isinstance(budgets, Budgets):
            budgets = Budgets.of(budgets, features, table)
        elif budgets.features.names != features.names:
            raise ValueError(
                f"the budgets are for a table with the columns "
                f"{', '.join(budgets.features.names)}, and this one has "
                f"{', '.join(features.names)}"
            )
        return cls(table, people.X, people.y, called, budgets, prepare)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that people can change."""
        return self.budgets.columns

    @property
    def owners(self) -> Sequence[str]:
        """The column of the table that each column of Z comes from."""
        return self.names if self.prepare is None else self.prepare.owners_

    def numbers(self) -> tuple[int, ...]:
        """The columns of Z that come from numbers that people can change."""
        able = {self.budgets.features.names[at] for at in self.budgets.ranges}
        return tuple(k for k, owner in enumerate(self.owners) if owner in able)

    def gains(self, theta: Vector, multiple: float, only: str | None = None) -> Vector:
        """What this multiple of their budgets adds to the score of each person, or of the budget of
        one column."""
        people = np.arange(self.y.size)
        if only is not None:
            alone = self.budgets.only(only).times(multiple)
            return self._box(alone, slice(None)).gains(theta, people)
        if multiple not in self._boxes:
            self._boxes[multiple] = self._box(self.budgets.times(multiple), slice(None))
        return self._boxes[multiple].gains(theta, people)

    def own_gains(self, theta: Vector, multiples: Vector, chosen: NDArray[np.bool_]) -> Vector:
        """The same for some of the people, each with a multiple above 0 of its own."""
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


def _made(prepare: Any, X: Any, columns: tuple[str, ...]) -> Matrix:
    """What a preparation makes of a table, whether or not it knows the names of columns."""
    if not isinstance(prepare, Prepare):
        raise TypeError(
            f"an audit goes through gameproof's Prepare, got {shown(prepare)}; audit what it makes "
            "of the table instead, with budgets in those units"
        )
    known = prepare.features_.names
    if columns and columns != known:
        raise ValueError(
            f"the columns of X are {', '.join(columns)}, and prepare has {', '.join(known)}"
        )
    named = hasattr(prepare, "feature_names_in_")
    return prepare.transform(X if named else np.asarray(X, dtype=np.float64))
