"""Claims of the paper, each with an effect, an interval over paired seeds, and a verdict."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from gameproof.arguments import Vector

LEVEL = 0.95


@final
@dataclass(frozen=True)
class Claim:
    """`effect` lies between `low` and `high` with a confidence of 95 %; the claim holds where all
    of that lies on its side of `border`."""

    text: str
    measure: str
    effect: float
    low: float
    high: float
    border: float
    above: bool
    n: int

    @property
    def verdict(self) -> str:
        """holds, does not hold, or undecided."""
        if self.low > self.border:
            return "holds" if self.above else "does not hold"
        if self.high < self.border:
            return "does not hold" if self.above else "holds"
        return "undecided"

    def row(self) -> dict[str, Any]:
        """As a row of the table of claims."""
        return {**asdict(self), "verdict": self.verdict}


def smaller(text: str, measure: str, first: ArrayLike, second: ArrayLike) -> Claim:
    """That `first` is smaller than `second`, seed by seed: the ratio of their geometric means."""
    logs = np.log(np.asarray(first, dtype=np.float64)) - np.log(np.asarray(second))
    effect, low, high = np.exp(interval(logs))
    return Claim(text, measure, float(effect), float(low), float(high), 1.0, False, logs.size)


def larger(text: str, measure: str, differences: ArrayLike, border: float = 0.0) -> Claim:
    """That the mean of these numbers, one a seed, is above the border."""
    numbers = np.asarray(differences, dtype=np.float64)
    effect, low, high = interval(numbers)
    return Claim(text, measure, float(effect), float(low), float(high), border, True, numbers.size)


def lower(text: str, measure: str, numbers: ArrayLike, border: float) -> Claim:
    """That the mean of these numbers, one a seed, is below the border."""
    found = larger(text, measure, numbers, border)
    return Claim(**{**asdict(found), "above": False})


def less_spread(text: str, measure: str, first: ArrayLike, second: ArrayLike) -> Claim:
    """That `first` varies less over the seeds than `second`: the ratio of standard deviations.

    Pitman and Morgan: the sum and the difference of two paired variables are correlated exactly
    where their variances differ, and the correlation gives the interval of the ratio.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    ratio = float(a.std(ddof=1) / b.std(ddof=1))
    if a.size < 3:
        return Claim(text, measure, ratio, 0.0, np.inf, 1.0, False, a.size)
    correlation = float(np.corrcoef(a, b)[0, 1])
    t = float(stdtrit(a.size - 2, (1 + LEVEL) / 2))
    k = 1 + 2 * (1 - correlation**2) * t**2 / (a.size - 2)
    factor = np.sqrt(k + np.sqrt(k**2 - 1))
    low, high = ratio / factor, ratio * factor
    return Claim(text, measure, ratio, float(low), float(high), 1.0, False, a.size)


def interval(numbers: Vector) -> tuple[float, float, float]:
    """The mean of independent numbers, and Student's interval for it."""
    mean = float(numbers.mean())
    if numbers.size < 2:
        return mean, -np.inf, np.inf
    error = float(numbers.std(ddof=1)) / np.sqrt(numbers.size)
    half = float(stdtrit(numbers.size - 1, (1 + LEVEL) / 2)) * error
    return mean, mean - half, mean + half
