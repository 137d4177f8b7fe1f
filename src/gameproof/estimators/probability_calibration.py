"""`Calibration`: turns the scores of a classifier into probabilities that fit the base rate.

Class weights, gaming and an adversary all move the scores of a fit away from log odds. Platt's
scaling restores them: a logistic regression of the outcome on the score alone, over the training
rows as they are. Its intercept makes the mean probability equal to the share of good outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit

from gameproof.core.arguments import Matrix, Vector
from gameproof.rows.moments import Moments

# A ridge this weak moves no digit that matters, and keeps the slope finite on separable data.
INVERSE_RIDGE = 1e6
MOST_STEPS, SHORT_STEP = 100, 1e-7  # of Newton's method


@final
class Calibration(NamedTuple):
    """The log odds of a good outcome are slope * score + intercept; the slope is positive."""

    slope: float = 1.0
    intercept: float = 0.0

    def log_odds(self, scores: Vector) -> Vector:
        """The log odds of a good outcome."""
        found: Vector = self.slope * scores + self.intercept
        return found

    def probability(self, scores: Vector) -> Vector:
        """The probability of a good outcome."""
        found: Vector = expit(self.log_odds(scores))
        return found

    def score_at(self, probability: float) -> float:
        """The score that has this probability."""
        return (float(logit(probability)) - self.intercept) / self.slope

    def moved(self, by: float) -> Calibration:
        """The calibration of the scores minus `by`."""
        return Calibration(self.slope, self.intercept + self.slope * by)

    @classmethod
    def fitted(cls, scores: Vector, good: NDArray[np.bool_]) -> Calibration:
        """Platt's scaling of these scores.

        >>> rng = np.random.default_rng(0)
        >>> log_odds = rng.normal(1.0, 2.0, 100_000)
        >>> good = rng.random(log_odds.size) < expit(log_odds)
        >>> found = Calibration.fitted(log_odds / 2 - 1, good)
        >>> round(found.slope, 1), round(found.intercept, 1)
        (2.0, 2.0)
        """
        spread = Moments.of(scores[:, None])
        return fitted_calibrations(
            spread, float(good.sum()), partial(platt_sums, scores[:, None], good)
        )[0]


LOGISTIC = Calibration()


class PlattSums(NamedTuple):
    """For several classifiers, sums over rows of the logistic loss of slope * t + intercept, and
    its derivatives by slope and intercept. t are the scores in standard units."""

    loss: Vector
    gradient: Matrix
    hessian: NDArray[np.float64]


Sums = Callable[[Moments, Matrix], Sequence[NDArray[np.float64]]]


def platt_sums(
    scores: Matrix, good: NDArray[np.bool_], spread: Moments, lines: Matrix
) -> PlattSums:
    """The sums over some rows. Scores have a column, and `lines` a slope and an intercept, for each
    classifier."""
    t = (scores - spread.mean) / _units(spread)
    odds = t * lines[:, 0] + lines[:, 1]
    signed = np.where(good[:, None], odds, -odds)
    wrong = np.where(good[:, None], -1.0, 1.0) * expit(-signed)
    curved = expit(odds) * expit(-odds)
    gradient = np.stack([(wrong * t).sum(axis=0), wrong.sum(axis=0)], axis=1)
    second = [(curved * t * t).sum(axis=0), (curved * t).sum(axis=0), curved.sum(axis=0)]
    hessian = np.stack([second[0], second[1], second[1], second[2]], axis=1).reshape(-1, 2, 2)
    return PlattSums(np.logaddexp(0.0, -signed).sum(axis=0), gradient, hessian)


def fitted_calibrations(spread: Moments, n_good: float, sums: Sums) -> list[Calibration]:
    """Platt's scaling of several classifiers, by Newton's method.

    `spread` are the moments of their scores, `n_good` is the number of good outcomes, and
    `sums(spread, lines)` adds `platt_sums` over all rows."""
    share = n_good / spread.mass
    lines = np.tile([0.0, float(logit(share))], (spread.mean.size, 1))
    found = _ridged(sums(spread, lines), lines)
    for _ in range(MOST_STEPS):
        step = -np.linalg.solve(found.hessian, found.gradient[:, :, None])[:, :, 0]
        if (np.abs(step) <= SHORT_STEP * (1 + np.abs(lines))).all():
            lines = lines + step  # the error of what follows is the square of this step
            break
        times, falls = np.ones(len(lines)), (found.gradient * step).sum(axis=1)
        while True:
            tried = lines + times[:, None] * step
            there = _ridged(sums(spread, tried), tried)
            enough = there.loss <= found.loss + 1e-4 * times * falls + 1e-12 * found.loss
            if enough.all():
                break
            times = np.where(enough, times, times / 2)
        lines, found = tried, there
    units = _units(spread)
    return [
        _calibration(spread, k, float(slope / units[k]), float(intercept), share, sums)
        for k, (slope, intercept) in enumerate(lines.tolist())
    ]


def _calibration(
    spread: Moments, k: int, slope: float, intercept: float, share: float, sums: Sums
) -> Calibration:
    """Classifier k's line, or if its scores do not rank good outcomes higher, a slope of 1 and the
    intercept at which the mean probability is the share of good outcomes."""
    middle = float(spread.mean[k])
    if slope > 0 and _varies(spread)[k]:
        return Calibration(slope, intercept - slope * middle)
    unit, number = float(_units(spread)[k]), spread.mean.size
    far = max(abs(float(spread.least[k])), abs(float(spread.most[k]))) + 40.0

    def excess(by: float) -> float:
        line = np.tile([unit, middle + by], (number, 1))
        return float(sums(spread, line)[1][k, 1]) / spread.mass

    return Calibration(1.0, float(brentq(excess, -far, far)))


def _ridged(given: Sequence[NDArray[np.float64]], lines: Matrix) -> PlattSums:
    """The sums with a weak ridge on the slopes."""
    loss, gradient, hessian = given
    ridge = np.array([1 / INVERSE_RIDGE, 0.0])
    return PlattSums(
        loss + (lines**2 @ ridge) / 2, gradient + lines * ridge, hessian + np.diag(ridge)
    )


def _varies(spread: Moments) -> NDArray[np.bool_]:
    """Whether the scores of each classifier differ by more than rounding."""
    found: NDArray[np.bool_] = _deviations(spread) > 1e-9 * (1 + np.abs(spread.mean))
    return found


def _deviations(spread: Moments) -> Vector:
    found: Vector = np.sqrt(spread.squares / spread.mass)
    return found


def _units(spread: Moments) -> Vector:
    """The units of standardised scores; 1 for scores that do not differ."""
    return np.where(_varies(spread), _deviations(spread), 1.0)
