"""Columns that give the outcome away, such as one that is filled in after the decision.

A column ranks people: by its number, by whether it has a value, or by the share of favourable
outcomes of its level. A column whose ranking has an AUC of almost 1, or almost 0, hardly says
anything about people at the time of the decision.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from gameproof.core.arguments import Vector
from gameproof.core.naming import quoted
from gameproof.tables.dataset import Dataset
from gameproof.tables.target import fewest

TOO_GOOD = 0.99  # the AUC of one column from which it can hardly be known beforehand
FEWEST = 20  # rows of the rarer outcome; with fewer, a column may do this by chance
SAMPLE = 10_000


def leaks(data: Dataset) -> list[str]:
    """A warning for each column that alone tells the outcome of almost everyone."""
    every = -(-len(data) // SAMPLE)
    X, y = data.X[::every], data.y[::every]
    if fewest(y) < FEWEST:
        return []
    found = []
    for name, column in zip(data.features.names, X.T, strict=True):
        auc = _auc(column, y, name in data.features.levels)
        if auc >= TOO_GOOD:
            found.append(
                f"{quoted(name)} alone tells the outcome of almost everyone (AUC {auc:.3f}); if it "
                "is known only afterwards, leave it out (--drop), or the results mean nothing"
            )
    return found


def _auc(column: Vector, y: Vector, category: bool) -> float:
    """The better AUC of a column's values and of its gaps, in the better direction."""
    gaps = np.isnan(column)
    rankings = [(gaps.astype(float), y)] if gaps.any() else []
    known, labels = column[~gaps], y[~gaps]
    if fewest(labels) >= FEWEST:
        if category:
            codes = known.astype(int)
            counts = np.bincount(codes)
            known = (np.bincount(codes, labels > 0) / np.maximum(counts, 1))[codes]
        rankings.append((known, labels))
    areas = [float(roc_auc_score(labels, values)) for values, labels in rankings]
    return max((max(area, 1 - area) for area in areas), default=0.0)
