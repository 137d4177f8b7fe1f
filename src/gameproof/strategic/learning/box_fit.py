"""Boxes fitted to answers: how far each feature can move down, and how far up.

    the move of feature c = up_c where theta_c > 0, -down_c where theta_c < 0

so that each bound is a mean of the moves at deployments of one sign. By scores, features deployed
alone show their bounds, and deployments of all show whether bounds add up. A bound whose sign was
never seen is taken to be the other one of the feature, with an interval that says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import nnls
from scipy.stats import t as t_distribution

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.budgets import BoxBudget
from gameproof.strategic.learning.linear_fit import CLEAR, LinearFit, clearly_positive, squares
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.response_fit import Intervals, Mask, positions


@dataclass(frozen=True)
class BoxFit(LinearFit):
    """A box: sizes are how far down, and then how far up, each feature can move."""

    able: Mask  # which of the sizes may be positive
    source: Indices  # each size itself, or the other one of the feature where its sign is unseen

    norm = inf

    def design(self) -> sparse.csr_array:
        return _design(self.pilot, self.source)

    def solved(self, rows: sparse.csr_array, strengths: Vector) -> Vector:
        moves, found = self.pilot.moves.ravel(), np.zeros(self.able.size)
        if not self.pilot.scores:  # each number is of one size
            weights, toward = squares(rows, strengths, moves)
            found = self.able * np.maximum(toward, 0.0) / np.where(weights > 0, weights, 1.0)
        elif self.able.any():
            matrix = strengths[:, None] * rows[:, np.flatnonzero(self.able)].toarray()
            found[self.able] = nnls(matrix, moves)[0]
        return found[self.source]

    @property
    def shared(self) -> int:
        return int(np.unique(self.source[self.sizes > 0]).size)

    def clear(self) -> Mask:
        """The sizes that are more than noise."""
        quantile = float(t_distribution.isf(CLEAR / self.sizes.size, self.freedom))
        least = self.pilot.floor / np.abs(self.pilot.thetas).max()
        found: Mask = self.sizes > np.maximum(quantile * self.errors(), least)
        return found

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        """lower and upper."""
        d = self.movable.size
        return 0.0 - self.sizes[:d], self.sizes[d:]

    def response(self, strength: float | Vector) -> BoxBudget:
        """With bounds times the strength, which may be one number an agent."""
        factor: Any = np.reshape(strength, (-1, 1)) if np.ndim(strength) else strength
        lower, upper = self.bounds
        return BoxBudget(factor * lower, factor * upper)

    def described(self) -> str:
        lower, upper = self.bounds
        sides = [f"{c} from {lower[c]:.4g} to {upper[c]:.4g}" for c in np.flatnonzero(self.movable)]
        shown = ", ".join(sides[:4]) + (", …" if len(sides) > 4 else "")
        return (
            f"The answers fit a box budget on {len(sides)} of {self.movable.size} features, "
            f"whatever the size of theta: {shown}"
        )

    def intervals(self, level: float, share: float) -> Intervals:
        """Of each bound; `share` is by how much the mean strength may be wrong beside."""
        width = np.hypot(
            self.errors() * float(t_distribution.ppf((1 + level) / 2, self.freedom)),
            share * self.sizes,
        )
        width += 1e-10 * self.sizes
        low, high = np.maximum(self.sizes - width, 0.0), self.sizes + width
        unseen = self.source != np.arange(self.source.size)
        for b in positions(unseen):
            low[b], high[b] = 0.0, np.inf
        for b in positions(~self.able & ~unseen):
            floor = self.pilot.floor_of(b % self.movable.size)
            low[b], high[b] = 0.0, _highest(_moves_of(self.pilot, b), level, floor)
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


def fit_box(pilot: Pilot, told: Mask | None, by_agent: bool) -> BoxFit | None:
    """The best box; None where the answers cannot show one."""
    d = pilot.thetas.shape[1]
    moves = [_moves_of(pilot, b) for b in range(2 * d)]
    seen = np.array([values.size > 0 for values in moves])
    allowed = np.ones(d, dtype=bool) if told is None else told
    if not (seen[:d] | seen[d:])[allowed].all():
        return None
    source, other = np.arange(2 * d), (np.arange(2 * d) + d) % (2 * d)
    source[~seen] = other[~seen]
    able = seen & np.tile(allowed, 2)
    if not pilot.scores:
        able &= np.array([_moves(pilot, b, moves[b]) for b in range(2 * d)])
    fit = _fitted(pilot, by_agent, able, source)
    if pilot.scores:
        able = able & fit.clear()
        fit = _fitted(pilot, by_agent, able, source)
    return replace(fit, movable=(fit.sizes[:d] > 0) | (fit.sizes[d:] > 0))


def _fitted(pilot: Pilot, by_agent: bool, able: Mask, source: Indices) -> BoxFit:
    d = pilot.thetas.shape[1]
    movable = able[source][:d] | able[source][d:]
    return BoxFit(pilot, movable, by_agent, np.zeros(2 * d), able, source).best()


def _moves_of(pilot: Pilot, bound: int) -> Vector:
    """The moves that this bound limits, along it; by scores, of its feature deployed alone."""
    d = pilot.thetas.shape[1]
    c, sign = bound % d, -1.0 if bound < d else 1.0
    rows = (np.sign(pilot.thetas[:, c]) == sign)[pilot.which]
    if pilot.scores:
        rows &= pilot.alone(c)
        found: Vector = pilot.moves[rows, 0] / np.abs(pilot.thetas[pilot.which[rows], c])
    else:
        found = sign * pilot.moves[rows, c]
    return found


def _moves(pilot: Pilot, bound: int, values: Vector) -> bool:
    """Whether people move this way: by more than noise, or at all where others stay where they are
    exactly, so that there is no noise."""
    d, floor = pilot.thetas.shape[1], pilot.floor
    if clearly_positive(values, 2 * d, floor):
        return True
    beside = np.concatenate([values, _moves_of(pilot, (bound + d) % (2 * d))])
    still = bool((np.abs(beside) <= floor).any())
    return bool(still and values.max(initial=0.0) > floor and values.mean() > 0)


def _highest(values: Vector, level: float, floor: float) -> float:
    """How large a bound may be that is taken to be 0."""
    if not values.size:
        return np.inf
    spread = float(values.std(ddof=1)) if values.size > 1 else float(np.abs(values).max())
    if spread <= floor:
        return 0.0
    width = float(t_distribution.ppf((1 + level) / 2, max(values.size - 1, 1)))
    return max(float(values.mean() + width * spread / np.sqrt(values.size)), 0.0)


def _design(pilot: Pilot, source: Indices) -> sparse.csr_array:
    thetas: Matrix = pilot.thetas
    number, d = thetas.shape
    k, c = np.nonzero(thetas)
    columns = source[np.where(thetas[k, c] > 0, d + c, c)]
    if pilot.scores:
        entries, rows, height = np.abs(thetas[k, c]), k, number
    else:
        entries, rows, height = np.sign(thetas[k, c]), k * d + c, number * d
    return sparse.csr_array((entries, (rows, columns)), shape=(height, 2 * d))
