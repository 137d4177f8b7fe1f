"""Three classifiers on one split of a table: logistic, strategic and robust.

Logistic regression expects no gaming. Strategic regression expects the paper's response: people
move by a power times the coefficients. The robust classifier is trained for the budgets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, final

import numpy as np

from gameproof.auditing.audit import POWERS, RADII, compare_models
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.linear_model import LinearModel
from gameproof.core.progress import step
from gameproof.estimators.logistic import StrategicLogisticRegression
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.robust import RobustStrategicClassifier
from gameproof.estimators.select_radius import RadiusCurve, select_radius
from gameproof.estimators.table_budgets import Budgets
from gameproof.tables.dataset import Dataset
from gameproof.tables.defaults import GIVEN
from gameproof.tables.fit_notes import FitNotes
from gameproof.tables.fit_settings import FitSettings
from gameproof.tables.training_table import TrainingTable

LOGISTIC, STRATEGIC, ROBUST = "logistic", "strategic", "robust"
# More rows hardly change the choice of the radius, and each is fitted dozens of times.
ROWS_FOR_RADIUS = 5000
FOLDS = 5


@final
@dataclass(frozen=True, eq=False)
class ThreeClassifiers:
    """Fitted classifiers by name, with one preparation, and the split that they belong to."""

    prepare: Prepare
    models: Mapping[str, Any]
    train: Dataset
    test: Dataset
    radius: float
    radius_reason: str
    radius_curve: RadiusCurve | None
    budgets: Budgets
    outcomes: tuple[str, str]
    settings: FitSettings
    notes: tuple[str, ...] = ()

    @cached_property
    def audit(self) -> Audit:
        """The audit of all three on the test rows, at the radius and the power of the fit."""
        return self._audited((), ())

    @cached_property
    def audit_with_curves(self) -> Audit:
        """The same audit over grids of powers and radii, as pages draw them."""
        return self._audited(POWERS, RADII)

    def _audited(self, powers: Sequence[float], radii: Sequence[float]) -> Audit:
        names = [str(name) for name in self.prepare.get_feature_names_out()]
        lines = [
            LinearModel(model.coef_[0], float(model.intercept_[0]), names, name)
            for name, model in self.models.items()
        ]
        found = compare_models(
            lines,
            self.test.X,
            self.test.y,
            budgets=self.budgets,
            prepare=self.prepare,
            cost_accept_bad=self.settings.cost_accept_bad,
            cost_refuse_good=self.settings.cost_refuse_good,
            powers=powers,
            radii=[*radii, self.radius],
            label_cost=self.settings.label_cost,
            power=self.settings.power,
            scale=self.models[ROBUST].units_.scale,
        )
        return replace(found, radius=self.radius, outcomes=self.outcomes)


def fit_classifiers(
    training: TrainingTable,
    settings: FitSettings,
    *,
    seed: int,
    radius: float | Literal["auto"],
    progress: bool | None,
    title: str = "",
) -> ThreeClassifiers:
    """Splits the rows, chooses the radius where it is "auto", and fits the three classifiers.

    `title` starts every line of progress.
    """
    features = training.plan.features
    train, test = split(training.data, settings.test_share, seed)
    prepare = Prepare(features).fit(train.X)
    robust = RobustStrategicClassifier(
        label_cost=settings.label_cost, budgets=training.budgets, prepare=Prepare(features)
    )
    notes = FitNotes()
    chosen, reason, curve = radius, GIVEN, None
    if radius == "auto":
        with notes.collected("choice of the radius"):
            curve = _radius_curve(train, robust, seed, title, progress)
        chosen, reason = curve.recommended, " ".join(filter(None, (curve.reason, curve.note)))
    ranges = {features.names[at] for at in training.budgets.ranges}
    movable = [k for k, owner in enumerate(prepare.owners_) if owner in ranges]
    models = {
        LOGISTIC: StrategicLogisticRegression(features=movable, power=0.0),
        STRATEGIC: StrategicLogisticRegression(features=movable, power=settings.power),
        ROBUST: robust.set_params(radius=chosen),
    }
    for name, model in models.items():
        text = f"{title}fitting the {name} classifier to {len(train):,} rows"
        with step(text, progress), notes.collected(name, has_radius=name == ROBUST):
            model.fit(train.X if name == ROBUST else prepare.transform(train.X), train.y)
    return ThreeClassifiers(
        robust.prepare_,
        models,
        train,
        test,
        float(chosen),
        reason,
        curve,
        training.budgets,
        training.outcomes,
        settings,
        notes.sentences(),
    )


def split(data: Dataset, share: float, seed: int) -> tuple[Dataset, Dataset]:
    """Training rows and a share of test rows, with the classes in the same proportions."""
    n_test = min(max(round(share * len(data)), 2), len(data) - 2)
    train, test = data.split(len(data) - n_test, seed=seed)
    for part, what in ((train, "training"), (test, "test")):
        if not (part.y > 0).any() or not (part.y < 0).any():
            raise ValueError(
                f"with a test share of {share:g} (--test), the {what} rows have one class only; "
                "give more rows, or another share"
            )
    return train, test


def _radius_curve(
    train: Dataset, robust: Any, seed: int, title: str, progress: bool | None
) -> RadiusCurve:
    """Cross-validated accuracy over radii, on a subsample of large tables."""
    X, y = train.X, train.y
    rows = np.arange(y.size)
    if y.size > ROWS_FOR_RADIUS:
        rows = np.random.default_rng(seed).permutation(y.size)[:ROWS_FOR_RADIUS]
    # Every fold needs rows of both classes.
    folds = max(2, min(FOLDS, int((y[rows] > 0).sum()), int((y[rows] < 0).sum())))
    with step(f"{title}choosing the radius on {rows.size:,} rows", progress):
        return select_radius(X[rows], y[rows], robust, folds=folds, seed=seed)
