"""`ChoosingClassifier`: a fit that chooses the radius and the budgets where they are "auto".

Both are chosen by cross-validation, as ``gameproof fit`` chooses them: on at most 5,000 rows
(`choice_rows.py`), first the multiple of the budgets, then the radius.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from gameproof.estimators.base import BaseStrategicClassifier, restored_on_failure
from gameproof.estimators.choice_rows import choice_rows, folds_for
from gameproof.estimators.folds import is_auto, without_auto
from gameproof.estimators.gamed_rows import validated
from gameproof.estimators.outcomes import Outcomes
from gameproof.estimators.radius_curve import RadiusCurve, radius_curve
from gameproof.estimators.sample_weight import WeightedRows
from gameproof.estimators.select_budget import BudgetCurve, select_budget


class ChoosingClassifier(BaseStrategicClassifier):
    """A classifier whose radius and budgets may be "auto"."""

    radius_: float
    radius_curve_: RadiusCurve
    budget_curve_: BudgetCurve

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the classifier to people before they respond.

        A radius or budgets of "auto" are chosen first. A fit that fails leaves the model unchanged.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            True features, before anyone moves.
        y : array-like of shape (n_samples,)
            True classes.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights, which are multiplied by the class weights.

        Returns
        -------
        self
            The fitted classifier.
        """
        with settled(self, lambda: (X, y, sample_weight)):
            super().fit(X, y, sample_weight)
        return self

    def _chosen(self, X: Any, y: Any, sample_weight: Any, total: int | None) -> dict[str, Any]:
        """The parameters to fit with; also sets the curves from which they were chosen."""
        table, labels = validated(self, X, y, reset=True)
        people = WeightedRows.of(X if hasattr(X, "columns") else table, labels, sample_weight)
        good = Outcomes.learned(people.y, self.favourable).signs(people.y) > 0
        seed = self.random_state if isinstance(self.random_state, (int, np.integer)) else 0
        choice = choice_rows(people, good, int(seed))
        n_total = good.size if total is None else total
        folds = folds_for(np.asarray(choice.y) == Outcomes.learned(labels, self.favourable)[1])
        base = without_auto(self, people.X)
        if is_auto(self.budgets):
            by_budget = select_budget(
                choice.X, choice.y, base, folds=folds, seed=int(seed), sample_weight=choice.weights
            )
            self.budget_curve_ = replace(by_budget, n_total=n_total)
            self.trained_for_ = self.budget_curve_.recommended
        found: dict[str, Any] = {"budgets": base.budgets, "features": base.features}
        if is_auto(getattr(self, "radius", None)):
            if is_auto(self.budgets):
                base.set_params(budgets=self.budget_curve_.recommended_budgets)
            by_radius = radius_curve(base, choice, folds=folds, seed=int(seed))
            self.radius_curve_ = replace(by_radius, n_total=n_total)
            self.radius_ = self.radius_curve_.recommended
            found["radius"] = self.radius_
        return found


@contextmanager
def settled(
    model: ChoosingClassifier, rows: Callable[[], tuple[Any, Any, Any]], total: int | None = None
) -> Iterator[None]:
    """Sets the parameters to fit with: what is "auto" is chosen on these rows, which are a table,
    labels and weights. If they are a sample, `total` is the number of all rows."""
    given = {"budgets": model.budgets, "features": model.features}
    if hasattr(model, "radius"):
        given["radius"] = model.radius
    # An interrupted fit raises too, and keeps what it has found.
    with restored_on_failure(model, Exception):
        model.__dict__.pop("trained_for_", None)
        try:
            if any(map(is_auto, given.values())):
                model.set_params(**model._chosen(*rows(), total))
            yield
        finally:
            used = model.budgets
            model.set_params(**given)
            if is_auto(model.budgets) and model.stated_budgets_ is used:
                model.stated_budgets_ = model.budgets
