"""The distribution that brings about the worst case, and a summary of what it changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.feature_mask import Mask
from gameproof.strategic.losses.loss import Loss


@final
@dataclass(frozen=True, eq=False)
class Distribution:
    """A distribution on weighted atoms, each with features, a label and the agent it comes from.

    `distance` is the distance of an atom's features from its agent's answer, in the problem's
    feature costs, and `flipped` says whether its label differs from the agent's. So the transport
    cost is the sum of weights (distance + 2 kappa flipped)."""

    weights: Vector
    features: Matrix
    labels: Vector
    agent: Indices
    distance: Vector
    flipped: Mask

    def risk(self, loss: Loss, theta: ArrayLike, intercept: float = 0.0) -> float:
        """The mean loss of theta under this distribution."""
        scores = self.features @ np.asarray(theta, dtype=np.float64) + intercept
        return float(self.weights @ loss.value(scores, self.labels))


@final
@dataclass(frozen=True, eq=False)
class AdversaryMoves:
    """What the adversary changes: agents whose label flips, and agents who move, with the mass of
    each."""

    flipped: Indices
    flipped_mass: Vector
    moved: Indices
    moved_mass: Vector
    distance: Vector

    @classmethod
    def of(cls, distribution: Distribution) -> AdversaryMoves:
        """The changes in a distribution."""
        weights = distribution.weights * distribution.flipped
        mass = np.bincount(distribution.agent, weights).astype(np.float64)
        far = distribution.distance > 0
        flipped = np.flatnonzero(mass)
        return cls(
            flipped,
            mass[flipped],
            distribution.agent[far],
            distribution.weights[far],
            distribution.distance[far],
        )

    def __str__(self) -> str:
        parts = []
        if self.flipped.size:
            mass = float(self.flipped_mass.sum())
            parts.append(f"flipped: {_agents(self.flipped.size)}, mass {mass:.3g}")
        if self.moved.size:
            mass, far = float(self.moved_mass.sum()), float(self.distance.max())
            parts.append(f"moved: {_agents(self.moved.size)}, mass {mass:.3g}, by {far:.3g}")
        return "; ".join(parts) or "nobody is changed"


def make_distribution(
    answers: Matrix,
    labels: Vector,
    weights: Vector,
    share: Vector,
    mover: int,
    mass: float,
    move: Vector,
    distance: float,
) -> Distribution:
    """The distribution in which `share` of each agent's label flips, and a `mass` of one agent, the
    mover, moves by `distance`: by -y' times `move`, with y' its label. Atoms are ordered by
    agent."""
    n = labels.size
    everyone = np.arange(n, dtype=np.int64)
    kept, turned = (1 - share) * weights, share * weights
    mover_flipped = bool(share[mover] == 1)
    (turned if mover_flipped else kept)[mover] -= mass
    agent = np.concatenate([everyone, everyone, [mover]])
    flipped = np.concatenate([np.zeros(n, bool), np.ones(n, bool), [mover_flipped]])
    atom_weights = np.concatenate([kept, turned, [mass]])
    atom_labels = np.where(flipped, -labels[agent], labels[agent])
    distances = np.zeros(2 * n + 1)
    distances[-1] = distance
    features = answers[agent]
    if mass:
        features[-1] -= atom_labels[-1] * move
    rows = np.flatnonzero(atom_weights > 0)
    rows = rows[np.argsort(agent[rows], kind="stable")]
    return Distribution(
        atom_weights[rows],
        features[rows],
        atom_labels[rows],
        agent[rows],
        distances[rows],
        flipped[rows],
    )


def _agents(number: int) -> str:
    return f"{number} agent{'' if number == 1 else 's'}"
