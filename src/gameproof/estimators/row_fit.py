"""A fit to a table in blocks: in files, or on a cluster.

The first pass over the blocks counts labels and weights and takes means and deviations. With
gameproof's `Prepare`, further passes learn its encoders. If people differ in how far they can
move, one pass finds the widest moves. Then Newton's method takes three passes per step.

The result is that of a fit in memory, up to rounding, with two exceptions: default budgets and
parameters that are "auto" come from a sample of rows, and the solution has no gamma for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, reduce
from typing import Any, TypeVar

import numpy as np
from sklearn.frozen import FrozenEstimator

from gameproof.core.arguments import Vector, shown
from gameproof.core.errors import warn
from gameproof.estimators.base import (
    BaseStrategicClassifier,
    options_of,
    restored_on_failure,
    set_solution,
)
from gameproof.estimators.choosing_classifier import ChoosingClassifier, settled
from gameproof.estimators.exact_fit import ignore_data, require_few_columns, warn_at_bound
from gameproof.estimators.fitted_preparation import FittedPreparation
from gameproof.estimators.gamed_rows import settle_budgets
from gameproof.estimators.model_io.model_record import training_record
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.prepare_blocks import fit_prepare
from gameproof.estimators.response_choice import ResponseChoice
from gameproof.estimators.row_recipe import CheckedRows, Columns, Extremes, RowRecipe
from gameproof.estimators.row_summary import (
    BlockSummary,
    TableSummary,
    named_rows,
    sampled_rows,
)
from gameproof.estimators.sample_weight import WeightedRows
from gameproof.estimators.scaling import Units
from gameproof.minmax.saddle import Saddle
from gameproof.rows.cores import one_blas_thread
from gameproof.rows.moments import Moments
from gameproof.rows.row_source import RowSource
from gameproof.strategic.budgets import BoxBudget
from gameproof.strategic.newton.convex_objective import ConvexObjective
from gameproof.strategic.newton.lifts import lifts_of
from gameproof.strategic.newton.minimum import certified_solution
from gameproof.strategic.responses import KnownResponse
from gameproof.strategic.row_problem import RowPeople, RowProblem
from gameproof.strategic.saddle_point import CERTIFIED, warn_of_no_use, warn_of_open_gap
from gameproof.strategic.worst_case_risk import worst_case_risk

Model = TypeVar("Model", bound=ChoosingClassifier)


def fit_blocks(
    model: Model, source: RowSource, d: int, names: Sequence[str] | None = None
) -> Model:
    """Fits a classifier to a table in blocks with d columns. A fit that fails changes nothing."""
    if model.solver is not None:
        raise TypeError(
            "a table in blocks is fitted exactly: nobody is asked; leave out solver, and give a "
            "response that is known"
        )
    with restored_on_failure(model), one_blas_thread():
        for name in ("feature_names_in_", "result_"):
            model.__dict__.pop(name, None)
        model.n_features_in_ = d
        named = None if names is None else tuple(map(str, names))
        if named is not None:
            model.feature_names_in_ = np.array(named, dtype=object)
        columns = Columns(d, named, model.prepare)
        known = _known_preparation(model.prepare, columns)
        summary = TableSummary.of(
            list(source.map(BlockSummary.of, columns, known)), model.favourable
        )
        sample = cache(lambda: sampled_rows(source, columns, summary.sizes))
        with settled(model, lambda: named_rows(sample(), columns).data, sum(summary.sizes)):
            _fit(model, source, columns, known, summary, sample)
    return model


def _fit(
    model: Any,
    source: RowSource,
    columns: Columns,
    known: FittedPreparation | None,
    summary: TableSummary,
    sample: Callable[[], WeightedRows],
) -> None:
    model.outcomes_, model.classes_ = summary.outcomes, summary.outcomes.classes
    moments = summary.moments
    if known is None:
        transformer, moments = fit_prepare(model.prepare, source, columns)
        known = FittedPreparation(transformer, columns.names, columns.d)
    assert moments is not None
    model.prepare_ = known.transformer
    settle_budgets(model, sample)
    width = moments.mean.size
    model.units_ = Units.plain(width)
    if model.standardise:
        model.units_ = Units.of_moments(moments, model.fit_intercept)
    problem = _problem(model, source, columns, summary, moments, known)
    model.movable_ = ResponseChoice.of(model).movable(problem.population.response)
    model.n_queries_ = 0
    theta, offset = set_solution(model, problem, solve_rows(problem, model.bound))
    model.worst_case_risk_ = worst_case_risk(problem, theta, offset)
    model.training_ = training_record(model, problem, None)
    model.row_identity_ = None


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
    summary: TableSummary,
    moments: Moments,
    preparation: FittedPreparation,
) -> RowProblem:
    recipe = RowRecipe(
        columns,
        summary.outcomes,
        _weights(model.class_weight, summary),
        preparation,
        model.units_,
        None if model.budgets_ is None else model.budgets_.times(model.trained_for_),
    )
    response = _response(model, source, recipe)
    # Only a box may differ between people. It is that of a few people who stand for all.
    movers = np.arange(len(response.bounds[0]) if isinstance(response, BoxBudget) else 0)
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
        movers=movers,
    )
    lifts = lifts_of(people)
    if any(lift.own_count for lift in lifts):
        recipe = replace(recipe, lifts=tuple(lifts))
    rows = source.prepared(recipe, sizes=summary.sizes, d=people.d)
    radius, label_cost, loss, cap, intercept = options_of(model)
    return RowProblem(people, rows, radius, label_cost, loss, alpha_max=cap, intercept=intercept)


def solve_rows(problem: RowProblem, bound: float) -> Saddle:
    """The certified saddle point. Its y is empty: gamma stays in the blocks.

    The method for blocks settles the labels of most people in each pass. Where many labels stay
    undecided, as they do if the best classifier ignores the data, only the barrier closes the gap.
    It needs all rows at once, so they are gathered if they fit into memory."""
    require_few_columns(problem.population.d)
    saddle = _solved(problem)
    if not _is_certified(saddle) and not problem.rows.in_memory:
        if problem.fits_memory:
            problem.gather()
            saddle = _solved(problem)
        else:
            warn(
                f"the fit is certified to {saddle.duality_gap:.1e} only, since the labels of many "
                "people stay undecided, and the table is too large to solve it in memory; try a "
                "smaller radius, or fit a sample"
            )
    if problem.rows.in_memory and not _is_certified(saddle):
        warn_of_open_gap(problem, saddle, "newton")
    warn_at_bound(problem, saddle, bound)
    if not problem.ignores_data(saddle.x):
        return saddle
    if _is_certified(saddle):
        warn_of_no_use(problem)
    return ignore_data(problem, saddle)


def _solved(problem: RowProblem) -> Saddle:
    x, _, certificate = certified_solution(ConvexObjective(problem))
    return Saddle(x, np.zeros(0), certificate.value, certificate.gap)


def _is_certified(saddle: Saddle) -> bool:
    return saddle.duality_gap <= CERTIFIED["newton"] * max(1.0, abs(saddle.value))


def _weights(class_weight: Any, summary: TableSummary) -> Vector | None:
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
        response = ResponseChoice.of(model).chosen_response()
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
