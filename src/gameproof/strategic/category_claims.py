"""Claims: categories whose level agents can change.

A category is a group of columns, one per level. An agent at level l who can claim the levels A
moves by step_k e_k - step_l e_l for one k in A, or stays. With t_k = step_k theta_k, and t_k = 0
for a level without a column, the gain is max(max over A of t_k, t_l) - t_l.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.kernels.gains import Claims, no_claims
from gameproof.strategic.feature_mask import Mask


class Claim(NamedTuple):
    """A category whose level agents can change.

    `columns[k]` is the column of level k, or -1 if the level has none, and `steps[k]` the number
    that stands in that column for an agent at level k. Agents can claim the `allowed` levels.
    `current` is the level of each agent."""

    columns: Indices
    steps: Vector
    allowed: Mask
    current: Indices

    def values(self, theta: Vector) -> Vector:
        """What each level adds to a score."""
        found: Vector = np.where(self.columns >= 0, self.steps * theta[self.columns], 0.0)
        return found

    def best(self, theta: Vector, own: Indices) -> Indices:
        """The level claimed by agents at each of these levels: their own unless another is worth
        more."""
        values = self.values(theta)
        if not self.allowed.any():
            return own
        first = int(np.argmax(np.where(self.allowed, values, -np.inf)))
        found: Indices = np.where(values[first] > values[own], first, own)
        return found

    def gains(self, theta: Vector, agents: Indices) -> Vector:
        """How much the claim raises the scores of these agents."""
        values, own = self.values(theta), self.current[agents]
        gained: Vector = values[self.best(theta, own)] - values[own]
        return gained

    def apply(self, theta: Vector, answers: Matrix, agents: Indices) -> None:
        """Changes the level in the answers of these agents, in place."""
        own = self.current[agents]
        best = self.best(theta, own)
        for level, sign in ((best, 1.0), (own, -1.0)):
            rows = np.flatnonzero((best != own) & (self.columns[level] >= 0))
            answers[rows, self.columns[level[rows]]] += sign * self.steps[level[rows]]

    def of_agents(self, agents: Indices) -> Claim:
        """The claim of a population made of these agents."""
        return self._replace(current=self.current[agents])

    def fit(self, n: int, d: int) -> None:
        """Raises if the claim does not fit n agents with d features."""
        if self.current.shape != (n,):
            raise ValueError(
                f"a claim has {self.current.size} current levels, the population {n} agents"
            )
        if self.columns.max(initial=-1) >= d:
            raise ValueError(
                f"a claim uses column {self.columns.max()}, but columns are 0 to {d - 1}"
            )


def encode_claims(claims: Sequence[Claim]) -> Claims:
    """Claims in the form that compiled code takes."""
    if not claims:
        return no_claims()
    return Claims(
        np.cumsum([0, *(claim.columns.size for claim in claims)]),
        np.concatenate([claim.columns for claim in claims]),
        np.concatenate([claim.steps for claim in claims]),
        np.concatenate([claim.allowed for claim in claims]),
        np.array([claim.current for claim in claims]),
    )
