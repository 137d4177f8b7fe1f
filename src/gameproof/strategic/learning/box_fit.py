"""Boxes fitted to answers: how far each feature can move down, and how far up.

    the move of feature c = up_c if theta_c > 0, -down_c if theta_c < 0

Each bound is a mean of the moves at deployments of one sign. From scores, deployments of single
features show the bounds, and deployments of all features show whether bounds add up. If a feature
was never deployed with one of the signs, that bound is set to the feature's other bound, and its
interval is unbounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.optimize import nnls
from scipy.stats import t as t_distribution

from gameproof.core.arguments import Indices, Vector
from gameproof.strategic.budgets import BoxBudget
from gameproof.strategic.feature_mask import Mask, positions
from gameproof.strategic.learning.budget_fit import (
    FALSE_ALARM,
    BudgetFit,
    Entries,
    clearly_positive,
    design_matrix,
    listed,
    separate_sizes,
)
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.response_fit import Intervals


@dataclass(frozen=True)
class BoxFit(BudgetFit):
    """A box. The sizes are the d distances down, then the d distances up."""

    nonzero: Mask  # which sizes may be positive
    source: Indices  # the size that each size equals: itself, or the other one of its feature

    norm = inf

    @classmethod
    def fit(cls, pilot: Pilot, allowed: Mask, by_agent: bool) -> Self | None:
        d = pilot.n_features
        moves = [_moves_of(pilot, bound) for bound in range(2 * d)]
        seen = np.array([values.size > 0 for values in moves])
        if not (seen[:d] | seen[d:])[allowed].all():
            return None
        source, opposite = np.arange(2 * d), (np.arange(2 * d) + d) % (2 * d)
        source[~seen] = opposite[~seen]
        nonzero = seen & np.tile(allowed, 2)
        if not pilot.scores_only:
            nonzero &= np.array([_clearly_moves(pilot, b, moves[b]) for b in range(2 * d)])
        fit = cls._solved(pilot, by_agent, nonzero, source)
        if pilot.scores_only:
            fit = cls._solved(pilot, by_agent, nonzero & fit._clear_sizes(), source)
        return fit.with_movable()

    @classmethod
    def _solved(cls, pilot: Pilot, by_agent: bool, nonzero: Mask, source: Indices) -> Self:
        d = pilot.n_features
        movable = nonzero[source][:d] | nonzero[source][d:]
        return cls(pilot, movable, by_agent, np.zeros(2 * d), nonzero, source).solve()

    def design(self) -> sparse.csr_array:
        thetas, d = self.pilot.thetas, self.pilot.n_features
        k, c = np.nonzero(thetas)
        columns = self.source[np.where(thetas[k, c] > 0, d + c, c)]
        return design_matrix(self.pilot, k, c, columns, 2 * d)

    def solve_sizes(self, design: Entries, strengths: Vector) -> Vector:
        moves, found = self.pilot.moves.ravel(), np.zeros(self.nonzero.size)
        if not self.pilot.scores_only:
            found = self.nonzero * separate_sizes(design, strengths, moves)[0]
        elif self.nonzero.any():
            matrix = strengths[:, None] * design.dense()[:, self.nonzero]
            found[self.nonzero] = nnls(matrix, moves)[0]
        return found[self.source]

    @property
    def n_shared(self) -> int:
        return int(np.unique(self.source[self.sizes > 0]).size)

    def sized_features(self) -> Mask:
        d = self.pilot.n_features
        return (self.sizes[:d] > 0) | (self.sizes[d:] > 0)

    def _clear_sizes(self) -> Mask:
        """The sizes that are more than noise."""
        quantile = float(t_distribution.isf(FALSE_ALARM / self.sizes.size, self.freedom))
        rounding = self.pilot.rounding / np.abs(self.pilot.thetas).max()
        found: Mask = self.sizes > np.maximum(quantile * self.standard_errors(), rounding)
        return found

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        """The lower and the upper bounds."""
        d = self.movable.size
        return 0.0 - self.sizes[:d], self.sizes[d:]

    def response(self, strength: float | Vector) -> BoxBudget:
        factor: Any = np.reshape(strength, (-1, 1)) if np.ndim(strength) else strength
        lower, upper = self.bounds
        return BoxBudget(factor * lower, factor * upper)

    def describe(self) -> str:
        lower, upper = self.bounds
        sides = [f"{c} from {lower[c]:.4g} to {upper[c]:.4g}" for c in positions(self.movable)]
        return (
            f"The answers fit a box budget on {len(sides)} of {self.movable.size} features, "
            f"whatever the size of theta: {listed(sides)}"
        )

    def intervals(self, level: float, mean_error: float) -> Intervals:
        width = np.hypot(self.standard_errors() * self.t_quantile(level), mean_error * self.sizes)
        width += 1e-10 * self.sizes
        low, high = np.maximum(self.sizes - width, 0.0), self.sizes + width
        unseen = self.source != np.arange(self.source.size)
        for b in positions(unseen):
            low[b], high[b] = 0.0, np.inf
        for b in positions(~self.nonzero & ~unseen):
            rounding = self.pilot.rounding_of(b % self.movable.size)
            low[b], high[b] = 0.0, _largest_bound(_moves_of(self.pilot, b), level, rounding)
        d = self.movable.size
        smallest = float(self.sizes[self.sizes > 0].min(initial=np.inf))
        surely = (low[:d] > 0) | (low[d:] > 0)
        possibly = self.movable | (np.maximum(high[:d], high[d:]) >= smallest)
        return {
            "lower": (0.0 - high[:d], 0.0 - low[:d]),
            "upper": (low[d:], high[d:]),
            "features": (positions(surely), positions(possibly)),
            "norm": (np.inf, np.inf),
        }


def _moves_of(pilot: Pilot, bound: int) -> Vector:
    """The moves toward this bound; from scores, when its feature was deployed alone."""
    d = pilot.n_features
    c, sign = bound % d, -1.0 if bound < d else 1.0
    rows = (np.sign(pilot.thetas[:, c]) == sign)[pilot.deployment]
    if pilot.scores_only:
        return pilot.rises_per_unit(rows & pilot.alone(c), c)
    found: Vector = sign * pilot.moves[rows, c]
    return found


def _clearly_moves(pilot: Pilot, bound: int, moves: Vector) -> bool:
    """Whether agents move toward this bound: by more than noise, or at all if the feature has no
    noise, that is, if some agents do not move it at all."""
    d, rounding = pilot.n_features, pilot.rounding
    if clearly_positive(moves, 2 * d, rounding):
        return True
    both_ways = np.concatenate([moves, _moves_of(pilot, (bound + d) % (2 * d))])
    noiseless = bool((np.abs(both_ways) <= rounding).any())
    return bool(noiseless and moves.max(initial=0.0) > rounding and moves.mean() > 0)


def _largest_bound(moves: Vector, level: float, rounding: float) -> float:
    """The upper end of the interval of a bound that was set to 0."""
    if not moves.size:
        return np.inf
    spread = float(moves.std(ddof=1)) if moves.size > 1 else float(np.abs(moves).max())
    if spread <= rounding:
        return 0.0
    quantile = float(t_distribution.ppf((1 + level) / 2, max(moves.size - 1, 1)))
    return max(float(moves.mean() + quantile * spread / np.sqrt(moves.size)), 0.0)
