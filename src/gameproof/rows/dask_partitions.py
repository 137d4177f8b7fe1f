"""The partitions of Dask collections as blocks of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gameproof.core.arguments import shown
from gameproof.rows.row_source import RawRows


def is_collection(X: Any) -> bool:
    """Whether X is a Dask collection of any kind."""
    return hasattr(X, "__dask_graph__")


def is_frame_collection(X: Any) -> bool:
    """Whether X is a Dask data frame."""
    return hasattr(X, "to_delayed") and hasattr(X, "columns") and X.ndim == 2


def is_array_collection(X: Any) -> bool:
    """Whether X is a Dask array."""
    return hasattr(X, "to_delayed") and hasattr(X, "chunks")


def collection_names(X: Any) -> tuple[str, ...] | None:
    """Names of the columns of a Dask data frame; None for an array."""
    return tuple(map(str, X.columns)) if is_frame_collection(X) else None


def whole_rows(X: Any) -> Any:
    """A two-dimensional array whose chunks have all columns."""
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def partition_blocks(X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """One delayed `RawRows` per partition."""
    from dask.delayed import delayed

    if not (is_frame_collection(X) or (is_array_collection(X) and X.ndim == 2)):
        raise TypeError(
            f"X must be a Dask data frame or a Dask array with two axes, got {shown(X)}; for a "
            "table in memory, use the classifiers of gameproof itself"
        )
    for name, given in (("y", y), ("sample_weight", sample_weight)):
        wrong = not hasattr(given, "to_delayed") or given.ndim != 1
        if wrong and not (given is None and name == "sample_weight"):
            raise TypeError(f"{name} must be a Dask series or vector, got {shown(given)}")
    read = delayed(_raw, pure=False)
    table = X if is_frame_collection(X) else whole_rows(X)
    parts = [_partitions(table)]
    for name, given in (("y", y), ("sample_weight", sample_weight)):
        if given is None:
            parts.append(np.full(len(parts[0]), None))
            continue
        own = _partitions(_like(table, given))
        if len(own) != len(parts[0]):
            raise ValueError(
                f"X has {len(parts[0])} partitions and {name} has {len(own)}; give both the same "
                "partitions, for example from one data frame"
            )
        parts.append(own)
    numbered = enumerate(zip(*parts, strict=True))
    return [read(*each, f"partition {k}") for k, each in numbered]


def _partitions(collection: Any) -> Any:
    """The delayed partitions of a collection.

    Optimised, Dask may read fewer and larger partitions if few columns are needed, so that a frame
    and a series of the same files would end up with different partitions."""
    return np.ravel(collection.to_delayed(optimize_graph=False))


def _like(table: Any, given: Any) -> Any:
    """A vector with the chunks of the table, if their sizes are known."""
    if not (is_array_collection(table) and is_array_collection(given)):
        return given
    sizes = table.chunks[0]
    if given.chunks[0] == sizes or any(np.isnan([*sizes, *given.chunks[0]])):
        return given
    return given.rechunk((sizes,))


def _raw(X: Any, y: Any, weights: Any, name: str) -> RawRows:
    own = None if weights is None else np.asarray(weights, dtype=np.float64)
    return RawRows(X, np.asarray(y), own, name)
