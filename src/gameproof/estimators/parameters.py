"""Parameters and fitted attributes that both classifiers share.

As scikit-learn requires, `__init__` only stores the parameters; `fit` checks them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.estimators.outcomes import Outcomes
from gameproof.estimators.row_identity import RowIdentity
from gameproof.estimators.scaling import Units
from gameproof.estimators.table_budgets import Budgets
from gameproof.minmax.result import Result
from gameproof.minmax.saddle import Saddle
from gameproof.minmax.solver import Solver
from gameproof.strategic.responses import Response


class ClassifierParameters(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Stores the parameters of a classifier and declares its fitted attributes."""

    outcomes_: Outcomes
    classes_: NDArray[Any]
    prepare_: Any
    budgets_: Budgets | None
    units_: Units
    coef_: Matrix
    intercept_: Vector
    movable_: Indices
    n_features_in_: int
    n_queries_: int
    result_: Saddle | Result
    training_: dict[str, Any]
    worst_case_risk_: float
    stated_budgets_: Any = None  # the parameter `budgets` of the fit
    trained_for_: float = 1.0  # the multiple of the budgets that the fit expects people to use
    row_identity_: RowIdentity | None = None  # None in a model from a file, or fitted to blocks

    def __init__(
        self,
        response: Response | None = None,
        features: Sequence[int | str] | None = None,
        *,
        budgets: Mapping[int | str, Any] | Sequence[int | str] | Budgets | str | None = None,
        prepare: Any = None,
        power: float | ArrayLike | None = None,
        favourable: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
        standardise: bool = True,
        fit_intercept: bool = True,
        bound: float = 20.0,
        solver: Solver | str | None = None,
        queries: int | None = None,
        epochs: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        journal: str | Path | None = None,
    ) -> None:
        self.response = response
        self.features = features
        self.budgets = budgets
        self.prepare = prepare
        self.power = power
        self.favourable = favourable
        self.class_weight = class_weight
        self.standardise = standardise
        self.fit_intercept = fit_intercept
        self.bound = bound
        self.solver = solver
        self.queries = queries
        self.epochs = epochs
        self.warm_start = warm_start
        self.random_state = random_state
        self.journal = journal

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
