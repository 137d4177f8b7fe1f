"""Least squares for the power cost: what power, degree, norm and features answers speak for.

An agent of power zeta moves by zeta S(theta), S = grad g* for power 1 (`responses`). With 1/degree
and 1/norm as coordinates everything is bounded and smooth: v = 1/degree in (0, 1), w = 1/norm in
[0, 1]. The powers enter linearly and are solved for, so the search is over (v, w) alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from gameproof.arguments import Matrix, Vector
from gameproof.population.pilot import Pilot

Mask = NDArray[np.bool_]

LOWER, UPPER = np.array([1 / 101, 0.0]), np.array([0.95, 1.0])
"""Bounds of (v, w): degrees between 1.05 and 101, all norms."""


def shapes(thetas: Matrix, v: float, w: float, movable: Mask, scores: bool) -> Matrix:
    """How far an agent of unit power moves, a row a deployment; of scores, how much they rise."""
    part = thetas * movable
    sizes = np.abs(part)
    largest = sizes.max(axis=1, keepdims=True)
    largest[largest == 0] = 1.0  # nothing moves there: the sign below is 0
    if w >= 1:
        length = largest
        form = np.zeros_like(sizes)
        np.put_along_axis(form, sizes.argmax(axis=1)[:, None], 1.0, axis=1)
    else:
        dual = 1 / (1 - w)
        ratios = sizes / largest
        length = largest * (ratios**dual).sum(axis=1, keepdims=True) ** (1 / dual)
        length[length == 0] = 1.0
        form = (sizes / length) ** (dual - 1)
    moves: Matrix = length ** (v / (1 - v)) * form * np.sign(part)
    return (moves * thetas).sum(axis=1, keepdims=True) if scores else moves


@dataclass(frozen=True)
class Fit:
    """A power cost fitted to answers, and what it leaves unexplained."""

    pilot: Pilot
    movable: Mask
    by_agent: bool
    v: float = 0.5
    w: float = 0.5
    kept: Mask | None = None  # which of the numbers answered count; None for all
    pinned: float | None = None  # a common power that is given, not fitted

    @cached_property
    def people(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The agents seen, and whose each answer is: one group where power is common."""
        if self.by_agent:
            seen, whose = np.unique(self.pilot.agents, return_inverse=True)
            return seen, whose
        return np.array([-1]), np.zeros(self.pilot.agents.size, dtype=np.int64)

    @property
    def columns(self) -> Mask:
        """The columns of the moves that the fit explains."""
        return np.ones(1, dtype=bool) if self.pilot.scores else self.movable

    def unit(self) -> Matrix:
        """What the answers would be at power 1."""
        pilot = self.pilot
        at = shapes(pilot.thetas, self.v, self.w, self.movable, pilot.scores)
        return at[pilot.which]

    def powers(self) -> Vector:
        """The power of each group, at least 0."""
        if self.pinned is not None:
            return np.array([self.pinned])
        unit, (seen, whose) = self.unit(), self.people
        weight = unit if self.kept is None else unit * self.kept
        top = np.bincount(whose, (weight * self.pilot.moves).sum(axis=1), seen.size)
        bottom = np.bincount(whose, (weight * unit).sum(axis=1), seen.size)
        found: Vector = np.maximum(top, 0.0) / np.where(bottom > 0, bottom, 1.0)
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
        return max(count - self.people[0].size - 2, 1)

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

    def at(self, v: float, w: float) -> Fit:
        """The same with this degree and norm."""
        other = replace(self, v=float(v), w=float(w))
        other.__dict__["people"] = self.people  # who answered stays the same
        return other


def fitted(start: Fit, v: float | None = None, w: float | None = None) -> Fit:
    """The best fit; a v or w that is given stays as it is."""
    if v is None and w is None:
        grid = [start.at(a, b) for a in (0.1, 0.3, 0.5, 0.7, 0.9) for b in (0.1, 0.5, 0.7, 0.9)]
        first = min((start, *grid), key=lambda fit: fit.rss)
        ends = (fitted(first, w=0.0), fitted(first, w=1.0), fitted(first, v=first.v))
        return min((polished(first, (True, True)), *ends), key=lambda fit: fit.rss)
    pinned = start.at(start.v if v is None else v, start.w if w is None else w)
    if v is not None and w is not None:
        return pinned
    if v is not None:
        tries = [pinned.at(v, b) for b in (0.0, 0.1, 0.5, 0.9, 1.0)]
    else:
        tries = [pinned.at(a, pinned.w) for a in (0.1, 0.3, 0.5, 0.7, 0.9)]
    first = min((pinned, *tries), key=lambda fit: fit.rss)
    return min((polished(first, (v is None, w is None)), first), key=lambda fit: fit.rss)


def polished(start: Fit, free: tuple[bool, bool] = (True, True)) -> Fit:
    """The best fit near this one."""
    index = np.flatnonzero(free)
    begin = np.array([start.v, start.w])

    def at(point: Vector) -> Fit:
        whole = begin.copy()
        whole[index] = point
        return start.at(*whole)

    size = float(np.sqrt(np.mean(start.pilot.moves**2))) or 1.0
    margin = 1e-6 * (UPPER - LOWER)
    found = least_squares(
        lambda point: at(point).unexplained() / size,
        np.clip(begin, LOWER + margin, UPPER - margin)[index],
        bounds=(LOWER[index], UPPER[index]),
        jac="3-point",
        xtol=1e-13,
        ftol=1e-13,
        gtol=1e-15,
        max_nfev=40,
    )
    return at(found.x)
