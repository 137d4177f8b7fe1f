"""Rows of a table with the scores of a classifier, and what people gain by changing columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.estimators.averaged_score import AveragedRows, AveragedScore
from gameproof.estimators.fitted_preparation import FittedPreparation
from gameproof.estimators.read_classifier import ReadClassifier
from gameproof.estimators.table_budgets import Budgets
from gameproof.estimators.table_columns import as_rows, column_names


class ScoredRows(NamedTuple):
    """Rows with scores that are positive towards the favourable class."""

    X: Any
    Z: Matrix
    scores: Vector
    theta: Vector
    preparation: FittedPreparation
    average: AveragedRows | None = None

    def budgets(self, given: Any, weights: Vector | None = None) -> Budgets:
        """Budgets for this table; default ranges come from its rows."""
        return self.preparation.budgets(given, self.X, weights)

    def gains(self, budgets: Budgets) -> Vector:
        """The largest gain of each person within their budget."""
        if self.average is not None:
            return self.average.gains(budgets)
        return self.preparation.gains(self.X, budgets, self.theta, Z=self.Z)


def scored_rows(read: ReadClassifier, X: Any, towards: float) -> ScoredRows:
    """The rows of X as a classifier sees them; `towards` is the sign of the favourable class."""
    rows, names, d = as_rows(X), column_names(X), np.shape(X)[1]
    if not read.linear:
        averaged = AveragedScore.of(read, towards, names, d).rows(rows)
        Z = averaged.scores[:, None]
        return ScoredRows(rows, Z, averaged.scores, np.ones(1), averaged.score.first, averaged)
    (member,) = read.members
    preparation = FittedPreparation(member.transformer, read.names if names is None else names, d)
    if preparation.transformer is None:
        rows = np.asarray(rows, dtype=np.float64)
    Z, theta = preparation.transform(rows), towards * member.coef
    return ScoredRows(rows, Z, Z @ theta + towards * member.intercept, theta, preparation)
