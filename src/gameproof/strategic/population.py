"""`Population`: agents with features, labels and a way of answering, and what was asked of them."""

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
    require_unmasked,
)
from gameproof.core.errors import AnswerError, BudgetExceeded
from gameproof.strategic.memmap import ask_for_large_pages, require_open
from gameproof.strategic.power_costs import NoResponse
from gameproof.strategic.responses import BlackBox, Response, Sight

# Answers beyond this overflow in what is learnt from them.
LARGEST_ANSWER = 1e50


class Part(NamedTuple):
    """Answers to a question of which some are missing."""

    theta: Vector
    agents: Indices
    answers: Matrix
    missing: NDArray[np.bool_]

    def answers_to(self, theta: Vector, agents: Indices, shape: tuple[int, ...]) -> bool:
        """Whether it was this very question."""
        same = np.array_equal(self.theta, theta) and np.array_equal(self.agents, agents)
        return same and self.answers.shape[1:] == shape


@final
class Population:
    """n agents: features X (n x d), labels y in {-1, +1}, and a response to a deployed theta.

    Only agents with label -1 move, and only they are ever asked. `budget` is the number of answers
    that may be asked for in all; an ask that would exceed it is refused, and nobody is asked. X is
    not copied where it is contiguous and float64 already: it may be a file mapped to memory, and so
    may y.
    `weights` are how much each agent counts, by default all the same: an agent of weight 2 is as
    good as two. Only their ratios matter; as an attribute they have the mean 1.
    `one_label` says that all labels may be the same: enough to see what people answer, not to learn
    from them.

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
        self.X = _features(X)
        self.n, self.d = self.X.shape
        self.y = _labels(y, self.n)
        if not one_label:
            self.require_both_labels()
        self.weights = _weights(weights, self.n)
        # Whether some agents count more than others.
        self.weighted = self.weights.strides != (0,)
        self.response = NoResponse() if response is None else response
        if not isinstance(self.response, Response):
            raise TypeError(f"response must be a Response, such as QuadraticCost, got {response!r}")
        self.response.fit(self.n, self.d)
        self.response = self.response.renewed()
        self.budget = None if budget is None else as_count("budget", budget, least=0)
        self.answers_by_agent: NDArray[np.int32] = np.zeros(self.n, dtype=np.int32)
        self.n_deployments = 0
        self._deployed: Vector | None = None
        self._part: Part | None = None

    def __repr__(self) -> str:
        return (
            f"Population({self.n} agents, {self.d} features, {self.n_positive} positive, "
            f"{self.response!r})"
        )

    @property
    def n_positive(self) -> int:
        """Agents with label +1."""
        return int((self.y > 0).sum())

    def require_both_labels(self) -> None:
        """Refuses people of one label: nothing can be learnt from them."""
        if self.n_positive in (0, self.n):
            raise ValueError(f"labels must be of both kinds, got {self.y[0]:+g} alone")

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy has counts and open questions of its own: what joblib, dask and others send to
        another process can only be read, or is shared."""
        self.__dict__.update(state)
        self.answers_by_agent, self._part = np.array(self.answers_by_agent), deepcopy(self._part)

    @property
    def positive_share(self) -> float:
        """The share of agents with label +1, by weight."""
        if not self.weighted:
            return float(self.n_positive / self.n)
        return float(self.weights[self.y > 0].sum() / self.n)

    @cached_property
    def largest_by_feature(self) -> Vector:
        """The size of the largest number in each column of X."""
        blocks = range(0, self.n, BLOCK)  # a copy of all could be as large as memory
        found: Vector = np.max([np.abs(self.X[k : k + BLOCK]).max(axis=0) for k in blocks], axis=0)
        return found

    @property
    def largest(self) -> float:
        """The size of the largest feature of all agents."""
        return float(self.largest_by_feature.max())

    @property
    def n_answers(self) -> int:
        """Answers given so far."""
        return int(self.answers_by_agent.sum())

    @property
    def remaining(self) -> int | None:
        """Answers left in the budget; None without one."""
        return None if self.budget is None else self.budget - self.n_answers

    @property
    def sight(self) -> Sight:
        """What a learner may see."""
        return self.response.sight

    def ask(self, theta: ArrayLike, agents: ArrayLike) -> Matrix:
        """What these agents report when theta is deployed: agents with label +1 their own
        features, unasked; the others their answers, counted."""
        if self.sight < Sight.ANSWERS:
            raise TypeError("this population shows scores only; ask scores() instead")
        deployed, chosen, moving = self._prepare(theta, agents)
        reported = self.X[chosen].copy()
        if moving.any():
            reported[moving] = self._answered(
                deployed,
                chosen[moving],
                (self.d,),
                lambda asked: self.response.answers(deployed, self.X[asked], asked.copy()),
            )
        return reported

    def scores(self, theta: ArrayLike, agents: ArrayLike) -> Vector:
        """The scores <b, theta> of these agents when theta is deployed."""
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
        """Counts an ask whose answers are computed elsewhere, from the response itself."""
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
            raise TypeError(f"agents must be numbered by integers, got {agents!r}")
        if chosen.size and not (chosen.min() >= 0 and chosen.max() < self.n):
            raise IndexError(f"there are agents 0 to {self.n - 1}, got {agents!r}")
        numbered = chosen.astype(np.int64)
        return deployed, numbered, self.y[numbered] < 0

    def _answered(
        self,
        theta: Vector,
        agents: Indices,
        shape: tuple[int, ...],
        question: Callable[[Indices], Any],
    ) -> Matrix:
        """The answers to a question, each of this shape: within the budget, counted, and looked at.
        Where some cannot be used the others are kept: the same question asks only for those."""
        part = self._part
        if part is None or not part.answers_to(theta, agents, shape):
            everyone = np.ones(agents.size, dtype=bool)
            part = Part(theta.copy(), agents.copy(), np.empty((agents.size, *shape)), everyone)
        self._part, missing = part, part.missing
        part.answers[missing] = self._asked(theta, agents[missing], shape, question)
        sizes = np.abs(part.answers.reshape(agents.size, -1)).max(axis=1)
        bad = ~(sizes <= LARGEST_ANSWER)  # NaN is not
        self._part = part._replace(missing=bad) if bad.any() else None
        if bad.any():
            size = sizes[bad][0]
            what = f"of size {size:.0e}, too large to compute with"
            if not np.isfinite(size):
                what = "that is not finite"
            if not bad.all():
                what += "; the others' answers are kept until something else is asked"
            raise AnswerError(f"{self._who(agents[bad])} an answer {what}")
        return part.answers

    def keep_answers_of(self, other: Population) -> None:
        """Takes over what the same people have answered to a question that failed in part."""
        self._part = other._part

    def _asked(
        self,
        theta: Vector,
        asked: Indices,
        shape: tuple[int, ...],
        question: Callable[[Indices], Any],
    ) -> Matrix:
        """What comes back from those who are asked, if it is numbers of this shape."""
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
        """Lets a question pass that is within the budget, and counts its deployment."""
        if self.remaining is not None and number > self.remaining:
            raise BudgetExceeded(
                f"{number} answers are asked for and the budget of {self.budget} has "
                f"{self.remaining} left; nobody was asked"
            )
        if self._deployed is None or not np.array_equal(self._deployed, theta):
            self._deployed = theta.copy()
            self.n_deployments += 1

    def _who(self, agents: Indices) -> str:
        shown = ", ".join(map(str, agents[:5])) + (", …" if agents.size > 5 else "")
        noun = "agent" if agents.size == 1 else "agents"
        return f"deployment {self.n_deployments}, {noun} {shown}:"


def _features(X: ArrayLike) -> Matrix:
    array = X if isinstance(X, np.ndarray) else as_numbers("X", X)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"X must be an array of numbers, got one of type {array.dtype}")
    require_unmasked("X", array)
    require_open("X", array)
    matrix: Matrix = np.ascontiguousarray(array, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"X must have rows and columns, got shape {matrix.shape}")
    ask_for_large_pages(matrix)
    require_finite("X", matrix)
    return matrix.view()  # whoever reshapes their own does not reshape this one


def _labels(y: ArrayLike, n: int) -> Vector:
    labels = np.asarray(y)
    require_unmasked("y", y)
    require_open("y", labels)
    if labels.shape != (n,):
        raise ValueError(f"y must have one label a row of X, {n} of them, got shape {labels.shape}")
    if labels.dtype.kind not in "iuf" or not ((labels == 1) | (labels == -1)).all():
        found = ", ".join(sorted({repr(label) for label in labels.tolist()})[:5])
        raise ValueError(f"labels must be -1 and +1, got {found}")
    if isinstance(y, np.memmap):
        return np.ascontiguousarray(labels, dtype=np.float64)
    return labels.astype(np.float64)


def _weights(weights: ArrayLike | None, n: int) -> Vector:
    """Positive numbers with the mean 1; where all are the same, one number seen n times."""
    same = np.broadcast_to(np.float64(1.0), (n,))
    if weights is None:
        return same
    given = as_numbers("weights", weights)
    if given.shape != (n,):
        raise ValueError(f"weights must have one number a row of X, {n}, got shape {given.shape}")
    require_finite("weights", given)
    if not (given > 0).all():
        raise ValueError(f"weights must be positive, got {given.min():g}")
    largest = given.max()
    if (given == largest).all():
        return same
    scaled = given / largest
    normal: Vector = scaled / scaled.mean()
    return normal
