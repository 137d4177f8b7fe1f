"""A linear classifier, and the people it decides about.

A person is accepted where the score z = <x, theta> + intercept is above 0. People who use their
budgets add a gain to it. An adversary, and people who game by power, pay for steps in scaled
features x / scale, in which the same classifier has the coefficients scale * theta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import hypot
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.auditing.applicants import Applicants
from gameproof.auditing.score_rounding import rounding_errors, without_rounding
from gameproof.core.arguments import Matrix, Vector, as_numbers, as_vector, require_finite
from gameproof.strategic.power_costs import QuadraticCost

# Who moves: those who should be refused, or everyone who is.
BAD, REFUSED = "bad", "refused"


@final
@dataclass(frozen=True, eq=False)
class LinearModel:
    """Coefficients in the units of the table it decides about, and what its columns are called.

    >>> LinearModel([1.0, -2.0], 0.5, ("income", "debt")).scores(np.array([[1.0, 0.0]]))
    array([1.5])
    """

    theta: ArrayLike
    intercept: float = 0.0
    feature_names: Sequence[str] | None = None
    name: str = "model"

    def __post_init__(self) -> None:
        theta = as_vector("theta", self.theta)
        object.__setattr__(self, "theta", theta)
        offset = as_numbers("intercept", self.intercept, "a number")
        require_finite("intercept", np.atleast_1d(offset))
        object.__setattr__(self, "intercept", float(offset))
        named = self.feature_names
        names = _numbered(theta.size) if named is None else tuple(str(name) for name in named)
        if len(names) != theta.size:
            raise ValueError(
                f"feature_names has {len(names)} names, theta {theta.size} coefficients"
            )
        if len(set(names)) < len(names):
            raise ValueError(f"features must have different names, got {', '.join(names)}")
        object.__setattr__(self, "feature_names", names)

    @property
    def coefficients(self) -> Vector:
        """theta as an array."""
        return np.asarray(self.theta, dtype=np.float64)

    @property
    def named(self) -> bool:
        """Whether its features were given names."""
        return self.names != _numbered(len(self.names))

    @property
    def names(self) -> tuple[str, ...]:
        """What the features are called."""
        return tuple(self.feature_names or ())

    def scores(self, X: Matrix) -> Vector:
        """z, row by row."""
        found: Vector = X @ self.coefficients + self.intercept
        return found

    @classmethod
    def of(cls, estimator: Any, name: str | None = None, *, favourable: Any = None) -> LinearModel:
        """The one inside a fitted linear scikit-learn classifier of two classes. `favourable` is
        the class that people want, by default the estimator's own favourable one, or the second of
        ``estimator.classes_``."""
        called = type(estimator).__name__ if name is None else name
        if not (hasattr(estimator, "coef_") and hasattr(estimator, "classes_")):
            raise TypeError(
                f"an audit takes a LinearModel or a fitted linear classifier with coef_ and "
                f"classes_, got {estimator!r}"
            )
        coef = np.atleast_2d(np.asarray(estimator.coef_, dtype=np.float64))
        classes = list(estimator.classes_)
        if len(classes) != 2 or coef.shape[0] != 1:
            raise ValueError(f"an audit takes classifiers of two classes, got {classes}")
        if favourable is not None and favourable not in classes:
            raise ValueError(f"favourable must be one of {classes}, got {favourable!r}")
        wanted = getattr(estimator, "favourable", None) if favourable is None else favourable
        sign = -1.0 if wanted is not None and wanted == classes[0] else 1.0
        offset = float(np.ravel(getattr(estimator, "intercept_", 0.0))[0])
        names = getattr(estimator, "feature_names_in_", None)
        if getattr(estimator, "prepare_", None) is not None:
            names = estimator.coef_names_
        return cls(sign * coef[0], sign * offset, names, called)


@final
@dataclass(frozen=True, eq=False)
class ScoredApplicants:
    """A model and people: what every row is computed from.

    `scale` says how large a step in each feature costs an adversary the same, and so does it cost
    people who game by power; `movable` are the features that these can move.
    """

    name: str
    coefficients: Vector
    intercept: float
    people: Applicants
    scale: Vector
    _gains: dict[tuple[float, str | None], Vector] = field(default_factory=dict, init=False)

    @classmethod
    def of(
        cls, model: LinearModel, people: Applicants, scale: ArrayLike | None
    ) -> ScoredApplicants:
        """Checks that they fit together."""
        theta = model.coefficients
        if people.Z.shape[1] != theta.size:
            raise ValueError(
                f"X has {people.Z.shape[1]} columns, the model {theta.size} coefficients"
            )
        return cls(model.name, theta, model.intercept, people, _scales(people.Z, scale))

    @property
    def y(self) -> Vector:
        """The labels."""
        return self.people.y

    @cached_property
    def rounding(self) -> Vector:
        """How far each score may be from its exact value."""
        return rounding_errors(self.people.Z, self.coefficients, self.intercept)

    @cached_property
    def scores(self) -> Vector:
        """z where nobody moves, 0 where rounding hides the difference."""
        found: Vector = self.people.Z @ self.coefficients + self.intercept
        return without_rounding(found, self.rounding)

    def gains(self, multiple: float, only: str | None = None) -> Vector:
        """What this multiple of the budgets, or of the budget of one column, adds to scores."""
        key = (multiple, only)
        if key not in self._gains:
            self._gains[key] = self.people.gains(self.coefficients, multiple, only)
        return self._gains[key]

    def gained(self, gain: Vector) -> Vector:
        """z with these gains."""
        return without_rounding(self.scores + gain, 2 * self.rounding)

    def gamed(self, multiple: float, movers: str = BAD, only: str | None = None) -> Vector:
        """z where people use this multiple of their budgets, or of the budget of one column."""
        who = self.y < 0 if movers == BAD else self.scores <= 0
        return self.gained(np.where(who, self.gains(multiple, only), 0.0))

    @cached_property
    def theta(self) -> Vector:
        """The coefficients of scaled features."""
        found: Vector = self.coefficients * self.scale
        return found

    @cached_property
    def movable(self) -> tuple[int, ...]:
        """The features that people who game by power can move."""
        return self.people.numbers()

    def by_power(self, power: float) -> Vector:
        """z where those with label -1 answer with this power: each gains power |theta_M|^2."""
        direction = QuadraticCost(power, features=list(self.movable)).direction(self.theta)
        return self.gained(np.where(self.y < 0, power * float(direction @ self.theta), 0.0))

    @property
    def reach(self) -> float:
        """|theta_M|: what a step of length 1, in the best direction, adds to a score."""
        return hypot(*self.theta[list(self.movable)])


def _numbered(d: int) -> tuple[str, ...]:
    return tuple(f"x{k}" for k in range(d))


def _scales(X: Matrix, scale: ArrayLike | None) -> Vector:
    if scale is None:
        spread = X.std(axis=0)
        # The deviation of equal numbers is not always 0 in floating point.
        return np.where((np.ptp(X, axis=0) > 0) & (spread > 0), spread, 1.0)
    given = as_numbers("scale", scale, "a number, or one a feature,")
    if given.shape not in ((), (X.shape[1],)):
        raise ValueError(f"scale must be a number or {X.shape[1]} of them, got shape {given.shape}")
    units = np.broadcast_to(given, (X.shape[1],)).copy()
    require_finite("scale", units)
    if (units <= 0).any():
        raise ValueError(f"scale must be positive, got {units.min():g}")
    return units
