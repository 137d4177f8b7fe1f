"""People who are not quite best responders, for simulation: each changes the answers of another.

A learner sees their answers but not their response function. What of the model's assumptions they
break, each of them says.
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
    """Answers of `base`, changed."""

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
        """What is changed, and what of the model that breaks, in a sentence."""

    @property
    def assumptions(self) -> str:
        return f"{self.effect} Before that: {self.base.assumptions}"

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
        as_count("seed", self.seed, least=0)

    @property
    def effect(self) -> str:
        return "Answers are right on average; single ones are off by noise."

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
    """Nobody moves farther than `size`."""

    size: float

    def __post_init__(self) -> None:
        super().__post_init__()
        as_positive("size", self.size)

    @property
    def effect(self) -> str:
        return (
            "Answers are cut short at a limit: there no degree holds, nor, but for norm 2, order."
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
    """Answers stay between bounds, where their own features were: incomes are not negative."""

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
    """Moved features come in multiples of `unit`."""

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
    """A share of the agents, always the same ones, never moves."""

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
    """People answer the theta deployed before; the first time, they have not moved yet."""

    delay: int = 1
    _seen: list[Vector] = field(default_factory=list, repr=False, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        as_count("delay", self.delay)

    @property
    def effect(self) -> str:
        return "Answers are to an older theta: wrong by as much as theta has moved."

    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        if not self._seen or not np.array_equal(self._seen[-1], theta):
            self._seen.append(theta.copy())
            del self._seen[: -self.delay - 1]
        if len(self._seen) <= self.delay:
            return features.copy()
        return self.base.answers(self._seen[0], features, agents)

    def change(self, answers: Matrix, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        return answers
