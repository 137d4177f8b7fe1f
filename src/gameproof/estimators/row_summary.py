"""What is known about all rows of a table in blocks before a fit: counts, moments, and a sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from gameproof.core.arguments import Vector
from gameproof.core.errors import DataError
from gameproof.estimators.fitted_preparation import FittedPreparation
from gameproof.estimators.outcomes import Outcomes
from gameproof.estimators.row_recipe import CheckedRows, Columns
from gameproof.estimators.sample_weight import WeightedRows
from gameproof.estimators.table_columns import is_frame
from gameproof.rows.moments import Moments
from gameproof.rows.row_draws import sampled
from gameproof.rows.row_source import RawRows, RowSource, first_places

# The rows of a sample.
SAMPLE = 100_000


class BlockSummary(NamedTuple):
    """What the first pass finds in a block: labels with their numbers of rows, total weights,
    smallest and largest weights; and moments of the prepared columns if they are known."""

    labels: tuple[Any, ...]
    counts: Vector
    masses: Vector
    lightest: Vector
    heaviest: Vector
    moments: Moments | None

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.counts.sum())

    @classmethod
    def of(
        cls, raw: RawRows, columns: Columns, preparation: FittedPreparation | None
    ) -> BlockSummary:
        """The summary of a block."""
        people = columns.checked(raw)
        labels, inverse = np.unique(people.y, return_inverse=True)
        own = np.ones(len(people.y)) if people.weights is None else people.weights
        groups = [own[inverse == k] for k in range(labels.size)]
        moments = None
        if preparation is not None:
            Z = preparation.transform(people.X) if len(people.y) else np.empty((0, columns.d))
            moments = Moments.of(Z, people.weights)
        return cls(
            tuple(labels.tolist()),
            np.array([group.size for group in groups], dtype=np.float64),
            np.array([group.sum() for group in groups]),
            np.array([group.min() for group in groups]),
            np.array([group.max() for group in groups]),
            moments,
        )


class TableSummary(NamedTuple):
    """What the first pass found in all blocks."""

    outcomes: Outcomes
    sizes: list[int]
    counts: Vector
    masses: Vector
    lightest: Vector
    heaviest: Vector
    moments: Moments | None

    @classmethod
    def of(cls, parts: Sequence[BlockSummary], favourable: Any) -> TableSummary:
        """Merges the summaries of the blocks, in their order."""
        if not any(part.size for part in parts):
            raise DataError("the table has no rows with a positive weight")
        labels = sorted({label for part in parts for label in part.labels})
        outcomes = Outcomes.learned(np.array(labels), favourable)
        counts, masses = np.zeros(2), np.zeros(2)
        lightest, heaviest = np.full(2, np.inf), np.zeros(2)
        for part in parts:
            at = [labels.index(label) for label in part.labels]
            counts[at] += part.counts
            masses[at] += part.masses
            lightest[at] = np.minimum(lightest[at], part.lightest)
            heaviest[at] = np.maximum(heaviest[at], part.heaviest)
        moments = [part.moments for part in parts if part.moments is not None and part.size]
        total = Moments.total(moments) if moments else None
        sizes = [part.size for part in parts]
        return cls(outcomes, sizes, counts, masses, lightest, heaviest, total)

    def class_weights(self, class_weight: Any) -> Vector:
        """The weight of each class."""
        if class_weight is None:
            return np.ones(2)
        if isinstance(class_weight, str) and class_weight == "balanced":
            balanced: Vector = self.masses.sum() / (2 * self.masses)
            return balanced
        classes = self.outcomes.classes
        by_class: Vector = compute_class_weight(class_weight, classes=classes, y=classes)
        for label, weight in zip(classes.tolist(), by_class, strict=True):
            if not (np.isfinite(weight) and weight > 0):
                raise ValueError(f"class_weight must be positive, got {weight} for {label!r}")
        return by_class


def sampled_rows(source: RowSource, columns: Columns, sizes: Sequence[int]) -> WeightedRows:
    """All rows of a small table, or a random sample, drawn by the places of the rows: the same in
    any blocks. `sizes` are the numbers of rows with a positive weight."""
    share = min(1.0, SAMPLE / sum(sizes))
    found: list[CheckedRows] = list(source.map(_sampled, columns, share, each=first_places(sizes)))
    parts = [part for part in found if len(part.y)]
    weights = [part.weights for part in parts if part.weights is not None]
    return WeightedRows(
        _joined([part.X for part in parts]),
        np.concatenate([part.y for part in parts]),
        np.concatenate(weights) if weights else None,
    )


def named_rows(sample: WeightedRows, columns: Columns) -> WeightedRows:
    """The sample as a table whose columns have names if those of the blocks do."""
    if columns.names is None or is_frame(sample.X):
        return sample
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "choosing the radius or budgets of named columns takes data frames: "
            "pip install 'gameproof[frames]'"
        ) from error
    return sample._replace(X=pd.DataFrame(sample.X, columns=list(columns.names)))


def _sampled(raw: RawRows, start: int, columns: Columns, share: float) -> CheckedRows:
    people = columns.checked(raw)
    chosen = sampled(start + np.arange(len(people.y)), share)
    weights = None if people.weights is None else people.weights[chosen]
    return CheckedRows(people.X[chosen], people.y[chosen], weights)


def _joined(tables: Sequence[Any]) -> Any:
    if not hasattr(tables[0], "iloc"):
        return np.concatenate(tables)
    import pandas as pd

    return pd.concat(tables, ignore_index=True)
