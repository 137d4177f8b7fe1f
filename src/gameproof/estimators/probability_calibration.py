"""`Calibration`: turns the scores of a classifier into probabilities that fit the base rate.

Class weights, gaming and an adversary all move the scores of a fit away from log odds. Two logistic
regressions of the outcome on functions of the score, over the training rows as they are, restore
them (`calibration_fit.py`): Platt's line z = slope * score + intercept, and on it the curve of
Kull, Silva Filho and Flach's beta calibration,

    log odds = high * log(1 + exp(z)) - low * log(1 + exp(-z)) + shift,

which has the slope low far below z = 0 and high far above. With low = high = 1 and shift = 0 it is
the line itself. The curve always rises, so probabilities rank people as scores do.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple, final

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from gameproof.core.arguments import Matrix, Vector


@final
class Calibration(NamedTuple):
    """The log odds of a good outcome as a function of the score; slope, low and high are positive.

    >>> Calibration(2.0, 1.0).log_odds(np.array([0.0, 1.0]))
    array([1., 3.])
    """

    slope: float = 1.0
    intercept: float = 0.0
    low: float = 1.0
    high: float = 1.0
    shift: float = 0.0

    @property
    def straight(self) -> bool:
        """Whether the log odds are a line."""
        return self.low == self.high == 1.0 and self.shift == 0.0

    def log_odds(self, scores: Vector) -> Vector:
        """The log odds of a good outcome."""
        z: Vector = self.slope * scores + self.intercept
        if self.straight:
            return z
        found: Vector = bends(z) @ [self.low, self.high, self.shift]
        return found

    def probability(self, scores: Vector) -> Vector:
        """The probability of a good outcome."""
        found: Vector = expit(self.log_odds(scores))
        return found

    def slope_at(self, score: float) -> float:
        """How much the log odds rise with the score at this score."""
        if self.straight:
            return self.slope
        z = self.slope * score + self.intercept
        return self.slope * float(self.high * expit(z) + self.low * expit(-z))

    def mean_slopes(self, scores: Vector, start: float) -> Vector:
        """How much the log odds rise per unit of the score, on the way from `start` to each
        score."""
        way = scores - start
        near = np.abs(way) < 1e-9 * (1 + abs(start))
        risen = self.log_odds(scores) - self.log_odds(np.array([start]))
        return np.where(near, self.slope_at(start), risen / np.where(near, 1.0, way))

    def score_at(self, probability: float) -> float:
        """The score that has this probability."""
        wanted = float(logit(probability))
        if not self.straight:
            # For z > 0 the curve is at least high z - low log 2 + shift, for z < 0 at most
            # low z + high log 2 + shift.
            over = wanted - self.shift
            most = max(0.0, (over + self.low * log(2)) / self.high) + 1
            least = min(0.0, (over - self.high * log(2)) / self.low) - 1
            curve = self._replace(slope=1.0, intercept=0.0)
            wanted = float(
                brentq(lambda z: float(curve.log_odds(np.array([z]))[0]) - wanted, least, most)
            )
        return (wanted - self.intercept) / self.slope

    def moved(self, by: float) -> Calibration:
        """The calibration of the scores minus `by`."""
        return self._replace(intercept=self.intercept + self.slope * by)


LOGISTIC = Calibration()


def bends(z: Vector) -> Matrix:
    """The functions of z that the curve is a sum of: -log(1 + exp(-z)), log(1 + exp(z)) and 1."""
    return np.stack([-np.logaddexp(0.0, -z), np.logaddexp(0.0, z), np.ones_like(z)], axis=-1)
