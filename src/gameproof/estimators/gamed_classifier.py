"""A fitted linear classifier: its decisions, and its decisions after people game it.

The table is prepared and scored. People who move gain what their budgets, or their response, allow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from gameproof.core.arguments import Indices, Matrix, Vector, as_number
from gameproof.core.errors import BudgetWarning, warn
from gameproof.estimators.fitted_preparation import (
    FittedPreparation,
    fills_gaps,
    takes_frames,
    takes_gaps,
)
from gameproof.estimators.gamed_decisions import Decisions, Who, require_who
from gameproof.estimators.measures import Measure
from gameproof.estimators.parameters import ClassifierParameters
from gameproof.estimators.response_choice import ResponseChoice, as_box_budget, scale_response
from gameproof.estimators.row_identity import RowIdentity, restrict_to_rows
from gameproof.estimators.sample_weight import WeightedRows, as_weights
from gameproof.estimators.scaling import translate_response
from gameproof.estimators.table_budgets import Budgets, as_budgets
from gameproof.estimators.table_columns import as_rows, is_frame
from gameproof.strategic.population import Population
from gameproof.strategic.responses import KnownResponse, Response


class GamedClassifier(ClassifierParameters):
    """Scores and decisions for a table, before and after people change what they can."""

    _row_identity: RowIdentity | None = None
    _fitted_for: Any = None  # the parameter `budgets` at the time of the fit
    _trained_for: float = 1.0  # the multiple of the budgets that the fit expects people to use

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
        return prepared_scores(self, self._preparation.transform(self._validated(X)))

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
        people = self._checked_rows(X, y)
        weights = np.ones(len(people.X))
        if sample_weight is not None:
            weights = as_weights(sample_weight, people.X)
        require_who(who)
        Z = self._preparation.transform(people.X)
        signs, towards = self.outcomes_.signs(people.y), self.outcomes_.towards
        moving = Decisions(signs, prepared_scores(self, Z), towards).moving(who) & (weights > 0)
        scores = self._gamed_scores(people, Z, moving, multiple)
        return Decisions(signs, scores, towards).measured(Measure(), weights)

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
        people = self._checked_rows(X)
        Z = self._preparation.transform(people.X)
        everyone = np.ones(len(Z), dtype=bool)
        return self._classes(self._gamed_scores(people, Z, everyone, multiple))

    @property
    def coef_names_(self) -> list[str]:
        """Names of the columns of ``coef_``: the table's columns, or those made by `prepare`."""
        check_is_fitted(self)
        return self._preparation.names_out(self.coef_.shape[1])

    @property
    def theta_(self) -> Vector:
        """Coefficients in the units of the fit, positive towards the favourable class."""
        check_is_fitted(self)
        return self.outcomes_.towards * self.units_.theta(self.coef_[0])

    @property
    def offset_(self) -> float:
        """Intercept in the units of the fit, positive towards the favourable class."""
        check_is_fitted(self)
        shifted = float(self.intercept_[0] + self.units_.mean @ self.coef_[0])
        return self.outcomes_.towards * shifted if self.fit_intercept else 0.0

    # --- movable columns

    def _movable_names(self) -> list[str]:
        """Names of the columns that people can change."""
        if self.budgets_ is not None:
            return list(self.budgets_.columns)
        return [self.coef_names_[k] for k in self.movable_]

    def _movable_prepared(self) -> Indices:
        """Positions of the prepared columns that are made from columns that people can change."""
        if self.budgets_ is None:
            return self.movable_
        columns = sorted({*self.budgets_.ranges, *self.budgets_.claims})
        return self._preparation.places(columns, self.coef_.shape[1])

    # --- how people move

    def _validated(self, X: ArrayLike, y: Any = "no_validation", reset: bool = False) -> Any:
        """The table as numbers, with the labels if there are any."""
        prepare = self.prepare if reset else self.prepare_
        if takes_frames(prepare) and is_frame(X):  # may hold text, which the preparation encodes
            rows = as_rows(validate_data(self, X, skip_check_array=True, reset=reset))
            if isinstance(y, str) and y == "no_validation":
                return rows
            check_consistent_length(rows, labels := column_or_1d(y, warn=True))
            return rows, labels
        finite: Any = "allow-nan" if takes_gaps(prepare) else True
        return validate_data(
            self, X, y, dtype=np.float64, order="C", ensure_all_finite=finite, reset=reset
        )

    @property
    def _preparation(self) -> FittedPreparation:
        names = getattr(self, "feature_names_in_", None)
        named = None if names is None else tuple(map(str, names))
        return FittedPreparation(self.prepare_, named, self.n_features_in_)

    @property
    def _choice(self) -> ResponseChoice:
        features = None if isinstance(self.budgets, str) else self.features  # part of "auto"
        parameters = self.budgets, self.response, self.power, features
        return ResponseChoice(*parameters, self._preparation, self.units_.mean.size)

    def _set_budgets(self, people: WeightedRows) -> None:
        """Checks the budgets; default ranges come from these rows."""
        self.budgets_, self._fitted_for = None, self.budgets
        if self.budgets is not None:
            self.budgets_ = self._as_budgets(people)
            for note in self.budgets_.notes:
                warn(note, BudgetWarning)

    def _current_budgets(self, people: WeightedRows) -> Budgets:
        """The budgets of the fit, or those that were set since then."""
        if self.budgets is self._fitted_for and self.budgets_ is not None:
            return self.budgets_
        return self._as_budgets(people)

    def _as_budgets(self, people: WeightedRows) -> Budgets:
        """The parameter `budgets`, with default ranges from these rows."""
        preparation = self._preparation
        table = preparation.numbers(people.X)
        return as_budgets(self.budgets, preparation.features, table, people.weights)

    def _checked_rows(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> WeightedRows:
        """Validated rows; raises if the response is keyed by row and these are other rows."""
        check_is_fitted(self)
        if y is None:
            table = self._validated(X)
            labels: Any = np.empty(len(table))
        else:
            table, labels = self._validated(X, y)
        if self._row_identity is not None and self.budgets is None:  # None after loading a file
            choice = self._choice
            rows = self._preparation.numbers(table)
            self._row_identity.require(choice.keyed, choice.chosen_response(), rows)
        return WeightedRows.of(table, labels, sample_weight)

    def _response(self, people: WeightedRows, Z: Matrix, multiple: float = 1.0) -> Response:
        """How these people respond, in the units of the fit."""
        choice = self._choice
        if self.budgets is not None:
            budgets = self._current_budgets(people).times(self._trained_for)
            moves = choice.preparation.moves(people.X, budgets)
            return as_box_budget(moves, self.units_)
        response = scale_response(choice.chosen_response(), multiple)
        return translate_response(restrict_to_rows(response, people.positions), self.units_, Z)

    def _gamed_scores(
        self, people: WeightedRows, Z: Matrix, group: NDArray[np.bool_], multiple: float
    ) -> Vector:
        """Scores after the people of a group have moved, positive for ``classes_[1]``."""
        towards, preparation = self.outcomes_.towards, self._choice.preparation
        if self.budgets is not None:  # gains in the table's units avoid the rounding of scaling
            budgets = self._current_budgets(people).times(as_number("multiple", multiple))
            gains = preparation.gains(people.X, budgets, towards * self.coef_[0])
            return prepared_scores(self, Z) + towards * np.where(group, gains, 0.0)
        response = self._response(people, Z, multiple)
        if isinstance(response, KnownResponse):
            response.fit(*Z.shape)
            gains = response.gains(self.theta_, np.arange(len(Z)))
            return prepared_scores(self, Z) + towards * np.where(group, gains, 0.0)
        labels = np.where(group, -1.0, 1.0)
        population = Population(self.units_.standardised(Z), labels, response, one_label=True)
        return towards * (population.scores(self.theta_, np.arange(population.n)) + self.offset_)

    def _classes(self, scores: Vector) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[(scores > 0).astype(np.int64)]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = fills_gaps(self.prepare)
        return tags


def prepared_scores(model: ClassifierParameters, Z: Matrix) -> Vector:
    """Scores of rows that are prepared already, positive for ``classes_[1]``."""
    scores: Vector = Z @ model.coef_[0] + model.intercept_[0]
    return scores
