"""`Calibration`: turns the scores of a classifier into probabilities that fit the base rate.

Class weights, gaming and an adversary all move the scores of a fit away from log odds. Platt's
scaling restores them: a logistic regression of the outcome on the score alone, over the training
rows as they are. Its intercept makes the mean probability equal to the share of good outcomes.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from gameproof.core.arguments import Vector

# A ridge this weak moves no digit that matters, and keeps the slope finite on separable data.
INVERSE_RIDGE = 1e6


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
        middle, spread = float(scores.mean()), float(scores.std())
        if spread > 1e-9 * (1 + abs(middle)):
            platt = LogisticRegression(C=INVERSE_RIDGE, tol=1e-9, max_iter=1000)
            platt.fit(((scores - middle) / spread)[:, None], good)
            slope = float(platt.coef_[0, 0]) / spread
            if slope > 0:
                return cls(slope, float(platt.intercept_[0]) - slope * middle)
        return cls(1.0, _matching_intercept(scores, float(good.mean())))


LOGISTIC = Calibration()


def _matching_intercept(scores: Vector, share: float) -> float:
    """The intercept at which the mean probability is the share of good outcomes."""
    far = float(np.abs(scores).max()) + 40.0
    found = brentq(lambda b: float(expit(scores + b).mean()) - share, -far, far)
    return float(found)
