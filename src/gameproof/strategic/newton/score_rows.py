"""`ScoreRows`: the derivatives of the scores of some agents, one row per agent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector


class ScoreRows(NamedTuple):
    """The derivatives in the intercept, if there is one, in theta, and in the variables of budgets.

    As a matrix it is [1 | features | own[:, place]]. Features are read where they are, the column
    of ones is implied, and equal columns are stored and multiplied once."""

    intercept: int  # the number of intercepts, 0 or 1
    features: Matrix
    own: Matrix
    place: Indices

    def times(self, v: Vector) -> Vector:
        """The matrix times v."""
        first = self.intercept
        last = first + self.features.shape[1]
        found: Vector = self.features @ v[first:last]
        if first:
            found += v[0]
        if self.place.size:
            found += self.own @ np.bincount(self.place, v[last:], self.own.shape[1])
        return found

    def weighed(self, weights: Vector) -> Vector:
        """Weights times the matrix."""
        ones = [weights.sum()] * self.intercept
        own: Vector = (weights @ self.own)[self.place]
        return np.concatenate([ones, weights @ self.features, own])

    def gram(self, weights: Vector) -> Matrix:
        """matrix' diag(weights) matrix. Weights are not negative, so its blocks are products of a
        matrix with its own transpose, which take half the time of general products."""
        first, last = self.intercept, self.intercept + self.features.shape[1]
        roots = np.sqrt(weights)[:, None]
        found = np.empty((last + self.place.size,) * 2)
        features = self.features * roots
        found[first:last, first:last] = features.T @ features
        if self.place.size:
            own = self.own * roots
            found[first:last, last:] = (features.T @ own)[:, self.place]
            found[last:, first:last] = found[first:last, last:].T
            found[last:, last:] = (own.T @ own)[np.ix_(self.place, self.place)]
        if first:
            found[0] = found[:, 0] = self.weighed(weights)
        return found

    def sizes(self) -> ScoreRows:
        """The absolute values."""
        return self._replace(features=np.abs(self.features), own=np.abs(self.own))

    def part(self, chosen: Any) -> ScoreRows:
        """Some of the rows."""
        return self._replace(features=self.features[chosen], own=self.own[chosen])

    def dense(self) -> Matrix:
        """The matrix itself."""
        ones = np.ones((len(self.features), self.intercept))
        return np.concatenate([ones, self.features, self.own[:, self.place]], axis=1)
