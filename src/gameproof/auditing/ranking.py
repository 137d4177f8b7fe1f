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

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from gameproof.auditing.intervals import CONFIDENCE
from gameproof.auditing.score_rounding import tie_groups
from gameproof.core.arguments import Vector

RESAMPLES = 200
SEED = 0  # of the resamples: an audit of the same people gives the same intervals
AT_ONCE = 20  # resamples in memory at a time
MANY = 2**15  # people from which KS has a normal interval
Z = float(ndtri((1 + CONFIDENCE) / 2))


class Ranking(NamedTuple):
    """Scores as ranks, with equal ranks for scores that differ by rounding only."""

    rank: NDArray[np.int64]
    good: NDArray[np.bool_]

    @classmethod
    def of(cls, scores: Vector, good: NDArray[np.bool_], error: Vector) -> Ranking:
        """The ranking by these scores, each of which is accurate to `error`."""
        return cls(tie_groups(scores, error), good)

    def placements(self) -> tuple[Vector, Vector]:
        """For each good applicant the share of bad ones below, for each bad one of good ones above.

        Both have the area under the curve as their mean.
        """
        size = int(self.rank.max()) + 1
        n_good, n_bad = (
            np.bincount(self.rank[self.good == kind], minlength=size) for kind in (True, False)
        )
        below = (np.cumsum(n_bad) - n_bad / 2) / n_bad.sum()
        above = 1 - (np.cumsum(n_good) - n_good / 2) / n_good.sum()
        return below[self.rank[self.good]], above[self.rank[~self.good]]

    def auc(self) -> tuple[float, float, float]:
        """The area under the curve and its interval, by DeLong on the scale of log odds."""
        good, bad = self.placements()
        area, deviation = float(good.mean()), _deviation(good, bad)
        return area, *area_interval(area, deviation, min(good.size, bad.size))

    def auc_difference(self, other: Ranking) -> tuple[float, float, float]:
        """The area of this ranking minus that of another one of the same people, by DeLong."""
        good, bad = (a - b for a, b in zip(self.placements(), other.placements(), strict=True))
        more, half = float(good.mean()), Z * _deviation(good, bad)
        return more, more - half, more + half

    def ks(self) -> float:
        """The largest difference between the shares of good and bad applicants above a score."""
        return float(self._ks(np.ones((1, self.rank.size)))[0])

    def below_ks(self) -> NDArray[np.bool_]:
        """Whether each applicant is below the score at which the shares above differ most."""
        size = int(self.rank.max()) + 1
        good, bad = (
            np.cumsum(np.bincount(self.rank[self.good == kind], minlength=size))
            for kind in (True, False)
        )
        found: NDArray[np.bool_] = self.rank <= np.argmax(bad / bad[-1] - good / good[-1])
        return found

    def resampled_ks(self) -> Vector:
        """KS of each resample."""
        rng = np.random.default_rng(SEED)
        found = [
            self._ks(rng.poisson(1.0, (AT_ONCE, self.rank.size)))
            for _ in range(RESAMPLES // AT_ONCE)
        ]
        return np.concatenate(found)

    def _ks(self, counts: NDArray[Any]) -> Vector:
        """KS for each row of counts, which say how often each applicant is in a resample."""
        order = np.argsort(self.rank, kind="stable")
        last = np.flatnonzero(np.diff(self.rank[order], append=self.rank.size) > 0)
        found, good = np.zeros(len(counts)), self.good[order]
        for k, row in enumerate(counts):  # one resample at a time stays in the cache
            ordered = row[order]
            below_good = np.cumsum(ordered * good)
            below_bad = np.cumsum(ordered) - below_good
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


def _deviation(good: Vector, bad: Vector) -> float:
    """The standard deviation of a mean of placements."""
    return sqrt(sum(float(part.var(ddof=1)) / part.size for part in (good, bad) if part.size > 1))
