"""How agents answer a deployed theta.

An agent with features x and label -1 reports b(theta), the x' that maximises
<x', theta> - g(x' - x). With the cost g(v) = |v|_p^r / (r zeta^(r-1)), 1/r + 1/q = 1 and
1/p + 1/p* = 1, the conjugate of g gives everything:

    g*(theta) = (zeta/q) |theta|_{p*}^q
    b - x = grad g*(theta)
    <b, theta> = <x, theta> + zeta |theta|_{p*}^q

Where only some features can move, theta is replaced by its movable part. Agents with label +1 never
move, and no response is asked about them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.arguments import Indices, Matrix, Vector, as_number, as_numbers, require_finite

# The power of people of whom nothing else is known: the paper's.
DEFAULT_POWER = 0.05


def norm_of(vector: Vector, p: float) -> float:
    """|vector|_p by way of its largest number, for with a large p plain powers overflow."""
    largest = float(np.abs(vector).max(initial=0.0))
    return largest * float(np.linalg.norm(vector / largest, p)) if largest > 0 else 0.0


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


@final
@dataclass(frozen=True, eq=False)
class PowerCost(Response):
    """Cost |v|_norm^degree / (degree power^(degree-1)) on the movable features.

    power is common or one number an agent, and zero for those who never move; features are the
    positions of the movable ones, by default all.

    >>> PowerCost(0.5).answers(np.array([2.0, 0.0]), np.zeros((1, 2)), np.array([0]))
    array([[1., 0.]])
    """

    power: float | ArrayLike
    degree: float = 2.0
    norm: float = 2.0
    features: Sequence[int] | None = None

    def __post_init__(self) -> None:
        zeta = as_numbers("power", self.power)
        object.__setattr__(self, "power", float(zeta) if zeta.ndim == 0 else zeta)
        require_finite("power", np.atleast_1d(zeta))
        if zeta.ndim > 1 or (zeta < 0).any():
            raise ValueError(f"power must be numbers of at least 0, got {self.power!r}")
        for name in ("degree", "norm"):
            as_number(name, getattr(self, name))
        if not (np.isfinite(self.degree) and self.degree > 1):
            raise ValueError(f"degree must exceed 1, got {self.degree}")
        if not self.norm >= 1:
            raise ValueError(f"norm must be at least 1, got {self.norm}")
        if self.features is not None:
            _checked_features(self.features)

    @property
    def conjugate_degree(self) -> float:
        """q with 1/degree + 1/q = 1."""
        return self.degree / (self.degree - 1)

    @property
    def dual_norm(self) -> float:
        """p* with 1/norm + 1/p* = 1."""
        if self.norm == 1:
            return np.inf
        return 1.0 if np.isinf(self.norm) else self.norm / (self.norm - 1)

    @property
    def powers(self) -> Vector:
        """One number an agent, or one for all."""
        return np.atleast_1d(np.asarray(self.power, dtype=np.float64))

    def movable(self, d: int) -> Vector:
        """1 for features that can move, 0 for others."""
        mask = np.ones(d) if self.features is None else np.zeros(d)
        if self.features is not None:
            mask[list(self.features)] = 1.0
        return mask

    def fit(self, n: int, d: int) -> None:
        zeta = np.asarray(self.power)
        if zeta.ndim == 1 and zeta.size != n:
            raise ValueError(f"power has {zeta.size} numbers, the population {n} agents")
        for feature in () if self.features is None else self.features:
            if not 0 <= feature < d:
                raise ValueError(f"feature {feature} cannot move: there are features 0 to {d - 1}")

    def direction(self, theta: Vector) -> Vector:
        """grad g*(theta) for power 1: how far an agent of unit power moves."""
        part = theta * self.movable(theta.size)
        length = norm_of(part, self.dual_norm)
        if length == 0:
            return np.zeros_like(part)
        if np.isinf(self.dual_norm):  # the cheapest way is along one largest coordinate
            shape = np.zeros_like(part)
            first = int(np.argmax(np.abs(part)))
            shape[first] = np.sign(part[first])
        else:
            shape = np.sign(part) * (np.abs(part) / length) ** (self.dual_norm - 1)
        scaled: Vector = length ** (self.conjugate_degree - 1) * shape
        return scaled

    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        zeta = np.asarray(self.power, dtype=np.float64)
        own = zeta if zeta.ndim == 0 else zeta[agents]
        moved: Matrix = features + np.reshape(own, (-1, 1)) * self.direction(theta)
        return moved


def QuadraticCost(power: float | ArrayLike, features: Sequence[int] | None = None) -> PowerCost:
    """Cost |v|^2 / (2 power), the paper's: agents move by power times the movable part of theta."""
    return PowerCost(power, degree=2.0, norm=2.0, features=features)


def NoResponse() -> PowerCost:
    """Nobody moves."""
    return PowerCost(0.0)


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


def _checked_features(features: Any) -> None:
    if not isinstance(features, (list, tuple, range, np.ndarray)):
        raise TypeError(f"features must be positions of columns, got {features!r}")
    for feature in features:
        if isinstance(feature, (bool, np.bool_)) or not isinstance(feature, (int, np.integer)):
            raise TypeError(f"features must be positions of columns, got {feature!r}")
    if len(set(features)) != len(features):
        raise ValueError(f"features names a column twice: {list(features)}")
