"""How agents answer a deployed theta.

An agent with features x and label -1 reports b(theta), the x' that maximises
<x', theta> - g(x' - x) for a cost g of its own. `costs` has powers of a norm, `budgets` people who
move within a set, at no cost. Agents with label +1 never move, and no response is asked about them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from gameproof import kernels
from gameproof.core.arguments import Indices, Matrix, Vector


class Sight(IntEnum):
    """What a learner may see of people, from least to most."""

    SCORES = 1  # the score <b, theta> of an answer
    ANSWERS = 2  # the answered features themselves
    RESPONSE = 3  # the response function: answers to any theta, unasked


class Response(ABC):
    """How a population answers."""

    sight: Sight = Sight.RESPONSE

    @abstractmethod
    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        """What these agents report when theta is deployed; `features` are their own, row by row."""

    @property
    def assumptions(self) -> str:
        """Whether these answers are best responses to a convex cost, in a sentence."""
        return "Answers are best responses to a convex cost: the model's assumptions hold."

    def renewed(self) -> Response:
        """The response for a population of its own: without what it remembers of another."""
        return self

    @abstractmethod
    def fit(self, n: int, d: int) -> None:
        """Refuses a response that does not fit n agents with d features."""


class Encoded(NamedTuple):
    """A known response as compiled code takes it.

    Scores rise by strength |reach theta|_dual^degree, or where there are bounds by what moves
    between them add, and claims of categories. Arrays of one row are common to all agents."""

    strength: Vector
    reach: Vector
    dual_norm: float
    degree: float
    lower: Matrix
    upper: Matrix
    claims: kernels.Claims


class KnownResponse(Response):
    """A response in closed form: the problem can be solved without asking anybody.

    `degree` is that of the cost, infinite for a budget. Scores of agents who move rise by a convex
    function of theta, homogeneous of degree q with 1/degree + 1/q = 1, so that an answer b gives
    the gradient x + q (b - x) of the score.
    """

    degree: float

    @property
    def conjugate_degree(self) -> float:
        """q with 1/degree + 1/q = 1."""
        return 1.0 if np.isinf(self.degree) else self.degree / (self.degree - 1)

    @abstractmethod
    def gains(self, theta: Vector, agents: Indices) -> Vector:
        """How much the scores of these agents rise when theta is deployed."""

    @abstractmethod
    def movable(self, d: int) -> NDArray[np.bool_]:
        """The features that somebody can move."""

    def moves(self, d: int) -> bool:
        """Whether anybody can move at all."""
        return bool(self.movable(d).any())

    @abstractmethod
    def scaled(self, factor: float) -> KnownResponse:
        """The response of people whose gain is `factor` times as large at every theta."""

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
        """The size of the largest number it is made of, and what that number is called."""

    @abstractmethod
    def encoded(self, d: int) -> Encoded:
        """What compiled code takes."""


@final
@dataclass(frozen=True, eq=False)
class BlackBox(Response):
    """Answers from a function of your own: a simulator, a survey, a live system.

    ``function(theta, indices) -> (len(indices), d) array`` of answered features; with scores=True
    ``-> (len(indices),) array`` of the scores <b, theta>, and the features stay unseen.
    """

    function: Callable[[Vector, Indices], Any]
    scores: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}")

    @property
    def sight(self) -> Sight:  # type: ignore[override]
        return Sight.SCORES if self.scores else Sight.ANSWERS

    @property
    def assumptions(self) -> str:
        return "Nothing is known of how these answers come about."

    def fit(self, n: int, d: int) -> None:
        pass

    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        given: Matrix = self.function(theta, agents)
        return given

    def answered_scores(self, theta: Vector, agents: Indices) -> Vector:
        """The scores of a black box that shows no more."""
        given: Vector = self.function(theta, agents)
        return given
