"""The preparation inside a classifier: from the columns of the table to the columns it uses.

A transformer T that maps columns one to one and increases in each of them turns a budget in the
table's units into one box per person, T(x + lower) - T(x) to T(x + upper) - T(x). gameproof's
`Prepare` computes this box itself. For scikit-learn's transformers, also inside pipelines and
column transformers, the box is derived from what they learned (`trace_steps.py`). For any other
transformer of numbers, one column is shifted at a time and the transformed tables are compared.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, has_fit_parameter

from gameproof.core.arguments import Indices, Matrix, Vector, shown
from gameproof.core.naming import all_quoted
from gameproof.estimators.column_effects import ColumnEffects
from gameproof.estimators.effect_gains import EffectGains
from gameproof.estimators.features import Features, default_names
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.table_budgets import Budgets, MoveBounds, as_budgets
from gameproof.estimators.table_columns import is_frame, numeric_table
from gameproof.estimators.trace_steps import UnknownStep, trace_transformer
from gameproof.strategic.budgets import BoxBudget

# Relative change that counts as rounding, in columns that should not change.
ROUNDING = 1e-9


@final
@dataclass(frozen=True, eq=False)
class FittedPreparation:
    """A fitted transformer or None, and the number and names of the table's columns."""

    transformer: Any
    names: tuple[str, ...] | None
    d: int

    @classmethod
    def fitted(
        cls, given: Any, X: Any, names: Sequence[str] | None, y: Any = None
    ) -> FittedPreparation:
        """Fits a copy of the given transformer to rows X."""
        named = None if names is None else tuple(map(str, names))
        if given is None:
            return cls(None, named, X.shape[1])
        usable = hasattr(given, "fit") and hasattr(given, "transform")
        if isinstance(given, type) or not usable:
            raise TypeError(
                "prepare must be a transformer such as gameproof's Prepare() or scikit-learn's "
                f"StandardScaler(), got {shown(given)}"
            )
        with np.errstate(all="ignore"):  # `transform` checks the result
            transformer = clone(given)
            transformer.fit(*((X, y) if has_fit_parameter(given, "y") else (X,)))
        return cls(transformer, named, X.shape[1])

    @classmethod
    def of(cls, model: Any) -> FittedPreparation:
        """The preparation inside a fitted classifier."""
        names = getattr(model, "feature_names_in_", None)
        named = None if names is None else tuple(map(str, names))
        return cls(model.prepare_, named, model.n_features_in_)

    @property
    def features(self) -> Features:
        """The columns of the table."""
        own = getattr(self.transformer, "features", None)
        if not isinstance(own, Features):
            names = default_names(self.d) if self.names is None else self.names
            levels = {names[at]: tuple(map(str, each)) for at, each in self.levels.items()}
            return Features(names, levels)
        if self.names is not None and self.names != own.names:
            raise ValueError(
                f"the columns of X are {all_quoted(self.names)}, and prepare was made for "
                f"{all_quoted(own.names)}"
            )
        return own

    @property
    def known_names(self) -> tuple[str, ...] | None:
        """Names of the table's columns, known from the transformer or from the table."""
        own = getattr(self.transformer, "features", None)
        return self.features.names if isinstance(own, Features) else self.names

    @cached_property
    def effects(self) -> ColumnEffects | None:
        """How the columns of the table enter the prepared columns; None if this is not known."""
        if self.transformer is None or hasattr(self.transformer, "moves"):
            return None
        try:
            return trace_transformer(
                self.transformer, default_names(self.d) if self.names is None else self.names
            )
        except UnknownStep:
            return None

    @property
    def levels(self) -> dict[int, tuple[Any, ...]]:
        """The categories of the columns that scikit-learn's encoders encode."""
        return {} if self.effects is None else dict(self.effects.levels)

    def numbers(self, X: Any) -> Matrix:
        """The table as numbers, with level numbers for categories."""
        return numeric_table(X, self.levels)

    def budgets(self, given: Any, X: Any, weights: Vector | None = None) -> Budgets:
        """Budgets in the units of the table; default ranges come from these rows."""
        table = self.numbers(X)
        return as_budgets(given, self.features, table, weights)

    def transform(self, X: Any) -> Matrix:
        """The columns that the classifier uses."""
        if self.transformer is None:
            plain: Matrix = X
            return plain
        made = self._transformed(X)
        Z: Matrix = check_array(
            made.toarray() if hasattr(made, "toarray") else made,
            dtype=np.float64,
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=0,
        )
        if not np.isfinite(Z).all():
            row, column = np.argwhere(~np.isfinite(Z))[0]
            found = "NaN" if np.isnan(Z[row, column]) else "inf"
            raise ValueError(
                f"prepare gives {found} in row {row}, column {column} of its output; a classifier "
                "needs finite numbers: fill missing values first, as gameproof's Prepare does"
            )
        return Z

    def moves(self, X: Any, budgets: Budgets) -> MoveBounds:
        """How far each person can move in the prepared columns."""
        if self.transformer is not None and hasattr(self.transformer, "moves"):
            found: MoveBounds = self.transformer.checked_moves(self.numbers(X), budgets)
            return found
        if (rows := self.effect_gains(X)) is not None:
            return rows.moves(budgets)
        if budgets.claims:
            name = self.features.names[min(budgets.claims)]
            raise TypeError(
                f"the levels of {name!r} can be claimed through gameproof's Prepare or "
                f"scikit-learn's encoders only, got {shown(self.transformer)}"
            )
        if self.transformer is None:
            ends = np.zeros((2, self.d))
            for at, stated in budgets.ranges.items():
                ends[:, at] = stated
            return MoveBounds(ends[:1], ends[1:])
        return self._moves_by_shifting(X, budgets)

    def effect_gains(self, X: Any, Z: Matrix | None = None) -> EffectGains | None:
        """What people gain through the effects of the transformer; None if these are not known."""
        if self.effects is None:
            return None
        return EffectGains(self.effects, self.transform, X, self.transform(X) if Z is None else Z)

    def gains(
        self,
        X: Any,
        budgets: Budgets,
        theta: Vector,
        times: float | Vector = 1.0,
        Z: Matrix | None = None,
    ) -> Vector:
        """The largest gain in score of each person within `times` their budget.

        `theta` holds coefficients of the prepared columns, positive towards the favourable class.
        `Z` are the prepared rows, if they are known.
        """
        if (rows := self.effect_gains(X, Z)) is not None:
            return rows.gains(budgets, theta, times)
        if isinstance(self.transformer, Prepare):
            return self.transformer.checked_gains(self.numbers(X), budgets, theta, times)
        if self.transformer is None:
            scale, (lower, upper, _) = np.reshape(times, (-1, 1)), self.moves(X, budgets)
            box = BoxBudget(scale * lower, scale * upper)
        elif np.ndim(times):
            trace_transformer(self.transformer, self.features.names)  # says which step is unknown
        else:
            box = BoxBudget(*self.moves(X, budgets.times(float(times))))
        return box.gains(theta, np.arange(len(X)))

    def level_changes(self, X: Any, values: Mapping[int, Any], theta: Vector, Z: Matrix) -> Vector:
        """The change in score if everyone has these values in categorical columns."""
        rows = self.effect_gains(X, Z)
        if rows is None:
            raise TypeError("levels can be claimed through scikit-learn's encoders only")
        return rows.level_changes(values, theta)

    def places(self, columns: Sequence[int], width: int) -> Indices:
        """Positions of the prepared columns, `width` in all, that are made from these columns."""
        owners = getattr(self.transformer, "owners_", None)
        if owners is not None:
            order = {owner: at for at, owner in enumerate(dict.fromkeys(owners))}
            return np.flatnonzero([order[owner] in columns for owner in owners])
        if self.effects is not None:
            found = {k for at in columns for k in self.effects.places(at)}
            return np.array(sorted(found), dtype=np.int64)
        if width != self.d:
            raise TypeError(self._not_one_to_one(width))
        return np.array(sorted(columns), dtype=np.int64)

    def names_out(self, width: int) -> list[str]:
        """The names of the prepared columns."""
        given = None if self.names is None else np.array(self.names, dtype=object)
        with suppress(AttributeError):  # not every transformer names its columns
            return [str(name) for name in self.transformer.get_feature_names_out(given)]
        if width != self.d:
            return [f"prepared {k}" for k in range(width)]
        return list(default_names(width) if self.names is None else self.names)

    def _transformed(self, X: Any) -> Any:
        seen: Any = X
        named = getattr(self.transformer, "feature_names_in_", None)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            warnings.filterwarnings("ignore", "X has feature names, but")
            if named is not None and not is_frame(X):
                try:
                    import pandas as pd
                except ImportError:
                    pass
                else:
                    seen = pd.DataFrame(X, columns=named)
            return self.transformer.transform(seen)

    def _moves_by_shifting(self, X: Matrix, budgets: Budgets) -> MoveBounds:
        Z = self.transform(X)
        if Z.shape[1] != self.d:
            raise TypeError(self._not_one_to_one(Z.shape[1]))
        lower = np.zeros_like(Z)
        upper = np.zeros_like(Z)
        for at, (low, high) in budgets.ranges.items():
            if low < 0:
                lower[:, at] = self._shift(X, Z, at, low)
            if high > 0:
                upper[:, at] = self._shift(X, Z, at, high)
        return MoveBounds(lower, upper)

    def _shift(self, X: Matrix, Z: Matrix, at: int, by: float) -> Vector:
        """The change of a prepared column when its column in the table changes by `by`."""
        name, shifted = self.features.names[at], X.copy()
        shifted[:, at] += by
        undefined = (
            f"prepare cannot take {name!r} changed by {by:+,.6g}, which the budget allows: {{}}; "
            "state a range that prepare can take, or use another preparation"
        )
        try:
            change = np.asarray(self._transformed(shifted), dtype=np.float64) - Z
        except ValueError as error:
            raise ValueError(undefined.format(error)) from error
        if not np.isfinite(change).all():
            row = int(np.argmin(np.isfinite(change).all(axis=1)))
            what = f"{shifted[row, at]:,.6g} in row {row} has no finite value"
            raise ValueError(undefined.format(what))
        still = ROUNDING * (1 + np.abs(Z))
        moved = np.abs(change) > still
        moved[:, at] = False
        if moved.any():
            raise TypeError(
                f"budgets need a preparation that maps columns one to one, and a change of "
                f"{name!r} alone changes column {int(np.argmax(moved.any(axis=0)))} of its output"
            )
        own: Vector = change[:, at]
        if (np.sign(by) * own < -still[:, at]).any():
            raise ValueError(
                f"budgets need a preparation that increases in each column, and this one "
                f"decreases in {name!r}; flip the sign of the column in the table instead"
            )
        return np.maximum(own, 0.0) if by > 0 else np.minimum(own, 0.0)

    def _not_one_to_one(self, width: int) -> str:
        return (
            f"prepare makes {width} columns from {self.d}; columns that people can change need a "
            "preparation that maps columns one to one, or gameproof's Prepare"
        )


def fills_gaps(given: Any) -> bool:
    """Whether a preparation is known to fill missing values."""
    return isinstance(given, Prepare)


def takes_gaps(given: Any) -> bool:
    """Whether a preparation accepts missing values."""
    if isinstance(given, type) or not hasattr(given, "__sklearn_tags__"):
        return False
    return bool(get_tags(given).input_tags.allow_nan)


def takes_frames(given: Any) -> bool:
    """Whether a preparation may encode the text of a data frame."""
    return given is not None and not isinstance(given, Prepare)
