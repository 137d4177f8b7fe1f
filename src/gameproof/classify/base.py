"""What both classifiers share: from a table to a strategic problem, its solution, and back.

The favourable class is +1 and the other -1; features are brought to the units of the fit (see
`units`), people are put into a `StrategicProblem`, and what solves it is turned into coefficients
of the user's features. Where the response is known, the problem is solved exactly and nobody is
asked; otherwise a `Solver` asks.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from gameproof.arguments import Matrix, Vector, as_positive
from gameproof.classify.columns import positions
from gameproof.classify.files import write
from gameproof.classify.numbered import Rows, among
from gameproof.classify.outcomes import Outcomes
from gameproof.classify.record import record, training
from gameproof.classify.solving import Asking, solved_exactly
from gameproof.classify.units import Units, in_units
from gameproof.classify.weighing import Counted, as_weights, counted
from gameproof.exact.worst_case import WorstCase, worst_case
from gameproof.population.population import Population
from gameproof.population.responses import DEFAULT_POWER, PowerCost, QuadraticCost, Response
from gameproof.problem.losses import Logistic
from gameproof.problem.problem import Saddle
from gameproof.problem.strategic import StrategicProblem
from gameproof.solver.method import Solver
from gameproof.solver.result import Result

# No cap on alpha is larger: beyond it, digits are lost.
LARGEST_CAP = 1e4


class Former(NamedTuple):
    """Coefficients and intercept towards the favourable class, and alpha, of a fit before; 0 where
    a file held none."""

    coef: Vector
    intercept: float
    alpha: float


class Linear(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A linear classifier of two classes, fitted to people who answer it."""

    response: Response | None
    power: float | ArrayLike | None
    features: Sequence[int | str] | None
    favourable: Any
    class_weight: Mapping[Any, float] | str | None
    standardise: bool
    fit_intercept: bool
    bound: float
    solver: Solver | str | None
    queries: int | None
    epochs: int | None
    warm_start: bool
    random_state: Any

    _rows: Rows | None = None
    _asking: Asking | None = None

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
            table: Matrix
            table, labels = validate_data(self, X, y, dtype=np.float64, order="C")
            people = counted(table, labels, sample_weight)
            self.outcomes_ = Outcomes.learned(people.y, self.favourable)
            self.classes_ = self.outcomes_.classes
            self.units_ = Units.plain(table.shape[1])
            if self.standardise:
                self.units_ = Units.learned(people.X, self.fit_intercept, people.weights)
            self.movable_ = self._movable()
            problem = self._problem(people)
            self.result_ = self._solved(problem, former)
            theta, offset = problem.split(self.result_.x)[0], problem.offset(self.result_.x)
            self._set(theta, offset)
            self.worst_case_risk_ = float("nan")
            if problem.has_duality_gap:
                self.worst_case_risk_ = worst_case(problem, theta, self._given(offset)).value
            self.training_ = training(self, problem, people)
            self._rows = Rows.fitted(self._knows, self._answering(), table)
        if isinstance(self.result_, Result) and self.result_.reason == "interrupted":
            raise KeyboardInterrupt(
                f"interrupted after {self.n_queries_} answers; nothing is lost: fit again with "
                "warm_start=True"
            )
        return self

    def decision_function(self, X: ArrayLike) -> Vector:
        """Scores of features as reported, positive for ``classes_[1]``."""
        check_is_fitted(self)
        table: Matrix = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        scores: Vector = table @ self.coef_[0] + self.intercept_[0]
        return scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of features as reported."""
        scores = self.decision_function(X)
        labels: NDArray[Any] = self.classes_[(scores > 0).astype(np.int64)]
        return labels

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
        write(Path(path), record(self, command))

    # --- the problem behind it

    @property
    def theta_(self) -> Vector:
        """Coefficients in the units of the fit, positive towards the favourable class."""
        check_is_fitted(self)
        return self.outcomes_.towards * self.units_.theta(self.coef_[0])

    @property
    def offset_(self) -> float:
        """The intercept in the units of the fit."""
        check_is_fitted(self)
        shifted = float(self.intercept_[0] + self.units_.mean @ self.coef_[0])
        return self.outcomes_.towards * shifted if self.fit_intercept else 0.0

    def problem(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> StrategicProblem:
        """The strategic problem of these people, in the units of the fit: for `worst_case`,
        `estimate_risk` and the like, together with `theta_` and `offset_`. Those whom a black box
        knows by their numbers must be the rows of the fit."""
        return self._problem(self._met(X, y, sample_weight))

    def worst_case(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> WorstCase:
        """The worst case for these people: they answer, and an adversary moves what they report."""
        problem = self.problem(X, y, sample_weight)
        return worst_case(problem, self.theta_, self._given(self.offset_))

    def gamed_score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Accuracy where these people answer the classifier; `score` is that on features as given.
        A black box is asked, about those who count."""
        people, towards = self._people(self._met(X, y)), self.outcomes_.towards
        weights = np.ones(people.n)
        if sample_weight is not None:
            weights = as_weights(sample_weight, people.X)
        rows = np.flatnonzero(weights)
        scores = people.scores(self.theta_, rows) + self.offset_
        # Towards classes_[1], so that a score of 0 is the class that `predict` gives it.
        right = (towards * scores > 0) == (towards * people.y[rows] > 0)
        return float(np.average(right, weights=weights[rows]))

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

    def _movable(self) -> NDArray[np.int64]:
        """Positions of the features that people can move, as far as a model says."""
        names = getattr(self, "feature_names_in_", None)
        chosen = positions(self.features, names, self.n_features_in_)
        if chosen is None:
            own = getattr(self.response, "features", None)
            chosen = list(range(self.n_features_in_)) if own is None else list(own)
        return np.array(sorted(chosen), dtype=np.int64)

    @property
    def _knows(self) -> Any:
        """What knows how people answer."""
        return self.power if self.response is None else self.response

    def _answering(self) -> Response:
        """The response that the parameters give."""
        if self.response is None:
            power = DEFAULT_POWER if self.power is None else self.power
            return QuadraticCost(power, features=self._movable().tolist())
        if not isinstance(self.response, Response):
            raise TypeError(
                f"response must be a Response such as QuadraticCost, got {self.response!r}; a "
                "function of your own becomes one as BlackBox(function)"
            )
        if self.power is not None:
            raise ValueError("power is that of the default response; a response has its own")
        if self.features is None:
            return self.response
        if not isinstance(self.response, PowerCost) or self.response.features is not None:
            raise ValueError(
                "features says what the default response, or a cost without features of its own, "
                f"can move; {self.response!r} says so itself"
            )
        return replace(self.response, features=self._movable().tolist())

    def _met(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Counted:
        """People whom the fitted model meets, if it can know them."""
        check_is_fitted(self)
        table, labels = validate_data(self, X, y, dtype=np.float64, order="C", reset=False)
        if self._rows is not None:  # a model from a file has none
            self._rows.require(self._knows, self._answering(), table)
        return counted(table, labels, sample_weight)

    def _people(self, who: Counted, weights: Vector | None = None) -> Population:
        """In the units of the fit."""
        return Population(
            self.units_.standardised(who.X),
            self.outcomes_.signs(who.y),
            in_units(among(self._answering(), who.rows), self.units_, who.X),
            weights=weights,
            one_label=True,
        )

    def _problem(self, who: Counted) -> StrategicProblem:
        weights = self.outcomes_.weights(who.y, self.class_weight, who.weights)
        people = self._people(who, weights)
        radius, label_cost = self._ball
        loss, bound = Logistic(), as_positive("bound", self.bound)
        cap = (loss.K + loss.s) * bound
        if isinstance(radius, Real) and radius > 0:
            # alpha radius is a part of the value, and the rest is not negative: at the best,
            # alpha is at most what theta = 0 costs, over the radius.
            cap = max(cap, min(1.1 * float(loss.phi(np.zeros(1))[0]) / radius, LARGEST_CAP))
        return StrategicProblem(
            people,
            radius,
            label_cost,
            loss,
            alpha_max=cap,
            intercept=cap if self.fit_intercept else None,
        )

    def _solved(self, problem: StrategicProblem, former: Former | None) -> Saddle | Result:
        asking, self._asking = self._asking, None
        if self.solver is None:
            self.n_queries_ = 0
            return solved_exactly(problem, self.bound)
        if asking is None or not (self.warm_start and asking.suits(problem, self.solver)):
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            start = None if former is None else self._start(problem, former)
            asking = Asking.begun(problem, self.solver, start, seed, self.queries)
        self._asking = asking  # for the next fit, where this one breaks off
        result = asking.run(problem, self.queries, self.epochs)
        self.n_queries_ = asking.n_answers
        if asking.state is None:
            self._asking = None
        return result

    def _former(self) -> Former | None:
        """The fit before, where this one is to start from it."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        towards = self.outcomes_.towards
        alpha = float(self.result_.x[-1]) if hasattr(self, "result_") else 0.0
        return Former(towards * self.coef_[0], towards * float(self.intercept_[0]), alpha)

    def _start(self, problem: StrategicProblem, former: Former) -> tuple[Vector, Vector] | None:
        """Where the fit before ended, in the units of this one."""
        if former.coef.size != problem.population.d:
            return None
        theta = self.units_.theta(former.coef)
        offset = former.intercept + float(self.units_.mean @ former.coef)
        # No less than leaves theta as it is.
        least = (problem.loss.K + problem.loss.s) * float(np.linalg.norm(theta))
        alpha = max(former.alpha, least)
        return problem.x_set.project(problem.join(theta, alpha, offset)), problem.start[1]

    def _set(self, theta: Vector, offset: float) -> None:
        coef, towards = self.units_.coefficients(theta), self.outcomes_.towards
        self.coef_ = towards * coef[None, :]
        self.intercept_ = np.array([towards * (offset - float(self.units_.mean @ coef))])

    def _given(self, offset: float) -> float | None:
        return offset if self.fit_intercept else None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
