"""Fits calibrations: logistic regressions of the outcome on functions of the score.

Each is a sum over rows, so that rows can be in blocks. The first regression has two features, the
score and 1 (Platt's scaling), the second the three functions of `bends`. Both have an intercept, so
that the mean probability is the share of good outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit

from gameproof.core.arguments import Matrix, Vector
from gameproof.estimators.probability_calibration import Calibration, bends
from gameproof.rows.moments import Moments

Bools = NDArray[np.bool_]
# A ridge this weak moves no digit that matters, and keeps the slope finite on separable data.
INVERSE_RIDGE = 1e6
# The curve must rise: it is at least this steep, compared with the line, at both ends.
LEAST_BEND = 0.05
MOST_STEPS, SHORT_STEP = 100, 1e-7  # of Newton's method


class LogisticSums(NamedTuple):
    """For several classifiers, sums over rows of the logistic loss and its derivatives by the
    weights of the features."""

    loss: Vector
    gradient: Matrix
    hessian: NDArray[np.float64]


class CalibrationLine(NamedTuple):
    """The features of Platt's scaling: scores in standard units, and 1."""

    spread: Moments

    def features(self, scores: Matrix) -> NDArray[np.float64]:
        """One matrix of features for each classifier, whose scores are a column."""
        t = (scores - self.spread.mean) / _units(self.spread)
        return np.stack([t, np.ones_like(t)], axis=-1).swapaxes(0, 1)


class CalibrationCurve(NamedTuple):
    """The features of the curve on the lines of several classifiers."""

    lines: tuple[Calibration, ...]

    def features(self, scores: Matrix) -> NDArray[np.float64]:
        """One matrix of features for each classifier, whose scores are a column."""
        odds = [line.log_odds(z) for line, z in zip(self.lines, scores.T, strict=True)]
        return np.stack([bends(z) for z in odds])


Sums = Callable[[CalibrationLine | CalibrationCurve, Matrix], Sequence[NDArray[np.float64]]]


def logistic_sums(
    scores: Matrix, good: Bools, of: CalibrationLine | CalibrationCurve, weights: Matrix
) -> LogisticSums:
    """The sums over some rows; the weights of each classifier are a row."""
    losses, gradients, hessians = [], [], []
    for features, own in zip(of.features(scores), weights, strict=True):
        odds = features @ own
        losses.append(np.logaddexp(0.0, np.where(good, -odds, odds)).sum())
        probability = expit(odds)
        gradients.append((probability - good) @ features)
        curved = probability * expit(-odds)
        hessians.append(features.T @ (curved[:, None] * features))
    return LogisticSums(np.array(losses), np.array(gradients), np.array(hessians))


def fitted_calibration(scores: Vector, good: Bools) -> Calibration:
    """The calibration of one classifier.

    >>> rng = np.random.default_rng(0)
    >>> log_odds = rng.normal(1.0, 2.0, 100_000)
    >>> good = rng.random(log_odds.size) < expit(log_odds)
    >>> found = fitted_calibration(log_odds / 2 - 1, good)
    >>> np.allclose(found, [2, 2, 1, 1, 0], atol=0.05)
    True
    """
    columns = scores[:, None]
    sums = partial(logistic_sums, columns, good)
    return fitted_calibrations(Moments.of(columns), float(good.sum()), sums)[0]


def fitted_calibrations(spread: Moments, n_good: float, sums: Sums) -> list[Calibration]:
    """The calibrations of several classifiers.

    `spread` are the moments of their scores, `n_good` is the number of good outcomes, and
    `sums(features, weights)` adds `logistic_sums` over all rows."""
    lines = _fitted_lines(spread, n_good, sums)
    start = np.tile([1.0, 1.0, 0.0], (len(lines), 1))
    # Scores that say nothing, or that rank good outcomes lower, keep their line.
    bent = np.array([line is not None for line in lines])
    known = tuple(
        line if line is not None else _level(spread, k, sums) for k, line in enumerate(lines)
    )
    curves = _minimised(
        partial(sums, CalibrationCurve(known)), start, np.array([1.0, 1.0, 0.0]), LEAST_BEND, bent
    )
    return [
        line._replace(low=low, high=high, shift=shift)
        for line, (low, high, shift) in zip(known, curves.tolist(), strict=True)
    ]


def _fitted_lines(spread: Moments, n_good: float, sums: Sums) -> list[Calibration | None]:
    """Platt's line of each classifier; None if its scores do not rank good outcomes higher."""
    start = np.tile([0.0, float(logit(n_good / spread.mass))], (spread.mean.size, 1))
    everyone = np.ones(len(start), dtype=bool)
    weights = _minimised(
        partial(sums, CalibrationLine(spread)), start, np.array([0.0, np.nan]), -np.inf, everyone
    )
    slopes = weights[:, 0] / _units(spread)
    return [
        Calibration(slope, weight - slope * middle) if slope > 0 and varied else None
        for slope, weight, middle, varied in zip(
            slopes.tolist(),
            weights[:, 1].tolist(),
            spread.mean.tolist(),
            _varies(spread),
            strict=True,
        )
    ]


def _minimised(
    sums: Callable[[Matrix], Sequence[NDArray[np.float64]]],
    start: Matrix,
    centre: Vector,
    least: float,
    moving: Bools,
) -> Matrix:
    """The weights of the least loss for each classifier that is `moving`, by Newton's method.

    All weights but the last have a weak ridge around the centre and are at least `least`: a weight
    at this bound whose gradient points out of it is held.
    """

    def ridged(weights: Matrix) -> LogisticSums:
        loss, gradient, hessian = sums(weights)
        off = np.where(pulled, weights - centre, 0.0) / INVERSE_RIDGE
        more = (off * np.where(pulled, weights - centre, 0.0)).sum(axis=1) / 2
        return LogisticSums(loss + more, gradient + off, hessian + np.diag(pulled / INVERSE_RIDGE))

    pulled = np.arange(start.shape[1]) < start.shape[1] - 1
    weights, found = start, ridged(start)
    for _ in range(MOST_STEPS):
        held = (pulled & (weights <= least) & (found.gradient > 0)) | ~moving[:, None]
        free = ~held[:, :, None] & ~held[:, None, :]
        hessian = np.where(free, found.hessian, np.eye(start.shape[1]))
        falls = np.where(held, 0.0, -found.gradient)
        step = np.linalg.solve(hessian, falls[:, :, None])[:, :, 0]
        if (np.abs(step) <= SHORT_STEP * (1 + np.abs(weights))).all():
            # The error of what follows is the square of this step.
            return _bounded(weights + step, pulled, least)
        times, expected = np.ones(len(weights)), (falls * step).sum(axis=1)
        while True:
            tried = _bounded(weights + times[:, None] * step, pulled, least)
            there = ridged(tried)
            enough = there.loss <= found.loss - 1e-4 * times * expected + 1e-12 * found.loss
            if enough.all():
                break
            times = np.where(enough, times, times / 2)
        weights, found = tried, there
    return weights


def _bounded(weights: Matrix, pulled: Bools, least: float) -> Matrix:
    return np.where(pulled, np.maximum(weights, least), weights)


def _level(spread: Moments, k: int, sums: Sums) -> Calibration:
    """For classifier k a slope of 1, and the intercept at which the mean probability is the share
    of good outcomes."""
    middle, unit = float(spread.mean[k]), float(_units(spread)[k])
    far = max(abs(float(spread.least[k])), abs(float(spread.most[k]))) + 40.0

    def excess(by: float) -> float:
        line = np.tile([unit, middle + by], (spread.mean.size, 1))
        return float(sums(CalibrationLine(spread), line)[1][k, 1]) / spread.mass

    return Calibration(1.0, float(brentq(excess, -far, far)))


def _varies(spread: Moments) -> Bools:
    """Whether the scores of each classifier differ by more than rounding."""
    found: Bools = _deviations(spread) > 1e-9 * (1 + np.abs(spread.mean))
    return found


def _deviations(spread: Moments) -> Vector:
    found: Vector = np.sqrt(spread.squares / spread.mass)
    return found


def _units(spread: Moments) -> Vector:
    """The units of standardised scores; 1 for scores that do not differ."""
    return np.where(_varies(spread), _deviations(spread), 1.0)
