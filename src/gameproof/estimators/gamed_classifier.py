"""A fitted linear classifier and the people it meets: its decisions, and those after gaming.

The table is prepared and scored. People who move gain what their budgets, or their response, allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gameproof.core.arguments import Matrix, Vector, as_number
from gameproof.core.errors import BudgetWarning, warn
from gameproof.estimators.fitted_preparation import FittedPreparation, fills_gaps, takes_gaps
from gameproof.estimators.gamed_decisions import Decisions, Who, require_who
from gameproof.estimators.outcomes import Outcomes
from gameproof.estimators.response_choice import (
    ResponseChoice,
    as_box_budget,
    as_budgets,
    scale_response,
)
from gameproof.estimators.row_identity import RowIdentity, restrict_to_rows
from gameproof.estimators.sample_weight import Counted, as_weights, counted
from gameproof.estimators.scaling import Units, translate_response
from gameproof.estimators.table_budgets import Budgets
from gameproof.strategic.population import Population
from gameproof.strategic.responses import KnownResponse, Response


class GamedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Decides about people by a table, as it is and after they have changed what they can."""

    budgets: Mapping[int | str, Any] | Sequence[int | str] | Budgets | None
    prepare: Any
    response: Response | None
    power: float | ArrayLike | None
    features: Sequence[int | str] | None
    fit_intercept: bool

    outcomes_: Outcomes
    classes_: NDArray[Any]
    prepare_: Any
    budgets_: Budgets | None
    units_: Units
    coef_: Matrix
    intercept_: Vector
    n_features_in_: int

    _rows: RowIdentity | None = None
    _stated: Any = None  # the budgets that a fit was given

    def decision_function(self, X: ArrayLike) -> Vector:
        """Scores of features as reported, positive for ``classes_[1]``."""
        check_is_fitted(self)
        return self._scores(self._preparation.transform(self._validated(X)))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of features as reported."""
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
        """Accuracy where people answer the classifier; `score` is that on features as given.

        `who` moves: "unfavourable", everybody who should be refused, or "refused", everybody who is
        refused, whatever their label. They use `multiple` times what the budgets, or the response,
        allow. A black box is asked, about those who count."""
        people = self._met(X, y)
        weights = np.ones(len(people.X))
        if sample_weight is not None:
            weights = as_weights(sample_weight, people.X)
        require_who(who)
        Z = self._preparation.transform(people.X)
        signs, towards = self.outcomes_.signs(people.y), self.outcomes_.towards
        moving = Decisions(signs, self._scores(Z), towards).moving(who) & (weights > 0)
        scores = self._gamed(people, Z, moving, multiple)
        return Decisions(signs, scores, towards).measured("accuracy", weights)

    def gamed_decisions(self, X: ArrayLike, *, multiple: float = 1.0) -> NDArray[Any]:
        """The class that each person would get by using `multiple` times their budget, whether
        they use all of it or just enough."""
        people = self._met(X)
        Z = self._preparation.transform(people.X)
        return self._classes(self._gamed(people, Z, np.ones(len(Z), dtype=bool), multiple))

    @property
    def coef_names_(self) -> list[str]:
        """The columns that ``coef_`` is about: the table's, or what `prepare` makes of them."""
        check_is_fitted(self)
        return self._preparation.names_out(self.coef_.shape[1])

    @property
    def theta_(self) -> Vector:
        """Coefficients in the units of the fit, positive towards the favourable class."""
        check_is_fitted(self)
        return self.outcomes_.towards * self.units_.theta(self.coef_[0])

    @property
    def offset_(self) -> float:
        """The intercept in the units of the fit."""
        check_is_fitted(self)
        shifted = float(self.intercept_[0] + self.units_.mean @ self.coef_[0])
        return self.outcomes_.towards * shifted if self.fit_intercept else 0.0

    # --- how people move

    def _validated(self, X: ArrayLike, y: Any = "no_validation", reset: bool = False) -> Any:
        """The table as numbers, with the labels where there are any."""
        finite: Any = "allow-nan" if takes_gaps(self.prepare if reset else self.prepare_) else True
        return validate_data(
            self, X, y, dtype=np.float64, order="C", ensure_all_finite=finite, reset=reset
        )

    @property
    def _preparation(self) -> FittedPreparation:
        names = getattr(self, "feature_names_in_", None)
        named = None if names is None else tuple(map(str, names))
        return FittedPreparation(self.prepare_, named, self.n_features_in_)

    @property
    def _moving(self) -> ResponseChoice:
        told = self.budgets, self.response, self.power, self.features
        return ResponseChoice(*told, self._preparation, self.units_.mean.size)

    def _set_budgets(self, who: Counted) -> None:
        """Checks the budgets; defaults are those of these rows."""
        self.budgets_, self._stated = None, self.budgets
        if self.budgets is not None:
            features = self._preparation.features
            self.budgets_ = as_budgets(self.budgets, features, who.X, who.weights)
            for note in self.budgets_.notes:
                warn(note, BudgetWarning)

    def _budgets(self, who: Counted) -> Budgets:
        """Those of the fit; where others were given since, those, with defaults of these rows."""
        if self.budgets is self._stated and self.budgets_ is not None:
            return self.budgets_
        return as_budgets(self.budgets, self._preparation.features, who.X, who.weights)

    def _met(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Counted:
        """People whom the fitted model meets, if it can know them."""
        check_is_fitted(self)
        if y is None:
            table = self._validated(X)
            labels: Any = np.empty(len(table))
        else:
            table, labels = self._validated(X, y)
        if self._rows is not None and self.budgets is None:  # a model from a file has none
            self._rows.require(self._moving.knows, self._moving.answering(), table)
        return counted(table, labels, sample_weight)

    def _response(self, who: Counted, Z: Matrix, multiple: float = 1.0) -> Response:
        """How these people answer, in the units of the fit."""
        moving = self._moving
        if self.budgets is not None:
            return as_box_budget(moving.preparation.moves(who.X, self._budgets(who)), self.units_)
        response = scale_response(moving.answering(), multiple)
        return translate_response(restrict_to_rows(response, who.rows), self.units_, Z)

    def _gamed(self, who: Counted, Z: Matrix, group: NDArray[np.bool_], multiple: float) -> Vector:
        """Scores where the people of a group move, positive for ``classes_[1]``."""
        towards, preparation = self.outcomes_.towards, self._moving.preparation
        if self.budgets is not None:  # in the table's units: no rounding where nothing is scaled
            budgets = self._budgets(who).times(as_number("multiple", multiple))
            gains = preparation.gains(who.X, budgets, towards * self.coef_[0])
            return self._scores(Z) + towards * np.where(group, gains, 0.0)
        response = self._response(who, Z, multiple)
        if isinstance(response, KnownResponse):
            response.fit(*Z.shape)
            gains = response.gains(self.theta_, np.arange(len(Z)))
            return self._scores(Z) + towards * np.where(group, gains, 0.0)
        labels = np.where(group, -1.0, 1.0)
        people = Population(self.units_.standardised(Z), labels, response, one_label=True)
        return towards * (people.scores(self.theta_, np.arange(people.n)) + self.offset_)

    def _scores(self, Z: Matrix) -> Vector:
        scores: Vector = Z @ self.coef_[0] + self.intercept_[0]
        return scores

    def _classes(self, scores: Vector) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[(scores > 0).astype(np.int64)]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = fills_gaps(self.prepare)
        return tags
