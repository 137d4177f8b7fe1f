"""Scores of many people by bins: AUC and KS from counts that can be added block by block.

The bins have about the same number of people each, according to a sample. Edges lie between scores
that differ by more than rounding, so equal scores are in the same bin. People in one bin count as
ties. Their share of all pairs is about 1 / bins, and their order within a bin is almost random, so
that the error of AUC is far below its standard error.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.score_rounding import tie_groups
from gameproof.core.arguments import Indices, Vector

BINS = 1024


def bin_edges(scores: Vector, error: Vector) -> Vector:
    """Edges between scores of a sample, each of which is accurate to `error`."""
    order = np.argsort(scores, kind="stable")
    z, rank = scores[order], tie_groups(scores, error)[order]
    last = np.flatnonzero(np.diff(rank) > 0)  # the last of equal scores, except for the largest
    wanted = np.arange(1, BINS) * (scores.size / BINS)
    chosen = np.unique(np.searchsorted(last, wanted - 1))
    at = last[chosen[chosen < last.size]]
    found: Vector = z[at] / 2 + z[at + 1] / 2
    return found


def binned(scores: Vector, edges: Vector) -> Indices:
    """The bin of each score."""
    return np.searchsorted(edges, scores).astype(np.int64)


def counts_by_label(
    bins: Indices, good: NDArray[np.bool_], groups: Indices, shape: tuple[int, int]
) -> Indices:
    """Counts of people by group, label (bad, good) and bin. `shape` has the numbers of groups and
    of bins."""
    number, width = shape
    flat = (2 * groups + good) * width + bins
    return np.bincount(flat, minlength=2 * number * width).reshape(number, 2, width)
