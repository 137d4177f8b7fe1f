"""The rows on which a radius or a multiple of the budgets is chosen.

More rows hardly change the choice, and each is fitted dozens of times. If an outcome is rare, a
random subsample would hold too few rows of it, so that more of them are drawn; weights restore the
shares of the outcomes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gameproof.estimators.measures import is_rare
from gameproof.estimators.sample_weight import WeightedRows

MOST = 5000
FOLDS = 5


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


def folds_for(good: NDArray[np.bool_]) -> int:
    """The number of folds: every fold needs rows of both outcomes."""
    return max(2, min(FOLDS, int(good.sum()), int((~good).sum())))
