"""The units in which a classifier is fitted.

Distances and costs are sums over features, so features must have comparable sizes: by default each
is centred and divided by its standard deviation, z = (x - mean) / scale. Scores are the same in
both units, <z, theta> + offset = <x, coef> + intercept, with

    coef = theta / scale,   intercept = offset - <mean, coef>

A cost such as `QuadraticCost` is a model and is stated in the units of the fit. A black box stands
for real people: it receives coefficients and returns features in the user's units. A response that
modifies another one, such as `Boxed`, uses the units of the response that it modifies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.rows.moments import Moments
from gameproof.strategic.responses import BlackBox, Response, Sight


class Units(NamedTuple):
    """Mean and scale of each feature."""

    mean: Vector
    scale: Vector

    @classmethod
    def plain(cls, d: int) -> Units:
        """The user's own units: mean 0 and scale 1."""
        return cls(np.zeros(d), np.ones(d))

    @classmethod
    def learned(cls, X: Matrix, centred: bool, weights: Vector | None = None) -> Units:
        """Weighted means and standard deviations of X.

        Constant features get scale 1. Without an intercept, `centred` must be False.
        """
        if weights is not None:
            # Sums of large weights must not overflow; a power of two changes no digit.
            weights = np.ldexp(weights, -int(np.frexp(weights.max())[1]))
        return cls.of_moments(Moments.of_blocks(X, weights), centred)

    @classmethod
    def of_moments(cls, moments: Moments, centred: bool) -> Units:
        """The same from the moments of all rows, which may be in blocks."""
        mean = moments.mean
        with np.errstate(over="ignore", invalid="ignore"):
            scale = np.sqrt(moments.squares / moments.mass)
        usable = np.isfinite(mean) & np.isfinite(scale)
        if not usable.all():
            k = int(np.argmin(usable))
            largest = max(abs(moments.least[k]), abs(moments.most[k]))
            raise ValueError(f"column {k} has numbers too large to standardise, up to {largest:g}")
        # In floating point, the standard deviation of equal numbers is not always 0.
        narrow = scale <= 8 * np.finfo(float).eps * np.abs(mean)
        constant = (moments.least == moments.most) | narrow
        mean = np.where(constant, moments.least, mean)
        return cls(mean if centred else np.zeros_like(mean), np.where(constant, 1.0, scale))

    def standardised(self, X: Matrix) -> Matrix:
        """Features in the units of the fit."""
        Z: Matrix = X - self.mean
        Z /= self.scale  # in place: a table may fill most of the memory
        return Z

    def coefficients(self, theta: Vector) -> Vector:
        """Coefficients in the user's units."""
        coef: Vector = theta / self.scale
        return coef

    def theta(self, coef: Vector) -> Vector:
        """Coefficients in the units of the fit."""
        theta: Vector = coef * self.scale
        return theta


def translate_response(response: Response, units: Units, X: Matrix) -> Response:
    """A response in the units of the fit, for people with features X.

    Black boxes, and responses that modify one, are translated. Costs are already in these units.
    """
    if not _asks(response):
        return response
    if isinstance(response, BlackBox) and response.scores:
        return BlackBox(_translated_scores(response, units), scores=True)
    return TranslatedResponse(response, units, X)


def _asks(response: Response) -> bool:
    base = getattr(response, "base", None)  # the response that this one modifies
    return isinstance(response, BlackBox) if base is None else _asks(base)


@final
@dataclass(frozen=True, eq=False)
class TranslatedResponse(Response):
    """A response that receives coefficients and returns features in the user's units."""

    base: Response
    units: Units
    X: Matrix  # features in the user's units

    @property
    def sight(self) -> Sight:  # type: ignore[override]
        return self.base.sight

    @property
    def assumptions(self) -> str:
        return self.base.assumptions

    def fit(self, n: int, d: int) -> None:
        self.base.fit(n, d)

    def renewed(self) -> Response:
        return replace(self, base=self.base.renewed())

    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        coef = self.units.coefficients(theta)
        given = np.asarray(self.base.answers(coef, self.X[agents], agents))
        # `Population` rejects answers of a wrong shape with a better message.
        return self.units.standardised(given) if given.shape == features.shape else given


def _translated_scores(box: BlackBox, units: Units) -> Any:
    def function(theta: Vector, agents: Indices) -> Any:
        coef = units.coefficients(theta)
        return np.asarray(box.function(coef, agents)) - units.mean @ coef

    return function
