"""`Prepare`: from a table as it is to columns that a linear classifier can use.

A number x becomes sign(x) log(1 + |x| / unit), near x / unit where x is small and tame where it is
large, which is then centred and scaled by mean and standard deviation. A missing one takes the
column's median, and a column of its own marks where that was done. A category becomes a column of
zeros and ones for each level, or a single one where there are two. All that is learned is learned
by `fit`, so from the training part alone.

What comes of a column that people can move is what they can move afterwards, and nothing else is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gameproof.core.arguments import Matrix, Vector, as_positive
from gameproof.estimators.features import Features
from gameproof.estimators.table_budgets import Budgets, Moves
from gameproof.strategic.category_claims import Claim


class Number(NamedTuple):
    """What was learned of a column of numbers."""

    unit: float
    median: float  # this and the next two after taming
    mean: float
    deviation: float
    gaps: bool

    @classmethod
    def learned(cls, column: Vector, unit: float | None) -> Number:
        """From the training part."""
        known = column[~np.isnan(column)]
        if unit is None:
            sizes = np.abs(known[known != 0])
            unit = float(np.median(sizes)) if sizes.size else 1.0
        tamed = _tamed(column, unit)
        median = float(np.nanmedian(tamed)) if known.size else 0.0
        filled = np.where(np.isnan(tamed), median, tamed)
        # The deviation of equal numbers is not always 0 in floating point.
        spread = float(filled.std()) if np.ptp(filled) > 0 else 0.0
        return cls(unit, median, float(filled.mean()), spread or 1.0, known.size < column.size)

    def names(self, name: str) -> list[str]:
        """What its columns are called afterwards, if nothing else is called so."""
        return [name, f"{name} missing"] if self.gaps else [name]

    def instead(self) -> str:
        """What becomes of a gap."""
        if self.gaps:
            return "taken for the median and marked"
        return "taken for the median; the model has seen no gaps there"

    def moves(
        self, column: Vector, low: float | Vector, high: float | Vector
    ) -> tuple[Vector, Vector]:
        """How far each person can go in the prepared column by changes between low and high: not
        at all where the number is missing."""
        here, *_ = self.encoded(column)
        most = np.finfo(np.float64).max
        with np.errstate(over="ignore"):  # there is no number beyond
            moved = [np.clip(column + by, -most, most) for by in (low, high)]
        ends = [self.encoded(each)[0] - here for each in moved]
        below, above = (np.where(np.isnan(column), 0.0, end) for end in ends)
        return np.minimum(below, 0.0), np.maximum(above, 0.0)

    def encoded(self, column: Vector) -> list[Vector]:
        """Its columns afterwards."""
        missing = np.isnan(column)
        filled = np.where(missing, self.median, _tamed(column, self.unit))
        scaled = (filled - self.mean) / self.deviation
        return [scaled, missing.astype(np.float64)] if self.gaps else [scaled]


class Category(NamedTuple):
    """A column that holds the numbers of levels."""

    levels: tuple[str, ...]

    def names(self, name: str) -> list[str]:
        """What its columns are called afterwards, if nothing else is called so."""
        return [f"{name}={self.levels[k]}" for k in self._shown()]

    def encoded(self, column: Vector) -> list[Vector]:
        """Its columns afterwards, all 0 where the level is missing."""
        return [(column == k).astype(np.float64) for k in self._shown()]

    def instead(self) -> str:
        """What becomes of a gap: where one column shows two levels, it looks like the first."""
        what = f"{self.levels[0]!r}" if len(self.levels) == 2 else "none of the levels"
        return f"taken for {what}; the model has seen no gaps there"

    def claim(self, column: Vector, allowed: Sequence[int], first: int) -> Claim:
        """The levels that people can claim, where the prepared columns begin at `first`; a missing
        level is one more, which nobody can claim."""
        number = len(self.levels)
        columns = np.full(number + 1, -1, dtype=np.int64)
        shown = self._shown()
        columns[list(shown)] = first + np.arange(len(shown))
        current = np.where(np.isnan(column), number, column).astype(np.int64)
        able = np.isin(np.arange(number + 1), allowed)
        return Claim(columns, np.ones(number + 1), able, current)

    def _shown(self) -> range:
        return range(1 if len(self.levels) == 2 else 0, len(self.levels))


@final
class Prepare(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn transformer that tames tails, fills gaps and encodes categories.

    `features` says what the columns are, as ``data.features`` does; without it, all are numbers and
    none can be moved. `unit` is the size at which the logarithm begins to bend. None takes for each
    column the median size of its values other than 0, so that the units of the table do not matter;
    1.0 is the plain log1p.

    After `fit`, ``movable_`` has the numbers of the resulting columns that people can move: the
    `features` of a response.

    >>> features = Features(("income", "home"), {"home": ("owned", "rented")}, movable=("income",))
    >>> prepare = Prepare(features).fit([[0.0, 0], [10.0, 1], [np.nan, 1]])
    >>> prepare.get_feature_names_out().tolist(), prepare.movable_.tolist()
    (['income', 'income missing', 'home=rented'], [0, 1])
    >>> prepare.transform([[1e6, 0], [np.nan, 1]]).round(2)
    array([[39.46,  0.  ,  0.  ],
           [ 0.  ,  1.  ,  1.  ]])
    """

    def __init__(self, features: Features | None = None, *, unit: float | None = None) -> None:
        self.features = features
        self.unit = unit

    def fit(self, X: ArrayLike, y: Any = None) -> Prepare:
        """Learns from the training part; y is not looked at."""
        unit = None if self.unit is None else as_positive("unit", self.unit)
        table: Matrix = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        features = self._features(table.shape[1])
        self.encoders_ = [
            Category(features.levels[name])
            if name in features.levels
            else Number.learned(column, unit)
            for name, column in zip(features.names, table.T, strict=True)
        ]
        self._check_levels(table)
        return self

    @property
    def features_(self) -> Features:
        """What the columns of the table are: as given, or as the frame names them."""
        check_is_fitted(self)
        return self._features(self.n_features_in_)

    @property
    def owners_(self) -> list[str]:
        """The column of the table that each of the resulting ones comes of."""
        return [owner for owner, _ in self._made(self._features(self.n_features_in_).names)]

    @property
    def movable_(self) -> NDArray[np.int64]:
        """The numbers of the resulting columns that people can move."""
        movable = self._features(self.n_features_in_).movable
        return np.flatnonzero([owner in movable for owner in self.owners_])

    def transform(self, X: ArrayLike) -> Matrix:
        """The columns for a classifier."""
        check_is_fitted(self)
        table: Matrix = validate_data(
            self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False
        )
        self._check_levels(table)
        columns = [
            encoded
            for encoder, column in zip(self.encoders_, table.T, strict=True)
            for encoded in encoder.encoded(column)
        ]
        return np.column_stack(columns)

    def moves(self, X: ArrayLike, budgets: Budgets, times: float | Vector = 1.0) -> Moves:
        """What each person in the table X can do to the resulting columns, with `times` the ranges:
        one number for all, or one for each.

        >>> features = Features(("savings",))
        >>> prepare = Prepare(features).fit([[1000.0], [3000.0]])
        >>> budgets = Budgets.of({"savings": (0, 5000)}, features, np.array([[1000.0], [3000.0]]))
        >>> prepare.moves([[1000.0], [100_000.0]], budgets).upper.round(2)
        array([[3.84],
               [0.19]])
        """
        check_is_fitted(self)
        table: Matrix = validate_data(
            self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False
        )
        return self.checked_moves(table, budgets, times)

    def checked_moves(self, table: Matrix, budgets: Budgets, times: float | Vector = 1.0) -> Moves:
        """The same for a matrix that `transform` has taken before."""
        names = [encoder.names("") for encoder in self.encoders_]
        starts = np.cumsum([0, *map(len, names)])
        lower = np.zeros((len(table), int(starts[-1])))
        upper, claims = lower.copy(), []
        for at, (encoder, start) in enumerate(zip(self.encoders_, starts[:-1], strict=True)):
            column = table[:, at]
            if isinstance(encoder, Number) and at in budgets.ranges:
                with np.errstate(over="ignore"):
                    low, high = (times * np.float64(end) for end in budgets.ranges[at])
                lower[:, start], upper[:, start] = encoder.moves(column, low, high)
            elif isinstance(encoder, Category) and at in budgets.claims:
                claims.append(encoder.claim(column, budgets.claims[at], int(start)))
        return Moves(lower, upper, tuple(claims))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """The names of the resulting columns: ``age``, ``income missing``, ``job=retired``, with a
        number where the table has a column of this name."""
        check_is_fitted(self)
        names = self._features(self.n_features_in_).names
        if input_features is not None:
            given = tuple(np.asarray(input_features, dtype=object).tolist())
            if len(given) != len(names):
                raise ValueError(
                    f"input_features should have length equal to the number of columns, "
                    f"{len(names)}, got {len(given)}"
                )
            if given != names and (self.features or hasattr(self, "feature_names_in_")):
                raise ValueError("input_features is not equal to feature_names_in_")
            names = given
        taken = set(names)
        found = []
        for owner, name in self._made(names):
            free, k = name, 1
            while name != owner and free in taken:
                k += 1
                free = f"{name} ({k})"
            taken.add(free)
            found.append(free)
        return np.array(found, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _made(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """What is made of columns of these names: each with the one it comes of."""
        return [
            (name, made)
            for name, encoder in zip(names, self.encoders_, strict=True)
            for made in encoder.names(name)
        ]

    def _features(self, d: int) -> Features:
        """What the columns are: as given, or as the frame names them, or numbers x0, x1, …"""
        framed = getattr(self, "feature_names_in_", None)
        if self.features is None:
            names = [f"x{k}" for k in range(d)] if framed is None else framed.tolist()
            return Features(tuple(names))
        if len(self.features.names) != d:
            raise ValueError(f"X has {d} columns, features names {len(self.features.names)}")
        if framed is not None and self.features.names != tuple(framed):
            raise ValueError(
                f"the columns of X are {', '.join(framed)}, and features names "
                f"{', '.join(self.features.names)}"
            )
        return self.features

    def _check_levels(self, table: Matrix) -> None:
        names = self._features(table.shape[1]).names
        for name, encoder, column in zip(names, self.encoders_, table.T, strict=True):
            if isinstance(encoder, Category):
                numbered = np.isin(column, np.arange(len(encoder.levels))) | np.isnan(column)
                if not numbered.all():
                    row = int(np.argmin(numbered))
                    raise ValueError(
                        f"column {name!r} holds numbers of {len(encoder.levels)} levels, from 0 "
                        f"on, got {column[row]:g} in row {row}"
                    )


def _tamed(column: Vector, unit: float) -> Vector:
    sizes = np.abs(column)
    with np.errstate(over="ignore"):
        grown: Vector = np.log1p(sizes / unit)
    beyond = np.isinf(grown)  # only the ratio: beside it, the 1 is nothing
    grown[beyond] = np.log(sizes[beyond]) - np.log(unit)
    return np.sign(column) * grown
