"""Least squares for power costs and balls: which power, degree, norm and features answers show.

An agent of power zeta moves by zeta S(theta), S = grad g* for power 1 (`responses`). With 1/degree
and 1/norm as coordinates everything is bounded and smooth: v = 1/degree in [0, 1), w = 1/norm in
[0, 1]. The powers enter linearly and are solved for, so the search is over (v, w) alone. A budget
whose moves form a ball is v = 0: the radius is the power, and moves do not grow with theta.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import t as t_distribution

from gameproof.core.arguments import Matrix, Vector
from gameproof.strategic.learning.ball_fit import ball_described, ball_response
from gameproof.strategic.learning.response_fit import Fit, Mask, positions
from gameproof.strategic.power_costs import PowerCost
from gameproof.strategic.responses import KnownResponse

LOWER, UPPER = np.array([0.0, 0.0]), np.array([0.95, 1.0])
"""Bounds of (v, w): degrees above 1.05, infinite ones and all norms among them."""


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
class PowerFit(Fit):
    """A power cost fitted to answers: a ball budget where v = 0."""

    v: float = 0.5
    w: float = 0.5
    pinned: float | None = None  # a common power that is given, not fitted

    shared = 3

    def unit(self) -> Matrix:
        pilot = self.pilot
        at = shapes(pilot.thetas, self.v, self.w, self.movable, pilot.scores)
        return at[pilot.which]

    def powers(self) -> Vector:
        return super().powers() if self.pinned is None else np.array([self.pinned])

    @property
    def complexity(self) -> int:
        return self.people[0].size + (self.v not in (0.0, 0.5)) + (self.w not in (0.0, 0.5, 1.0))

    @property
    def degree(self) -> float:
        return 1 / self.v if self.v > 0 else float(np.inf)

    @property
    def norm(self) -> float:
        return 1 / self.w if self.w > 0 else float(np.inf)

    def response(self, strength: float | Vector) -> KnownResponse:
        if self.v == 0:
            return ball_response(strength, self.movable, self.norm)
        return PowerCost(strength, 1 / self.v, self.norm, positions(self.movable))

    def described(self) -> str:
        mean = float(self.powers().mean())
        if self.v == 0:
            return ball_described(mean, self.movable, self.norm)
        moving, d = int(self.movable.sum()), self.movable.size
        return (
            f"The answers fit a cost of degree {1 / self.v:.4g} and norm {self.norm:.4g} on "
            f"{moving} of {d} features, power {mean:.4g}"
        )

    def differing(self, low: float, high: float) -> str:
        return f"{'powers' if self.v else 'radii'} differ, from {low:.4g} to {high:.4g}"

    def sensitivities(self) -> Matrix:
        """How the numbers predicted change with log power, v and w: three columns."""
        powers, columns = self.powers()[self.people[1]][:, None], [self.unit()]
        for k in (0, 1):
            up, down = np.array([self.v, self.w]), np.array([self.v, self.w])
            up[k], down[k] = min(up[k] + 1e-6, UPPER[k]), max(down[k] - 1e-6, LOWER[k])
            change = self.at(*up).unit() - self.at(*down).unit()
            columns.append(change / (up[k] - down[k]))
        found: Matrix = np.array([(powers * each)[:, self.columns].ravel() for each in columns]).T
        return found

    def growth(self) -> float:
        """p-value of moves that grow as no one power of theta: those cut at a limit grow ever less.

        The model with one more term, the square of the log length, against the model."""
        unit, (seen, whose) = self.unit(), self.people
        lengths = np.linalg.norm(unit, axis=1, keepdims=True)
        if not (lengths > 0).any() or self.rss <= self.pilot.floor**2:
            return 1.0
        logs = np.log(np.where(lengths > 0, lengths, 1.0))
        term = (self.predicted() * (logs - logs.mean()) ** 2)[:, self.columns].ravel()
        known = self.sensitivities()
        if self.by_agent:
            width = int(self.columns.sum())
            own = np.repeat(whose, width)[:, None] == np.arange(seen.size)
            known = np.hstack([known[:, 1:], known[:, :1] * own])
        term = term - known @ np.linalg.lstsq(known, term, rcond=1e-10)[0]
        size, left = float(term @ term), self.unexplained()
        if size <= 1e-20 * float(known[:, 0] @ known[:, 0]):
            return 1.0
        slope = float(term @ left) / size
        rest = left - slope * term
        freedom = max(self.freedom - 1, 1)
        error = np.sqrt(max(float(rest @ rest) / freedom, self.pilot.floor**2) / size)
        return float(2 * t_distribution.sf(abs(slope) / error, freedom))

    def refitted(self, kept: Mask) -> PowerFit:
        return polished(replace(self, kept=kept))

    def at(self, v: float, w: float) -> PowerFit:
        """The same with this degree and norm."""
        other = replace(self, v=float(v), w=float(w))
        other.__dict__["people"] = self.people  # who answered stays the same
        return other


def fitted(start: PowerFit, v: float | None = None, w: float | None = None) -> PowerFit:
    """The best fit; a v or w that is given stays as it is."""
    if v is None and w is None:
        grid = [start.at(a, b) for a in (0.1, 0.3, 0.5, 0.7, 0.9) for b in (0.1, 0.5, 0.7, 0.9)]
        first = min((start, *grid), key=lambda fit: fit.rss)
        ends = [fitted(first, w=0.0), fitted(first, w=1.0), fitted(first, v=first.v)]
        if first.v <= 0.3:  # a budget, perhaps
            ends += [fitted(first, v=0.0), first.at(0.0, 0.0), first.at(0.0, 1.0)]
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


def polished(start: PowerFit, free: tuple[bool, bool] = (True, True)) -> PowerFit:
    """The best fit near this one."""
    if not any(free):
        return start
    index = np.flatnonzero(free)
    begin = np.array([start.v, start.w])

    def at(point: Vector) -> PowerFit:
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
