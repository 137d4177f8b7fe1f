"""`ResponseFit`: a response fitted to the answers of a pilot study.

An agent of strength zeta moves by zeta S(theta). The shape S belongs to the family: power costs and
balls (`power_fit`), boxes (`box_fit`) or prices (`price_fit`). Strengths enter linearly and are
solved for: one for all agents, or one per agent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t as t_distribution

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.feature_mask import Mask
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.responses import KnownResponse

Intervals = dict[str, tuple[Any, Any]]


class StrengthGroups(NamedTuple):
    """Agents that share a strength: one group per agent, or one group for all."""

    agents: Indices  # the agent of each group; -1 for the group of all
    of_answer: Indices  # the group of each answer

    @property
    def number(self) -> int:
        """The number of groups."""
        return int(self.agents.size)


@dataclass(frozen=True)
class ResponseFit(ABC):
    """A response fitted to answers."""

    pilot: Pilot
    movable: Mask
    by_agent: bool
    # Which of the numbers answered are fitted; None for all.
    included: Mask | None = field(default=None, kw_only=True)

    @abstractmethod
    def unit_moves(self) -> Matrix:
        """The predicted moves at strength 1."""

    @property
    @abstractmethod
    def n_shared(self) -> int:
        """The number of fitted parameters that all agents share."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """The number of parameters that describe the response, without those at round values."""

    @property
    @abstractmethod
    def degree(self) -> float:
        """The degree of the cost; infinite for a budget."""

    @property
    @abstractmethod
    def norm(self) -> float:
        """The norm in which moves are measured."""

    @property
    def scale(self) -> float:
        """The power, radius or budget of an agent of strength 1."""
        return 1.0

    @abstractmethod
    def response(self, strength: float | Vector) -> KnownResponse:
        """The response at this strength: one number, or one per agent."""

    @abstractmethod
    def describe(self) -> str:
        """What the answers fit, as a clause."""

    @abstractmethod
    def describe_range(self, low: float, high: float) -> str:
        """What differs by agent, with the smallest and the largest strength, as a clause."""

    @abstractmethod
    def p_growth(self) -> float:
        """The p-value of the test that moves grow with theta as the family says."""

    @abstractmethod
    def refit(self, included: Mask) -> ResponseFit:
        """The fit of the same family to these numbers only."""

    @cached_property
    def groups(self) -> StrengthGroups:
        """The groups of agents that share a strength."""
        if self.by_agent:
            return StrengthGroups(*np.unique(self.pilot.agents, return_inverse=True))
        return StrengthGroups(np.array([-1]), np.zeros(self.pilot.agents.size, dtype=np.int64))

    @property
    def fitted_columns(self) -> Mask:
        """The columns of the moves that the fit explains."""
        return np.ones(1, dtype=bool) if self.pilot.scores_only else self.movable

    @property
    def identified(self) -> Mask:
        """The groups whose answers show their strength: something could move when they were
        asked."""
        groups = self.groups
        sizes = (self.unit_moves() ** 2).sum(axis=1)
        return np.bincount(groups.of_answer, sizes, groups.number) > 0

    def strengths(self) -> Vector:
        """The strength of each group, at least 0; the mean for groups that do not show theirs."""
        unit, groups = self.unit_moves(), self.groups
        weight = unit if self.included is None else unit * self.included
        along = (weight * self.pilot.moves).sum(axis=1)
        numerator = np.bincount(groups.of_answer, along, groups.number)
        denominator = np.bincount(groups.of_answer, (weight * unit).sum(axis=1), groups.number)
        known = denominator > 0
        found: Vector = np.maximum(numerator, 0.0) / np.where(known, denominator, 1.0)
        found[~known] = found[known].mean() if known.any() else 0.0
        return found

    def strength_of_answers(self) -> Vector:
        """The strength behind each answer."""
        return self.strengths()[self.groups.of_answer]

    def predicted(self) -> Matrix:
        """The moves that the fit predicts."""
        found: Matrix = self.strength_of_answers()[:, None] * self.unit_moves()
        return found

    def residuals(self) -> Matrix:
        """Answered less predicted moves, in all columns."""
        found: Matrix = self.pilot.moves - self.predicted()
        return found

    def fitted_residuals(self) -> Vector:
        """The residuals that the fit minimises, as one vector."""
        left = self.residuals()
        if self.included is not None:
            left = left * self.included
        found: Vector = left[:, self.fitted_columns].ravel()
        return found

    @property
    def rss(self) -> float:
        """The sum of squares of the fitted residuals."""
        left = self.fitted_residuals()
        return float(left @ left)

    @property
    def freedom(self) -> int:
        """Degrees of freedom: numbers answered less parameters fitted."""
        included = self.included
        count = int(self.fitted_residuals().size if included is None else included.sum())
        return max(count - (self.groups.number - 1) - self.n_shared, 1)

    @property
    def variance(self) -> float:
        """The noise variance of one number answered, at least that of rounding."""
        return max(self.rss / self.freedom, self.pilot.rounding**2)

    @property
    def noise(self) -> float:
        """The standard deviation of the noise in one number answered."""
        if not self.movable.any():
            return float(np.sqrt(np.mean(self.pilot.moves**2)))
        return float(np.sqrt(self.rss / self.freedom))

    def t_quantile(self, level: float) -> float:
        """Student's quantile for a two-sided interval at this level."""
        return float(t_distribution.ppf((1 + level) / 2, self.freedom))
