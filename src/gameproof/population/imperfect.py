"""People who are not quite best responders, for simulation: each changes the answers of another.

A learner sees their answers but not their response function. What of the model's assumptions they
break, each of them says.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import final
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from gameproof.arguments import Vector, as_count, as_positive
from gameproof.population.responses import Indices, Matrix, Response, Sight


@dataclass(frozen=True, eq=False)
class _Imperfect(Response):
    """Answers of `base`, changed."""

    base: Response

    sight = Sight.ANSWERS

    def __post_init__(self) -> None:
        if not isinstance(self.base, Response) or self.base.sight < Sight.ANSWERS:
            raise TypeError(f"base must be a response whose answers are seen, got {self.base!r}")

    def fit(self, n: int, d: int) -> None:
        self.base.fit(n, d)

    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        return self.change(self.base.answers(theta, features, agents), theta, features, agents)

    @abstractmethod
    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        """The answers as they come out."""


@final
@dataclass(frozen=True, eq=False)
class Noisy(_Imperfect):
    """Each answered feature is off by a normal error. An agent asked the same theta again gives
    the same answer: the error is a function of seed, agent and theta."""

    sd: float
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        as_positive("sd", self.sd)

    @property
    def assumptions(self) -> str:
        return "Answers are best responses on average; single ones are off by noise."

    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        mark = crc32(np.ascontiguousarray(theta).tobytes())
        errors = [
            np.random.default_rng([self.seed, int(agent), mark]).standard_normal(theta.size)
            for agent in agents
        ]
        return answers + self.sd * np.reshape(errors, answers.shape)


@final
@dataclass(frozen=True, eq=False)
class Limited(_Imperfect):
    """Nobody moves farther than `size`."""

    size: float

    def __post_init__(self) -> None:
        super().__post_init__()
        as_positive("size", self.size)

    @property
    def assumptions(self) -> str:
        return (
            "Answers are best responses to a cost with a limit: still convex, but of no single "
            "degree, so that a learned power holds up to the limit only."
        )

    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        moves = answers - features
        lengths = np.linalg.norm(moves, axis=1, keepdims=True)
        shrink = np.minimum(1.0, self.size / np.maximum(lengths, np.finfo(float).tiny))
        moved: Matrix = features + moves * shrink
        return moved


@final
@dataclass(frozen=True, eq=False)
class Boxed(_Imperfect):
    """Answers stay between bounds, where their own features were: incomes are not negative."""

    lower: ArrayLike
    upper: ArrayLike

    @property
    def assumptions(self) -> str:
        return "Answers are clipped best responses: the degree does not hold at the bounds."

    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        lower = np.minimum(np.asarray(self.lower), features)
        upper = np.maximum(np.asarray(self.upper), features)
        return np.clip(answers, lower, upper)


@final
@dataclass(frozen=True, eq=False)
class Rounded(_Imperfect):
    """Moved features come in multiples of `unit`."""

    unit: float

    def __post_init__(self) -> None:
        super().__post_init__()
        as_positive("unit", self.unit)

    @property
    def assumptions(self) -> str:
        return "Answers are rounded best responses: scores jump, so no gradient is exact."

    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        rounded = self.unit * np.round(answers / self.unit)
        return np.where(answers == features, features, rounded)


@final
@dataclass(frozen=True, eq=False)
class Reluctant(_Imperfect):
    """A share of the agents, always the same ones, never moves."""

    share: float
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.share <= 1:
            raise ValueError(f"share must lie between 0 and 1, got {self.share}")

    @property
    def assumptions(self) -> str:
        return "Answers are best responses with a power that differs by agent, zero for some."

    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        chance = [np.random.default_rng([self.seed, int(agent)]).random() for agent in agents]
        stays = np.reshape(np.array(chance) < self.share, (-1, 1))
        return np.where(stays, features, answers)


@final
@dataclass(frozen=True, eq=False)
class Stale(_Imperfect):
    """People answer the theta deployed before; the first time, they have not moved yet."""

    delay: int = 1
    _seen: list[Vector] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        as_count("delay", self.delay)

    @property
    def assumptions(self) -> str:
        return "Answers are best responses to an older theta: wrong by as much as theta has moved."

    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        if not self._seen or not np.array_equal(self._seen[-1], theta):
            self._seen.append(theta.copy())
            del self._seen[: -self.delay - 1]
        if len(self._seen) <= self.delay:
            return features.copy()
        return self.base.answers(self._seen[0], features, agents)

    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        return answers
