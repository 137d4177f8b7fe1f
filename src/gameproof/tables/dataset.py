"""`Dataset`: labelled people as rows of a matrix, with the meaning of its columns.

A category is encoded by the position of its level, and a missing value by NaN; `Features` says
which column is which. Rows of all kinds can therefore be drawn, split and hashed in one way.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Matrix, Vector, as_count
from gameproof.core.exact_bits import exact_bytes
from gameproof.core.naming import all_quoted
from gameproof.estimators.features import Features

Seed = int | np.random.Generator


@final
@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Labelled people: a matrix X with one row per person, and labels y in {-1, +1}.

    People who would game a classifier have the label -1.

    Parameters
    ----------
    name : str
        The name of the data set.
    X : array of shape (n, d)
        Features: numbers, positions of levels for categories, NaN for missing values.
    y : array of shape (n,)
        Labels -1 and +1.
    features : Features
        Names and levels of the columns, and which columns people can change.
    source, licence, citation : str, optional
        Where the data comes from.

    Raises
    ------
    ValueError
        If the shapes do not match or labels are other than -1 and +1.

    Examples
    --------
    >>> import numpy as np
    >>> from gameproof import Dataset, Features
    >>> X, y = np.arange(12.0).reshape(6, 2), np.array([1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    >>> data = Dataset("six", X, y, Features(("a", "b"), movable=("b",)))
    >>> data
    Dataset six: 6 rows, 2 of them with label -1, 2 features, movable: b
    >>> train, test = data.balanced(4, seed=0).split(2, seed=0)
    >>> len(train), len(test), float(train.y.sum())
    (2, 2, 0.0)
    """

    name: str
    X: Matrix
    y: Vector
    features: Features
    source: str = ""
    licence: str = ""
    citation: str = ""

    def __post_init__(self) -> None:
        if self.X.ndim != 2 or self.X.shape[1] != len(self.features.names):
            raise ValueError(
                f"X must have one column for each of {len(self.features.names)} features, got "
                f"shape {self.X.shape}"
            )
        if self.y.shape != self.X.shape[:1] or not np.isin(self.y, (-1.0, 1.0)).all():
            raise ValueError(
                f"y must have a label -1 or +1 for each of {self.X.shape[0]} rows, got {self.y!r}"
            )

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        lines = [
            f"Dataset {self.name}: {len(self):,} rows, {int((self.y < 0).sum()):,} of them with "
            f"label -1, {len(self.features.names)} features, "
            f"movable: {', '.join(self.features.movable) or 'none'}"
        ]
        missing = dict(zip(self.features.names, np.isnan(self.X).sum(axis=0), strict=True))
        gaps = ", ".join(f"{name} {count:,}" for name, count in missing.items() if count)
        for what, text in (("missing", gaps), ("source", self.source), ("licence", self.licence)):
            if text:
                lines.append(f"{what}: {text}")
        return "\n  ".join(lines)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the column names, the levels, the matrix and the labels."""
        named = [(name, self.features.levels.get(name, ())) for name in self.features.names]
        digest = hashlib.sha256(repr(named).encode())
        for array in (self.X, self.y):
            digest.update(exact_bytes(array))
        return digest.hexdigest()

    def column(self, name: str) -> NDArray[Any]:
        """A column as numbers, or as text if it is a category."""
        if name not in self.features.names:
            raise KeyError(
                f"there is no column {name!r}; the columns are {all_quoted(self.features.names)}"
            )
        values = self.X[:, self.features.names.index(name)]
        if name not in self.features.levels:
            return values.copy()
        levels = np.array([*self.features.levels[name], ""])  # the last one for missing values
        return levels[np.where(np.isnan(values), -1, values).astype(np.int64)]

    def take(self, rows: NDArray[Any]) -> Dataset:
        """The data set of these rows, given by positions or by a mask."""
        return replace(self, X=self.X[rows], y=self.y[rows])

    def complete(self) -> Dataset:
        """The rows without missing values."""
        return self.take(np.flatnonzero(~np.isnan(self.X).any(axis=1)))

    def balanced(self, n: int | None, seed: Seed) -> Dataset:
        """Draws n rows without replacement, half of each label, in random order.

        With n = None, draws as many as possible.
        """
        if n is None:
            n = 2 * int(min((self.y > 0).sum(), (self.y < 0).sum()))
        if as_count("n", n, least=2) % 2:
            raise ValueError(f"n must be even to have equally many rows of each label, got {n}")
        rng = np.random.default_rng(seed)
        halves = []
        for label in (-1, 1):
            rows = np.flatnonzero(self.y == label)
            if rows.size < n // 2:
                raise ValueError(
                    f"{n} balanced rows need {n // 2} rows with label {label:+d}, but there are "
                    f"{rows.size}"
                )
            halves.append(rng.permutation(rows)[: n // 2])
        return self.take(rng.permutation(np.concatenate(halves)))

    def split(self, train: int, test: int | None = None, *, seed: Seed) -> tuple[Dataset, Dataset]:
        """Draws `train` and `test` rows without overlap, in random order.

        Both parts keep the proportions of the labels, to the nearest row. Without `test`, the
        second part is all remaining rows.
        """
        one, two = (self.take(rows) for rows in self.split_rows(train, test, seed=seed))
        return one, two

    def split_rows(
        self, train: int, test: int | None = None, *, seed: Seed
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """The positions of the rows that `split` draws."""
        both = as_count("train", train) + (
            max(1, len(self) - train) if test is None else as_count("test", test)
        )
        if both > len(self):
            raise ValueError(
                f"{train} training rows and {both - train} test rows are more than the {len(self)} "
                "rows of the data set"
            )
        rng = np.random.default_rng(seed)
        refused = rng.permutation(np.flatnonzero(self.y < 0))
        granted = rng.permutation(np.flatnonzero(self.y > 0))
        # Among k rows, round(k |refused| / n) have label -1; in integers, to be exact.
        first, last = ((2 * k * refused.size + len(self)) // (2 * len(self)) for k in (train, both))
        parts = (
            (refused[:first], granted[: train - first]),
            (refused[first:last], granted[train - first : both - last]),
        )
        one, two = (rng.permutation(np.concatenate(part)) for part in parts)
        return one, two

    def to_frame(self) -> Any:
        """A pandas DataFrame with the labels in the last column, ``label``.

        Needs ``pip install 'gameproof[frames]'``.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "to_frame() needs pandas: pip install 'gameproof[frames]'; column(name) does not"
            ) from error
        columns: dict[str, Any] = {name: self.column(name) for name in self.features.names}
        return pd.DataFrame({**columns, "label": self.y})
