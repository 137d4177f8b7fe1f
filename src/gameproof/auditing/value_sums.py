"""Metrics from sums over people, which can be added block by block.

Every metric is a mean of one number per person, over everyone or over some, or a sum of two means,
one over good and one over bad people. AUC is a mean of placements (`ranking.py`), and KS the
difference between two shares below one score. So counts, sums and sums of squares by label give
each metric and its interval. The interval of KS is normal, with that score held fixed: it maximises
KS, so that its own error does not matter for many people.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.intervals import paired_parts_interval, share_interval
from gameproof.auditing.metric_rows import (
    BY_LABEL,
    DELONG,
    METRICS,
    NORMAL,
    NORMAL_MEANS,
    PAIRED,
    WILSON,
    Estimate,
    Judged,
)
from gameproof.auditing.ranking import Z, area_interval
from gameproof.auditing.score_bins import BinnedRanking, binned
from gameproof.core.arguments import Matrix, Vector

BAD, GOOD = 0, 1
Values = Mapping[str, tuple[Vector, NDArray[np.bool_] | None]]


def person_values(people: Judged, ranking: BinnedRanking, edges: Vector) -> Values:
    """The numbers whose means are metrics, and for whom they count."""
    found = dict(people.by_person)
    if ranking.mixed:
        bins, (below, above) = binned(people.scores, edges), ranking.placements()
        low = (bins <= ranking.ks_bin()).astype(np.float64)
        found["auc"] = np.where(people.good, below[bins], above[bins]), None
        found["ks"] = np.where(people.good, -low, low), None
        found["balanced"] = people.right / 2, None
    return found


def sums_by_label(
    values: Vector, where: NDArray[np.bool_] | None, good: NDArray[np.bool_]
) -> Matrix:
    """Count, sum and sum of squares of the values, for bad and for good people."""
    rows = []
    for kind in (~good, good):
        own = values[kind if where is None else kind & where]
        rows.append([own.size, own.sum(), own @ own])
    return np.array(rows)


def estimates(sums: Mapping[str, Matrix], fewest: int = 1) -> dict[str, Estimate]:
    """All metrics that at least `fewest` people define, with their intervals."""
    found: dict[str, Estimate] = {}
    for name, each in sums.items():
        n, total, _ = each.sum(axis=0)
        if _rest_on(name, each) < fewest:
            continue
        if name == "auc":
            area, deviation = float(each[GOOD, 1] / each[GOOD, 0]), sqrt(_variance(each, 1))
            ends = area_interval(area, deviation, int(each[:, 0].min()))
            found["auc"] = Estimate(area, *ends, DELONG)
            area, low, high, _ = found["auc"]
            found["gini"] = Estimate(2 * area - 1, 2 * low - 1, 2 * high - 1, DELONG)
        elif name in (*BY_LABEL, *NORMAL_MEANS):
            found[name] = _normal(name, each)
        else:
            k = round(total)
            found[name] = Estimate(k / n, *share_interval(k, int(n)), WILSON)
    return {name: found[name] for name in METRICS if name in found}


def difference(name: str, sums: Matrix, most: float, fewest: int = 1) -> Estimate | None:
    """The mean of paired differences of a metric, each between -most and most, with its interval;
    None if fewer than `fewest` people define it."""
    if _rest_on(name, sums) < fewest:
        return None
    if name == "auc":
        more, half = float(sums[GOOD, 1] / sums[GOOD, 0]), Z * sqrt(_variance(sums, 1))
        return Estimate(more, more - half, more + half, DELONG)
    if name == "ks":
        return _normal(name, sums)
    parts = _parts(name, sums)
    mean = float((parts[:, 1] / parts[:, 0]).sum())
    return Estimate(mean, *paired_parts_interval(parts.tolist(), most), PAIRED)


def _rest_on(name: str, sums: Matrix) -> int:
    """The number of people that a metric rests on."""
    return int(sums[:, 0].min() if name in BY_LABEL else sums[:, 0].sum())


def _parts(name: str, sums: Matrix) -> Matrix:
    """The sums over everyone, or those over bad and over good people."""
    return sums if name in BY_LABEL else sums.sum(axis=0, keepdims=True)


def _normal(name: str, sums: Matrix) -> Estimate:
    """A mean over everyone, or the sum of a mean over good and a mean over bad people."""
    parts = _parts(name, sums)
    mean = float((parts[:, 1] / parts[:, 0]).sum())
    half = Z * sqrt(_variance(parts, 0))
    return Estimate(mean, mean - half, mean + half, NORMAL)


def _variance(parts: Matrix, lost: int) -> float:
    """The variance of a sum of means; `lost` is 1 for unbiased variances of the parts."""
    total = 0.0
    for n, value, square in parts.tolist():
        if n > lost:
            total += max(0.0, square - value**2 / n) / (n - lost) / n
    return total
