"""Responses whose gain is a power of a weighted norm of theta.

An agent of strength zeta gains

    <b - x, theta> = zeta N(theta)^q,   N(theta) = |reach * theta|_{p*}

and moves by b - x = zeta N^(q-1) grad N, with q conjugate to the degree of the cost. Power costs
have 1 < q < inf, budgets have q = 1. `reach` is 0 for features that cannot move.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import (
    Indices,
    Matrix,
    Vector,
    as_number,
    as_numbers,
    read_only,
    require_finite,
)
from gameproof.kernels.gains import no_claims
from gameproof.strategic.feature_mask import (
    Mask,
    feature_mask,
    require_columns,
    require_positions,
)
from gameproof.strategic.norms import conjugate_exponent, norm_gradient, norm_of
from gameproof.strategic.responses import EncodedResponse, KnownResponse


class Gauge(KnownResponse):
    """A response with gains strength |reach * theta|_{p*}^q.

    The strength is the dataclass field that `strength_name` names: one number for all agents, or
    one per agent."""

    strength_name: ClassVar[str]

    @property
    def strength(self) -> Vector:
        """The strength of each agent, or one number for all."""
        return np.atleast_1d(np.asarray(getattr(self, self.strength_name), dtype=np.float64))

    @property
    @abstractmethod
    def dual_norm(self) -> float:
        """The exponent p* of the norm of theta."""

    @abstractmethod
    def reach(self, d: int) -> Vector:
        """The weight of each feature in the norm of theta."""

    def movable(self, d: int) -> Mask:
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
        dataclass: Any = self
        changed: Self = replace(dataclass, **{self.strength_name: strength})
        return changed

    def direction(self, theta: Vector) -> Vector:
        """The move of an agent of strength 1: 1/q times the gradient of its gain."""
        reach = self.reach(theta.size)
        weighted = reach * theta
        length = norm_of(weighted, self.dual_norm)
        if length == 0:
            return np.zeros_like(weighted)
        gradient = norm_gradient(weighted, length, self.dual_norm)
        move: Vector = length ** (self.conjugate_degree - 1) * reach * gradient
        return move

    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        moved: Matrix = features + self._strengths_of(agents)[:, None] * self.direction(theta)
        return moved

    def gains(self, theta: Vector, agents: Indices) -> Vector:
        length = norm_of(self.reach(theta.size) * theta, self.dual_norm)
        gained: Vector = self._strengths_of(agents) * length**self.conjugate_degree
        return gained

    def _strengths_of(self, agents: Indices) -> Vector:
        strength = self.strength
        return strength[agents] if self.by_agent else np.broadcast_to(strength, agents.shape)

    def fit(self, n: int, d: int) -> None:
        if self.by_agent and self.strength.size != n:
            raise ValueError(
                f"{self.strength_name} has {self.strength.size} numbers, the population {n} agents"
            )

    def encoded(self, d: int) -> EncodedResponse:
        no_bounds = read_only(np.zeros((0, d)))
        return EncodedResponse(
            self.strength,
            self.reach(d),
            self.dual_norm,
            self.conjugate_degree,
            no_bounds,
            no_bounds,
            no_claims(),
        )


class NormGauge(Gauge):
    """A gauge whose norm weighs all movable features equally.

    A subclass is a dataclass with the fields `norm` and `features`."""

    norm: float
    features: Sequence[int] | None

    def __post_init__(self) -> None:
        given = as_strength(self.strength_name, getattr(self, self.strength_name))
        object.__setattr__(self, self.strength_name, given)
        as_number("norm", self.norm)
        if not self.norm >= 1:
            raise ValueError(f"norm must be at least 1, got {self.norm}")
        if self.features is not None:
            require_positions(self.features)

    @property
    def dual_norm(self) -> float:
        return conjugate_exponent(self.norm)

    def reach(self, d: int) -> Vector:
        return feature_mask(self.features, d).astype(np.float64)

    def fit(self, n: int, d: int) -> None:
        super().fit(n, d)
        require_columns(self.features, d)


def as_strength(name: str, value: float | ArrayLike) -> float | Vector:
    """A number of at least 0, or one such number per agent; raises for anything else."""
    given = as_numbers(name, value)
    require_finite(name, np.atleast_1d(given))
    if given.ndim > 1 or given.size == 0:
        raise ValueError(
            f"{name} must be one number, or one number per agent, got shape {given.shape}"
        )
    if (given < 0).any():
        raise ValueError(f"{name} must be at least 0, got {given.min():g}")
    return float(given) if given.ndim == 0 else given
