"""The numbers, one per person, whose means are metrics.

Every metric is a mean over everyone or over some, or a sum of two means, one over good and one over
bad people. AUC is a mean of placements (`ranking.py`), and KS the difference between two shares
below one score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from gameproof.auditing.decision_counts import Costs
from gameproof.auditing.ranking import Ranking
from gameproof.core.arguments import Indices, Vector
from gameproof.estimators.probability_calibration import Calibration

Bools = NDArray[np.bool_]
Values = dict[str, tuple[Vector, Bools | None]]


@final
@dataclass(frozen=True, eq=False)
class JudgedPeople:
    """People of a group, or those of them in a block, with their scores under a model.

    `places` are their places in `ranking`, which counts all people of the group."""

    scores: Vector
    good: Bools
    places: Indices
    ranking: Ranking
    calibration: Calibration | None

    def values(self, costs: Costs) -> Values:
        """The numbers by metric, and for whom they count, if not for everyone."""
        accepted, bad = self.scores > 0, ~self.good
        right = accepted == self.good
        price = np.where(self.good, costs.refuse_good, costs.accept_bad)
        return {
            **self._by_place(),
            "accuracy": (right.astype(np.float64), None),
            "balanced": (right / 2, None),
            "approval": (accepted.astype(np.float64), None),
            "bad_rate": (bad.astype(np.float64), accepted),
            "good_refused": ((~accepted).astype(np.float64), self.good),
            "bad_approved": (accepted.astype(np.float64), bad),
            "cost": (np.where(right, 0.0, price), None),
            **self._by_probability(),
        }

    def _by_place(self) -> Values:
        if not self.ranking.mixed:
            return {}
        below, above = self.ranking.placements()
        low = (self.places <= self.ranking.ks_place()).astype(np.float64)
        return {
            "auc": (np.where(self.good, below[self.places], above[self.places]), None),
            "ks": (np.where(self.good, -low, low), None),
        }

    def _by_probability(self) -> Values:
        if self.calibration is None:
            return {}
        log_odds = self.calibration.log_odds(self.scores)
        probability: Vector = expit(log_odds)
        signed = np.where(self.good, log_odds, -log_odds)
        return {
            "log_loss": (np.logaddexp(0.0, -signed), None),
            "brier": ((probability - self.good) ** 2, None),
            "mean_probability": (probability, None),
        }
