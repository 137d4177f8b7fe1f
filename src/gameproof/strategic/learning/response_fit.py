"""What every fitted response has: moves predicted, and what they leave unexplained.

An agent of strength zeta moves by zeta S(theta). The shape S is a family's own: costs and balls
(`power_fit`), boxes (`box_fit`), prices (`price_fit`). Strengths enter linearly and are solved for,
one for all or one an agent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Matrix, Vector
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.responses import KnownResponse

Mask = NDArray[np.bool_]
Intervals = dict[str, tuple[Any, Any]]


@dataclass(frozen=True)
class Fit(ABC):
    """A response fitted to answers."""

    pilot: Pilot
    movable: Mask
    by_agent: bool
    # Which of the numbers answered count; None for all.
    kept: Mask | None = field(default=None, kw_only=True)

    @abstractmethod
    def unit(self) -> Matrix:
        """What the answers would be at strength 1."""

    @property
    @abstractmethod
    def shared(self) -> int:
        """How many numbers were fitted that all agents share."""

    @property
    @abstractmethod
    def degree(self) -> float:
        """Of the cost: infinite for a budget."""

    @property
    @abstractmethod
    def norm(self) -> float:
        """In which moves have a length."""

    @property
    def scale(self) -> float:
        """What an agent of strength 1 has as its power, radius or budget."""
        return 1.0

    @property
    @abstractmethod
    def complexity(self) -> int:
        """How many numbers describe the response; those that are round do not count."""

    @abstractmethod
    def response(self, strength: float | Vector) -> KnownResponse:
        """The response of agents of this strength: one number, or one an agent."""

    @abstractmethod
    def described(self) -> str:
        """What the answers fit, as a clause."""

    @abstractmethod
    def differing(self, low: float, high: float) -> str:
        """What differs by agent, from the lowest strength to the highest, as a clause."""

    @abstractmethod
    def growth(self) -> float:
        """p-value of moves that grow with theta otherwise than the family says."""

    @abstractmethod
    def refitted(self, kept: Mask) -> Fit:
        """The same, fitted to some of the numbers alone."""

    @cached_property
    def people(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The agents seen, and whose each answer is: one group where the strength is common."""
        if self.by_agent:
            seen, whose = np.unique(self.pilot.agents, return_inverse=True)
            return seen, whose
        return np.array([-1]), np.zeros(self.pilot.agents.size, dtype=np.int64)

    @property
    def columns(self) -> Mask:
        """The columns of the moves that the fit explains."""
        return np.ones(1, dtype=bool) if self.pilot.scores else self.movable

    @property
    def shown(self) -> Mask:
        """The groups whose strength shows: who was asked where something can move."""
        seen, whose = self.people
        return np.bincount(whose, (self.unit() ** 2).sum(axis=1), seen.size) > 0

    def powers(self) -> Vector:
        """The strength of each group, at least 0; of those that do not show it, the mean."""
        unit, (seen, whose) = self.unit(), self.people
        weight = unit if self.kept is None else unit * self.kept
        top = np.bincount(whose, (weight * self.pilot.moves).sum(axis=1), seen.size)
        bottom = np.bincount(whose, (weight * unit).sum(axis=1), seen.size)
        shown = bottom > 0
        found: Vector = np.maximum(top, 0.0) / np.where(shown, bottom, 1.0)
        found[~shown] = found[shown].mean() if shown.any() else 0.0
        return found

    def predicted(self) -> Matrix:
        """The moves that the model gives these agents."""
        found: Matrix = self.powers()[self.people[1]][:, None] * self.unit()
        return found

    def residuals(self) -> Matrix:
        """Answered less predicted, all columns."""
        found: Matrix = self.pilot.moves - self.predicted()
        return found

    def unexplained(self) -> Vector:
        """The residuals that the fit makes small, as one vector."""
        left = self.residuals()
        if self.kept is not None:
            left = left * self.kept
        found: Vector = left[:, self.columns].ravel()
        return found

    @property
    def rss(self) -> float:
        """The sum of their squares."""
        left = self.unexplained()
        return float(left @ left)

    @property
    def freedom(self) -> int:
        """Numbers answered, less numbers fitted."""
        count = int(self.unexplained().size if self.kept is None else self.kept.sum())
        return max(count - (self.people[0].size - 1) - self.shared, 1)

    @property
    def variance(self) -> float:
        """Of the noise in one number answered; not below what floating-point rounding makes."""
        return max(self.rss / self.freedom, self.pilot.floor**2)

    @property
    def noise(self) -> float:
        """Standard deviation of one number answered; where nothing moves, of all of them."""
        if not self.movable.any():
            return float(np.sqrt(np.mean(self.pilot.moves**2)))
        return float(np.sqrt(self.rss / self.freedom))


def positions(mask: Mask) -> list[int]:
    """Where it is true."""
    return [int(c) for c in np.flatnonzero(mask)]
