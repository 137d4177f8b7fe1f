"""A linear classifier and the people it decides about, in units in which steps cost alike.

A person is accepted where the score z = <x, theta> + intercept is above 0. What it costs to move is
measured in scaled features x / scale, in which the same classifier has the coefficients
scale * theta: scores stay what they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import hypot
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.arguments import Matrix, Vector, as_numbers, as_vector, require_finite
from gameproof.population.population import Population
from gameproof.population.responses import PowerCost, QuadraticCost


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
        return cls(sign * coef[0], sign * offset, names, called)


@final
@dataclass(frozen=True, eq=False)
class Case:
    """A model and people, both scaled: what every row is computed from."""

    name: str
    names: tuple[str, ...]
    X: Matrix
    y: Vector
    theta: Vector
    intercept: float
    movable: tuple[int, ...]
    scale: Vector

    @classmethod
    def of(
        cls,
        model: LinearModel,
        X: ArrayLike,
        y: ArrayLike,
        movable: Sequence[int | str] | None,
        scale: ArrayLike | None,
    ) -> Case:
        """Checks that they fit together; `Population` knows what a table and labels may be."""
        columns = [str(name) for name in getattr(X, "columns", ())]
        if model.named and columns and columns != list(model.names):
            raise ValueError(
                f"the columns of X are {', '.join(columns)}, and the model has the features "
                f"{', '.join(model.names)}"
            )
        people = Population(X, y)
        theta = model.coefficients
        if people.d != theta.size:
            raise ValueError(f"X has {people.d} columns, the model {theta.size} coefficients")
        units = _scales(people.X, scale)
        places = _places(model.names, movable)
        scaled = people.X / units
        own = (people.y, theta * units, model.intercept, places, units)
        return cls(model.name, model.names, scaled, *own)

    @cached_property
    def scores(self) -> Vector:
        """z where nobody moves."""
        found: Vector = self.X @ self.theta + self.intercept
        return found

    def response(self, power: float, only: int | None = None) -> PowerCost:
        """How people game: with all that can be moved, or with one feature."""
        return QuadraticCost(power, features=list(self.movable) if only is None else [only])

    def gamed(self, power: float, only: int | None = None) -> Vector:
        """z where those with label -1 answer with this power: each gains power |theta_M|^2."""
        gain = float(self.response(power, only).direction(self.theta) @ self.theta)
        found: Vector = self.scores + np.where(self.y < 0, power * gain, 0.0)
        return found

    @property
    def reach(self) -> float:
        """|theta_M|: what a step of length 1, in the best direction, adds to a score."""
        return hypot(*self.theta[list(self.movable)])

    @cached_property
    def distance(self) -> Vector:
        """How far each person has to move to be accepted: 0 for those who are, infinite where no
        step helps."""
        short = np.maximum(0.0, -self.scores)
        if self.reach == 0:
            return np.where(self.scores > 0, 0.0, np.inf)
        return short / self.reach


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


def _places(names: tuple[str, ...], movable: Sequence[int | str] | None) -> tuple[int, ...]:
    """The positions of movable features, given by name or position; None for all."""
    if movable is None:
        return tuple(range(len(names)))
    if isinstance(movable, str):
        raise TypeError(f"movable must be a list of names or positions, got {movable!r}")
    found = []
    for given in movable:
        if isinstance(given, str):
            if given not in names:
                raise ValueError(f"movable names {given!r}, which is none of {', '.join(names)}")
            found.append(names.index(given))
        elif isinstance(given, (bool, np.bool_)) or not isinstance(given, (int, np.integer)):
            raise TypeError(f"movable must be names or positions, got {given!r}")
        elif not 0 <= given < len(names):
            raise ValueError(f"feature {given} cannot move: there are 0 to {len(names) - 1}")
        else:
            found.append(int(given))
    if len(set(found)) < len(found):
        raise ValueError(f"movable names a feature twice: {list(movable)}")
    return tuple(sorted(found))
