"""`Dataset`: people as rows, what their columns are, and where they come from.

A table is a matrix of floats. A category is the number of its level and a missing value is NaN;
`Features` says which column is which. So rows are drawn, split and hashed alike, whatever they are.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Matrix, Vector, as_count
from gameproof.estimators.features import Features

Seed = int | np.random.Generator


@final
@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """n people: a matrix X, labels y in {-1, +1}, what the columns are, where they come from.

    Those who would game a classifier have the label -1.

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
                f"X must have the {len(self.features.names)} columns that features names, got "
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
        """SHA-256 over the columns' names, levels and numbers, and the labels, row by row."""
        named = [(name, self.features.levels.get(name, ())) for name in self.features.names]
        digest = hashlib.sha256(repr(named).encode())
        for array in (self.X, self.y):
            digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
        return digest.hexdigest()

    def column(self, name: str) -> NDArray[Any]:
        """A column's numbers, or a category's levels as text."""
        if name not in self.features.names:
            raise KeyError(f"no column {name!r}, there are {', '.join(self.features.names)}")
        values = self.X[:, self.features.names.index(name)]
        if name not in self.features.levels:
            return values.copy()
        levels = np.array([*self.features.levels[name], ""])  # the last where it is missing
        return levels[np.where(np.isnan(values), -1, values).astype(np.int64)]

    def take(self, rows: NDArray[Any]) -> Dataset:
        """These rows, by number or by mask, in this order."""
        return replace(self, X=self.X[rows], y=self.y[rows])

    def complete(self) -> Dataset:
        """The rows that lack no value."""
        return self.take(np.flatnonzero(~np.isnan(self.X).any(axis=1)))

    def balanced(self, n: int | None, seed: Seed) -> Dataset:
        """n rows, half of them of each label, drawn without replacement, in random order; None for
        as many as there can be."""
        if n is None:
            n = 2 * int(min((self.y > 0).sum(), (self.y < 0).sum()))
        if as_count("n", n, least=2) % 2:
            raise ValueError(f"n must be even, to have half of each label, got {n}")
        rng = np.random.default_rng(seed)
        halves = []
        for label in (-1, 1):
            rows = np.flatnonzero(self.y == label)
            if rows.size < n // 2:
                raise ValueError(
                    f"{n} balanced rows take {n // 2} with label {label:+d}, there are {rows.size}"
                )
            halves.append(rng.permutation(rows)[: n // 2])
        return self.take(rng.permutation(np.concatenate(halves)))

    def split(self, train: int, test: int | None = None, *, seed: Seed) -> tuple[Dataset, Dataset]:
        """Two parts without a common row, in random order, each with the labels in the shares they
        have here, to the nearest row. Without `test`, the second part is all that is left."""
        both = as_count("train", train) + (
            max(1, len(self) - train) if test is None else as_count("test", test)
        )
        if both > len(self):
            raise ValueError(
                f"{train} rows to train on and {both - train} to test on were asked for, there are "
                f"{len(self)} in all"
            )
        rng = np.random.default_rng(seed)
        refused = rng.permutation(np.flatnonzero(self.y < 0))
        granted = rng.permutation(np.flatnonzero(self.y > 0))
        # Of k rows the nearest to k |refused| / n have the label -1; in integers, to be exact.
        first, last = ((2 * k * refused.size + len(self)) // (2 * len(self)) for k in (train, both))
        parts = (
            (refused[:first], granted[: train - first]),
            (refused[first:last], granted[train - first : both - last]),
        )
        one, two = (self.take(rng.permutation(np.concatenate(part))) for part in parts)
        return one, two

    def to_frame(self) -> Any:
        """A pandas DataFrame with the labels as its last column, ``label`` (pandas comes with
        ``pip install gameproof[frames]``)."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "to_frame() needs pandas: pip install gameproof[frames], or use column(name)"
            ) from error
        columns: dict[str, Any] = {name: self.column(name) for name in self.features.names}
        return pd.DataFrame({**columns, "label": self.y})
