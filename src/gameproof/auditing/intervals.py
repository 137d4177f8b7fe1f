"""Intervals for shares of people, for differences of two such shares, and over splits.

A share: Wilson's score interval. A mean of numbers between 0 and 1: the same, with their variance
in place of a share's, which is the largest that their mean allows. A difference of two shares of
the same people: with a of them right by the first classifier alone and b by the second alone, the
interval of Bonett and Price, which is Wald's for (a + 1) / (n + 2) and (b + 1) / (n + 2). Over k
random splits of one table the means of parts that overlap are not independent; Nadeau and Bengio
widen Student's interval by taking 1/k + test/train in place of 1/k in its variance. A few splits
may agree by chance, so it is never narrower than that of one split with as many people as all of
them can hold: k times as many, and no more than the table.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
from scipy.special import ndtri, stdtrit

from gameproof.core.arguments import Vector

CONFIDENCE = 0.95


def share_interval(k: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's, for k of n.

    >>> low, high = share_interval(8, 10)
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    """
    return _wilson(k, k * (n - k) / n, n, confidence)


def mean_interval(numbers: Vector, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's, for the mean of numbers between 0 and 1; of zeros and ones it is a share's.

    >>> share_interval(1, 4) == mean_interval(np.array([1.0, 0.0, 0.0, 0.0]))
    True
    """
    n = numbers.size
    return _wilson(float(numbers.sum()), n * float(numbers.var()), n, confidence)


def _wilson(total: float, spread: float, n: int, confidence: float) -> tuple[float, float]:
    """For a sum of n numbers; `spread` is n times their variance."""
    z = float(ndtri((1 + confidence) / 2))
    centre = (total + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * sqrt(spread + z * z / 4)
    return max(0.0, centre - half), min(1.0, centre + half)


def paired_interval(a: int, b: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Bonett and Price's, for (a - b) / n.

    >>> low, high = paired_interval(30, 10, 400)
    >>> round(low, 3), round(high, 3)
    (0.019, 0.081)
    """
    z = float(ndtri((1 + confidence) / 2))
    p, q = (a + 1) / (n + 2), (b + 1) / (n + 2)
    half = z * sqrt((p + q - (p - q) ** 2) / (n + 2))
    return max(-1.0, p - q - half), min(1.0, p - q + half)


def paired_mean_interval(numbers: Vector, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The same for the mean of numbers between -1 and 1: Wald's, with one person more who has 1 and
    one who has -1. Of -1, 0 and 1 it is Bonett and Price's.

    >>> both = paired_mean_interval(np.repeat([1.0, -1.0, 0.0], [30, 10, 360]))
    >>> np.allclose(both, paired_interval(30, 10, 400))
    True
    """
    more = np.concatenate([numbers, [1.0, -1.0]])
    half = float(ndtri((1 + confidence) / 2)) * float(more.std()) / sqrt(more.size)
    mean = float(more.mean())
    return max(-1.0, mean - half), min(1.0, mean + half)


def split_interval(
    numbers: Vector, overlap: float, alone: float = 0.0, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Nadeau and Bengio's, for the mean of one number a split; `overlap` is the number of test rows
    over that of training rows, 0 gives Student's. `alone` is half the interval that one split has
    from its own people: see the module."""
    k, mean = numbers.size, float(numbers.mean())
    if k < 2:
        return -inf, inf
    spread = float(np.std(numbers, ddof=1)) * sqrt(1 / k + overlap)
    half = float(stdtrit(k - 1, (1 + confidence) / 2)) * spread
    half = max(half, alone * sqrt(max(1 / k, overlap / (1 + overlap))))
    return mean - half, mean + half
