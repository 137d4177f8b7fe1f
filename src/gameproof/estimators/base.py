"""`BaseStrategicClassifier`: the fit that both classifiers share.

The favourable class is +1 and the other -1. `fit` prepares the table (`fitted_preparation.py`),
brings it to the units of the fit (`scaling.py`), makes a `StrategicProblem` with the response that
the parameters describe (`response_choice.py`), solves it, and turns the solution into coefficients
of the prepared columns. If the response is known, the problem is solved exactly and nobody is
queried (`exact_fit.py`); otherwise a `Solver` queries people (`query_fit.py`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gameproof.core.arguments import Matrix, Vector
from gameproof.estimators.exact_fit import (
    AnyProblem,
    ProblemOptions,
    pose_problem,
    problem_options,
    solve_exactly,
)
from gameproof.estimators.fitted_preparation import FittedPreparation
from gameproof.estimators.gamed_classifier import GamedClassifier
from gameproof.estimators.gamed_rows import GamedRows, settle_budgets, validated
from gameproof.estimators.model_io.model_files import write_model_file
from gameproof.estimators.model_io.model_record import model_record, training_record
from gameproof.estimators.outcomes import Outcomes
from gameproof.estimators.query_fit import QueryFit
from gameproof.estimators.response_choice import ResponseChoice
from gameproof.estimators.row_identity import RowIdentity
from gameproof.estimators.sample_weight import WeightedRows
from gameproof.estimators.scaling import Units
from gameproof.estimators.warm_start import WarmStart
from gameproof.minmax.result import Result
from gameproof.minmax.saddle import Saddle
from gameproof.strategic.population import Population
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.worst_case import WorstCase, worst_case
from gameproof.strategic.worst_case_risk import worst_case_risk


class BaseStrategicClassifier(GamedClassifier):
    """A linear classifier of two classes, fitted to people who respond to it."""

    _query_fit: QueryFit | None = None

    @property
    @abstractmethod
    def _ball(self) -> tuple[float, float]:
        """Radius and label cost."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the classifier to people before they respond.

        A fit that fails leaves the model unchanged.

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
        with restored_on_failure(self):
            earlier = self._warm_start()
            table, labels = validated(self, X, y, reset=True)
            people = WeightedRows.of(table, labels, sample_weight)
            self.outcomes_ = Outcomes.learned(people.y, self.favourable)
            self.classes_ = self.outcomes_.classes
            names = getattr(self, "feature_names_in_", None)
            prepared = FittedPreparation.fitted(self.prepare, people.X, names, people.y)
            self.prepare_ = prepared.transformer
            settle_budgets(self, lambda: people)
            Z = prepared.transform(people.X)
            self.units_ = Units.plain(Z.shape[1])
            if self.standardise:
                self.units_ = Units.learned(Z, self.fit_intercept, people.weights)
            problem = self._problem(GamedRows(self, people, Z))
            choice = ResponseChoice.of(self)
            self.movable_ = choice.movable(problem.population.response)
            theta, offset = set_solution(self, problem, self._solved(problem, earlier))
            self.worst_case_risk_ = float("nan")
            if problem.has_duality_gap:
                self.worst_case_risk_ = worst_case_risk(problem, theta, offset)
            self.training_ = training_record(self, problem, people)
            self.row_identity_ = None
            if self.budgets is None:
                self.row_identity_ = RowIdentity.of_fit(
                    choice.keyed, choice.chosen_response(), prepared.numbers(table)
                )
        if isinstance(self.result_, Result) and self.result_.reason == "interrupted":
            raise KeyboardInterrupt(
                f"interrupted after {self.n_queries_} answers; nothing is lost: fit again with "
                "warm_start=True"
            )
        return self

    def predict_proba(self, X: ArrayLike) -> Matrix:
        """The logistic function of the scores.

        The fit aims at robust decisions. If you need probabilities, calibrate them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features as people report them.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            One column per class, in the order of ``classes_``.
        """
        scores = self.decision_function(X)
        return np.column_stack([expit(-scores), expit(scores)])

    def predict_log_proba(self, X: ArrayLike) -> Matrix:
        """Logarithms of `predict_proba`, accurate also where a probability rounds to 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features as people report them.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            One column per class, in the order of ``classes_``.
        """
        scores = self.decision_function(X)
        return np.column_stack([-np.logaddexp(0.0, scores), -np.logaddexp(0.0, -scores)])

    def save(self, path: str | Path, *, command: str | None = None) -> None:
        """Writes the model to a text file that `load_model` reads.

        The file is replaced completely or not at all. Black boxes and solvers are not saved, only
        their descriptions.

        Parameters
        ----------
        path : str or Path
            The file to write.
        command : str, optional
            The command that made the model, to be noted in the file.
        """
        check_is_fitted(self)
        write_model_file(Path(path), model_record(self, command))

    # --- the underlying problem

    def problem(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> StrategicProblem:
        """The strategic problem of these people, in the units of the fit.

        Use it with `theta_` and `offset_`, for example in `worst_case` and `estimate_risk`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            True features. If the response is keyed by row, these must be the rows of the fit.
        y : array-like of shape (n_samples,)
            True classes.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights.

        Returns
        -------
        StrategicProblem
            The problem that a fit to these people solves.
        """
        return self._problem(GamedRows.of(self, X, y, sample_weight))

    def worst_case(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> WorstCase:
        """The worst case for these people: they respond, then an adversary changes the data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            True features. If the response is keyed by row, these must be the rows of the fit.
        y : array-like of shape (n_samples,)
            True classes.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights.

        Returns
        -------
        WorstCase
            The worst-case risk and the distribution that attains it.
        """
        problem = self.problem(X, y, sample_weight)
        return worst_case(problem, self.theta_, self.offset_ if self.fit_intercept else None)

    # --- the steps of a fit

    def _problem(self, rows: GamedRows) -> StrategicProblem:
        people = rows.people
        population = Population(
            self.units_.standardised(rows.Z),
            rows.signs,
            rows.response(),
            weights=self.outcomes_.weights(people.y, self.class_weight, people.weights),
            one_label=True,
            journal=None if self.solver is None else self.journal,
        )
        return pose_problem(population, options_of(self))

    def _solved(self, problem: StrategicProblem, earlier: WarmStart | None) -> Saddle | Result:
        fit, self._query_fit = self._query_fit, None
        start = None if earlier is None else earlier.start(problem, self.units_)
        if self.solver is None:
            self.n_queries_ = 0
            return solve_exactly(problem, self.bound, None if start is None else start[0])
        if fit is None or not (self.warm_start and fit.suits(problem, self.solver)):
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            fit = QueryFit.begun(problem, self.solver, start, seed, self.queries)
        self._query_fit = fit  # kept for the next fit in case this one fails
        result = fit.run(problem, self.queries, self.epochs)
        self.n_queries_ = fit.n_answers
        if fit.state is None:
            self._query_fit = None
        return result

    def _warm_start(self) -> WarmStart | None:
        """The earlier fit, if this one is to start from it."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        towards = self.outcomes_.towards
        alpha = float(self.result_.x[-1]) if hasattr(self, "result_") else 0.0
        return WarmStart(towards * self.coef_[0], towards * float(self.intercept_[0]), alpha)


# --- what fits in memory and in blocks share


@contextmanager
def restored_on_failure(
    model: BaseStrategicClassifier, kind: type[BaseException] = BaseException
) -> Iterator[None]:
    """Undoes a failed fit, except for the answers that it has received."""
    before = model.__dict__.copy()
    try:
        yield
    except kind:
        before["_query_fit"] = model._query_fit
        model.__dict__ = before
        raise


def options_of(model: BaseStrategicClassifier) -> ProblemOptions:
    """The options of the problem that a classifier solves."""
    return problem_options(model._ball, model.bound, model.fit_intercept)


def set_solution(
    model: BaseStrategicClassifier, problem: AnyProblem, result: Saddle | Result
) -> tuple[Vector, float]:
    """Sets the solution and the coefficients, and returns theta and the offset."""
    theta, offset = problem.split(result.x)[0], problem.offset(result.x)
    coef, towards = model.units_.coefficients(theta), model.outcomes_.towards
    model.result_ = result
    model.coef_ = towards * coef[None, :]
    model.intercept_ = np.array([towards * (offset - float(model.units_.mean @ coef))])
    return theta, offset
