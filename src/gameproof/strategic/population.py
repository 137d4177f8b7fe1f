"""`Population`: agents with features, labels and a response, and a record of what was asked."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof.core.arguments import (
    BLOCK,
    Indices,
    Matrix,
    Vector,
    as_count,
    as_numbers,
    require_finite,
)
from gameproof.core.errors import AnswerError, BudgetExceeded
from gameproof.strategic.feature_mask import Mask
from gameproof.strategic.population_arrays import as_features, as_labels, as_weights
from gameproof.strategic.power_costs import NoResponse
from gameproof.strategic.responses import BlackBox, Response, Sight

# Larger answers would overflow in later computations.
LARGEST_ANSWER = 1e50


class PartialAnswers(NamedTuple):
    """The answers to a question of which some are missing."""

    theta: Vector
    agents: Indices
    answers: Matrix
    missing: Mask

    def belong_to(self, theta: Vector, agents: Indices, shape: tuple[int, ...]) -> bool:
        """Whether these are answers to this question."""
        same = np.array_equal(self.theta, theta) and np.array_equal(self.agents, agents)
        return same and self.answers.shape[1:] == shape


@final
class Population:
    """Agents with features, labels and a response to a deployed theta.

    Only agents with label -1 move, and only they are ever asked. A population counts answers and
    deployments.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The agents' own features. A contiguous float64 array is not copied, so X may be a
        memory-mapped file.
    y : array-like of shape (n,)
        Labels, -1 or +1; possibly a memory-mapped file.
    response : Response, optional
        How agents answer. By default nobody moves.
    budget : int, optional
        The most answers that may be asked for. A question that would exceed it is refused, and
        nobody is asked.
    weights : array-like of shape (n,), optional
        How much each agent counts: an agent of weight 2 counts as two. Only ratios matter; the
        attribute has mean 1.
    one_label : bool, default=False
        Whether all labels may be the same. That is enough to ask for answers, but not to learn a
        classifier.

    Attributes
    ----------
    n, d : int
        The number of agents and of features.
    n_answers, n_deployments : int
        The answers and the deployments so far.
    answers_by_agent : ndarray of shape (n,)
        The answers of each agent so far.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If shapes do not match, features are not finite, labels are not -1 and +1, weights are not
        positive, or the response does not fit the population.

    Examples
    --------
    >>> people = Population([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    >>> people.ask([1.0, 1.0], [0, 1])
    array([[1., 0.],
           [0., 1.]])
    >>> people.n_answers, people.n_deployments
    (1, 1)
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        response: Response | None = None,
        *,
        budget: int | None = None,
        weights: ArrayLike | None = None,
        one_label: bool = False,
    ) -> None:
        self.X = as_features(X)
        self.n, self.d = self.X.shape
        self.y = as_labels(y, self.n)
        if not one_label:
            self.require_both_labels()
        self.weights = as_weights(weights, self.n)
        self.weighted = self.weights.strides != (0,)
        self.response = NoResponse() if response is None else response
        if not isinstance(self.response, Response):
            raise TypeError(
                "response must be a Response, such as QuadraticCost(power) or BlackBox(function), "
                f"got {response!r}"
            )
        self.response.fit(self.n, self.d)
        self.response = self.response.renewed()
        self.budget = None if budget is None else as_count("budget", budget, least=0)
        self.answers_by_agent: NDArray[np.int32] = np.zeros(self.n, dtype=np.int32)
        self.n_deployments = 0
        self._deployed: Vector | None = None
        self._partial: PartialAnswers | None = None

    def __repr__(self) -> str:
        return (
            f"Population({self.n} agents, {self.d} features, {self.n_positive} positive, "
            f"{self.response!r})"
        )

    @property
    def n_positive(self) -> int:
        """The number of agents with label +1."""
        return int((self.y > 0).sum())

    def require_both_labels(self) -> None:
        """Raises if all labels are the same: no classifier can be learned from them."""
        if self.n_positive in (0, self.n):
            raise ValueError(f"y must contain both -1 and +1, got only {self.y[0]:+g}")

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Gives a copy its own counts and partial answers. joblib, dask and others send arrays to
        another process that are read-only or shared."""
        self.__dict__.update(state)
        self.answers_by_agent = np.array(self.answers_by_agent)
        self._partial = deepcopy(self._partial)

    @property
    def positive_share(self) -> float:
        """The share of agents with label +1, by weight."""
        if not self.weighted:
            return float(self.n_positive / self.n)
        return float(self.weights[self.y > 0].sum() / self.n)

    @cached_property
    def largest_by_feature(self) -> Vector:
        """The largest absolute value in each column of X."""
        blocks = range(0, self.n, BLOCK)  # a copy of X may not fit into memory
        found: Vector = np.max([np.abs(self.X[k : k + BLOCK]).max(axis=0) for k in blocks], axis=0)
        return found

    @property
    def largest(self) -> float:
        """The largest absolute value in X."""
        return float(self.largest_by_feature.max())

    @property
    def n_answers(self) -> int:
        """The number of answers so far."""
        return int(self.answers_by_agent.sum())

    @property
    def remaining(self) -> int | None:
        """The number of answers left in the budget; None without a budget."""
        return None if self.budget is None else self.budget - self.n_answers

    @property
    def sight(self) -> Sight:
        """What a learner may see of these people."""
        return self.response.sight

    def ask(self, theta: ArrayLike, agents: ArrayLike) -> Matrix:
        """Deploys theta and returns the features that these agents report.

        Agents with label +1 are not asked: they report their own features.

        Parameters
        ----------
        theta : array-like of shape (d,)
            The coefficients to deploy.
        agents : array-like of int
            The row indices of the agents.

        Returns
        -------
        ndarray of shape (len(agents), d)
            The reported features.

        Raises
        ------
        TypeError
            If the population shows scores only.
        BudgetExceeded
            If the budget does not allow the question; nobody is asked.
        AnswerError
            If answers are invalid. Valid answers are kept, and the same question asks only for the
            others.
        """
        if self.sight < Sight.ANSWERS:
            raise TypeError("this population shows scores only; call scores() instead")
        deployed, chosen, moving = self._prepare(theta, agents)
        reported: Matrix = self.X[chosen]
        if moving.any():
            reported[moving] = self._answered(
                deployed,
                chosen[moving],
                (self.d,),
                lambda asked: self.response.answers(deployed, self.X[asked], asked.copy()),
            )
        return reported

    def scores(self, theta: ArrayLike, agents: ArrayLike) -> Vector:
        """Deploys theta and returns the scores <b, theta> of these agents.

        The parameters and errors are the same as for `ask`."""
        if not (isinstance(self.response, BlackBox) and self.response.scores):
            return self.ask(theta, agents) @ np.asarray(theta, dtype=np.float64)
        deployed, chosen, moving = self._prepare(theta, agents)
        found: Vector = self.X[chosen] @ deployed
        if moving.any():
            box = self.response
            found[moving] = self._answered(
                deployed,
                chosen[moving],
                (),
                lambda asked: box.answered_scores(deployed, asked.copy()),
            )
        return found

    def note(self, theta: Vector, agents: Indices) -> None:
        """Counts a question whose answers compiled code computes from the response."""
        asked = agents[self.y[agents] < 0]
        if asked.size:
            self._admit(theta, asked.size)
            np.add.at(self.answers_by_agent, asked, 1)

    def _prepare(
        self, theta: ArrayLike, agents: ArrayLike
    ) -> tuple[Vector, Indices, NDArray[np.bool_]]:
        deployed = as_numbers("theta", theta, "a vector")
        if deployed.shape != (self.d,):
            raise ValueError(f"theta has shape {deployed.shape}, the population {self.d} features")
        require_finite("theta", deployed)
        chosen = np.atleast_1d(np.asarray(agents))
        if chosen.size and chosen.dtype.kind not in "iu":
            raise TypeError(f"agents must be row indices (integers), got {agents!r}")
        if chosen.size and not (chosen.min() >= 0 and chosen.max() < self.n):
            raise IndexError(f"there are agents 0 to {self.n - 1}, got {agents!r}")
        indices = chosen.astype(np.int64)
        return deployed, indices, self.y[indices] < 0

    def _answered(
        self,
        theta: Vector,
        agents: Indices,
        shape: tuple[int, ...],
        question: Callable[[Indices], Any],
    ) -> Matrix:
        """The answers to a question, each of this shape: within the budget, counted and checked.

        If some are invalid the others are kept, and the same question asks only for the invalid
        ones."""
        partial = self._partial
        if partial is None or not partial.belong_to(theta, agents, shape):
            everyone = np.ones(agents.size, dtype=bool)
            answers = np.empty((agents.size, *shape))
            partial = PartialAnswers(theta.copy(), agents.copy(), answers, everyone)
        self._partial, missing = partial, partial.missing
        partial.answers[missing] = self._asked(theta, agents[missing], shape, question)
        sizes = np.abs(partial.answers.reshape(agents.size, -1)).max(axis=1)
        bad = ~(sizes <= LARGEST_ANSWER)  # true for NaN
        self._partial = partial._replace(missing=bad) if bad.any() else None
        if bad.any():
            size = sizes[bad][0]
            what = f"of size {size:.0e}, too large to compute with"
            if not np.isfinite(size):
                what = "that is not finite"
            if not bad.all():
                what += "; the others' answers are kept until something else is asked"
            raise AnswerError(f"{self._who(agents[bad])} an answer {what}")
        return partial.answers

    def keep_answers_of(self, other: Population) -> None:
        """Takes over the valid answers to a question that failed in part, from another population
        of the same people."""
        self._partial = other._partial

    def _asked(
        self,
        theta: Vector,
        asked: Indices,
        shape: tuple[int, ...],
        question: Callable[[Indices], Any],
    ) -> Matrix:
        """Asks, counts, and checks that the answers are numbers of this shape."""
        self._admit(theta, asked.size)
        try:
            given = question(asked)
        except Exception as error:
            raise AnswerError(f"{self._who(asked)} {type(error).__name__}: {error}") from error
        np.add.at(self.answers_by_agent, asked, 1)
        try:
            answers = as_numbers("answers", given)
        except TypeError as error:
            raise AnswerError(f"{self._who(asked)} {error}") from error
        expected = (asked.size, *shape)
        if answers.shape != expected:
            raise AnswerError(
                f"{self._who(asked)} answers of shape {answers.shape}, expected {expected}"
            )
        return answers

    def _admit(self, theta: Vector, number: int) -> None:
        """Raises if a question exceeds the budget; counts its deployment if it is a new one."""
        if self.remaining is not None and number > self.remaining:
            raise BudgetExceeded(
                f"the question needs {number} answers and the budget of {self.budget} has "
                f"{self.remaining} left; nobody was asked"
            )
        if self._deployed is None or not np.array_equal(self._deployed, theta):
            self._deployed = theta.copy()
            self.n_deployments += 1

    def _who(self, agents: Indices) -> str:
        shown = ", ".join(map(str, agents[:5])) + (", …" if agents.size > 5 else "")
        noun = "agent" if agents.size == 1 else "agents"
        return f"deployment {self.n_deployments}, {noun} {shown}:"
