"""Least squares for the power cost: what power, degree, norm and features answers speak for.

An agent of power zeta moves by zeta S(theta), S = grad g* for power 1 (`responses`). With 1/degree
and 1/norm as coordinates everything is bounded and smooth: v = 1/degree in (0, 1), w = 1/norm in
[0, 1]. The powers enter linearly and are solved for, so the search is over (v, w) alone. Intervals
come from the profile: all v for which the best w leaves no more unexplained than an F test allows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, least_squares
from scipy.stats import f as f_distribution
from scipy.stats import t as t_distribution

from gameproof.arguments import Vector
from gameproof.population.pilot import Pilot
from gameproof.population.responses import Matrix

Mask = NDArray[np.bool_]
Pair = tuple[float, float]

LOWER, UPPER = np.array([1 / 101, 0.0]), np.array([0.95, 1.0])
"""Bounds of (v, w): degrees between 1.05 and 101, all norms."""


ARITHMETIC = 1e-10  # added to intervals: a search on floating-point numbers finds no better


def shapes(thetas: Matrix, v: float, w: float, movable: Mask, scores: bool) -> Matrix:
    """How far an agent of unit power moves, a row a deployment; of scores, by how much they rise."""
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


def profile(best: Fit, name: str, level: float) -> Pair:
    """The interval of "v", of "w" or, where it is common, of "power": all values for which the best
    of the others leave no more unexplained than an F test allows."""
    allowed = best.variance * float(f_distribution.ppf(level, 1, best.freedom))
    centre = {"v": best.v, "w": best.w, "power": float(best.powers()[0])}[name]
    lowest, highest = {
        "v": (LOWER[0], UPPER[0]),
        "w": (LOWER[1], UPPER[1]),
        "power": (0.0, 1e3 * centre),
    }[name]
    nearest = {centre: best}  # each search starts from the one that was closest

    def over(value: float) -> float:
        if value in nearest:
            return nearest[value].rss - best.rss - allowed
        start = nearest[min(nearest, key=lambda other: abs(other - value))]
        pinned = replace(start, **{"pinned" if name == "power" else name: value})
        tries = (pinned, polished(pinned, (name != "v", name != "w")))
        nearest[value] = min(tries, key=lambda fit: fit.rss)
        return nearest[value].rss - best.rss - allowed

    def end(bound: float) -> float:
        reach, inside = max(spread(best, name), 1e-13 * centre, 1e-14), centre
        while True:
            outside = centre + np.sign(bound - centre) * min(reach, abs(bound - centre))
            if over(outside) > 0:
                return float(brentq(over, inside, outside, xtol=1e-13, rtol=1e-4))
            if reach >= abs(bound - centre):
                return bound
            inside, reach = outside, 2 * reach

    width = ARITHMETIC * (centre if name == "power" else 1.0)
    return float(max(end(lowest) - width, lowest)), float(min(end(highest) + width, highest))


def sensitivities(best: Fit) -> Matrix:
    """How the numbers predicted change with log power, v and w: three columns."""
    powers, columns = best.powers()[best.people[1]][:, None], [best.unit()]
    for k in (0, 1):
        up, down = np.array([best.v, best.w]), np.array([best.v, best.w])
        up[k], down[k] = min(up[k] + 1e-6, UPPER[k]), max(down[k] - 1e-6, LOWER[k])
        change = best.at(*up).unit() - best.at(*down).unit()
        columns.append(change / (up[k] - down[k]))
    found: Matrix = np.array([(powers * each)[:, best.columns].ravel() for each in columns]).T
    return found


def spread(best: Fit, name: str) -> float:
    """The standard error of "v", "w" or "power" (of all powers in proportion), to first order."""
    slopes = sensitivities(best)
    # A norm that does not matter has slope 0 and gets no share.
    shares = np.linalg.pinv(slopes.T @ slopes, rcond=1e-12)
    mean = float(best.powers().mean())
    k = ("power", "v", "w").index(name)
    return float(np.sqrt(max(shares[k, k], 0.0) * best.variance)) * (mean if k == 0 else 1.0)


def power_interval(best: Fit, movers: int, level: float) -> Pair:
    """The interval of the population's mean power. Where powers differ: from the fit to first
    order, and from the spread among the agents seen, unless all were."""
    if not best.by_agent:
        return profile(best, "power", level)
    powers = best.powers()
    mean, seen = float(powers.mean()), powers.size
    width = spread(best, "power") * float(t_distribution.ppf((1 + level) / 2, best.freedom))
    if 1 < seen < movers:
        error = powers.std(ddof=1) * np.sqrt((1 - seen / movers) / seen)
        width = float(np.hypot(width, t_distribution.ppf((1 + level) / 2, seen - 1) * error))
    width += ARITHMETIC * mean
    return max(mean - width, 0.0), mean + width
