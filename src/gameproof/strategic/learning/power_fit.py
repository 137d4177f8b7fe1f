"""Power costs and balls fitted to answers by least squares.

An agent of power zeta moves by zeta S(theta), where S is the gradient of g* for power 1 (see
`power_costs`). With v = 1/degree in [0, 1) and w = 1/norm in [0, 1] everything is bounded and
smooth. Powers enter linearly and are solved for, so the search is over (v, w) only. A ball has
v = 0: its radius is the power, and moves do not grow with theta.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import t as t_distribution

from gameproof.core.arguments import Matrix, Vector
from gameproof.strategic.feature_mask import Mask, positions
from gameproof.strategic.learning.ball_fit import ball_response, describe_ball
from gameproof.strategic.learning.response_fit import ResponseFit
from gameproof.strategic.norms import norm_gradient, row_norms
from gameproof.strategic.power_costs import PowerCost
from gameproof.strategic.responses import KnownResponse

# Bounds of (v, w): degrees from 1/0.95 to infinity, and all norms.
LOWER, UPPER = np.array([0.0, 0.0]), np.array([0.95, 1.0])


def moves_of_unit_power(
    thetas: Matrix, v: float, w: float, movable: Mask, scores_only: bool
) -> Matrix:
    """The moves of an agent of power 1, one row per theta, or the rises of its score."""
    part = thetas * movable
    dual = 1 / (1 - w) if w < 1 else inf
    lengths = row_norms(part, dual)
    lengths[lengths == 0] = 1.0  # nothing moves there: the gradient below is 0
    moves: Matrix = lengths ** (v / (1 - v)) * norm_gradient(part, lengths, dual)
    return (moves * thetas).sum(axis=1, keepdims=True) if scores_only else moves


@dataclass(frozen=True)
class PowerFit(ResponseFit):
    """A power cost fitted to answers, or a ball if v = 0."""

    v: float = 0.5
    w: float = 0.5
    fixed_power: float | None = None  # a common power that is given, not fitted

    n_shared = 3

    def unit_moves(self) -> Matrix:
        pilot = self.pilot
        moves = moves_of_unit_power(pilot.thetas, self.v, self.w, self.movable, pilot.scores_only)
        return moves[pilot.deployment]

    def strengths(self) -> Vector:
        return super().strengths() if self.fixed_power is None else np.array([self.fixed_power])

    @property
    def n_parameters(self) -> int:
        return self.groups.number + (self.v not in (0.0, 0.5)) + (self.w not in (0.0, 0.5, 1.0))

    @property
    def degree(self) -> float:
        return 1 / self.v if self.v > 0 else inf

    @property
    def norm(self) -> float:
        return 1 / self.w if self.w > 0 else inf

    def response(self, strength: float | Vector) -> KnownResponse:
        if self.v == 0:
            return ball_response(strength, self.movable, self.norm)
        return PowerCost(strength, 1 / self.v, self.norm, positions(self.movable))

    def describe(self) -> str:
        mean = float(self.strengths().mean())
        if self.v == 0:
            return describe_ball(mean, self.movable, self.norm)
        moving, d = int(self.movable.sum()), self.movable.size
        return (
            f"The answers fit a cost of degree {1 / self.v:.4g} and norm {self.norm:.4g} on "
            f"{moving} of {d} features, power {mean:.4g}"
        )

    def describe_range(self, low: float, high: float) -> str:
        return f"{'powers' if self.v else 'radii'} differ, from {low:.4g} to {high:.4g}"

    def sensitivities(self) -> Matrix:
        """The derivatives of the predicted numbers in log power, v and w: three columns."""
        powers, columns = self.strength_of_answers()[:, None], [self.unit_moves()]
        for k in (0, 1):
            up, down = np.array([self.v, self.w]), np.array([self.v, self.w])
            up[k], down[k] = min(up[k] + 1e-6, UPPER[k]), max(down[k] - 1e-6, LOWER[k])
            change = self.at(*up).unit_moves() - self.at(*down).unit_moves()
            columns.append(change / (up[k] - down[k]))
        fitted = self.fitted_columns
        found: Matrix = np.array([(powers * each)[:, fitted].ravel() for each in columns]).T
        return found

    def p_growth(self) -> float:
        """The p-value of one more term in the model, the square of the log length of a move.

        Moves that are cut at a limit grow less and less, as no power of theta does."""
        unit, groups = self.unit_moves(), self.groups
        lengths = np.linalg.norm(unit, axis=1, keepdims=True)
        if not (lengths > 0).any() or self.rss <= self.pilot.rounding**2:
            return 1.0
        logs = np.log(np.where(lengths > 0, lengths, 1.0))
        term = (self.predicted() * (logs - logs.mean()) ** 2)[:, self.fitted_columns].ravel()
        known = self.sensitivities()
        if self.by_agent:
            width = int(self.fitted_columns.sum())
            own = np.repeat(groups.of_answer, width)[:, None] == np.arange(groups.number)
            known = np.hstack([known[:, 1:], known[:, :1] * own])
        term = term - known @ np.linalg.lstsq(known, term, rcond=1e-10)[0]
        size, left = float(term @ term), self.fitted_residuals()
        if size <= 1e-20 * float(known[:, 0] @ known[:, 0]):
            return 1.0
        slope = float(term @ left) / size
        rest = left - slope * term
        freedom = max(self.freedom - 1, 1)
        error = np.sqrt(max(float(rest @ rest) / freedom, self.pilot.rounding**2) / size)
        return float(2 * t_distribution.sf(abs(slope) / error, freedom))

    def refit(self, included: Mask) -> PowerFit:
        return polish(replace(self, included=included))

    def at(self, v: float, w: float) -> PowerFit:
        """This fit with another degree and norm."""
        other = replace(self, v=float(v), w=float(w))
        other.__dict__["groups"] = self.groups  # cached: the answers are the same
        return other


def fit_power(start: PowerFit, v: float | None = None, w: float | None = None) -> PowerFit:
    """The best fit over v and w; a v or w that is given stays fixed."""
    if v is None and w is None:
        grid = [start.at(a, b) for a in (0.1, 0.3, 0.5, 0.7, 0.9) for b in (0.1, 0.5, 0.7, 0.9)]
        first = min((start, *grid), key=lambda fit: fit.rss)
        ends = [fit_power(first, w=0.0), fit_power(first, w=1.0), fit_power(first, v=first.v)]
        if first.v <= 0.3:  # the response may be a budget
            ends += [fit_power(first, v=0.0), first.at(0.0, 0.0), first.at(0.0, 1.0)]
        return min((polish(first, (True, True)), *ends), key=lambda fit: fit.rss)
    fixed = start.at(start.v if v is None else v, start.w if w is None else w)
    if v is not None and w is not None:
        return fixed
    if v is not None:
        tries = [fixed.at(v, b) for b in (0.0, 0.1, 0.5, 0.9, 1.0)]
    else:
        tries = [fixed.at(a, fixed.w) for a in (0.1, 0.3, 0.5, 0.7, 0.9)]
    first = min((fixed, *tries), key=lambda fit: fit.rss)
    return min((polish(first, (v is None, w is None)), first), key=lambda fit: fit.rss)


def polish(start: PowerFit, free: tuple[bool, bool] = (True, True)) -> PowerFit:
    """The best fit near this one, over v and w as far as they are free."""
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
        lambda point: at(point).fitted_residuals() / size,
        np.clip(begin, LOWER + margin, UPPER - margin)[index],
        bounds=(LOWER[index], UPPER[index]),
        jac="3-point",
        xtol=1e-13,
        ftol=1e-13,
        gtol=1e-15,
        max_nfev=40,
    )
    return at(found.x)
