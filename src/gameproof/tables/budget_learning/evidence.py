"""Tests and intervals for moves. Only the intervals of means assume a normal distribution.

*Quantiles.* Among m moves, the number of moves up to the true quantile Q_p is Binomial(m, p). Let
X_(l) and X_(u) be the order statistics with P(Bin < l) and P(Bin >= u) at most half of
1 - confidence. They enclose Q_p for every distribution. If m is too small, an end is infinite.

*Direction.* If moves up and down are equally likely, the number of moves up is Binomial(m, 1/2).

*Two groups.* If both groups move in the same way, their labels are exchangeable within strata. The
statistic is van Elteren's: the sum over strata of the first group's centred ranks, divided by
N_s + 1. Its first three moments under exchange of labels are known. The p-value is the tail of
Pearson's type III distribution with these moments, because a normal tail is far too thin if few
people move. A continuity correction subtracts half a step, the largest gap between two neighbouring
ranks.

*Many columns.* Holm's correction (`multiple_tests.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, ndtri
from scipy.stats import binom, pearson3, rankdata, t

from gameproof.core.arguments import Vector

Bools = NDArray[np.bool_]
Codes = NDArray[np.int64]


class Share(NamedTuple):
    """A share of n people, with its interval."""

    value: float
    low: float
    high: float
    n: int


class Mean(NamedTuple):
    """A mean of n numbers, with its interval."""

    value: float
    low: float
    high: float
    n: int


class Quantile(NamedTuple):
    """A share `at` of the moves is at most `value`."""

    at: float
    value: float
    low: float
    high: float


def share(which: Bools, confidence: float) -> Share | None:
    """The share of True with Wilson's interval; None if there is nobody."""
    n, k = int(which.size), int(which.sum())
    if not n:
        return None
    z = float(ndtri((1 + confidence) / 2))
    centre = (k + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * sqrt(k * (n - k) / n + z * z / 4)
    return Share(k / n, max(0.0, centre - half), min(1.0, centre + half), n)


def mean(numbers: Vector, confidence: float) -> Mean | None:
    """The mean with Student's interval; None if there are no numbers."""
    n = int(numbers.size)
    if not n:
        return None
    centre = float(numbers.mean())
    if n == 1:
        return Mean(centre, -np.inf, np.inf, 1)
    error = float(numbers.std(ddof=1)) / sqrt(n)
    half = float(t.ppf((1 + confidence) / 2, n - 1)) * error
    return Mean(centre, centre - half, centre + half, n)


def quantiles(sizes: Vector, shares: Sequence[float], confidence: float) -> tuple[Quantile, ...]:
    """Quantiles of positive sizes, with intervals from order statistics.

    >>> quantiles(np.arange(1.0, 101.0), [0.5], 0.95)
    (Quantile(at=0.5, value=50.0, low=40.0, high=61.0),)
    """
    m = sizes.size
    if not m:
        return ()
    ordered = np.concatenate([[0.0], np.sort(sizes), [np.inf]])
    tail = (1 - confidence) / 2
    found = []
    for p in shares:
        low, high = int(binom.ppf(tail, m, p)), int(binom.ppf(1 - tail, m, p)) + 1
        middle = int(np.ceil(round(m * p, 9)))
        ends = ordered[[max(middle, 1), low, min(high, m + 1)]]
        found.append(Quantile(float(p), *map(float, ends)))
    return tuple(found)


def sign_test(up: int, down: int) -> float:
    """The two-sided p-value of the hypothesis that up and down are equally likely.

    >>> sign_test(5, 0)
    0.0625
    """
    return min(1.0, 2 * float(bdtr(min(up, down), up + down, 0.5))) if up + down else 1.0


def more_often(one: int, other: int) -> float:
    """The one-sided p-value of the hypothesis that `one` is not the more likely outcome.

    >>> more_often(5, 0)
    0.03125
    """
    return 1 - float(bdtr(one - 1, one + other, 0.5)) if one else 1.0


def rank_test(values: Vector, first: Bools, strata: Codes) -> tuple[float, float]:
    """One-sided p-values that the first group has higher values, and lower ones.

    The hypothesis is that both groups have the same distribution within each stratum.

    >>> high, low = rank_test(np.arange(8.0), np.arange(8) >= 4, np.zeros(8, dtype=np.int64))
    >>> round(high, 3), low > 0.98
    (0.015, True)
    """
    total = variance = third = step = 0.0
    order = np.argsort(strata, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(strata[order])) + 1):
        chosen = first[rows]
        N, n = rows.size, int(chosen.sum())
        if not 0 < n < N:
            continue
        centred = (rankdata(values[rows]) - (N + 1) / 2) / (N + 1)
        total += float(centred[chosen].sum())
        variance += n * (N - n) / (N * (N - 1)) * float((centred**2).sum())
        if N > 2:
            among = n * (N - n) * (N - 2 * n) / (N * (N - 1) * (N - 2))
            third += among * float((centred**3).sum())
        step = max(step, float(np.diff(np.sort(centred)).max()))
    if variance <= 0:
        return 1.0, 1.0
    deviation, skew = np.sqrt(variance), third / variance**1.5
    high = pearson3.sf((total - step / 2) / deviation, skew)
    low = pearson3.cdf((total + step / 2) / deviation, skew)
    return float(high), float(low)


def directed(tails: tuple[float, float], towards: int) -> dict[str, float]:
    """P-values of moving further towards acceptance, and less far.

    If no direction leads to acceptance (`towards` is 0), moving further either way is tested.
    """
    up, down = tails
    if not towards:
        return {"further": two_sided(tails), "away": 1.0}
    return {"further": up, "away": down} if towards > 0 else {"further": down, "away": up}


def two_sided(tails: tuple[float, float]) -> float:
    """The two-sided p-value of both tails."""
    return min(1.0, 2 * min(tails))


def bonferroni(p_values: Sequence[float]) -> float:
    """The smallest of several p-values, corrected for their number; 1 if there are none."""
    return min(1.0, len(p_values) * min(p_values)) if p_values else 1.0


def strata_of(values: Vector, most: int) -> Codes:
    """Groups similar values into at most `most` strata of about equal size.

    Equal values are in the same stratum.
    """
    edges = np.unique(np.quantile(values, np.linspace(0, 1, most + 1)[1:-1]))
    found: Codes = np.searchsorted(edges, values, side="left").astype(np.int64)
    return found


def shares_a_stratum(first: Bools, strata: Codes) -> Bools:
    """True for people whose stratum contains someone of the other group."""
    counts: NDArray[Any] = np.zeros((2, int(strata.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(counts, (first.astype(np.int64), strata), 1)
    found: Bools = (counts.min(axis=0) > 0)[strata]
    return found
