"""`Pilot`: the questions of a pilot study and their answers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.feature_mask import Mask


@dataclass(frozen=True)
class Pilot:
    """The deployments of a pilot study, and one row per answer.

    A move is b - x, with one column per feature. If only scores are seen, a move is the rise
    <b, theta> - <x, theta> of the score, in a single column."""

    thetas: Matrix  # deployments x features
    deployment: Indices  # the deployment of each answer
    agents: Indices  # the agent of each answer
    features: Matrix  # that agent's own features
    moves: Matrix  # answers x features, or answers x 1 for scores
    scores_only: bool
    rounding: float  # moves up to this size may be floating-point rounding

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.thetas.shape[1])

    def lagged(self, delay: int) -> Pilot:
        """The pilot as if each answer were to the theta deployed `delay` deployments earlier."""
        late = self.select(self.deployment >= delay)
        answered = self.thetas[: len(self.thetas) - delay]
        return replace(late, deployment=late.deployment - delay, thetas=answered)

    def repeated(self) -> Pilot:
        """The answers of agents who were asked more than once."""
        return self.select(np.bincount(self.agents)[self.agents] > 1)

    def alone(self, feature: int) -> Mask:
        """The answers to deployments in which this feature alone has a coefficient."""
        nonzero = self.thetas != 0
        rows: Mask = (nonzero[:, feature] & (nonzero.sum(axis=1) == 1))[self.deployment]
        return rows

    def rises_per_unit(self, rows: Mask, feature: int) -> Vector:
        """The rises of these scores, divided by the size of the feature's coefficient."""
        coefficients = self.thetas[self.deployment[rows], feature]
        found: Vector = self.moves[rows, 0] / np.abs(coefficients)
        return found

    def rounding_of(self, feature: int) -> float:
        """Moves of this feature up to this size may be rounding. For scores, the moves are those
        that the deployments of the feature alone show."""
        if not self.scores_only:
            return self.rounding
        alone = np.abs(self.thetas[self.deployment[self.alone(feature)], feature])
        return self.rounding / float(alone.min(initial=np.inf))

    def with_answers(
        self, theta: Vector, agents: Indices, features: Matrix, moves: Matrix
    ) -> Pilot:
        """The pilot with one more deployment."""
        return replace(
            self,
            thetas=np.vstack([self.thetas, theta]),
            deployment=np.append(self.deployment, np.full(agents.size, len(self.thetas))),
            agents=np.append(self.agents, agents),
            features=np.vstack([self.features, features]),
            moves=np.vstack([self.moves, moves]),
        )

    def select(self, rows: Mask) -> Pilot:
        """The pilot with these answers only."""
        return replace(
            self,
            deployment=self.deployment[rows],
            agents=self.agents[rows],
            features=self.features[rows],
            moves=self.moves[rows],
        )
