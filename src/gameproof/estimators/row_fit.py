"""A fit to a table in blocks: in files, or on a cluster.

The first pass over the blocks counts labels and weights and takes means and deviations. With
gameproof's `Prepare`, further passes learn its encoders. If people differ in how far they can
move, one pass finds the widest moves. Then Newton's method takes three passes per step.

The result is that of a fit in memory, up to rounding, with two exceptions: default budgets come
from a sample of rows, and the solution has no gamma for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils.class_weight import compute_class_weight

from gameproof.core.arguments import Matrix, Vector, shown
from gameproof.core.errors import DataError
from gameproof.estimators.base import BaseStrategicClassifier
from gameproof.estimators.exact_fit import (
    ignore_data,
    problem_options,
    require_few_columns,
    warn_at_bound,
)
from gameproof.estimators.fitted_preparation import FittedPreparation
from gameproof.estimators.model_io.model_record import training_record
from gameproof.estimators.outcomes import Outcomes
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.prepare_blocks import fit_prepare
from gameproof.estimators.row_recipe import CheckedRows, Columns, Extremes, RowRecipe
from gameproof.estimators.sample_weight import WeightedRows
from gameproof.estimators.scaling import Units
from gameproof.minmax.problem import Saddle
from gameproof.rows.cores import one_blas_thread
from gameproof.rows.moments import Moments
from gameproof.rows.row_source import RawRows, RowSource
from gameproof.strategic.newton.convex_objective import ConvexObjective
from gameproof.strategic.newton.lifts import lifts_of
from gameproof.strategic.newton.minimum import certified_solution
from gameproof.strategic.responses import KnownResponse
from gameproof.strategic.row_problem import RowPeople, RowProblem
from gameproof.strategic.row_worst_case import row_worst_case

# The rows from which default budgets are computed.
SAMPLE = 100_000

Model = TypeVar("Model", bound=BaseStrategicClassifier)


class Seen(NamedTuple):
    """What the first pass finds in a block: labels with their numbers of rows, total weights,
    smallest and largest weights; moments of the prepared columns if they are known; and a few
    rows."""

    labels: tuple[Any, ...]
    counts: Vector
    masses: Vector
    lightest: Vector
    heaviest: Vector
    moments: Moments | None
    few: CheckedRows

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.counts.sum())

    @classmethod
    def of(
        cls, raw: RawRows, columns: Columns, preparation: FittedPreparation | None, share: float
    ) -> Seen:
        """What is seen in a block; `share` of its rows are kept."""
        people = columns.checked(raw)
        labels, inverse = np.unique(people.y, return_inverse=True)
        own = np.ones(len(people.y)) if people.weights is None else people.weights
        groups = [own[inverse == k] for k in range(labels.size)]
        moments = None
        if preparation is not None:
            Z = preparation.transform(people.X) if len(people.y) else np.empty((0, columns.d))
            moments = Moments.of(Z, people.weights)
        every = np.arange(0, len(people.y), max(1, round(1 / share)))
        few = people.X.iloc[every] if hasattr(people.X, "iloc") else people.X[every]
        weights = None if people.weights is None else people.weights[every]
        return cls(
            tuple(labels.tolist()),
            np.array([group.size for group in groups], dtype=np.float64),
            np.array([group.sum() for group in groups]),
            np.array([group.min() for group in groups]),
            np.array([group.max() for group in groups]),
            moments,
            CheckedRows(few, people.y[every], weights),
        )


class Summary(NamedTuple):
    """What the first pass found in all blocks."""

    outcomes: Outcomes
    sizes: list[int]
    counts: Vector
    masses: Vector
    lightest: Vector
    heaviest: Vector
    moments: Moments | None
    few: CheckedRows

    @classmethod
    def of(cls, parts: Sequence[Seen], favourable: Any) -> Summary:
        """Merges what was seen, in the order of the blocks."""
        if not any(part.size for part in parts):
            raise DataError("the table has no rows with a positive weight")
        labels = sorted({label for part in parts for label in part.labels})
        outcomes = Outcomes.learned(np.array(labels), favourable)
        counts, masses = np.zeros(2), np.zeros(2)
        lightest, heaviest = np.full(2, np.inf), np.zeros(2)
        for part in parts:
            at = [labels.index(label) for label in part.labels]
            counts[at] += part.counts
            masses[at] += part.masses
            lightest[at] = np.minimum(lightest[at], part.lightest)
            heaviest[at] = np.maximum(heaviest[at], part.heaviest)
        moments = [part.moments for part in parts if part.moments is not None and part.size]
        total = Moments.total(moments) if moments else None
        few = _joined([part.few for part in parts if part.size])
        return cls(
            outcomes, [part.size for part in parts], counts, masses, lightest, heaviest, total, few
        )

    def class_weights(self, class_weight: Any) -> Vector:
        """The weight of each class."""
        if class_weight is None:
            return np.ones(2)
        if isinstance(class_weight, str) and class_weight == "balanced":
            balanced: Vector = self.masses.sum() / (2 * self.masses)
            return balanced
        classes = self.outcomes.classes
        by_class: Vector = compute_class_weight(class_weight, classes=classes, y=classes)
        for label, weight in zip(classes.tolist(), by_class, strict=True):
            if not (np.isfinite(weight) and weight > 0):
                raise ValueError(f"class_weight must be positive, got {weight} for {label!r}")
        return by_class


def fit_blocks(
    model: Model, source: RowSource, d: int, names: Sequence[str] | None = None
) -> Model:
    """Fits a classifier to a table in blocks with d columns. A fit that fails changes nothing."""
    if model.solver is not None:
        raise TypeError(
            "a table in blocks is fitted exactly: nobody is asked; leave out solver, and give a "
            "response that is known"
        )
    with model._restore_on_failure(), one_blas_thread():
        for name in ("feature_names_in_", "result_"):
            model.__dict__.pop(name, None)
        model.n_features_in_ = d
        named = None if names is None else tuple(map(str, names))
        if named is not None:
            model.feature_names_in_ = np.array(named, dtype=object)
        columns = Columns(d, named, model.prepare)
        _fit(model, source, columns)
    return model


def _fit(model: Any, source: RowSource, columns: Columns) -> None:
    known = _known_preparation(model.prepare, columns)
    share = 1.0 if source.n is None else min(1.0, SAMPLE / source.n)
    summary = Summary.of(list(source.map(Seen.of, columns, known, share)), model.favourable)
    model.outcomes_, model.classes_ = summary.outcomes, summary.outcomes.classes
    moments = summary.moments
    if known is None:
        transformer, moments = fit_prepare(model.prepare, source, columns)
        known = FittedPreparation(transformer, columns.names, columns.d)
    assert moments is not None
    model.prepare_ = known.transformer
    few = WeightedRows(summary.few.X, summary.few.y, summary.few.weights)
    model._set_budgets(few)
    width = moments.mean.size
    model.units_ = Units.plain(width)
    if model.standardise:
        model.units_ = Units.of_moments(moments, model.fit_intercept)
    problem = _problem(model, source, columns, summary, moments, known)
    model.movable_ = model._choice.movable(problem.population.response)
    model.n_queries_ = 0
    model.result_ = solve_rows(problem, model.bound)
    theta, offset = problem.split(model.result_.x)[0], problem.offset(model.result_.x)
    model._set_coefficients(theta, offset)
    model.worst_case_risk_ = row_worst_case(problem, theta, offset)
    model.training_ = training_record(model, problem, None)
    model._row_identity = None


def _known_preparation(given: Any, columns: Columns) -> FittedPreparation | None:
    """The preparation, unless it has to be learned from the blocks."""
    if given is None:
        return FittedPreparation(None, columns.names, columns.d)
    if isinstance(given, Prepare):
        return None
    if isinstance(given, FrozenEstimator):
        return FittedPreparation(given, columns.names, columns.d)
    raise TypeError(
        "a table in blocks is prepared by gameproof's Prepare, or by a transformer that is fitted "
        f"already: fit {shown(given)} to a sample and give FrozenEstimator(it)"
    )


def _problem(
    model: Any,
    source: RowSource,
    columns: Columns,
    summary: Summary,
    moments: Moments,
    preparation: FittedPreparation,
) -> RowProblem:
    recipe = RowRecipe(
        columns,
        summary.outcomes,
        _weights(model.class_weight, summary),
        preparation,
        model.units_,
        model.budgets_,
    )
    response = _response(model, source, recipe)
    ends = np.abs(np.stack([moments.least, moments.most]) - model.units_.mean)
    positive = int(summary.outcomes.favourable == summary.outcomes.classes[1])
    by_class = summary.class_weights(model.class_weight) * summary.masses
    people = RowPeople(
        n=sum(summary.sizes),
        d=moments.mean.size,
        n_positive=int(summary.counts[positive]),
        positive_share=float(by_class[positive] / by_class.sum()),
        weighted=recipe.by_class is not None,
        largest_by_feature=(ends / model.units_.scale).max(axis=0),
        response=response,
        movers=np.arange(len(response.bounds[0]) if hasattr(response, "bounds") else 0),
    )
    lifts = lifts_of(people)
    if any(lift.own_count for lift in lifts):
        recipe = replace(recipe, lifts=tuple(lifts))
    rows = source.prepared(recipe, sizes=summary.sizes, d=people.d)
    radius, label_cost, loss, cap, intercept = problem_options(
        model._ball, model.bound, model.fit_intercept
    )
    return RowProblem(people, rows, radius, label_cost, loss, alpha_max=cap, intercept=intercept)


def solve_rows(problem: RowProblem, bound: float) -> Saddle:
    """The certified saddle point. Its y is empty: gamma stays in the blocks."""
    require_few_columns(problem.population.d)
    x, _, certificate = certified_solution(ConvexObjective(problem))
    saddle = Saddle(x, np.zeros(0), certificate.value, certificate.gap)
    warn_at_bound(problem, saddle, bound)
    return ignore_data(problem, saddle) if problem.ignores_data(saddle.x) else saddle


def _weights(class_weight: Any, summary: Summary) -> Vector | None:
    """The weights of both classes with which the mean weight is 1; None if all are equal."""
    by_class = summary.class_weights(class_weight)
    least, most = by_class * summary.lightest, by_class * summary.heaviest
    if least.min() == most.max():
        return None
    mean = float(by_class @ summary.masses) / float(summary.counts.sum())
    weights: Vector = by_class / mean
    return weights


def _response(
    model: BaseStrategicClassifier, source: RowSource, recipe: RowRecipe
) -> KnownResponse:
    """The response of all people, or of a few who can do whatever anyone can."""
    if model.budgets is None:
        response = model._choice.chosen_response()
        if isinstance(response, KnownResponse) and not response.by_agent:
            response.fit(1, recipe.units.mean.size)
            return response
        raise TypeError(
            "a table in blocks needs a response that is known and the same for all rows, got "
            f"{response!r}"
        )
    if recipe.preparation.transformer is None:
        nobody = CheckedRows(np.zeros((1, recipe.columns.d)), np.zeros(1), None)
        return recipe.box(nobody)
    found: list[Extremes] = [e for e in source.map(Extremes.of, recipe) if e is not None]
    return reduce(Extremes.merged, found).response()


def _joined(parts: list[CheckedRows]) -> CheckedRows:
    y = np.concatenate([part.y for part in parts])
    weights = None
    if parts[0].weights is not None:
        weights = np.concatenate([part.weights for part in parts if part.weights is not None])
    if hasattr(parts[0].X, "iloc"):
        import pandas as pd

        return CheckedRows(pd.concat([part.X for part in parts], ignore_index=True), y, weights)
    table: Matrix = np.concatenate([part.X for part in parts])
    return CheckedRows(table, y, weights)
