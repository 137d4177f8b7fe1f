"""The fits of one fold for one radius after another.

Preparation, units and people do not depend on the radius, so they are computed once. Each fit
starts at the solution of the one before.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple, final

from gameproof.estimators.base import BaseStrategicClassifier, options_of, set_solution
from gameproof.estimators.exact_fit import pose_problem, solve_roughly
from gameproof.estimators.folds import clean_and_gamed, fit_quietly, measured_without_movable
from gameproof.estimators.measures import Measure
from gameproof.estimators.sample_weight import WeightedRows
from gameproof.strategic.worst_case_risk import worst_case_risk


class RadiusMeasures(NamedTuple):
    """What is measured at one radius, on the test rows of one fold."""

    clean: float
    gamed: float
    risk: float  # the worst-case risk
    ignores: bool  # whether the classifier ignores the data


@final
class RadiusPath:
    """A classifier that is fitted to the training rows of a fold and measured on its test rows.

    The first fit has the radius `first`."""

    def __init__(
        self,
        base: BaseStrategicClassifier,
        train: WeightedRows,
        test: WeightedRows,
        measure: Measure,
        first: float,
    ) -> None:
        self._train, self._test, self._measure = train, test, measure
        self._model = fit_quietly(base, train, radius=first)
        self._problem = self._model.problem(*train.data)
        self._tested = self._model.problem(*test.data).population

    def measured(self, radius: float) -> RadiusMeasures:
        """The fit for this radius, measured."""
        model, people = self._model, self._problem.population
        if model.solver is not None:
            model = fit_quietly(model, self._train, radius=radius)
        elif radius != self._problem.radius:
            model = copy(model).set_params(radius=radius)
            self._problem = pose_problem(people, options_of(model))
            set_solution(model, self._problem, solve_roughly(self._problem, model.result_.x))
        self._model = model
        tested = pose_problem(self._tested, options_of(model))
        clean, gamed = clean_and_gamed(model, self._test, self._measure)
        risk = worst_case_risk(tested, model.theta_, model.offset_)
        ignores = bool(self._problem.ignores_data(model.result_.x))
        return RadiusMeasures(clean, gamed, risk, ignores)

    def without_movable(self, radius: float) -> float | None:
        """The measure of the same classifier without the columns that people can move."""
        model = self._model.set_params(radius=radius)
        return measured_without_movable(model, self._train, self._test, self._measure)
