"""Imperfect people, for simulations: each class changes the answers of another response.

A learner sees their answers but not their response function. `assumptions` says which assumption
of the model each class violates.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import final
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Indices, Matrix, Vector, as_count, as_numbers, as_positive
from gameproof.strategic.responses import Response, Sight


@dataclass(frozen=True, eq=False)
class _Imperfect(Response):
    """The answers of `base`, changed."""

    base: Response

    sight = Sight.ANSWERS
    best_response = False

    def __post_init__(self) -> None:
        if not isinstance(self.base, Response) or self.base.sight < Sight.ANSWERS:
            raise TypeError(f"base must be a response whose answers are seen, got {self.base!r}")

    def fit(self, n: int, d: int) -> None:
        self.base.fit(n, d)

    def renewed(self) -> Response:
        return replace(self, base=self.base.renewed())

    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        return self.change(self.base.answers(theta, features, agents), theta, features, agents)

    @property
    @abstractmethod
    def effect(self) -> str:
        """What is changed, and which assumption that violates, in a sentence."""

    @property
    def assumptions(self) -> str:
        return f"{self.effect} Before that: {self.base.assumptions}"

    @abstractmethod
    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        """The changed answers."""


@final
@dataclass(frozen=True, eq=False)
class Noisy(_Imperfect):
    """People whose answers have normal errors in every feature.

    The error is a function of seed, agent and theta: the same question gets the same answer.

    Parameters
    ----------
    base : Response
        The response before the errors.
    sd : float
        The standard deviation of the errors; positive.
    seed : int, default=0
        The seed of the errors.

    Raises
    ------
    TypeError
        If `base` is not a response whose answers are seen.
    ValueError
        If `sd` is not positive and finite.

    Examples
    --------
    >>> from gameproof.strategic.power_costs import NoResponse
    >>> noisy = Noisy(NoResponse(), sd=0.1)
    >>> noisy.answers(np.ones(2), np.zeros((1, 2)), np.array([0])).shape
    (1, 2)
    """

    sd: float
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        as_positive("sd", self.sd)
        as_count("seed", self.seed, least=0)

    @property
    def effect(self) -> str:
        return "Answers are right on average, and each has random errors."

    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        mark = crc32((theta + 0.0).tobytes())
        errors = [
            np.random.default_rng([self.seed, int(agent), mark]).standard_normal(theta.size)
            for agent in agents
        ]
        return answers + self.sd * np.reshape(errors, answers.shape)


@final
@dataclass(frozen=True, eq=False)
class Limited(_Imperfect):
    """People who move by at most a given length.

    Parameters
    ----------
    base : Response
        The response before longer moves are cut.
    size : float
        The longest move, in the Euclidean norm; positive.

    Raises
    ------
    TypeError
        If `base` is not a response whose answers are seen.
    ValueError
        If `size` is not positive and finite.

    Examples
    --------
    >>> from gameproof.strategic.power_costs import QuadraticCost
    >>> limited = Limited(QuadraticCost(1.0), size=2.0)
    >>> limited.answers(np.array([5.0, 0.0]), np.zeros((1, 2)), np.array([0]))
    array([[2., 0.]])
    """

    size: float

    def __post_init__(self) -> None:
        super().__post_init__()
        as_positive("size", self.size)

    @property
    def effect(self) -> str:
        return (
            "Moves are cut at a limit: there, no degree holds, and answers are monotone in theta "
            "for norm 2 only."
        )

    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        moves = answers - features
        lengths = np.linalg.norm(moves, axis=1, keepdims=True)
        shrink = np.where(lengths > self.size, self.size / np.maximum(lengths, self.size), 1.0)
        moved: Matrix = features + moves * shrink
        return moved


@final
@dataclass(frozen=True, eq=False)
class Boxed(_Imperfect):
    """People whose answers stay within bounds, such as incomes that are not negative.

    Agents whose own features lie outside the bounds may stay there, but move no farther out.

    Parameters
    ----------
    base : Response
        The response before answers are clipped.
    lower, upper : float or array-like of shape (d,)
        The bounds of the answered features.

    Raises
    ------
    TypeError
        If `base` is not a response whose answers are seen, or a bound is not a number.
    ValueError
        If `lower` exceeds `upper`.

    Examples
    --------
    >>> from gameproof.strategic.power_costs import QuadraticCost
    >>> boxed = Boxed(QuadraticCost(1.0), lower=0.0, upper=3.0)
    >>> boxed.answers(np.array([5.0, -5.0]), np.ones((1, 2)), np.array([0]))
    array([[3., 0.]])
    """

    lower: ArrayLike
    upper: ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        lower, upper = as_numbers("lower", self.lower), as_numbers("upper", self.upper)
        if not np.all(lower <= upper):
            raise ValueError(f"lower must not exceed upper, got {self.lower!r} and {self.upper!r}")

    def fit(self, n: int, d: int) -> None:
        super().fit(n, d)
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            if np.shape(bound) not in ((), (d,)):
                raise ValueError(f"{name} must be one number, or {d}, got {np.shape(bound)}")

    @property
    def effect(self) -> str:
        return "Answers are clipped: no degree holds at the bounds."

    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        lower = np.minimum(np.asarray(self.lower), features)
        upper = np.maximum(np.asarray(self.upper), features)
        return np.clip(answers, lower, upper)


@final
@dataclass(frozen=True, eq=False)
class Rounded(_Imperfect):
    """People whose moved features are multiples of a unit.

    Parameters
    ----------
    base : Response
        The response before rounding.
    unit : float
        The unit; positive.

    Raises
    ------
    TypeError
        If `base` is not a response whose answers are seen.
    ValueError
        If `unit` is not positive and finite.

    Examples
    --------
    >>> from gameproof.strategic.power_costs import QuadraticCost
    >>> rounded = Rounded(QuadraticCost(1.0), unit=0.5)
    >>> rounded.answers(np.array([0.7, 0.0]), np.full((1, 2), 0.1), np.array([0]))
    array([[1. , 0.1]])
    """

    unit: float

    def __post_init__(self) -> None:
        super().__post_init__()
        as_positive("unit", self.unit)

    @property
    def effect(self) -> str:
        return "Answers are rounded: scores jump, so that no gradient is exact."

    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        rounded = self.unit * np.round(answers / self.unit)
        return np.where(answers == features, features, rounded)


@final
@dataclass(frozen=True, eq=False)
class Reluctant(_Imperfect):
    """People of whom a share, always the same agents, never moves.

    Parameters
    ----------
    base : Response
        The response of the others.
    share : float
        The probability with which an agent never moves; between 0 and 1.
    seed : int, default=0
        The seed by which those agents are drawn.

    Raises
    ------
    TypeError
        If `base` is not a response whose answers are seen.
    ValueError
        If `share` is not between 0 and 1.

    Examples
    --------
    >>> from gameproof.strategic.power_costs import QuadraticCost
    >>> nobody = Reluctant(QuadraticCost(1.0), share=1.0)
    >>> nobody.answers(np.ones(2), np.zeros((1, 2)), np.array([0]))
    array([[0., 0.]])
    """

    share: float
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.share <= 1:
            raise ValueError(f"share must lie between 0 and 1, got {self.share}")
        as_count("seed", self.seed, least=0)

    @property
    def effect(self) -> str:
        return "Some agents never move: power differs by agent, and is zero for some."

    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        chance = [np.random.default_rng([self.seed, int(agent)]).random() for agent in agents]
        stays = np.reshape(np.array(chance) < self.share, (-1, 1))
        return np.where(stays, features, answers)


@final
@dataclass(frozen=True, eq=False)
class Stale(_Imperfect):
    """People who answer an older theta.

    At the first `delay` deployments they have not moved yet. A population keeps its own record of
    deployments.

    Parameters
    ----------
    base : Response
        The response to the older theta.
    delay : int, default=1
        By how many deployments people are late.

    Raises
    ------
    TypeError
        If `base` is not a response whose answers are seen.
    ValueError
        If `delay` is less than 1.

    Examples
    --------
    >>> from gameproof.strategic.power_costs import QuadraticCost
    >>> stale = Stale(QuadraticCost(1.0))
    >>> stale.answers(np.array([1.0]), np.zeros((1, 1)), np.array([0]))
    array([[0.]])
    >>> stale.answers(np.array([2.0]), np.zeros((1, 1)), np.array([0]))
    array([[1.]])
    """

    delay: int = 1
    _deployed: list[Vector] = field(default_factory=list, repr=False, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        as_count("delay", self.delay)

    @property
    def effect(self) -> str:
        return "People answer an older theta: answers are wrong by as much as theta has changed."

    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        if not self._deployed or not np.array_equal(self._deployed[-1], theta):
            self._deployed.append(theta.copy())
            del self._deployed[: -self.delay - 1]
        if len(self._deployed) <= self.delay:
            return features.copy()
        return self.base.answers(self._deployed[0], features, agents)

    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        return answers
