"""A model with the applicants it decides about, from which every row of an audit is computed.

An applicant is accepted if the score z = <x, theta> + intercept is positive. People who use their
budgets add a gain to their score. An adversary, and people who game by power, pay for steps in the
scaled features x / scale, in which the same classifier has the coefficients scale * theta.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import hypot
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.auditing.applicants import Applicants
from gameproof.auditing.decision_counts import DecisionCounts
from gameproof.auditing.linear_model import LinearModel
from gameproof.auditing.score_rounding import area_under_curve, rounding_errors, without_rounding
from gameproof.core.arguments import Matrix, Vector, as_numbers, require_finite
from gameproof.estimators.probability_calibration import Calibration
from gameproof.strategic.power_costs import QuadraticCost

# Who moves: everyone who should be refused, or everyone who is refused.
BAD, REFUSED = "bad", "refused"


@final
@dataclass(frozen=True, eq=False)
class ScoredApplicants:
    """A model, the applicants it decides about, and the scores of the applicants.

    `scale` holds the sizes of steps that cost an adversary the same in each feature; people who
    game by power pay the same costs.
    """

    name: str
    coefficients: Vector
    intercept: float
    people: Applicants
    scale: Vector
    calibration: Calibration | None = None
    _gains: dict[tuple[float, str | None], Vector] = field(default_factory=dict, init=False)

    @classmethod
    def of(
        cls, model: LinearModel, people: Applicants, scale: ArrayLike | None
    ) -> ScoredApplicants:
        """Checks that the model fits the applicants."""
        theta = model.coefficients
        if people.Z.shape[1] != theta.size:
            raise ValueError(
                f"X has {people.Z.shape[1]} columns, and the model has {theta.size} coefficients"
            )
        scales = _scales(people.Z, scale)
        return cls(model.name, theta, model.intercept, people, scales, model.calibration)

    @property
    def y(self) -> Vector:
        """Labels: +1 for good applicants and -1 for bad ones."""
        return self.people.y

    @cached_property
    def rounding(self) -> Vector:
        """A bound on the rounding error of each score."""
        return rounding_errors(self.people.Z, self.coefficients, self.intercept)

    @cached_property
    def scores(self) -> Vector:
        """Scores when nobody moves; 0 if a score may be 0 up to rounding."""
        found: Vector = self.people.Z @ self.coefficients + self.intercept
        return without_rounding(found, self.rounding)

    def gains(self, multiple: float, only: str | None = None) -> Vector:
        """The gain in score from a multiple of all budgets, or of the budget of one column.

        It is 0 if it may be 0 up to rounding: between levels that a model scores the same, nobody
        gains by switching.
        """
        key = (multiple, only)
        if key not in self._gains:
            found = self.people.gains(self.coefficients, multiple, only)
            self._gains[key] = without_rounding(found, self.rounding)
        return self._gains[key]

    def gained(self, gain: Vector) -> Vector:
        """Scores plus gains; 0 if a sum may be 0 up to rounding."""
        return without_rounding(self.scores + gain, 2 * self.rounding)

    def gamed(self, multiple: float, movers: str = BAD, only: str | None = None) -> Vector:
        """Scores when people use a multiple of all budgets, or of the budget of one column."""
        who = self.y < 0 if movers == BAD else self.scores <= 0
        return self.gained(np.where(who, self.gains(multiple, only), 0.0))

    def decisions(self, scores: Vector) -> DecisionCounts:
        """The decisions about the applicants if they have these scores."""
        return DecisionCounts.of(scores > 0, self.y > 0)

    def area(self, scores: Vector) -> float:
        """The area under the ROC curve of these scores."""
        return area_under_curve(scores, self.y > 0, self.rounding)

    @cached_property
    def theta(self) -> Vector:
        """Coefficients of the scaled features x / scale."""
        found: Vector = self.coefficients * self.scale
        return found

    @cached_property
    def movable(self) -> tuple[int, ...]:
        """Positions of the features that people who game by power can move."""
        return self.people.movable_numbers()

    def by_power(self, power: float) -> Vector:
        """Scores when bad applicants game with this power: each gains power |theta_M|^2."""
        direction = QuadraticCost(power, features=list(self.movable)).direction(self.theta)
        return self.gained(np.where(self.y < 0, power * float(direction @ self.theta), 0.0))

    @property
    def reach(self) -> float:
        """|theta_M|: the gain in score from a step of length 1 in the best direction."""
        return hypot(*self.theta[list(self.movable)])


def _scales(X: Matrix, scale: ArrayLike | None) -> Vector:
    if scale is None:
        spread = X.std(axis=0)
        # In floating point, the standard deviation of equal numbers is not always 0.
        return np.where((np.ptp(X, axis=0) > 0) & (spread > 0), spread, 1.0)
    given = as_numbers("scale", scale, "a number, or one per feature,")
    if given.shape not in ((), (X.shape[1],)):
        raise ValueError(f"scale must be a number or {X.shape[1]} numbers, got shape {given.shape}")
    units = np.broadcast_to(given, (X.shape[1],)).copy()
    require_finite("scale", units)
    if (units <= 0).any():
        raise ValueError(f"scale must be positive, got {units.min():g}")
    return units
