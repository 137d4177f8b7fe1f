"""`TableModel`: a classifier together with the encoding of the tables that it takes.

A table is encoded by the plan of its columns, transformed by `Prepare` and scored by the
classifier, which may contain this `Prepare` itself. Calibration turns scores into probabilities.
All parts are one model in one file, so later tables are treated like the first one. Budgets are in
the table's units and transformed likewise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Matrix, Vector
from gameproof.estimators.base import BaseStrategicClassifier
from gameproof.estimators.fitted_preparation import FittedPreparation
from gameproof.estimators.gamed_rows import prepared_scores
from gameproof.estimators.model_io.model_files import (
    Record,
    from_json,
    restore_mapping,
    to_json,
    write_model_file,
)
from gameproof.estimators.model_io.model_parts import (
    as_text,
    budgets_record,
    encoders_record,
    features_record,
    restore_checked_budgets,
    restore_features,
    restore_prepare,
)
from gameproof.estimators.model_io.model_record import model_record, restore_model
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.probability_calibration import LOGISTIC, Calibration
from gameproof.estimators.table_budgets import Budgets, as_budgets
from gameproof.tables.cell_gaps import Gaps
from gameproof.tables.column_plan import ColumnPlan
from gameproof.tables.number_spelling import Spelling
from gameproof.tables.table import Table, as_table
from gameproof.tables.target import Target


class TableScores(NamedTuple):
    """The score of each row, and notes on missing values and unknown levels."""

    scores: Vector
    notes: list[str]


class Prepared(NamedTuple):
    """The features that the classifier takes, and notes on missing values and unknown levels."""

    Z: Matrix
    notes: list[str]


@final
@dataclass(frozen=True, eq=False)
class TableModel:
    """A classifier for whole tables, as `fit_table` and ``gameproof fit`` make it.

    Parameters
    ----------
    plan : ColumnPlan
        How the columns of a table are encoded.
    prepare : Prepare
        The fitted preparation of the encoded columns.
    classifier : RobustStrategicClassifier or StrategicLogisticRegression
        Fitted to labels -1 and +1, where +1 is the favourable outcome: either to prepared rows, or
        to encoded rows with this preparation inside,
        ``TableModel(plan, classifier.prepare_, classifier)``.
    training : mapping, optional
        A record of the fit, stored in the model's file.
    budgets : Budgets, optional
        What people can change; by default what the classifier was fitted for.
    calibration : Calibration, optional
        How scores of the classifier become probabilities, by default as in logistic regression.
    cut : float, optional
        The score of the classifier above which people are approved.

    Raises
    ------
    ValueError
        If the classifier contains another preparation.

    Examples
    --------
    >>> import gameproof as gp
    >>> from gameproof.tables.made_up_people import made_up_people
    >>> people = made_up_people(300)
    >>> model = gp.fit_table(
    ...     people, target="repaid", favourable="yes", budgets=["savings"], radius=0.05
    ... ).model
    >>> type(model).__name__, model.predict(people)[0] in ("yes", "no")
    ('TableModel', True)
    """

    plan: ColumnPlan
    prepare: Prepare
    classifier: BaseStrategicClassifier
    training: Mapping[str, Any] = field(default_factory=dict)
    budgets: Budgets | None = None
    calibration: Calibration = LOGISTIC
    cut: float = 0.0

    def __post_init__(self) -> None:
        own, inside = self.classifier.budgets_, self.classifier.prepare_
        if inside is not None and inside is not self.prepare:
            raise ValueError(
                "the classifier contains another preparation; give classifier.prepare_"
            )
        if self.budgets is None and inside is not None:
            object.__setattr__(self, "budgets", own)
        if self.budgets is not None:
            as_budgets(
                self.budgets, self.plan.features, np.zeros((1, len(self.plan.features.names)))
            )

    def __repr__(self) -> str:
        return (
            f"TableModel({self.plan.target.name} = {self.plan.target.favourable} from "
            f"{', '.join(self.plan.features.names)} by {type(self.classifier).__name__})"
        )

    @property
    def is_robust(self) -> bool:
        """Whether this is the model that was trained for budgets and a radius, not one of the
        baselines that are fitted beside it."""
        return bool(self.training.get("model", "robust") == "robust")

    @property
    def names(self) -> list[str]:
        """The names of the prepared features."""
        return [str(name) for name in self.prepare.get_feature_names_out()]

    def predict(self, table: Any) -> NDArray[Any]:
        """The predicted outcome of each row, as the training table writes it.

        The table is a file, a data frame or a mapping from column names to values.
        """
        return np.array(self.outcomes(self.decision_function(table)))

    def decision_function(self, table: Any) -> Vector:
        """The score of each row, positive for the favourable outcome."""
        return self.scored(as_table(table)).scores

    def predict_proba(self, table: Any) -> Matrix:
        """Probabilities with one column per class, in the order of ``classes_``."""
        favourable = self.probability(table)
        return np.column_stack([1 - favourable, favourable])

    @property
    def classes_(self) -> NDArray[Any]:
        """The unfavourable and the favourable outcome; scores are positive for the second."""
        return np.array([self.plan.target.other, self.plan.target.favourable])

    @property
    def coef_(self) -> Matrix:
        """Coefficients of the prepared features, which `names` lists."""
        return self.line[0][None, :]

    @property
    def intercept_(self) -> Vector:
        """The intercept of `decision_function`."""
        return np.array([self.line[1]])

    def probability(self, table: Any) -> Vector:
        """The probability of the favourable outcome in each row."""
        return self.probabilities(self.decision_function(table))

    def probabilities(self, scores: Vector) -> Vector:
        """The probability of the favourable outcome at each of these scores."""
        return self.calibration.moved(self.cut).probability(scores)

    @property
    def threshold(self) -> float:
        """The probability above which people get the favourable decision."""
        return float(self.probabilities(np.zeros(1))[0])

    @property
    def line(self) -> tuple[Vector, float]:
        """Coefficients of the prepared features, and the intercept of `decision_function`."""
        classifier = self.classifier
        return classifier.coef_[0], float(classifier.intercept_[0]) - self.cut

    def gamed_decisions(self, table: Any, *, multiple: float = 1.0) -> NDArray[Any]:
        """The predicted outcome of each row if that person uses `multiple` times their budget."""
        if self.budgets is None:
            raise ValueError(
                "this model has no budgets; give them: TableModel(…, budgets=Budgets.of(…))"
            )
        read = as_table(table)
        X = self.plan.encoded(read).X
        towards = self.classifier.outcomes_.towards
        gains = FittedPreparation(self.prepare, None, X.shape[1]).gains(
            X, self.budgets.times(multiple), towards * self.classifier.coef_[0]
        )
        return np.array(self.outcomes(self.scored(read).scores + towards * gains))

    def prepared(self, table: Table) -> Prepared:
        """The features that the classifier takes, with notes."""
        encoded = self.plan.encoded(table)
        gaps = Gaps.of(encoded, self.plan.features.names)
        notes = [*table.notes, *gaps.notes(self.plan.features, self.prepare)]
        return Prepared(self.prepare.transform(encoded.X), notes)

    def scored(self, table: Table) -> TableScores:
        """The scores, with notes."""
        Z, notes = self.prepared(table)
        return TableScores(self._scores(Z), notes)

    def encoded_scores(self, X: Matrix) -> Vector:
        """The scores of rows that the plan has encoded."""
        return self._scores(self.prepare.transform(X))

    def _scores(self, Z: Matrix) -> Vector:
        return prepared_scores(self.classifier, Z) - self.cut

    def outcomes(self, scores: Vector) -> list[str]:
        """The predicted outcomes for these scores, as the training table writes them."""
        target = self.plan.target
        return [target.favourable if score > 0 else target.other for score in scores.tolist()]

    def save(self, path: str | Path) -> None:
        """Writes a file that `load_model` reads: JSON text, which runs no code when opened."""
        write_model_file(Path(path), table_record(self))


def table_record(model: TableModel) -> Record:
    """A model as its file stores it."""
    plan, features = model.plan, model.plan.features
    return {
        "kind": TableModel.__name__,
        "plan": to_json(
            {
                "target": plan.target.name,
                "favourable": plan.target.favourable,
                "others": plan.target.others,
                "ignored": plan.target.ignored,
                "rest": plan.target.rest,
                **features_record(features),
                "left_out": [[name, why] for name, why in plan.left_out.items()],
                "pooled": [[name, count] for name, count in plan.pooled.items()],
                "dates": [[name, form] for name, form in plan.dates.items()],
                "units": [[name, unit] for name, unit in plan.units.items()],
                "spelling": [plan.spelling.decimal, plan.spelling.thousands],
            }
        ),
        "encoders": to_json(encoders_record(model.prepare)),
        "classifier": model_record(model.classifier, None),
        "training": to_json(dict(model.training)),
        "budgets": to_json(budgets_record(model.budgets)),
        "calibration": to_json(model.calibration),
        "cut": to_json(model.cut),
    }


def restored_table(
    content: Record, kinds: Mapping[str, type[BaseStrategicClassifier]]
) -> TableModel:
    """The model in a record; a record that is not a model raises errors of any kind."""
    saved = from_json(content["plan"])
    features = restore_features(saved)
    others = tuple(map(as_text, saved["others"]))
    target = Target(
        as_text(saved["target"]),
        as_text(saved["favourable"]),
        others,
        tuple(map(as_text, saved.get("ignored", ()))),
        saved.get("rest", len(others) > 1) is True,
    )
    left_out = {as_text(name): as_text(why) for name, why in saved["left_out"]}
    pooled = {as_text(name): int(count) for name, count in saved["pooled"]}
    # Older files have none of these: their tables had plain numbers and no dates.
    dates = {as_text(name): as_text(form) for name, form in saved.get("dates", ())}
    units = {as_text(name): as_text(unit) for name, unit in saved.get("units", ())}
    spelling = Spelling(*map(as_text, saved.get("spelling", (".", ""))))
    plan = ColumnPlan(target, features, left_out, pooled, dates, units, spelling)
    inner = content["classifier"]
    classifier = restore_model(kinds[inner["kind"]], inner)
    prepare = classifier.prepare_
    if prepare is None:
        prepare = restore_prepare(features, None, from_json(content["encoders"]))
    if prepare.features != features or classifier.coef_.shape[1] != len(
        prepare.get_feature_names_out()
    ):
        raise ValueError("the classifier does not match the columns")
    budgets = restore_checked_budgets(from_json(content.get("budgets")))  # none in version 1
    calibration, cut = _restored_decision(content)
    training = restore_mapping(content["training"])
    return TableModel(plan, prepare, classifier, training, budgets, calibration, cut)


def _restored_decision(content: Record) -> tuple[Calibration, float]:
    """Calibration and cut; files of versions 1 and 2 have neither, those of version 3 a line."""
    saved = from_json(content.get("calibration", list(LOGISTIC)))
    calibration, cut = Calibration(*map(float, saved)), float(content.get("cut", 0.0))
    rising = min(calibration.slope, calibration.low, calibration.high) > 0
    if not (np.isfinite([*calibration, cut]).all() and rising):
        raise ValueError("the calibration or the cut is not valid")
    return calibration, cut
