"""The rows on which a radius or a multiple of the budgets is chosen.

More rows hardly change the choice, and each is fitted dozens of times. If an outcome is rare, a
random subsample would hold too few rows of it, so that more of them are drawn; weights restore the
shares of the outcomes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.estimators.measures import is_rare
from gameproof.tables.dataset import Dataset

MOST = 5000


class ChoiceRows(NamedTuple):
    """Rows, labels, and sample weights where the outcomes are drawn with different shares."""

    X: Matrix
    y: Vector
    weights: Vector | None

    @property
    def rarer(self) -> int:
        """The number of rows of the rarer outcome."""
        return int(min((self.y > 0).sum(), (self.y < 0).sum()))


def choice_rows(train: Dataset, seed: int) -> ChoiceRows:
    """All training rows, or a subsample of a large table."""
    if len(train) <= MOST:
        return ChoiceRows(train.X, train.y, None)
    rng = np.random.default_rng(seed)
    good = train.y > 0
    if not is_rare(good):
        rows = rng.permutation(len(train))[:MOST]
        return ChoiceRows(train.X[rows], train.y[rows], None)
    kinds = sorted((np.flatnonzero(good), np.flatnonzero(~good)), key=len)
    rare = rng.permutation(kinds[0])[: MOST // 2]
    frequent = rng.permutation(kinds[1])[: MOST - rare.size]
    parts = (rare, kinds[0].size), (frequent, kinds[1].size)
    weights = np.concatenate([np.full(drawn.size, size / drawn.size) for drawn, size in parts])
    rows = np.concatenate([rare, frequent])
    return ChoiceRows(train.X[rows], train.y[rows], weights / weights.mean())
