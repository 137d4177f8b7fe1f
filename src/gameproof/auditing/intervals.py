"""Confidence intervals for shares, for paired differences of shares, and over splits.

- A share has Wilson's score interval.
- A mean of numbers between 0 and 1 has Wilson's interval with the variance of the numbers in place
  of the variance of a share, which is the largest possible for this mean.
- A paired difference of shares has the interval of Bonett and Price. If only the first classifier
  is right about a people and only the second about b, it is Wald's interval for (a + 1) / (n + 2)
  and (b + 1) / (n + 2).
- Means over k random splits of one table are not independent, because the splits overlap. Nadeau
  and Bengio widen Student's interval: its variance has 1/k + test/train in place of 1/k. A few
  splits may agree by chance, so the interval is at least as wide as that of one split with as many
  people as all splits together can contain: k times as many, and no more than the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt

import numpy as np
from scipy.special import ndtri, stdtrit

from gameproof.core.arguments import Vector

CONFIDENCE = 0.95


def share_interval(k: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's interval for a share of k out of n.

    >>> low, high = share_interval(8, 10)
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    """
    return _wilson(k, k * (n - k) / n, n, confidence)


def mean_interval(numbers: Vector, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's interval for the mean of numbers between 0 and 1.

    For zeros and ones it is the interval of a share.

    >>> share_interval(1, 4) == mean_interval(np.array([1.0, 0.0, 0.0, 0.0]))
    True
    """
    n = numbers.size
    return _wilson(float(numbers.sum()), n * float(numbers.var()), n, confidence)


def _wilson(total: float, spread: float, n: int, confidence: float) -> tuple[float, float]:
    """Wilson's interval for the mean of n numbers; `spread` is n times their variance."""
    z = float(ndtri((1 + confidence) / 2))
    centre = (total + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * sqrt(spread + z * z / 4)
    mean = total / n  # which rounding must not leave outside
    return max(0.0, min(mean, centre - half)), min(1.0, max(mean, centre + half))


def paired_interval(a: int, b: int, n: int) -> tuple[float, float]:
    """The interval of Bonett and Price for (a - b) / n.

    >>> low, high = paired_interval(30, 10, 400)
    >>> round(low, 3), round(high, 3)
    (0.019, 0.081)
    """
    z = float(ndtri((1 + CONFIDENCE) / 2))
    p, q = (a + 1) / (n + 2), (b + 1) / (n + 2)
    half = z * sqrt((p + q - (p - q) ** 2) / (n + 2))
    return max(-1.0, p - q - half), min(1.0, p - q + half)


def paired_difference(a: int, b: int, n: int) -> tuple[float, float, float]:
    """(a - b) / n with its interval."""
    return (a - b) / n, *paired_interval(a, b, n)


def paired_mean_interval(numbers: Vector) -> tuple[float, float]:
    """Wald's interval for the mean of numbers between -1 and 1, after adding one 1 and one -1.

    For numbers in {-1, 0, 1} it is the interval of Bonett and Price.

    >>> both = paired_mean_interval(np.repeat([1.0, -1.0, 0.0], [30, 10, 360]))
    >>> np.allclose(both, paired_interval(30, 10, 400))
    True
    """
    sums = (numbers.size, float(numbers.sum()), float(numbers @ numbers))
    low, high = paired_parts_interval([sums], 1.0)
    return max(-1.0, low), min(1.0, high)


def paired_parts_interval(
    parts: Sequence[tuple[float, float, float]], most: float
) -> tuple[float, float]:
    """The same interval for a sum of means of paired differences between -most and most.

    Each part has its number of people, and the sum and the sum of squares of their differences. One
    difference of most and one of -most are added to each part.

    >>> low, high = paired_parts_interval([(400, 20, 40)], 1.0)
    >>> np.allclose((low, high), paired_interval(30, 10, 400))
    True
    """
    mean = spread = 0.0
    for n, total, squares in parts:
        middle, more = total / (n + 2), (squares + 2 * most**2) / (n + 2)
        mean += middle
        spread += (more - middle**2) / (n + 2)
    half = float(ndtri((1 + CONFIDENCE) / 2)) * sqrt(max(0.0, spread))
    return mean - half, mean + half


def split_interval(numbers: Vector, overlap: float, alone: float = 0.0) -> tuple[float, float]:
    """The interval of Nadeau and Bengio for the mean of one number per split.

    `overlap` is the number of test rows divided by the number of training rows; 0 gives Student's
    interval. `alone` is half the width of the interval of a single split.
    """
    k, mean = numbers.size, float(numbers.mean())
    if k < 2:
        return -inf, inf
    spread = float(np.std(numbers, ddof=1)) * sqrt(1 / k + overlap)
    half = float(stdtrit(k - 1, (1 + CONFIDENCE) / 2)) * spread
    half = max(half, alone * sqrt(max(1 / k, overlap / (1 + overlap))))
    return mean - half, mean + half
