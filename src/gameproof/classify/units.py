"""The units in which a classifier is fitted, and the user's own.

Distances and efforts are sums over features, so features must be of one size: by default each is
centred and divided by its standard deviation, z = (x - mean) / scale. Scores are the same in both
units, <z, theta> + offset = <x, coef> + intercept, with

    coef = theta / scale,   intercept = offset - <mean, coef>

A cost such as `QuadraticCost` is a model, and lives where the fit does. A black box is people: it
is told the coefficients, and answers with features, in the user's units.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gameproof.arguments import Vector
from gameproof.population.responses import BlackBox, Indices, Response

Matrix = NDArray[np.float64]


class Units(NamedTuple):
    """Means and scales of the user's features."""

    mean: Vector
    scale: Vector

    @classmethod
    def plain(cls, d: int) -> Units:
        """The user's own units."""
        return cls(np.zeros(d), np.ones(d))

    @classmethod
    def learned(cls, X: Matrix, centred: bool, weights: Vector | None = None) -> Units:
        """Means and standard deviations, by weight; a constant feature is only centred. Without an
        intercept nothing can be centred."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean, scale = X.mean(axis=0), X.std(axis=0)
            if weights is not None:
                share = weights / weights.max()
                mean = np.average(X, axis=0, weights=share)
                scale = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=share))
        for k in np.flatnonzero(~(np.isfinite(mean) & np.isfinite(scale))):
            raise ValueError(
                f"column {k} has numbers too large to standardise, up to {np.abs(X[:, k]).max():g}"
            )
        # The deviation of equal numbers is not always 0 in floating point.
        constant = (np.ptp(X, axis=0) == 0) | (scale <= 8 * np.finfo(float).eps * np.abs(mean))
        mean = np.where(constant, X[0], mean)
        return cls(mean if centred else np.zeros_like(mean), np.where(constant, 1.0, scale))

    def standardised(self, X: Matrix) -> Matrix:
        """Features in the units of the fit."""
        Z: Matrix = (X - self.mean) / self.scale
        return Z

    def restored(self, Z: Matrix) -> Matrix:
        """Features in the user's units."""
        X: Matrix = Z * self.scale + self.mean
        return X

    def coefficients(self, theta: Vector) -> Vector:
        """Those of the user's features."""
        coef: Vector = theta / self.scale
        return coef

    def theta(self, coef: Vector) -> Vector:
        """Those of the features in the units of the fit."""
        theta: Vector = coef * self.scale
        return theta


def in_units(response: Response, units: Units) -> Response:
    """The response in the units of the fit: black boxes are translated, models live there."""
    if isinstance(response, BlackBox):
        return BlackBox(_translated(response, units), response.scores)
    if hasattr(response, "base"):  # answers of another, changed
        changed: Any = response
        return replace(changed, base=in_units(changed.base, units))  # type: ignore[no-any-return]
    return response


def _translated(box: BlackBox, units: Units) -> Any:
    def function(theta: Vector, agents: Indices) -> Any:
        coef = units.coefficients(theta)
        given = np.asarray(box.function(coef, agents))
        return given - units.mean @ coef if box.scores else units.standardised(given)

    return function
