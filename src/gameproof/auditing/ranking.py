"""How well scores rank good applicants above bad ones: AUC and KS, with their uncertainty.

The area under the ROC curve is the share of pairs of a good and a bad applicant in which the good
one has the larger score; ties count half. DeLong, DeLong and Clarke-Pearson write it as the mean of
placements, one per applicant: the share of applicants of the other kind that are ranked below (or,
for bad ones, above). The variances of the placements give the variance of the area. The variances
of differences of placements give the variance of a paired difference.

KS is the largest difference between the shares of good and of bad applicants above a score. It has
no such formula. For few people, its interval is a bootstrap: applicants count Poisson(1) times in
each resample, the same number of times for every model, so that differences are paired. For many,
the score is held fixed, and KS is a difference of two shares: the score maximises KS, so that its
own error does not matter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from gameproof.auditing.intervals import CONFIDENCE
from gameproof.core.arguments import Indices, Vector

RESAMPLES = 200
SEED = 0  # of the resamples: an audit of the same people gives the same intervals
MANY = 2**15  # people from which KS has a normal interval
Z = float(ndtri((1 + CONFIDENCE) / 2))


class Ranking(NamedTuple):
    """The numbers of bad and of good people in each place, from the lowest scores on.

    People in the same place are ties."""

    bad: Indices
    good: Indices

    @classmethod
    def of(cls, places: Indices, good: NDArray[np.bool_]) -> Ranking:
        """The ranking of people by their places."""
        size = int(places.max()) + 1
        return cls(*(np.bincount(places[good == kind], minlength=size) for kind in (False, True)))

    @property
    def mixed(self) -> bool:
        """Whether there are good and bad people."""
        return bool(self.bad.any() and self.good.any())

    def placements(self) -> tuple[Vector, Vector]:
        """By place, the share of bad people below a good one and of good people above a bad one.

        Both have the area under the curve as their mean.
        """
        below: Vector = self._bad_below / self.bad.sum()
        above: Vector = 1 - (np.cumsum(self.good) - self.good / 2) / self.good.sum()
        return below, above

    def area(self) -> float:
        """The area under the ROC curve."""
        pairs = float(self.good.sum()) * float(self.bad.sum())
        return float(self.good @ self._bad_below) / pairs

    def ks_place(self) -> int:
        """The last place below the score at which the shares of good and bad people above differ
        most."""
        bad, good = (np.cumsum(part) / part.sum() for part in self)
        return int(np.argmax(bad - good))

    @property
    def _bad_below(self) -> Vector:
        """By place, the number of bad people below; those in the same place count half."""
        found: Vector = np.cumsum(self.bad) - self.bad / 2
        return found


def resampled_ks(places: Indices, good: NDArray[np.bool_]) -> Vector:
    """KS of bootstrap resamples of people in these places."""
    order = np.argsort(places, kind="stable")
    last = np.flatnonzero(np.diff(places[order], append=places.size) > 0)
    rng, found, good = np.random.default_rng(SEED), np.zeros(RESAMPLES), good[order]
    for k in range(RESAMPLES):
        counts = rng.poisson(1.0, places.size)[order]
        below_good = np.cumsum(counts * good)
        below_bad = np.cumsum(counts) - below_good
        shares = [each[last] / max(each[-1], 1) for each in (below_good, below_bad)]
        found[k] = max(0.0, float((shares[1] - shares[0]).max()))
    return found


def area_interval(area: float, deviation: float, fewest: int) -> tuple[float, float]:
    """The interval of an area by its standard deviation, on the scale of log odds; `fewest` is the
    number of good or of bad applicants, whichever is smaller."""
    if not 0 < area < 1 or deviation == 0:
        # Perfect separation of k pairs leaves the chance of an overlap up to this bound.
        bound = 1 - ((1 - CONFIDENCE) / 2) ** (1 / fewest)
        return max(0.0, area - bound), min(1.0, area + bound)
    half = Z * deviation / (area * (1 - area))
    return float(expit(logit(area) - half)), float(expit(logit(area) + half))


def percentile_interval(resampled: Vector) -> tuple[float, float]:
    """The percentile interval of bootstrap resamples."""
    low, high = np.quantile(resampled, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    return float(low), float(high)
