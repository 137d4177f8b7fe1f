"""People who answer with errors, not at all, or to an older theta."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final
from zlib import crc32

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector, as_count, as_positive
from gameproof.strategic.imperfect_response import Imperfect


@final
@dataclass(frozen=True, eq=False)
class Noisy(Imperfect):
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
class Reluctant(Imperfect):
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
class Stale(Imperfect):
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
