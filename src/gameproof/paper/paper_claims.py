"""Claims of the paper, each with an effect, an interval over paired seeds, a p-value and a verdict.

A 95 % interval misleads once in twenty, so about five of a hundred claims would be decided by
chance alone. `judge` corrects for that with Holm's step-down procedure: sort the m two-sided
p-values; the k-th adjusted p-value is the maximum of (m - j + 1) p_(j) over j <= k, at most 1.
Claims with an adjusted p-value of at most 0.05 survive. The probability that any true null
hypothesis is among them is at most 5 %, for every dependence between the claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from gameproof.auditing.multiple_tests import holm
from gameproof.core.arguments import Vector

LEVEL = 0.95


@final
@dataclass(frozen=True)
class PaperClaim:
    """A claim with its effect and 95 % interval.

    The claim says that the effect is above `border` (below it unless `above`). It holds if the
    whole interval from `low` to `high` is on that side. `p` is the two-sided p-value of the
    hypothesis effect = border.
    """

    text: str
    measure: str
    effect: float
    low: float
    high: float
    border: float
    above: bool
    n: int
    p: float

    @property
    def verdict(self) -> str:
        """ "holds", "does not hold" or "undecided", by the claim's own interval."""
        if self.low > self.border:
            return "holds" if self.above else "does not hold"
        if self.high < self.border:
            return "does not hold" if self.above else "holds"
        return "undecided"


@final
@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its adjusted p-value among all claims of a run."""

    claim: PaperClaim
    adjusted: float

    @property
    def survives(self) -> bool:
        """True if the verdict holds after correction for the number of claims.

        An undecided claim has a p-value above 5 %, so it never survives.
        """
        return self.adjusted <= 1 - LEVEL

    def row(self) -> dict[str, Any]:
        """Returns the row of the claims table."""
        own = {**asdict(self.claim), "verdict": self.claim.verdict}
        return {**own, "p_adjusted": self.adjusted, "survives": self.survives}


def judge(claims: Sequence[PaperClaim]) -> list[JudgedClaim]:
    """Corrects the claims as one family, in the given order."""
    adjusted = holm([claim.p for claim in claims])
    return [JudgedClaim(claim, p) for claim, p in zip(claims, adjusted, strict=True)]


def ratio_below_one(text: str, measure: str, first: ArrayLike, second: ArrayLike) -> PaperClaim:
    """Claims that `first` is smaller than `second`; the effect is the ratio of geometric means over
    paired seeds."""
    logs = np.log(np.asarray(first, dtype=np.float64)) - np.log(np.asarray(second))
    effect, low, high = (float(number) for number in np.exp(interval(logs)))
    return PaperClaim(text, measure, effect, low, high, 1.0, False, logs.size, p_value(logs, 0.0))


def mean_above(text: str, measure: str, differences: ArrayLike, border: float = 0.0) -> PaperClaim:
    """Claims that the mean of these numbers, one per seed, is above the border."""
    numbers = np.asarray(differences, dtype=np.float64)
    p = p_value(numbers, border)
    return PaperClaim(text, measure, *interval(numbers), border, True, numbers.size, p)


def mean_below(text: str, measure: str, numbers: ArrayLike, border: float) -> PaperClaim:
    """Claims that the mean of these numbers, one per seed, is below the border."""
    found = mean_above(text, measure, numbers, border)
    return PaperClaim(**{**asdict(found), "above": False})


def less_spread(text: str, measure: str, first: ArrayLike, second: ArrayLike) -> PaperClaim:
    """Claims that `first` varies less over the seeds than `second`; the effect is the ratio of
    standard deviations.

    Pitman and Morgan: the sum and the difference of two paired variables are correlated if and only
    if their variances differ. This correlation gives the p-value and the interval of the ratio.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    ratio = float(a.std(ddof=1) / b.std(ddof=1))
    if a.size < 3:
        return PaperClaim(text, measure, ratio, 0.0, np.inf, 1.0, False, a.size, 1.0)
    unshared = 1 - float(np.corrcoef(a, b)[0, 1]) ** 2
    freedom = a.size - 2
    t = float(stdtrit(freedom, (1 + LEVEL) / 2))
    k = 1 + 2 * unshared * t**2 / freedom
    factor = float(np.sqrt(k + np.sqrt(k**2 - 1)))
    with np.errstate(divide="ignore"):
        found = np.sqrt(freedom) * (ratio - 1 / ratio) / (2 * np.sqrt(np.float64(unshared)))
    p = _two_sided(freedom, float(found)) if ratio != 1 else 1.0
    return PaperClaim(text, measure, ratio, ratio / factor, ratio * factor, 1.0, False, a.size, p)


def interval(numbers: Vector) -> tuple[float, float, float]:
    """Returns the mean of independent numbers and its Student interval (mean, low, high)."""
    mean = float(numbers.mean())
    if numbers.size < 2:
        return mean, -np.inf, np.inf
    half = float(stdtrit(numbers.size - 1, (1 + LEVEL) / 2)) * _error(numbers)
    return mean, mean - half, mean + half


def p_value(numbers: Vector, border: float) -> float:
    """Returns the two-sided p-value of Student's test that the mean equals the border."""
    away = float(numbers.mean()) - border
    if numbers.size < 2 or away == 0:
        return 1.0
    error = _error(numbers)
    return _two_sided(numbers.size - 1, away / error) if error > 0 else 0.0


def _error(numbers: Vector) -> float:
    return float(numbers.std(ddof=1)) / float(np.sqrt(numbers.size))


def _two_sided(freedom: int, t: float) -> float:
    return 2 * float(stdtr(freedom, -abs(t)))
