"""What both classifiers share: from a table to a strategic problem, its solution, and back.

The favourable class is +1 and the other -1; the table is prepared (see `preparing`) and brought to
the units of the fit (see `units`), people are put into a `StrategicProblem` with the response that
the parameters give (see `moving`), and what solves it is turned into coefficients of the prepared
columns. Where the response is known, the problem is solved exactly and nobody is asked; otherwise a
`Solver` asks.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gameproof.core.arguments import Matrix, Vector
from gameproof.estimators.fitted_preparation import FittedPreparation
from gameproof.estimators.gamed_classifier import GamedClassifier
from gameproof.estimators.model_io.model_files import write_model_file
from gameproof.estimators.model_io.model_record import model_record, training_record
from gameproof.estimators.outcomes import Outcomes
from gameproof.estimators.query_fit import QueryFit, pose_problem, solve_exactly
from gameproof.estimators.row_identity import RowIdentity
from gameproof.estimators.sample_weight import Counted, counted
from gameproof.estimators.scaling import Units
from gameproof.estimators.warm_start import WarmStart
from gameproof.minmax.problem import Saddle
from gameproof.minmax.result import Result
from gameproof.minmax.solver import Solver
from gameproof.strategic.population import Population
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.worst_case import WorstCase, worst_case


class BaseStrategicClassifier(GamedClassifier):
    """A linear classifier of two classes, fitted to people who answer it."""

    favourable: Any
    class_weight: Mapping[Any, float] | str | None
    standardise: bool
    bound: float
    solver: Solver | str | None
    queries: int | None
    epochs: int | None
    warm_start: bool
    random_state: Any

    _asking: QueryFit | None = None

    @property
    @abstractmethod
    def _ball(self) -> tuple[float, float]:
        """Radius and label cost."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learns from people as they are before they answer: true features, true labels. Each
        counts as much as `sample_weight` says, times the weight of the class. A fit that fails
        leaves the model as it was."""
        with self._all_or_nothing():
            former = self._former()
            table, labels = self._validated(X, y, reset=True)
            people = counted(table, labels, sample_weight)
            self.outcomes_ = Outcomes.learned(people.y, self.favourable)
            self.classes_ = self.outcomes_.classes
            names = getattr(self, "feature_names_in_", None)
            self.prepare_ = FittedPreparation.fitted(self.prepare, people.X, names).transformer
            self._set_budgets(people)
            Z = self._preparation.transform(people.X)
            self.units_ = Units.plain(Z.shape[1])
            if self.standardise:
                self.units_ = Units.learned(Z, self.fit_intercept, people.weights)
            problem = self._problem(people, Z)
            self.movable_ = self._moving.movable(problem.population.response)
            self.result_ = self._solved(problem, former)
            theta, offset = problem.split(self.result_.x)[0], problem.offset(self.result_.x)
            self._set(theta, offset)
            self.worst_case_risk_ = float("nan")
            if problem.has_duality_gap:
                self.worst_case_risk_ = worst_case(problem, theta, self._given(offset)).value
            self.training_ = training_record(self, problem, people)
            self._rows = None
            if self.budgets is None:
                self._rows = RowIdentity.fitted(self._moving.knows, self._moving.answering(), table)
        if isinstance(self.result_, Result) and self.result_.reason == "interrupted":
            raise KeyboardInterrupt(
                f"interrupted after {self.n_queries_} answers; nothing is lost: fit again with "
                "warm_start=True"
            )
        return self

    def predict_proba(self, X: ArrayLike) -> Matrix:
        """The logistic function of the scores, a column a class. The fit has robust scores in
        mind: where probabilities matter, calibrate them."""
        scores = self.decision_function(X)
        return np.column_stack([expit(-scores), expit(scores)])

    def predict_log_proba(self, X: ArrayLike) -> Matrix:
        """Logarithms of `predict_proba`, also where it rounds to 0."""
        scores = self.decision_function(X)
        return np.column_stack([-np.logaddexp(0.0, scores), -np.logaddexp(0.0, -scores)])

    def save(self, path: str | Path, *, command: str | None = None) -> None:
        """Writes the model to a text file that `load_model` reads, whole or not at all; `command`
        is noted in it. A black box and a solver are not saved, only what they are called."""
        check_is_fitted(self)
        write_model_file(Path(path), model_record(self, command))

    # --- the problem behind it

    def problem(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> StrategicProblem:
        """The strategic problem of these people, in the units of the fit: for `worst_case`,
        `estimate_risk` and the like, together with `theta_` and `offset_`. Those whom a black box
        knows by their numbers must be the rows of the fit."""
        people = self._met(X, y, sample_weight)
        return self._problem(people, self._preparation.transform(people.X))

    def worst_case(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> WorstCase:
        """The worst case for these people: they answer, and an adversary moves what they report."""
        problem = self.problem(X, y, sample_weight)
        return worst_case(problem, self.theta_, self._given(self.offset_))

    # --- the steps of a fit

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Where a fit fails, nothing of it stays but how far it came by asking people."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            before["_asking"] = self._asking
            self.__dict__ = before
            raise

    def _problem(self, who: Counted, Z: Matrix) -> StrategicProblem:
        people = Population(
            self.units_.standardised(Z),
            self.outcomes_.signs(who.y),
            self._response(who, Z),
            weights=self.outcomes_.weights(who.y, self.class_weight, who.weights),
            one_label=True,
        )
        return pose_problem(people, self._ball, self.bound, self.fit_intercept)

    def _solved(self, problem: StrategicProblem, former: WarmStart | None) -> Saddle | Result:
        asking, self._asking = self._asking, None
        if self.solver is None:
            self.n_queries_ = 0
            return solve_exactly(problem, self.bound)
        if asking is None or not (self.warm_start and asking.suits(problem, self.solver)):
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            start = None if former is None else former.start(problem, self.units_)
            asking = QueryFit.begun(problem, self.solver, start, seed, self.queries)
        self._asking = asking  # for the next fit, where this one breaks off
        result = asking.run(problem, self.queries, self.epochs)
        self.n_queries_ = asking.n_answers
        if asking.state is None:
            self._asking = None
        return result

    def _former(self) -> WarmStart | None:
        """The fit before, where this one is to start from it."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        towards = self.outcomes_.towards
        alpha = float(self.result_.x[-1]) if hasattr(self, "result_") else 0.0
        return WarmStart(towards * self.coef_[0], towards * float(self.intercept_[0]), alpha)

    def _set(self, theta: Vector, offset: float) -> None:
        coef, towards = self.units_.coefficients(theta), self.outcomes_.towards
        self.coef_ = towards * coef[None, :]
        self.intercept_ = np.array([towards * (offset - float(self.units_.mean @ coef))])

    def _given(self, offset: float) -> float | None:
        return offset if self.fit_intercept else None
