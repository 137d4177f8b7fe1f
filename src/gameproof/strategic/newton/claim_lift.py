"""`ClaimLift`: the levels of a category that agents can claim."""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.budgets import BoxBudget
from gameproof.strategic.category_claims import Claim
from gameproof.strategic.newton.lift import Lift, SlopeConstraint
from gameproof.strategic.newton.nearest import in_capped_simplex


class ClaimLift(Lift):
    """One u for all agents at a level that can be claimed, and one for each other level."""

    can_stay = False
    own_count = 1
    shifts = True

    def __init__(self, claim: Claim, number: int, movers: Indices) -> None:
        self._claim, self._number, able = claim, number, np.flatnonzero(claim.allowed)
        levels = np.unique(claim.current[movers])
        others = levels[~claim.allowed[levels]]
        # The u of each level; levels that can be claimed share the first.
        self._group = np.zeros(claim.columns.size, dtype=np.int64)
        self._group[others] = 1 + np.arange(others.size)
        self.count, self._able, self._others = 1 + others.size, able, others
        sets = [able, *(np.append(able, level) for level in others)]
        pairs = [(k, level) for k, own in enumerate(sets) for level in own]
        self.slopes = [
            SlopeConstraint(k, int(claim.columns[level]), float(claim.steps[level]))
            for k, level in pairs
        ]

    def _levels(self, agents: Indices, own: Matrix | None) -> Indices:
        return self._claim.current[agents] if own is None else own[:, 0].astype(np.int64)

    def own(self, box: BoxBudget) -> Matrix:
        found: Matrix = box.claims[self._number].current[:, None].astype(np.float64)
        return found

    def rows(self, agents: Indices, own: Matrix | None = None) -> Matrix:
        group = self._group[self._levels(agents, own)]
        return np.equal(group, np.arange(self.count)[:, None]).astype(np.float64)

    def shifted(self, rows: Matrix, agents: Indices, own: Matrix | None = None) -> Matrix:
        """The features without the agents' own level, since `rows` has the level they claim."""
        levels, without = self._levels(agents, own), rows.copy()
        columns = self._claim.columns[levels]
        shown = np.flatnonzero(columns >= 0)
        without[columns[shown], shown] -= self._claim.steps[levels[shown]]
        return without

    def nearest(self, g: Vector, of_u: Vector, cost: Vector) -> Vector:
        """Every u can use the levels that can be claimed, and each u but the first also its own
        level, up to its weight."""
        weights = np.maximum(of_u, 0.0)
        levels = np.concatenate([self._able, self._others])
        total = float(weights.sum())
        caps = np.concatenate([np.full(self._able.size, total), weights[1:]])
        columns, steps = self._claim.columns[levels], self._claim.steps[levels]
        shown = columns >= 0
        steps, safe = np.where(shown, steps, 0.0), np.where(shown, columns, 0)
        masses = in_capped_simplex(g[safe], cost[safe], steps, caps, total)
        found = np.zeros_like(g)
        np.add.at(found, safe, steps * masses)
        return found
