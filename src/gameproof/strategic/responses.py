"""How agents answer a deployed theta.

An agent with features x and label -1 reports b(theta), the x' that maximises
<x', theta> - g(x' - x) for a cost g. `power_costs` has costs that are powers of a norm, `budgets`
has sets within which moves are free. Agents with label +1 never move and are never asked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple, final

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.kernels.gains import Claims
from gameproof.strategic.feature_mask import Mask
from gameproof.strategic.norms import conjugate_exponent


class Sight(IntEnum):
    """What a learner may see of a population, from least to most.

    Attributes
    ----------
    SCORES
        The score <b, theta> of each answer.
    ANSWERS
        The answered features b.
    RESPONSE
        The response function: answers to any theta, without asking anybody.

    Examples
    --------
    >>> Sight.SCORES < Sight.ANSWERS < Sight.RESPONSE
    True
    """

    SCORES = 1
    ANSWERS = 2
    RESPONSE = 3


class Response(ABC):
    """How a population answers. Subclass it to define people of your own.

    A subclass implements `answers` and `fit`. `check_response` tests it. Methods that solve the
    problem exactly need more than that: a response in closed form, such as `PowerCost`.

    Attributes
    ----------
    sight : Sight
        What a learner may see. By default the response function itself.
    best_response : bool
        Whether answers are best responses to a convex cost. By default they are.

    Examples
    --------
    >>> import numpy as np
    >>> class TowardTheMean(Response):
    ...     best_response = False
    ...
    ...     def answers(self, theta, features, agents):
    ...         return 0.5 * features + 0.5 * features.mean(axis=1, keepdims=True)
    ...
    ...     def fit(self, n, d):
    ...         pass
    >>> TowardTheMean().answers(np.ones(2), np.array([[0.0, 4.0]]), np.array([0]))
    array([[1., 3.]])
    """

    sight: Sight = Sight.RESPONSE
    best_response: bool = True

    @abstractmethod
    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        """What these agents report when theta is deployed.

        Parameters
        ----------
        theta : ndarray of shape (d,)
            The deployed coefficients.
        features : ndarray of shape (k, d)
            The agents' own features, one row per agent.
        agents : ndarray of shape (k,)
            Their row indices in the population.

        Returns
        -------
        ndarray of shape (k, d)
            The reported features.
        """

    @abstractmethod
    def fit(self, n: int, d: int) -> None:
        """Raises ValueError if the response does not fit n agents with d features."""

    @property
    def assumptions(self) -> str:
        """Whether answers are best responses to a convex cost, in a sentence."""
        return "Answers are best responses to a convex cost: the model's assumptions hold."

    def renewed(self) -> Response:
        """A copy without memory of earlier deployments. A population renews its response."""
        return self


class EncodedResponse(NamedTuple):
    """A known response in the form that compiled code takes.

    Scores rise by strength |reach * theta|_dual_norm^degree; if there are bounds, by what moves
    between the bounds and claims of categories add. Arrays with one row are common to all
    agents."""

    strength: Vector
    reach: Vector
    dual_norm: float
    degree: float
    lower: Matrix
    upper: Matrix
    claims: Claims


class KnownResponse(Response):
    """A response in closed form: the problem can be solved without asking anybody.

    `degree` is the degree of the cost, infinite for a budget. The gain in score is a convex
    function of theta that is homogeneous of degree q, with 1/degree + 1/q = 1. So an answer b gives
    the gradient x + q (b - x) of the score."""

    degree: float

    @property
    def conjugate_degree(self) -> float:
        """The exponent q with 1/degree + 1/q = 1."""
        return conjugate_exponent(self.degree)

    @abstractmethod
    def gains(self, theta: Vector, agents: Indices) -> Vector:
        """How much the scores of these agents rise when theta is deployed."""

    @abstractmethod
    def movable(self, d: int) -> Mask:
        """The features that some agent can move."""

    def moves(self, d: int) -> bool:
        """Whether any agent can move any feature."""
        return bool(self.movable(d).any())

    @abstractmethod
    def scaled(self, factor: float) -> KnownResponse:
        """The response whose gains are `factor` times as large at every theta."""

    @abstractmethod
    def of_agents(self, agents: Indices) -> KnownResponse:
        """The response of a population made of these agents."""

    @property
    @abstractmethod
    def by_agent(self) -> bool:
        """Whether agents differ in how far they move."""

    @property
    @abstractmethod
    def largest(self) -> tuple[str, float]:
        """The name and the size of the largest parameter."""

    @abstractmethod
    def encoded(self, d: int) -> EncodedResponse:
        """The response in the form that compiled code takes."""


@final
@dataclass(frozen=True, eq=False)
class BlackBox(Response):
    """Answers from a function of your own: a simulator, a survey or a live system.

    Parameters
    ----------
    function : callable
        ``function(theta, indices)`` returns the answered features of the agents with these row
        indices, an array of shape (len(indices), d). With ``scores=True`` it returns their scores
        <b, theta>, an array of shape (len(indices),).
    scores : bool, default=False
        Whether only scores are seen.

    Raises
    ------
    TypeError
        If `function` is not callable.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.zeros((3, 2))
    >>> survey = BlackBox(lambda theta, indices: X[indices] + 0.1 * theta)
    >>> survey.answers(np.array([1.0, 2.0]), X[:1], np.array([0]))
    array([[0.1, 0.2]])
    """

    function: Callable[[Vector, Indices], Any]
    scores: bool = False

    best_response = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}")

    @property
    def sight(self) -> Sight:  # type: ignore[override]
        return Sight.SCORES if self.scores else Sight.ANSWERS

    @property
    def assumptions(self) -> str:
        return "Nothing is known about how these answers come about."

    def fit(self, n: int, d: int) -> None:
        pass

    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        given: Matrix = self.function(theta, agents)
        return given

    def answered_scores(self, theta: Vector, agents: Indices) -> Vector:
        """The scores of these agents, for a black box that shows only scores."""
        given: Vector = self.function(theta, agents)
        return given
