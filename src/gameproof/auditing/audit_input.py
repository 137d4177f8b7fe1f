"""The input of an audit: models of several kinds, a table, labels and budgets.

Every classifier is applied to the table as its own `predict` would be: with the steps of its
pipeline, or with the preparation inside it. A `LinearModel` takes the table itself, or the columns
of the preparation that the user gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gameproof.auditing.applicants import Applicants, Given
from gameproof.auditing.linear_model import LinearModel
from gameproof.auditing.scored_applicants import ScoredApplicants
from gameproof.core.naming import quoted_list
from gameproof.estimators.averaged_score import AveragedScore
from gameproof.estimators.gamed_classifier import GamedClassifier
from gameproof.estimators.labels import Labels, as_labels
from gameproof.estimators.model_io.model_record import trained_on
from gameproof.estimators.probability_calibration import Calibration
from gameproof.estimators.read_classifier import ReadClassifier, read_classifier
from gameproof.estimators.table_columns import column_names


class AuditInput(NamedTuple):
    """Each model with the applicants as it sees them, and the labels of the applicants."""

    cases: list[ScoredApplicants]
    labels: Labels
    linear: bool  # whether all scores are linear in prepared columns
    trained_on_these: bool  # whether the last model is known to be trained on these people


class Candidate(NamedTuple):
    """A model under audit; `read` is None for a `LinearModel`."""

    name: str
    model: Any
    read: ReadClassifier | None


def audit_input(
    models: Sequence[Any] | Mapping[str, Any],
    X: ArrayLike,
    y: ArrayLike,
    budgets: Given | None,
    prepare: Any,
    scale: ArrayLike | None,
    favourable: Any,
) -> AuditInput:
    """Checks that models, table, labels and budgets fit together."""
    named = _named(models)
    labels = _labels(named, y, favourable)
    last = named[-1].model
    if budgets is None:
        budgets = getattr(last, "budgets_", None)
    shared = _preparation(named[-1]) if prepare is None else prepare
    people: dict[Any, Applicants] = {}
    cases = []
    for each in named:
        line, own, average = _scored(each, labels, X)
        if own is None and (prepare is not None or line.coefficients.size != np.shape(X)[1]):
            own = shared
        names = line.names if line.named and average is None else None
        key = (id(own), id(average), names)
        if key not in people:
            people[key] = Applicants.of(X, labels.signs, budgets, own, names, average)
        cases.append(ScoredApplicants.of(line, people[key], scale))
    linear = all(each.read is None or each.read.linear for each in named)
    tables = (X, cases[-1].people.Z)
    return AuditInput(cases, labels, linear, any(trained_on(last, each, y) for each in tables))


def _preparation(last: Candidate) -> Any:
    """The preparation inside a classifier, with the names of its table; None without one."""
    if last.read is None or getattr(last.model, "prepare_", None) is None:
        return None
    return last.read.members[0].transformer


def _named(models: Sequence[Any] | Mapping[str, Any]) -> list[Candidate]:
    if isinstance(models, Mapping):
        found = [_candidate(model, str(name)) for name, model in models.items()]
    else:
        found = [_candidate(model, None) for model in models]
    if not found:
        raise ValueError("models is empty; give at least one model")
    names = [each.name for each in found]
    if len(set(names)) < len(names):
        raise ValueError(
            f"models must have different names, got {quoted_list(names)}; give a mapping from "
            "names to models"
        )
    first, *others = [each.model for each in found if each.read is None] or [None]
    for other in others:
        if other.names != first.names:
            raise ValueError(f"{other.name} and {first.name} have different features")
    return found


def _candidate(model: Any, name: str | None) -> Candidate:
    if isinstance(model, LinearModel):
        return Candidate(name or model.name, model, None)
    if type(model).__name__ == "TableModel":  # known by name: its room comes after this one
        raise TypeError(
            "audit and compare_models take classifiers, got a TableModel, which reads its own "
            "columns; call gp.audit_table(model, table), or run `gameproof audit MODEL TABLE`"
        )
    read = read_classifier(model)
    return Candidate(name or read.kind, model, read)


def _labels(models: Sequence[Candidate], y: ArrayLike, favourable: Any) -> Labels:
    """Labels for which all models that know their classes agree."""
    classes: list[Any] = []
    stated: list[Any] = []
    for each in models:
        if each.read is not None:
            own = each.read.classes.tolist()
            if classes and set(own) != set(classes):
                raise ValueError(
                    f"the models were fitted to different labels, {own} and {classes}; fit them to "
                    "the same labels"
                )
            classes = own
        if isinstance(each.model, GamedClassifier):
            stated.append(each.model.outcomes_.favourable)
    if favourable is None and len(set(stated)) > 1:
        raise ValueError(
            f"the models were fitted for different favourable classes, {stated}; give favourable"
        )
    return as_labels(y, favourable, classes, stated[0] if stated else None)


def _scored(
    each: Candidate, labels: Labels, X: Any
) -> tuple[LinearModel, Any, AveragedScore | None]:
    """The linear model towards the favourable label, its own transformer, and an averaged score."""
    if each.read is None:
        line = each.model
        return replace(line, name=each.name), None, None
    read = each.read
    sign = 1.0 if labels.favourable == read.classes[1] else -1.0
    if not read.linear:
        average = AveragedScore.of(read, sign, column_names(X), np.shape(X)[1])
        return LinearModel([1.0], 0.0, None, each.name, None), None, average
    (member,) = read.members
    names = None if member.transformers else read.names
    odds = Calibration(1.0, sign * member.cut) if member.log_odds else None
    line = LinearModel(sign * member.coef, sign * member.intercept, names, each.name, odds)
    return line, member.transformer, None
