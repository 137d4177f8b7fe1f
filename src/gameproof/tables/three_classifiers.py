"""Three classifiers on one split of a table: logistic, strategic and robust.

Logistic regression expects no gaming. Strategic regression expects the paper's response: people
move by a power times the coefficients. The robust classifier is trained for the budgets.

Class weights follow from the measure (`measures.py`). They move the boundary at which a classifier
approves; `Calibration` restores probabilities that fit the base rate. A stated threshold or
approval rate replaces the boundary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from gameproof.auditing.audit import POWERS, RADII, compare_models
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.linear_model import LinearModel
from gameproof.auditing.threshold_rows import approving_score
from gameproof.core.arguments import Vector
from gameproof.core.progress import step
from gameproof.estimators.logistic import StrategicLogisticRegression
from gameproof.estimators.measures import Measure, as_measure
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.probability_calibration import Calibration
from gameproof.estimators.robust import RobustStrategicClassifier
from gameproof.estimators.select_budget import BudgetCurve, select_budget
from gameproof.estimators.select_radius import RadiusCurve, select_radius
from gameproof.estimators.table_budgets import Budgets
from gameproof.tables.choice_rows import ChoiceRows, choice_rows
from gameproof.tables.dataset import Dataset
from gameproof.tables.defaults import GIVEN
from gameproof.tables.fit_notes import FitNotes
from gameproof.tables.fit_settings import FitSettings
from gameproof.tables.training_table import TrainingTable

LOGISTIC, STRATEGIC, ROBUST = "logistic", "strategic", "robust"
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
    measure: Measure
    balanced: bool
    calibrations: Mapping[str, Calibration]
    cuts: Mapping[str, float]  # the scores above which classifiers approve
    budget_curve: BudgetCurve | None = None
    train_for: float = 1.0
    rows_for_choice: int = 0
    groups: NDArray[np.str_] | None = None  # of the test rows
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
            LinearModel(
                model.coef_[0],
                float(model.intercept_[0]) - self.cuts[name],
                names,
                name,
                self.calibrations[name].moved(self.cuts[name]),
            )
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
            groups=self.groups,
            measure=self.measure,
        )
        approve = self.settings.approve
        return replace(found, radius=self.radius, outcomes=self.outcomes, approve=approve)


def fit_classifiers(
    training: TrainingTable,
    settings: FitSettings,
    *,
    seed: int,
    radius: float | Literal["auto"],
    progress: bool | None,
    title: str = "",
) -> ThreeClassifiers:
    """Splits the rows, chooses what is "auto", and fits and calibrates the three classifiers.

    `title` starts every line of progress.
    """
    features = training.plan.features
    rows = split_rows(training, settings.test_share, seed)
    train, test = (training.data.take(part) for part in rows)
    good = train.y > 0
    measure = as_measure(
        settings.measure, good, settings.cost_accept_bad, settings.cost_refuse_good
    )
    weight = measure.class_weight(good, settings.balanced)
    robust = RobustStrategicClassifier(
        label_cost=settings.label_cost,
        budgets=training.budgets,
        prepare=Prepare(features),
        class_weight=weight,
    )
    notes = FitNotes()
    choice = choice_rows(train, seed)
    budget_curve, train_for = None, settings.train_for
    if train_for == "auto" and not training.budgets.columns:
        train_for = 1.0
    if train_for == "auto":
        text = f"{title}choosing the multiple of the budgets on {choice.y.size:,} rows"
        with step(text, progress), notes.collected("choice of the budgets"):
            base = clone(robust).set_params(radius=0.0)
            budget_curve = select_budget(model=base, **_how_to_choose(choice, seed, measure))
        train_for = budget_curve.recommended
    robust.set_params(budgets=training.budgets.times(float(train_for)))
    chosen, reason, curve = radius, GIVEN, None
    if radius == "auto":
        text = f"{title}choosing the radius on {choice.y.size:,} rows"
        with step(text, progress), notes.collected("choice of the radius"):
            curve = select_radius(model=robust, **_how_to_choose(choice, seed, measure))
        chosen, reason = curve.recommended, " ".join(filter(None, (curve.reason, curve.note)))
    prepare = Prepare(features).fit(train.X)
    ranges = {features.names[at] for at in training.budgets.ranges}
    movable = [k for k, owner in enumerate(prepare.owners_) if owner in ranges]
    models = {
        name: StrategicLogisticRegression(features=movable, power=power, class_weight=weight)
        for name, power in ((LOGISTIC, 0.0), (STRATEGIC, settings.power))
    } | {ROBUST: robust.set_params(radius=chosen)}
    Z = prepare.transform(train.X)
    calibrations, cuts = {}, {}
    for name, model in models.items():
        text = f"{title}fitting the {name} classifier to {len(train):,} rows"
        with step(text, progress), notes.collected(name, has_radius=name == ROBUST):
            model.fit(train.X if name == ROBUST else Z, train.y)
        scores = model._scores(Z)
        calibrations[name] = Calibration.fitted(scores, good)
        cuts[name] = _cut(calibrations[name], scores, settings)
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
        measure,
        weight == "balanced",
        calibrations,
        cuts,
        budget_curve,
        float(train_for),
        choice.y.size if curve or budget_curve else 0,
        None if training.groups is None else training.groups[rows[1]],
        notes.sentences(),
    )


def split_rows(
    training: TrainingTable, share: float, seed: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Training rows and test rows: later ones, or a share with the classes in proportion."""
    data = training.data
    if training.later is not None:
        found = np.flatnonzero(~training.later), np.flatnonzero(training.later)
        how, what_else = training.split_by, "another value (--test-after)"
    else:
        n_test = min(max(round(share * len(data)), 2), len(data) - 2)
        found = data.split_rows(len(data) - n_test, seed=seed)
        how, what_else = f"a test share of {share:g} (--test)", "another share"
    for rows, what in zip(found, ("training", "test"), strict=True):
        good = data.y[rows] > 0
        if good.all() or not good.any():
            raise ValueError(
                f"with {how}, the {what} rows have one class only; give more rows, or {what_else}"
            )
    return found


def _cut(calibration: Calibration, scores: Vector, settings: FitSettings) -> float:
    """The score above which people are approved: the classifier's own, 0, unless one is stated."""
    if settings.threshold is not None:
        return calibration.score_at(settings.threshold)
    return 0.0 if settings.approve is None else approving_score(scores, settings.approve)


def _how_to_choose(choice: ChoiceRows, seed: int, measure: Measure) -> dict[str, Any]:
    """Arguments of `select_radius` and `select_budget`."""
    return {
        "X": choice.X,
        "y": choice.y,
        "sample_weight": choice.weights,
        # Every fold needs rows of both classes.
        "folds": max(2, min(FOLDS, choice.rarer)),
        "seed": seed,
        "measure": measure,
    }
