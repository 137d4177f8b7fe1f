"""Rows of a table as a fitted classifier sees them, and their scores before and after gaming.

The table is prepared and scored. People who move gain what their budgets, or their response, allow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from gameproof.core.arguments import Matrix, Vector, as_number
from gameproof.core.errors import BudgetWarning, warn
from gameproof.estimators.fitted_preparation import FittedPreparation, takes_frames, takes_gaps
from gameproof.estimators.gamed_decisions import Decisions
from gameproof.estimators.parameters import ClassifierParameters
from gameproof.estimators.response_choice import ResponseChoice, as_box_budget, scale_response
from gameproof.estimators.row_identity import restrict_to_rows
from gameproof.estimators.sample_weight import WeightedRows
from gameproof.estimators.scaling import translate_response
from gameproof.estimators.table_budgets import Budgets
from gameproof.estimators.table_columns import as_rows, is_frame
from gameproof.strategic.population import Population
from gameproof.strategic.responses import KnownResponse, Response


class GamedRows(NamedTuple):
    """People, their prepared columns `Z`, and the classifier that scores them.

    Scores are positive for the second of the two classes."""

    model: ClassifierParameters
    people: WeightedRows
    Z: Matrix

    @classmethod
    def of(
        cls,
        model: ClassifierParameters,
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> GamedRows:
        """Validated rows; raises if the response is keyed by row and these are other rows."""
        check_is_fitted(model)
        if y is None:
            table = validated(model, X)
            labels: Any = np.empty(len(table))
        else:
            table, labels = validated(model, X, y)
        if model.row_identity_ is not None and model.budgets is None:
            choice = ResponseChoice.of(model)
            rows = choice.preparation.numbers(table)
            model.row_identity_.require(choice.keyed, choice.chosen_response(), rows)
        people = WeightedRows.of(table, labels, sample_weight)
        return cls(model, people, FittedPreparation.of(model).transform(people.X))

    @property
    def signs(self) -> Vector:
        """+1 for people of the favourable class, -1 for the others."""
        return self.model.outcomes_.signs(np.asarray(self.people.y))

    @property
    def scores(self) -> Vector:
        """Scores when nobody moves."""
        return prepared_scores(self.model, self.Z)

    def gamed_scores(self, moving: NDArray[np.bool_], multiple: float = 1.0) -> Vector:
        """Scores after some people have moved, as far as this multiple of what they can."""
        model, towards = self.model, self.model.outcomes_.towards
        preparation = ResponseChoice.of(model).preparation
        if model.budgets is not None:  # gains in the table's units avoid the rounding of scaling
            budgets = self._budgets().times(as_number("multiple", multiple))
            gains = preparation.gains(self.people.X, budgets, towards * model.coef_[0], Z=self.Z)
            return self.scores + towards * np.where(moving, gains, 0.0)
        response = self.response(multiple)
        if isinstance(response, KnownResponse):
            response.fit(*self.Z.shape)
            gains = response.gains(model.theta_, np.arange(len(self.Z)))
            return self.scores + towards * np.where(moving, gains, 0.0)
        labels = np.where(moving, -1.0, 1.0)
        standardised = model.units_.standardised(self.Z)
        population = Population(standardised, labels, response, one_label=True)
        return towards * (population.scores(model.theta_, np.arange(population.n)) + model.offset_)

    def decisions(self, scores: Vector) -> Decisions:
        """The decisions by scores of these people."""
        return Decisions(self.signs, scores, self.model.outcomes_.towards)

    def response(self, multiple: float = 1.0) -> Response:
        """How these people respond, in the units of the fit. Budgets are those that the fit expects
        people to use, whatever the multiple is."""
        model, choice = self.model, ResponseChoice.of(self.model)
        if model.budgets is not None:
            budgets = self._budgets().times(model.trained_for_)
            return as_box_budget(choice.preparation.moves(self.people.X, budgets), model.units_)
        response = scale_response(choice.chosen_response(), multiple)
        own = restrict_to_rows(response, self.people.positions)
        return translate_response(own, model.units_, self.Z)

    def _budgets(self) -> Budgets:
        """The budgets of the fit, or those that were set since then."""
        model, (X, _, weights) = self.model, self.people.data
        if model.budgets is model.stated_budgets_ and model.budgets_ is not None:
            return model.budgets_
        return FittedPreparation.of(model).budgets(model.budgets, X, weights)


# What scikit-learn says of tables that a preparation would make sense of.
PREPARABLE = "Input X contains NaN", "could not convert string to float"


def validated(
    model: ClassifierParameters, X: ArrayLike, y: Any = "no_validation", reset: bool = False
) -> Any:
    """The table as numbers, with the labels if there are any."""
    prepare = model.prepare if reset else model.prepare_
    if takes_frames(prepare) and is_frame(X):  # may hold text, which the preparation encodes
        rows = as_rows(validate_data(model, X, skip_check_array=True, reset=reset))
        if isinstance(y, str) and y == "no_validation":
            return rows
        check_consistent_length(rows, labels := column_or_1d(y, warn=True))
        return rows, labels
    finite: Any = "allow-nan" if takes_gaps(prepare) else True
    try:
        return validate_data(
            model, X, y, dtype=np.float64, order="C", ensure_all_finite=finite, reset=reset
        )
    except ValueError as error:
        fault = str(error).splitlines()[0]
        if prepare is None and any(text in fault for text in PREPARABLE):
            raise ValueError(
                f"{fault.rstrip('.')}; use prepare=gp.Prepare(), which fills in missing values and "
                "encodes text of data frames"
            ) from error
        raise


def prepared_rows(model: ClassifierParameters, X: ArrayLike) -> Matrix:
    """The columns that a fitted classifier uses."""
    return FittedPreparation.of(model).transform(validated(model, X))


def prepared_scores(model: ClassifierParameters, Z: Matrix) -> Vector:
    """Scores of rows that are prepared already, positive for ``classes_[1]``."""
    scores: Vector = Z @ model.coef_[0] + model.intercept_[0]
    return scores


def settle_budgets(model: ClassifierParameters, rows: Callable[[], WeightedRows]) -> None:
    """Checks the budgets of a fit; default ranges come from these rows."""
    model.budgets_, model.stated_budgets_ = None, model.budgets
    if model.budgets is not None:
        X, _, weights = rows().data
        model.budgets_ = FittedPreparation.of(model).budgets(model.budgets, X, weights)
        for note in model.budgets_.notes:
            warn(note, BudgetWarning)
