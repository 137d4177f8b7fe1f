"""Columns of a table that is an array or a data frame, with numbers and text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from gameproof.core.arguments import Matrix, Vector


def is_frame(X: Any) -> bool:
    """Whether a table has named columns, as data frames do."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def as_rows(X: Any) -> Any:
    """A table whose columns can be replaced: a pandas frame or an array.

    Frames of other libraries become pandas frames. Sparse matrices are rejected.
    """
    require_dense(X)
    if not is_frame(X) or hasattr(X, "iloc"):
        return X if is_frame(X) else np.asarray(X)
    return X.to_pandas()


def require_dense(X: Any) -> None:
    """Rejects sparse matrices, with a way out."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError(
            f"X is a sparse matrix of shape {X.shape}, and gameproof takes dense tables: give "
            "X.toarray(), or use OneHotEncoder(sparse_output=False) or ColumnTransformer(…, "
            "sparse_threshold=0); for very wide data, reduce the columns first, for example with "
            "TruncatedSVD"
        )


def column_names(X: Any) -> tuple[str, ...] | None:
    """Names of the columns of a data frame; None for an array."""
    return tuple(str(name) for name in X.columns) if is_frame(X) else None


def column(X: Any, at: int) -> NDArray[Any]:
    """The values of one column."""
    return np.asarray(X.iloc[:, at]) if is_frame(X) else np.asarray(X)[:, at]


def with_column(X: Any, at: int, values: Any) -> Any:
    """A copy of a table with one column replaced."""
    if not is_frame(X):
        changed = np.array(X, dtype=np.result_type(X, np.asarray(values)))
        changed[:, at] = values
        return changed
    frame = X.copy()
    frame.isetitem(at, values)
    return frame


def repeated_row(X: Any, number: int) -> Any:
    """A table that repeats the first row."""
    return _safe_indexing(X, np.zeros(number, dtype=np.int64))


def as_numbers_or_missing(values: NDArray[Any]) -> Vector:
    """A column as numbers; NaN where a value is missing or not a number."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array([_number(value) for value in values.tolist()])


def numeric_table(X: Any, levels: Mapping[int, Sequence[Any]]) -> Matrix:
    """The table as numbers: level numbers for categories, NaN where there is no number."""
    if not levels and not is_frame(X) and np.asarray(X).dtype.kind in "biuf":
        return np.asarray(X, dtype=np.float64)
    found = np.empty(X.shape)
    for at in range(X.shape[1]):
        values = column(X, at)
        if at not in levels:
            found[:, at] = as_numbers_or_missing(values)
            continue
        number = {level: k for k, level in reversed([*enumerate(levels[at])])}
        found[:, at] = [_level_number(number, value) for value in values.tolist()]
    return found


def _level_number(number: Mapping[Any, int], value: Any) -> float:
    try:
        return float(number.get(value, np.nan))
    except TypeError:  # not hashable, so not a level
        return np.nan


def _number(value: Any) -> float:
    try:
        return np.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        return np.nan
