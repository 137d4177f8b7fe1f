"""`Prepare`: makes columns for a linear classifier from a table with gaps and categories.

A number x becomes sign(x) log(1 + |x| / unit), which is near x / unit for small x and shortens the
tails; the result is centred and scaled by its mean and standard deviation. A missing number is
replaced by the median, and an additional column marks it. A category becomes one indicator column
per level, or a single one if there are two levels. Everything is learned by `fit`, from the
training rows only.

The columns made from a movable column are movable, and no others are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gameproof.core.arguments import Matrix, Vector, as_positive
from gameproof.core.naming import all_quoted
from gameproof.core.size_limits import VARIABLE, max_encoded, shown_size
from gameproof.estimators.column_encoders import CategoryEncoder, NumberEncoder
from gameproof.estimators.encoded_columns import EncodedColumns
from gameproof.estimators.features import Features, default_names
from gameproof.estimators.table_budgets import Budgets, MoveBounds


@final
class Prepare(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer that shortens tails, fills gaps and encodes categories.

    Parameters
    ----------
    features : Features, optional
        What the columns are, such as ``data.features``. By default all columns are numbers and
        none can be moved.
    unit : float, optional
        The size at which the logarithm starts to bend. By default each column uses the median size
        of its non-zero values, so the units of the table do not matter; 1.0 gives log1p.

    Attributes
    ----------
    encoders_ : list
        What was learned about each column.
    features_ : Features
        The columns of the table, as given or as named by the data frame.
    owners_ : list of str
        For each resulting column, the column of the table that it is made from.
    movable_ : ndarray of int
        Positions of the resulting columns that people can move: the `features` of a response.
    n_features_in_ : int
        Number of columns of the table.

    Examples
    --------
    >>> import numpy as np
    >>> import gameproof as gp
    >>> levels = {"home": ("owned", "rented")}
    >>> features = gp.Features(("income", "home"), levels, movable=("income",))
    >>> prepare = gp.Prepare(features).fit([[0.0, 0], [10.0, 1], [np.nan, 1]])
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
        """Learns the encoders from training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table; NaN marks missing values.
        y : ignored
            For compatibility with scikit-learn.

        Returns
        -------
        Prepare
            The fitted transformer.
        """
        unit = None if self.unit is None else as_positive("unit", self.unit)
        table: Matrix = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        features = self._features(table.shape[1])
        self.encoders_ = [
            CategoryEncoder(features.levels[name])
            if name in features.levels
            else NumberEncoder.learned(column, unit)
            for name, column in zip(features.names, table.T, strict=True)
        ]
        self._check_levels(table)
        return self

    @property
    def features_(self) -> Features:
        """The columns of the table, as given or as named by the data frame."""
        check_is_fitted(self)
        return self._features(self.n_features_in_)

    @property
    def owners_(self) -> list[str]:
        """For each resulting column, the column of the table that it is made from."""
        return [owner for owner, _ in self._encoded_names(self.features_.names)]

    @property
    def movable_(self) -> NDArray[np.int64]:
        """Positions of the resulting columns that people can move."""
        movable = self.features_.movable
        return np.flatnonzero([owner in movable for owner in self.owners_])

    def transform(self, X: ArrayLike) -> Matrix:
        """Makes the columns for a classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table; NaN marks missing values.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            Finite numbers, one column per name in `get_feature_names_out`.
        """
        check_is_fitted(self)
        table: Matrix = validate_data(
            self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False
        )
        self._check_levels(table)
        self._require_memory(len(table))
        return EncodedColumns(self.encoders_).encoded(table)

    def moves(self, X: ArrayLike, budgets: Budgets, times: float | Vector = 1.0) -> MoveBounds:
        """How far each person can move in the resulting columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table; NaN marks missing values.
        budgets : Budgets
            What people can change, in the units of the table.
        times : float or ndarray, optional
            A multiple of the ranges: one number for all people, or one per person.

        Returns
        -------
        MoveBounds
            Bounds on the change of each resulting column, and levels that can be claimed.

        Examples
        --------
        >>> import numpy as np
        >>> from gameproof import Budgets, Features, Prepare
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

    def checked_moves(
        self, table: Matrix, budgets: Budgets, times: float | Vector = 1.0
    ) -> MoveBounds:
        """`moves` for a matrix that has already been validated."""
        self._require_memory(2 * len(table))
        return EncodedColumns(self.encoders_).moves(table, budgets, times)

    def checked_gains(
        self, table: Matrix, budgets: Budgets, theta: Vector, times: float | Vector = 1.0
    ) -> Vector:
        """The largest gain in score of each person within `times` their budget."""
        return EncodedColumns(self.encoders_).gains(table, budgets, theta, times)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Names of the resulting columns, such as ``age``, ``income missing`` or ``job=retired``.

        A number is appended to a name that the table already uses.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of the table; must agree with those of the fit.

        Returns
        -------
        ndarray of str
            One name per resulting column.
        """
        names = self.features_.names
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
        for owner, name in self._encoded_names(names):
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

    def _encoded_names(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Pairs of a column of the table and a column made from it."""
        return [
            (name, made)
            for name, encoder in zip(names, self.encoders_, strict=True)
            for made in encoder.names(name)
        ]

    def _features(self, d: int) -> Features:
        """The columns as given, as named by the data frame, or x0, x1, …"""
        framed = getattr(self, "feature_names_in_", None)
        if self.features is None:
            return Features(default_names(d) if framed is None else tuple(framed.tolist()))
        if len(self.features.names) != d:
            raise ValueError(f"X has {d} columns, features names {len(self.features.names)}")
        if framed is not None and self.features.names != tuple(framed):
            raise ValueError(
                f"the columns of X are {all_quoted(framed)}, and features names "
                f"{all_quoted(self.features.names)}"
            )
        return self.features

    def _require_memory(self, rows: int) -> None:
        """Raises if this many rows with one indicator column per level would not fit into
        memory."""
        names = self.features_.names
        levels = {
            name: len(encoder.levels)
            for name, encoder in zip(names, self.encoders_, strict=True)
            if isinstance(encoder, CategoryEncoder)
        }
        size, limit = 8 * rows * sum(levels.values()), max_encoded()
        if size > limit:
            most = max(levels, key=levels.__getitem__)
            raise ValueError(
                f"the categories need {shown_size(size)} of memory, more than the limit of "
                f"{shown_size(limit)}: column {most!r} alone has {levels[most]:,} levels, each of "
                f"which becomes a column; pool rare levels, or set {VARIABLE} to a larger size"
            )

    def _check_levels(self, table: Matrix) -> None:
        names = self._features(table.shape[1]).names
        for name, encoder, column in zip(names, self.encoders_, table.T, strict=True):
            if isinstance(encoder, CategoryEncoder):
                numbered = np.isin(column, np.arange(len(encoder.levels))) | np.isnan(column)
                if not numbered.all():
                    row = int(np.argmin(numbered))
                    raise ValueError(
                        f"column {name!r} must hold level numbers from 0 to "
                        f"{len(encoder.levels) - 1}, got {column[row]:g} in row {row}"
                    )
