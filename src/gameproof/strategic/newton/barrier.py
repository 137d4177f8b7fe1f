"""A primal-dual interior-point method for the convex objective of a strategic problem.

With e_i in place of |t_i| for the free agents, and the set written as constraints h_j(v) >= 0, it
solves

    min f(v) + (1/n) sum_i e_i   subject to   e_i - t_i >= 0,   e_i + t_i >= 0,   h_j(v) >= 0

The multipliers of the first two constraints, times n, add up to 1: they are (1 + gamma_i)/2 and
(1 - gamma_i)/2, with gamma the adversary's. So v and gamma approach the saddle point together,
along the path on which each slack times its multiplier is mu, times a weight w:

    slack = (e - t, e + t, h),   dual = ((1 + gamma)/2, (1 - gamma)/2, lambda)
    slack dual = mu w,   grad f + (1/n) sum gamma_i grad t_i = sum lambda_j grad h_j

Each h_j has w = 1. Agents have a w of at least 1, with which all of them add at least as much to
the gap as all h_j. With w = 1 and few free agents, or many h_j, a gamma would jump from -1 to 1
while its t changes by about mu, which is tiny beside the gap, and steps would be short.

A step is Newton's for these equations, at a cost of O(n d^2). It is shortened until the merit
function of Forsgren and Gill (SIAM Journal on Optimization 8, 1998) decreases,

    f + (1/n) sum e + sum of shares [slack dual - mu w log(slack^2 dual / (mu w))]

for which it is a direction of descent; a trial costs O(n d). Mehrotra's correction (the same, 2,
1992) makes most steps long. If the corrected step is short, the multipliers of many agents with t
near 0 limit it. Then v moves alone, and e and gamma are put on the path, which is the least merit
for that v. The heads of curved constraints are moved with the step (`Constraints.follow`): along a
tangent only short steps stay in the set.

The bounds of `Objective` measure the accuracy of v and gamma, and mu follows the gap between them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from gameproof.core.arguments import Matrix, Vector
from gameproof.strategic.newton.constraints import Constraints
from gameproof.strategic.newton.objective import Derivatives, Local, Objective
from gameproof.strategic.newton.zeros import TARGET

# The target of mu, as a share of the gap.
SHRINK = 0.1
MAX_STEPS = 200
# A step goes at most this share of the way to where a slack or multiplier is 0, and must gain this
# share of what the slope of the merit promises.
INSIDE = 0.99
ENOUGH = 0.25
# How the path is followed: the shortest corrected step that is accepted, and whether agents weigh
# as much as the constraints (else w = 1). The first way takes the fewest steps. While the gap is
# above POOR, relative to max(1, |value|), the next way is tried.
WAYS = ((0.1, True), (0.1, False), (0.5, False))
POOR = 1e-9
# The shortest step of any kind.
SHORTEST = 1e-10
ROUNDING = 1e-15


class Minimum(NamedTuple):
    """A point v and a gamma, with the multipliers of the constraints.

    `lower` is a lower bound of the minimum of L(., gamma), and `upper` is the maximum over gamma of
    L(v, .). Both are computed without regard to rounding; `certificate` takes rounding into
    account."""

    v: Vector
    gamma: Vector
    lower: float
    upper: float
    multipliers: Vector

    @property
    def gap(self) -> float:
        """The difference of the bounds."""
        return self.upper - self.lower


class Move(NamedTuple):
    """A change of an iterate."""

    v: Vector
    slack: Vector
    dual: Vector


class Iterate(NamedTuple):
    """A point, with the slacks and multipliers of e - t, of e + t, and of the constraints."""

    local: Local
    slack: Vector
    dual: Vector


def minimise(objective: Objective, target: float = TARGET) -> Minimum:
    """Follows the path from inside the set; returns the iterate with the closest bounds.

    Its gamma has one entry per free agent."""
    ends: list[Minimum] = []
    for shortest_corrected, balanced in WAYS:
        path = _Path(objective, shortest_corrected, balanced)
        ends.append(_followed(path, target))
        if ends[-1].gap <= max(target, POOR) * max(1.0, abs(ends[-1].upper)):
            break
    return min(ends, key=lambda end: end.gap)


def _followed(path: _Path, target: float) -> Minimum:
    """The iterate with the closest bounds on the way along the path."""
    objective, start, nothing = path.objective, path.objective.problem.interior, np.zeros(0)
    best = Minimum(objective.lift(start), np.zeros(objective.free.size), -np.inf, np.inf, nothing)
    here, mu = path.begin(objective.lift(start, start[-1] / objective.steepness), 1.0), 1.0
    reach: Vector | float = 0.0
    for _ in range(MAX_STEPS):
        gamma, slopes = path.gamma(here), objective.derivatives(here.local, path.bends(here), reach)
        lower, upper = objective.bounds(here.local, slopes, gamma)
        if upper - lower < best.upper - best.lower:
            best = Minimum(here.local.v, gamma, lower, upper, here.dual[2 * objective.free.size :])
        if upper - lower <= target * max(1.0, abs(upper)):
            break
        mu = min(mu, SHRINK * (upper - lower) / path.total)
        ahead = path.step(here, slopes, mu)
        if ahead is None:
            break
        reach = np.abs(ahead.local.z - here.local.z)
        here = ahead
    return best


class _Path:
    """The equations of the module, and steps towards their solution."""

    def __init__(self, objective: Objective, shortest_corrected: float, balanced: bool) -> None:
        self.objective, self._constraints = objective, Constraints(objective)
        self._m, self._shortest_corrected = objective.free.size, shortest_corrected
        # The two constraints of an agent count 1/n each, and each constraint of the set counts 1.
        others, pairs = np.ones(self._constraints.number), np.full(2 * self._m, 1 / objective.n)
        self._share = np.append(pairs, others)
        self._weight = 1.0
        if balanced and self._m:
            self._weight = max(1.0, others.size * objective.n / (2 * self._m))
        self._weights = np.append(np.full(2 * self._m, self._weight), others)
        # On the path, the gap is mu times the total.
        self.total = float(self._share @ self._weights)

    def begin(self, v: Vector, mu: float) -> Iterate:
        """An iterate at v that satisfies all equations of the path but the one for v."""
        pairs = self._centred(v, mu)
        dual = np.append(pairs, mu / self._constraints.heights(v))
        return Iterate(self.objective.at(v), mu * self._weights / dual, dual)

    def _centred(self, v: Vector, mu: float) -> Vector:
        """The multipliers of the agents' pairs of constraints on the path, for this v."""
        t, level = self.objective.pulls(v), mu * self._weight
        size, length = np.abs(t), np.hypot(level, t)
        # (1 - |gamma|)/2 for gamma = t / (level + length), without cancellation.
        less = (level + level**2 / (length + size)) / (2 * (level + length))
        above = np.where(t > 0, 1 - less, less)
        return np.concatenate([above, np.where(t > 0, less, 1 - less)])

    def gamma(self, here: Iterate) -> Vector:
        """gamma, from the multipliers of the agents' pairs."""
        m, dual = self._m, here.dual
        return np.clip(dual[:m] - dual[m : 2 * m], -1.0, 1.0)

    def bends(self, here: Iterate) -> Vector:
        """d gamma / d t of the free agents, from the equations of their pair and of e."""
        m, ratio = self._m, here.slack / here.dual
        return 4 / (ratio[:m] + ratio[m : 2 * m])

    def step(self, here: Iterate, slopes: Derivatives, mu: float) -> Iterate | None:
        """The next iterate; None if rounding leaves nothing to gain."""
        newton = self._newton(here, slopes)
        levels = mu * self._weights
        # Mehrotra's correction: a step to mu = 0 shows the second-order terms that Newton's step
        # leaves out.
        away = newton(0 * levels)
        corrected = newton(levels - away.slack * away.dual)
        ahead = self._along(here, slopes, mu, corrected, self._shortest_corrected)
        if ahead is not None:
            return ahead
        plain = newton(levels)
        found = [self._along(here, slopes, mu, plain, SHORTEST, centred=c) for c in (False, True)]
        return min(filter(None, found), key=lambda end: self._merit(end, mu), default=None)

    def _newton(self, here: Iterate, slopes: Derivatives) -> Callable[[Vector], Move]:
        """Returns a function that computes Newton's step toward given products slack * dual."""
        m, v, multiplier, bends = self._m, here.local.v, here.dual / here.slack, self.bends(here)
        jacobian, gamma = self._constraints.slopes(v), self.gamma(here)
        hessian = slopes.hessian + self._constraints.bend(v, here.dual[2 * m :])
        self._constraints.add_squares(hessian, jacobian, multiplier[2 * m :])
        solve = _factored(hessian)

        def move(target: Vector) -> Move:
            aim = target / here.dual - here.slack
            # The change of gamma if v stays.
            own = bends * (aim[:m] - aim[m : 2 * m]) / 2
            gradient = slopes.gradient + self.objective.pulled(gamma + own)
            dv = solve(jacobian.T @ (target / here.slack)[2 * m :] - gradient)
            half = (own + bends * self.objective.pulls(dv)) / 2
            pairs, heights = np.concatenate([half, -half]), jacobian @ dv
            slack = np.append(aim[: 2 * m] - pairs / multiplier[: 2 * m], heights)
            dual = np.append(pairs, (aim[2 * m :] - heights) * multiplier[2 * m :])
            return Move(dv, slack, dual)

        return move

    def _along(
        self,
        here: Iterate,
        slopes: Derivatives,
        mu: float,
        move: Move,
        shortest: float,
        *,
        centred: bool = False,
    ) -> Iterate | None:
        """The iterate after the longest part of a move that lowers the merit; None if that is
        shorter than `shortest`. If `centred`, the agents' pairs are put on the path, so that only
        the constraints limit the step."""
        slack, dual, n, first = here.slack, here.dual, self.objective.n, 2 * self._m
        change = dual * move.slack + slack * move.dual
        change -= mu * self._weights * (2 * move.slack / slack + move.dual / dual)
        rise = float(slopes.gradient @ move.v) + float((self._share * change).sum())
        rise += float(move.slack[:first].sum()) / (2 * n)
        limits = slice(first if centred else 0, None)
        longest = _longest(slack[limits], move.slack[limits])
        longest = min(longest, _longest(dual[limits], move.dual[limits]))
        length, merit = min(1.0, INSIDE * longest), self._merit(here, mu)
        while length > shortest and rise < 0:
            ahead = self._moved(here, move, length, mu if centred else None)
            allowed = merit + ENOUGH * length * rise + ROUNDING * abs(merit)
            if ahead is not None and self._merit(ahead, mu) <= allowed:
                return ahead
            length /= 2
        return None

    def _moved(
        self, here: Iterate, move: Move, length: float, centre: float | None
    ) -> Iterate | None:
        """The iterate after a share of a move, with its pairs centred if a mu is given.

        None if the move comes too close to a constraint: some constraints are curved, and near the
        others there is rounding."""
        v, first = here.local.v + length * move.v, 2 * self._m
        slack, dual = here.slack + length * move.slack, here.dual + length * move.dual
        self._constraints.follow(v, slack[first:])
        slack[first:] = self._constraints.heights(v)
        if (slack[first:] <= (1 - INSIDE) / 2 * here.slack[first:]).any():
            return None
        if centre is not None:
            dual[:first] = self._centred(v, centre)
            slack[:first] = centre * self._weight / dual[:first]
        return Iterate(self.objective.at(v), slack, dual)

    def _merit(self, here: Iterate, mu: float) -> float:
        slack, dual = here.slack, here.dual
        e, levels = float(slack[: 2 * self._m].sum()) / 2, mu * self._weights
        barrier = self._share * (slack * dual - levels * np.log(slack**2 * dual / levels))
        return here.local.value + e / self.objective.n + float(barrier.sum())


def _longest(values: Vector, changes: Vector) -> float:
    """The longest step that keeps the values positive."""
    steepest = float((-changes / values).max())
    return np.inf if steepest <= 0 else 1 / steepest


def _factored(matrix: Matrix) -> Callable[[Vector], Vector]:
    """Returns a solver for this matrix, by a Cholesky factorisation.

    The matrix is scaled to a unit diagonal, since features have any size, and as little as possible
    is added to its diagonal for the factorisation to succeed."""
    scale = 1 / np.sqrt(np.diag(matrix))
    scaled, added = matrix * scale * scale[:, None], 0.0
    while True:
        try:
            factor = cho_factor(scaled)
        except np.linalg.LinAlgError:
            more = max(10 * added, 1e-15)
            scaled[np.diag_indices_from(scaled)] += more - added
            added = more
        else:
            return lambda right: scale * cho_solve(factor, scale * right, check_finite=False)
