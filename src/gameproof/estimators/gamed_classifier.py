"""A fitted linear classifier: its decisions, and its decisions after people game it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from gameproof.core.arguments import Vector
from gameproof.estimators.fitted_preparation import FittedPreparation, fills_gaps
from gameproof.estimators.gamed_decisions import Who
from gameproof.estimators.gamed_rows import GamedRows, prepared_rows, prepared_scores
from gameproof.estimators.measures import Measure
from gameproof.estimators.parameters import ClassifierParameters
from gameproof.estimators.sample_weight import as_weights


class GamedClassifier(ClassifierParameters):
    """Scores and decisions for a table, before and after people change what they can."""

    def decision_function(self, X: ArrayLike) -> Vector:
        """Scores of reported features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features as people report them.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores, positive for ``classes_[1]``.
        """
        check_is_fitted(self)
        return prepared_scores(self, prepared_rows(self, X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Classes of reported features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features as people report them.

        Returns
        -------
        ndarray of shape (n_samples,)
            One of ``classes_`` per row.
        """
        return self._classes(self.decision_function(X))

    def gamed_score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        multiple: float = 1.0,
        who: Who = "unfavourable",
    ) -> float:
        """Accuracy after people have gamed the classifier; `score` gives it before.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features before anyone moves.
        y : array-like of shape (n_samples,)
            True classes.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights. A black box is not asked about rows with weight 0.
        multiple : float, optional
            People use this multiple of what their budgets, or their response, allow.
        who : {"unfavourable", "refused"}, optional
            Who moves: everyone with the unfavourable label, or everyone who is refused.

        Returns
        -------
        float
            The share of correct decisions.
        """
        rows = GamedRows.of(self, X, y)
        weights = np.ones(len(rows.Z))
        if sample_weight is not None:
            weights = as_weights(sample_weight, rows.people.X)
        moving = rows.decisions(rows.scores).moving(who) & (weights > 0)
        scores = rows.gamed_scores(moving, multiple)
        return rows.decisions(scores).measured(Measure(), weights)

    def gamed_decisions(self, X: ArrayLike, *, multiple: float = 1.0) -> NDArray[Any]:
        """The class that each person can get by using their budget.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features before anyone moves.
        multiple : float, optional
            The multiple of the budgets that people use.

        Returns
        -------
        ndarray of shape (n_samples,)
            One of ``classes_`` per row.
        """
        rows = GamedRows.of(self, X)
        everyone = np.ones(len(rows.Z), dtype=bool)
        return self._classes(rows.gamed_scores(everyone, multiple))

    @property
    def coef_names_(self) -> list[str]:
        """Names of the columns of ``coef_``: the table's columns, or those made by `prepare`."""
        check_is_fitted(self)
        return FittedPreparation.of(self).names_out(self.coef_.shape[1])

    def _classes(self, scores: Vector) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[(scores > 0).astype(np.int64)]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = fills_gaps(self.prepare)
        return tags
