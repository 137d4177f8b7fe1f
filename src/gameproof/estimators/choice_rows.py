"""The rows on which a radius or a multiple of the budgets is chosen.

More rows hardly change the choice, and each is fitted dozens of times. If an outcome is rare, a
random subsample would hold too few rows of it, so that more of them are drawn; weights restore the
shares of the outcomes.

`select_radius` and `select_budget` choose on all rows of a table in memory. Of a Dask collection
they see what "auto" sees: a sample of the collection, and of this sample the rows drawn here.
"""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import shown
from gameproof.estimators.folds import ModelParts
from gameproof.estimators.measures import is_rare
from gameproof.estimators.row_recipe import Columns
from gameproof.estimators.row_summary import BlockSummary, TableSummary, named_rows, sampled_rows
from gameproof.estimators.sample_weight import WeightedRows
from gameproof.rows.dask_partitions import collection_names, is_collection, partition_blocks
from gameproof.rows.dask_source import DaskSource, client_or_default

MOST = 5000
FOLDS = 5


def rows_to_choose_on(
    model: ModelParts, X: Any, y: Any, sample_weight: Any, seed: int
) -> tuple[WeightedRows, int]:
    """The rows on which `select_radius` and `select_budget` choose, and the number of all rows."""
    if not is_collection(X):
        _require_table(X)
        people = WeightedRows.of(X, y, sample_weight)
        return people, np.size(people.y)
    source = DaskSource(client_or_default(model.client), partition_blocks(X, y, sample_weight))
    columns = Columns(X.shape[1], collection_names(X), model.prepare)
    summary = TableSummary.of(
        list(source.map(BlockSummary.of, columns, None)), model.classifier.favourable
    )
    sample = named_rows(sampled_rows(source, columns, summary.sizes), columns)
    good = summary.outcomes.signs(sample.y) > 0
    return choice_rows(sample, good, seed), sum(summary.sizes)


def _require_table(X: Any) -> None:
    """Rejects paths and what else is no table, and says what to do."""
    if isinstance(X, (str, bytes, PathLike)):
        raise TypeError(
            f"X is the path {fspath(X)!r}, expected a table: read it first, for example with "
            "pandas.read_parquet or dask.dataframe.read_parquet, or use gp.fit_table or "
            "`gameproof fit`, which take files and choose the radius and budgets themselves"
        )
    if not (hasattr(X, "shape") or isinstance(X, (list, tuple))):
        raise TypeError(f"X must be an array or a data frame, in memory or of Dask, got {shown(X)}")


def choice_rows(people: WeightedRows, good: NDArray[np.bool_], seed: int) -> WeightedRows:
    """All rows, or a subsample of a large table; `good` marks the favourable outcome."""
    if good.size <= MOST:
        return people
    rng = np.random.default_rng(seed)
    if not is_rare(good):
        return people.take(rng.permutation(good.size)[:MOST])
    kinds = sorted((np.flatnonzero(good), np.flatnonzero(~good)), key=len)
    rare = rng.permutation(kinds[0])[: MOST // 2]
    frequent = rng.permutation(kinds[1])[: MOST - rare.size]
    parts = (rare, kinds[0].size), (frequent, kinds[1].size)
    weights = np.concatenate([np.full(drawn.size, size / drawn.size) for drawn, size in parts])
    found = people.take(np.concatenate([rare, frequent]))
    own = 1.0 if found.weights is None else found.weights
    return found._replace(weights=own * weights / weights.mean())


def choice_note(n_rows: int, n_total: int) -> str:
    """A sentence if a choice was made on a part of the rows.

    >>> choice_note(5000, 20000)
    'Chosen on 5,000 of 20,000 rows.'
    """
    return f"Chosen on {n_rows:,} of {n_total:,} rows." if n_rows < n_total else ""


def folds_for(good: NDArray[np.bool_]) -> int:
    """The number of folds: every fold needs rows of both outcomes."""
    return max(2, min(FOLDS, int(good.sum()), int((~good).sum())))
