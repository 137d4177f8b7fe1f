"""Power costs: what people gain from a score, less what moving costs them.

With the cost g(v) = |v|_p^r / (r zeta^(r-1)), 1/r + 1/q = 1 and 1/p + 1/p* = 1, the conjugate of g
gives everything:

    g*(theta) = (zeta/q) |theta|_{p*}^q
    b - x = grad g*(theta)
    <b, theta> = <x, theta> + zeta |theta|_{p*}^q

Where only some features can move, theta is replaced by its movable part.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof import kernels
from gameproof.core.arguments import (
    Indices,
    Matrix,
    Vector,
    as_number,
    as_numbers,
    read_only,
    require_finite,
)
from gameproof.strategic.responses import Encoded, KnownResponse

# The power of people of whom nothing else is known: the paper's.
DEFAULT_POWER = 0.05


def norm_of(vector: Vector, p: float) -> float:
    """|vector|_p by way of its largest number, for with a large p plain powers overflow."""
    largest = float(np.abs(vector).max(initial=0.0))
    return largest * float(np.linalg.norm(vector / largest, p)) if largest > 0 else 0.0


class Gauge(KnownResponse):
    """Gains of strength |reach theta|_{p*}^q: costs and balls in a norm.

    The strength is one number, or one an agent, in the field that `strength_name` names; `reach` is
    0 for features that cannot move."""

    strength_name: ClassVar[str]

    @property
    def strength(self) -> Vector:
        """One number an agent, or one for all."""
        return np.atleast_1d(np.asarray(getattr(self, self.strength_name), dtype=np.float64))

    @property
    @abstractmethod
    def dual_norm(self) -> float:
        """p* of the module."""

    @abstractmethod
    def reach(self, d: int) -> Vector:
        """The weight of each feature in the norm."""

    def movable(self, d: int) -> NDArray[np.bool_]:
        return self.reach(d) > 0

    @property
    def by_agent(self) -> bool:
        return bool(np.ndim(getattr(self, self.strength_name)))

    @property
    def largest(self) -> tuple[str, float]:
        return self.strength_name, float(self.strength.max())

    def moves(self, d: int) -> bool:
        return bool(self.strength.any() and self.movable(d).any())

    def scaled(self, factor: float) -> Self:
        return self._with_strength(factor * np.asarray(getattr(self, self.strength_name)))

    def of_agents(self, agents: Indices) -> Self:
        return self._with_strength(self.strength[agents]) if self.by_agent else self

    def _with_strength(self, strength: Any) -> Self:
        here: Any = self  # a dataclass
        changed: Self = replace(here, **{self.strength_name: strength})
        return changed

    def direction(self, theta: Vector) -> Vector:
        """How far an agent of unit strength moves: 1/q times the gradient of its gain."""
        reach = self.reach(theta.size)
        part = reach * theta
        length = norm_of(part, self.dual_norm)
        if length == 0:
            return np.zeros_like(part)
        if np.isinf(self.dual_norm):  # the cheapest way is along one largest coordinate
            shape = np.zeros_like(part)
            first = int(np.argmax(np.abs(part)))
            shape[first] = np.sign(part[first])
        else:
            shape = np.sign(part) * (np.abs(part) / length) ** (self.dual_norm - 1)
        scaled: Vector = length ** (self.conjugate_degree - 1) * reach * shape
        return scaled

    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        moved: Matrix = features + self._own(agents)[:, None] * self.direction(theta)
        return moved

    def gains(self, theta: Vector, agents: Indices) -> Vector:
        length = norm_of(self.reach(theta.size) * theta, self.dual_norm)
        gained: Vector = self._own(agents) * length**self.conjugate_degree
        return gained

    def _own(self, agents: Indices) -> Vector:
        strength = self.strength
        return strength[agents] if self.by_agent else np.broadcast_to(strength, agents.shape)

    def fit(self, n: int, d: int) -> None:
        if self.by_agent and self.strength.size != n:
            raise ValueError(
                f"{self.strength_name} has {self.strength.size} numbers, the population {n} agents"
            )

    def encoded(self, d: int) -> Encoded:
        none = read_only(np.zeros((0, d)))
        return Encoded(
            self.strength,
            self.reach(d),
            self.dual_norm,
            self.conjugate_degree,
            none,
            none,
            kernels.no_claims(),
        )


def dual_of(norm: float) -> float:
    """p* with 1/p + 1/p* = 1."""
    if norm == 1:
        return np.inf
    return 1.0 if np.isinf(norm) else norm / (norm - 1)


def as_strength(name: str, value: float | ArrayLike) -> float | Vector:
    """One number of at least 0, or one an agent."""
    given = as_numbers(name, value)
    require_finite(name, np.atleast_1d(given))
    if given.ndim > 1 or given.size == 0:
        raise ValueError(f"{name} must be one number, or one an agent, got shape {given.shape}")
    if (given < 0).any():
        raise ValueError(f"{name} must be at least 0, got {given.min():g}")
    return float(given) if given.ndim == 0 else given


class NormGauge(Gauge):
    """A gauge in a p-norm of the movable features, by default all."""

    norm: float
    features: Sequence[int] | None

    def __post_init__(self) -> None:
        given = as_strength(self.strength_name, getattr(self, self.strength_name))
        object.__setattr__(self, self.strength_name, given)
        as_number("norm", self.norm)
        if not self.norm >= 1:
            raise ValueError(f"norm must be at least 1, got {self.norm}")
        if self.features is not None:
            checked_features(self.features)

    @property
    def dual_norm(self) -> float:
        return dual_of(self.norm)

    def reach(self, d: int) -> Vector:
        return mask_of(self.features, d)

    def fit(self, n: int, d: int) -> None:
        super().fit(n, d)
        require_columns(self.features, d)


@final
@dataclass(frozen=True, eq=False)
class PowerCost(NormGauge):
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

    strength_name = "power"

    def __post_init__(self) -> None:
        super().__post_init__()
        as_number("degree", self.degree)
        if not (np.isfinite(self.degree) and self.degree > 1):
            raise ValueError(f"degree must exceed 1, got {self.degree}")


def mask_of(features: Sequence[int] | None, d: int) -> Vector:
    """1 for these features, 0 for others; None for all."""
    mask = np.ones(d) if features is None else np.zeros(d)
    if features is not None:
        mask[list(features)] = 1.0
    return mask


def require_columns(features: Sequence[int] | None, d: int) -> None:
    """Refuses features that the population does not have."""
    for feature in () if features is None else features:
        if not 0 <= feature < d:
            raise ValueError(f"feature {feature} cannot move: there are features 0 to {d - 1}")


def QuadraticCost(power: float | ArrayLike, features: Sequence[int] | None = None) -> PowerCost:
    """Cost |v|^2 / (2 power), the paper's: agents move by power times the movable part of theta."""
    return PowerCost(power, degree=2.0, norm=2.0, features=features)


def NoResponse() -> PowerCost:
    """Nobody moves."""
    return PowerCost(0.0)


def checked_features(features: Any) -> None:
    if not isinstance(features, (list, tuple, range, np.ndarray)):
        raise TypeError(f"features must be positions of columns, got {features!r}")
    for feature in features:
        if isinstance(feature, (bool, np.bool_)) or not isinstance(feature, (int, np.integer)):
            raise TypeError(f"features must be positions of columns, got {feature!r}")
    if len(set(features)) != len(features):
        raise ValueError(f"features names a column twice: {list(features)}")
