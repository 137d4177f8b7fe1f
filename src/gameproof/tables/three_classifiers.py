"""Three classifiers on one split of a table: logistic, strategic and robust.

Logistic regression expects no gaming. Strategic regression expects the paper's response: people
move by a power times the coefficients. The robust classifier is trained for the budgets.

Class weights follow from the measure (`measures.py`). They move the boundary at which a classifier
approves; `Calibration` restores probabilities that fit the base rate. A stated threshold or
approval rate replaces the boundary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, final

from gameproof.auditing.audit import POWERS, RADII, compare_models
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.linear_model import LinearModel
from gameproof.core.progress import step
from gameproof.estimators.choice_rows import choice_rows
from gameproof.estimators.logistic import StrategicLogisticRegression
from gameproof.estimators.measures import Measure, as_measure
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.probability_calibration import Calibration
from gameproof.estimators.radius_curve import RadiusCurve
from gameproof.estimators.robust import RobustStrategicClassifier
from gameproof.estimators.sample_weight import WeightedRows
from gameproof.estimators.select_budget import BudgetCurve
from gameproof.estimators.table_budgets import Budgets
from gameproof.tables.block_split import BlockSplit
from gameproof.tables.chosen_settings import choose_settings
from gameproof.tables.fit_notes import FitNotes
from gameproof.tables.fit_settings import FitSettings
from gameproof.tables.split_table import MemorySplit, SplitTable
from gameproof.tables.training_table import TrainingTable

LOGISTIC, STRATEGIC, ROBUST = "logistic", "strategic", "robust"


@final
@dataclass(frozen=True, eq=False)
class ThreeClassifiers:
    """Fitted classifiers by name, with one preparation, and the split that they belong to."""

    prepare: Prepare
    models: Mapping[str, Any]
    split: SplitTable
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
    warned: FitNotes = field(default_factory=FitNotes)
    warnings: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What to keep in mind about the split and the fits."""
        return (*self.split.notes(), *self.warned.sentences())

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
            self.split.test.X,
            self.split.test.y,
            budgets=self.budgets,
            prepare=self.prepare,
            cost_accept_bad=self.settings.cost_accept_bad,
            cost_refuse_good=self.settings.cost_refuse_good,
            powers=powers,
            radii=[*radii, self.radius],
            label_cost=self.settings.label_cost,
            power=self.settings.power,
            scale=self.models[ROBUST].units_.scale,
            groups=self.split.groups,
            measure=self.measure,
        )
        found = self.split.tested(found, lines, self.prepare)
        return replace(
            found,
            radius=self.radius,
            outcomes=self.outcomes,
            approve=self.settings.approve,
            grouped_by=self.split.grouped_by,
            warnings=self.warnings,
        )


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
    split = split_table(training, settings.test_share, seed)
    measure = as_measure(
        settings.measure, split.good_share, settings.cost_accept_bad, settings.cost_refuse_good
    )
    weight = measure.class_weight(split.good_share, settings.balanced)
    robust = RobustStrategicClassifier(
        label_cost=settings.label_cost,
        budgets=training.budgets,
        prepare=Prepare(features),
        class_weight=weight,
    )
    notes = FitNotes()
    train = split.train
    rows = choice_rows(WeightedRows(train.X, train.y, None), train.y > 0, seed)
    chosen = choose_settings(
        robust,
        training.budgets,
        rows,
        settings.train_for,
        radius,
        seed=seed,
        measure=measure,
        notes=notes,
        progress=progress,
        title=title,
    )
    with step(f"{title}preparing {split.n_train:,} rows", progress, split.progress):
        prepare = split.prepare(Prepare(features))
    ranges = {features.names[at] for at in training.budgets.ranges}
    movable = [k for k, owner in enumerate(prepare.owners_) if owner in ranges]
    models = {
        name: StrategicLogisticRegression(features=movable, power=power, class_weight=weight)
        for name, power in ((LOGISTIC, 0.0), (STRATEGIC, settings.power))
    } | {ROBUST: robust}
    for name, model in models.items():
        text = f"{title}fitting the {name} classifier to {split.n_train:,} rows"
        has_radius = name == ROBUST
        with step(text, progress, split.progress), notes.collected(name, has_radius=has_radius):
            split.fit(model, prepare)
    with step(f"{title}calibrating on {split.n_train:,} rows", progress, split.progress):
        decided = split.decisions(models, prepare, settings)
    return ThreeClassifiers(
        prepare=robust.prepare_,
        models=models,
        split=split,
        radius=chosen.radius,
        radius_reason=chosen.radius_reason,
        radius_curve=chosen.radius_curve,
        budgets=training.budgets,
        outcomes=training.outcomes,
        settings=settings,
        measure=measure,
        balanced=weight == "balanced",
        calibrations={name: calibration for name, (calibration, _) in decided.items()},
        cuts={name: cut for name, (_, cut) in decided.items()},
        budget_curve=chosen.budget_curve,
        train_for=chosen.train_for,
        rows_for_choice=rows.y.size if chosen.radius_curve or chosen.budget_curve else 0,
        warned=notes,
        warnings=tuple(training.leaks),
    )


def split_table(training: TrainingTable, share: float, seed: int) -> SplitTable:
    """The training rows and the test rows of a table in memory or in files."""
    kind = MemorySplit if training.whole is None else BlockSplit
    return kind(training, share, seed)
