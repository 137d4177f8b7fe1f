"""Blocks of agents: their data, and gamma.

The adversary's gamma is never stored for all agents. `Gamma` is the sign of t at one point, except
for a few agents with a value of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.newton.score_rows import ScoreRows

NOBODY = np.zeros(0, dtype=np.int64)


class Gamma(NamedTuple):
    """sign t at v, except for these agents (sorted), who have these values."""

    v: Vector
    agents: Indices
    values: Vector

    def within(self, places: Indices) -> tuple[Indices, Vector]:
        """The exceptions among the agents at these places, which are sorted: their positions and
        their values."""
        if not (places.size and self.agents.size):
            return NOBODY, np.zeros(0)
        low, high = np.searchsorted(self.agents, [places[0], places[-1] + 1])
        own = self.agents[low:high]
        positions = np.searchsorted(places, own)
        if places[-1] - places[0] + 1 == places.size:  # consecutive
            return positions, self.values[low:high]
        here = places[np.minimum(positions, places.size - 1)] == own
        return positions[here], self.values[low:high][here]


class Reach(NamedTuple):
    """How far t may move: `factor` times its change between two points, plus `margin`; for at least
    the `least` agents with the smallest t."""

    before: Vector
    after: Vector
    factor: float
    margin: float
    least: int

    def includes(
        self, sizes: Vector, change: Callable[[Vector, Vector], Vector]
    ) -> NDArray[np.bool_]:
        """Which agents with these |t| are within reach of 0, apart from the `least` nearest ones.

        `change` gives t at one point minus t at another. It is called only if it matters, since it
        may need a pass over the agents."""
        limit: Vector | float = self.margin
        if self.factor:
            limit = self.factor * np.abs(change(self.after, self.before)) + self.margin
        return sizes <= limit


class Active(NamedTuple):
    """Some free agents: the derivatives of t (one row per agent), minus those in alpha, and t."""

    agents: Indices
    pull_rows: Matrix
    pull_labels: Vector
    t: Vector

    def part(self, chosen: Any) -> Active:
        """Some of these agents."""
        return Active(*(field[chosen] for field in self))

    @classmethod
    def joined(cls, parts: list[Active]) -> Active:
        """All agents of the parts."""
        return cls(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))


class Block(NamedTuple):
    """The data of some agents: derivatives of scores, labels times kappa,
    coefficients l, powers zeta, weights, whether gamma is maximised out, and whether they move."""

    places: Indices
    rows: ScoreRows
    label: Vector
    linear: Vector
    zeta: Vector | float
    weights: Vector | None
    free: NDArray[np.bool_]
    moves: NDArray[np.bool_]

    def counted(self, values: Any) -> Any:
        """Values times the weights of their agents."""
        return values if self.weights is None else values * self.weights
