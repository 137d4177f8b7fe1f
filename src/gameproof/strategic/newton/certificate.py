"""A duality gap that rounding cannot make too small.

For a point x and a gamma, the gap is U - D: U = max over gamma' of L(x, gamma'), and D is a lower
bound of min over x' of L(x', gamma). Both are computed in floating point, with unit roundoff eps.
This module adds a bound of all rounding errors.

Upper bound. A score is a sum of m products with an error of at most (m + ...) eps sum |a_c v_c|. A
loss is Lipschitz in the score, so the mean of these errors, times K + s, bounds their effect.

Lower bound. For any numbers z_i, phi(z) >= phi(z_i) + p_i (z - z_i) with p_i = phi'(z_i). The
computed scores serve as the z_i, so their errors do not matter. With c_i = p_i + l_i + s gamma_i,

    L(x', gamma) >= mean [phi(z_i) - p_i z_i] + <g, v'> + g_alpha alpha',   g = mean c_i a_i

The minimum of the linear part over the set is known (`objective`). An error e of g moves it by up
to the diameter of the set times e. The diameter is large if alpha_max is, so there is a second
bound. Shrinking all c_i by the factor 1 - h is a convex combination of p_i and q_i = -l_i - s
gamma_i, and the conjugate of phi is convex, so

    D >= (1 - h) [the bound without the cone's part] - h sup over z of (s |z| - phi(z)).

The smallest h that makes the cone's part 0 in spite of all errors is about the relative error of g.
The larger of the two bounds counts.

Sums are taken over groups of 64 x 64 agents and then exactly, so that a sum has a relative error of
about 128 eps whatever the number of agents and whatever the order of addition.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum, inf
from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.rows.row_blocks import Rows
from gameproof.strategic.losses.huber_hinge import HuberHinge
from gameproof.strategic.losses.logistic_loss import Logistic
from gameproof.strategic.losses.loss import Loss
from gameproof.strategic.losses.pseudo_huber_hinge import PseudoHuberHinge
from gameproof.strategic.newton.agent_blocks import Gamma
from gameproof.strategic.newton.block_terms import Terms
from gameproof.strategic.newton.convex_objective import ConvexObjective

EPS = float(np.finfo(np.float64).eps) / 2  # the unit roundoff
GROUP = 64
# The error of a sum relative to the sum of absolute values: two levels of groups, the products, and
# the evaluation of phi and its slope to a few units in the last place.
SUM = (2 * GROUP + 24) * EPS


class Certificate(NamedTuple):
    """Bounds of the value of the game that hold in spite of rounding.

    `value` is the computed upper bound, `gap` is at least the true duality gap, and `rounding` is
    the share of the gap that accounts for rounding."""

    value: float
    gap: float
    rounding: float


class Tangent(NamedTuple):
    """A point v at which L(., gamma) is linearised, and the multipliers there, if known."""

    v: Vector
    multipliers: Vector | None


def certify(objective: ConvexObjective, x: Vector, gamma: Gamma, tangent: Tangent) -> Certificate:
    """The certificate of x and gamma, with the lower bound from this tangent.

    No agent's gamma may be fixed in `objective`."""
    upper, upper_error = _upper(objective, x)
    lower, lower_error = _lower(objective, gamma, tangent)
    last = 8 * EPS * (abs(upper) + abs(lower))
    rounding = upper_error + lower_error + last
    return Certificate(upper, max(0.0, float(upper + upper_error - lower + last)), rounding)


def _upper(objective: ConvexObjective, x: Vector) -> tuple[float, float]:
    """max over gamma of L(x, .), and a bound of its rounding error."""
    problem, v = objective.problem, objective.lift(x)
    steepness, alpha = objective.steepness, float(v[objective.alpha])
    found = objective.rows.map(_upper_sums, objective.terms, v, steepness)
    value, scale, size = _totals(found, objective.n)
    slope, slope_error = _radius_term(objective)
    error = SUM * scale + steepness * _score_error(objective) * size
    error += (slope_error + 4 * EPS * abs(slope)) * abs(alpha)
    theta, _ = problem.split(x)
    # x may lie outside the cone by rounding; projecting it changes alpha by this much.
    outside = max(0.0, steepness * problem.dual_length(theta) * (1 + 8 * EPS) - alpha)
    error += outside * (abs(problem.slope) + 2 * objective.data.kappa)
    return slope * alpha + value, error


def _lower(objective: ConvexObjective, gamma: Gamma, tangent: Tangent) -> tuple[float, float]:
    """A lower bound of the minimum of L(., gamma), and how much of it accounts for rounding."""
    problem, loss, v = objective.problem, objective.problem.loss, tangent.v
    at, cap = objective.alpha, objective.problem.alpha_max
    found = objective.rows.map(_lower_sums, objective.terms, v, gamma)
    constant, scale, push, turned, *linear = _totals(found, objective.n)
    gradient, mass = np.array(linear[:at]), np.array(linear[at:])
    g, errors = np.zeros(objective.size), SUM * mass
    radius, radius_error = _radius_term(objective)
    g[:at], g[at] = gradient, radius - turned
    by_alpha = g[at] - radius_error - 2 * SUM * turned - 4 * EPS * abs(radius)
    constant_error = SUM * scale
    if objective.moves:
        power, q = objective.power_derivatives(v), objective.data.degree
        g[objective.risers] += push * power.gradient
        constant += push * (1 - q) * power.value
        constant_error += (2 * SUM + _tolerance(objective)) * push * q * abs(power.value)
    const = constant - constant_error
    if problem.intercept is not None:
        const -= problem.intercept * (abs(g[0]) + errors[0])
    paid, steepness = np.isfinite(objective.cost), objective.steepness
    extra = errors[objective.theta] + _allow_for_lifts(objective, v, g, errors, push)

    def least(left: Vector, add: Vector) -> float:
        """The lower bound from one shortened gradient in theta, whose errors are `add`."""
        sizes = np.abs(left) * (1 + 8 * EPS) + add
        length = float(np.linalg.norm(objective.cost[paid] * sizes[paid]))
        length *= 1 + (8 + paid.size) * EPS
        rest = const - cap / steepness * float(sizes[~paid].sum()) * (1 + SUM)
        bound: float = rest + cap * min(0.0, by_alpha - length / steepness)
        if by_alpha > 0 and length > 0:
            h = max(0.0, 1 - by_alpha * steepness / length) + 8 * EPS
            bound = max(bound, (1 - h) * rest - h * _conjugate_bound(loss))
        return bound

    lefts = objective.residuals(v, g, tangent.multipliers)
    best = max(-inf, *(least(left, extra) for left in lefts))
    ideal = max(-inf, *(least(left, np.zeros_like(extra)) for left in lefts))
    return best, max(0.0, ideal - best) + constant_error


def _conjugate_bound(loss: Loss) -> float:
    """The supremum of s |z| - phi(z); infinite if it is unknown."""
    if isinstance(loss, (Logistic, PseudoHuberHinge)):
        return 0.0
    return float(loss.width) / 2 if isinstance(loss, HuberHinge) else inf


def _tolerance(objective: ConvexObjective) -> float:
    """The relative error of norms, of their powers and of projections to their balls."""
    p, q = objective.data.dual_norm, objective.data.degree
    largest = max(p, p / (p - 1)) if 1 < p < inf else 2.0
    return float((32 + 4 * objective.cost.size + 8 * largest) * max(1.0, q) * EPS)


def _score_error(objective: ConvexObjective) -> float:
    """The error of a score, relative to the sum of the absolute values of its terms."""
    return float(objective.alpha + 8) * EPS + _tolerance(objective)


def _radius_term(objective: ConvexObjective) -> tuple[float, float]:
    """The coefficient of alpha if every gamma y is -1, and a bound of its error.

    It is the problem's slope plus kappa times the share of agents with a gamma: the radius of the
    adversary's ball."""
    problem, kappa = objective.problem, float(objective.data.kappa)
    if problem.form == "exact":
        return problem.radius, 0.0
    # All terms are positive, so any order of summation has a relative error of at most n eps.
    rows = objective.n if problem.population.weighted else 1
    error = EPS * (8 * (problem.radius + kappa) + rows * kappa)
    return problem.radius - kappa * (1 - problem.population.positive_share), error


def _allow_for_lifts(
    objective: ConvexObjective, v: Vector, g: Vector, errors: Vector, push: float
) -> Vector:
    """The errors of g in theta that come from lifted variables and from powers of a norm.

    Overwrites the gradient gu in lifted variables with a number below its true value. If the set of
    subgradients contains 0, its multiple by a smaller number lies within the multiple by gu, so
    that a point of the smaller set needs no allowance for errors."""
    tolerance, d = _tolerance(objective), objective.cost.size
    found = np.zeros(d)
    for lift, at in objective.lifts:
        there = slice(at, at + lift.count)
        uncertain = errors[there] + tolerance * np.abs(g[there])
        g[there] = np.maximum(0.0, g[there] - uncertain)
        if not lift.can_stay:
            found += 2 * uncertain @ lift.largest_slopes(d)
    if objective.moves:
        power = objective.power_derivatives(v)
        steep = float(np.abs(power.gradient).max(initial=0.0))
        places = objective.movable - objective.theta.start
        found[places] += (2 * SUM + tolerance) * push * steep
    return found


def _upper_sums(rows: Rows, terms: Terms, v: Vector, steepness: float) -> list[Vector]:
    """For each group of these rows, the sums of values, of their sizes and of the sizes of the
    terms of scores."""
    found, at, twice = [], terms.alpha, 2 * terms.kappa * abs(float(v[terms.alpha]))
    power = terms.power(v).value if terms.moves else 0.0
    for block in terms.blocks(rows):
        rise = block.zeta * power
        z = block.rows.times(v[:at]) + rise
        sizes = block.rows.sizes().times(np.abs(v[:at])) + rise
        phi = terms.loss.phi(z)
        toward = np.where(block.label < 0, -1.0, 1.0) * terms.loss.s * z
        # |t| - kappa alpha: for most agents kappa cancels, and with it the rounding at its scale.
        t = np.where(block.free, np.maximum(-toward, toward - twice), 0.0)
        flipped = np.where(block.free & (2 * toward > (1 - SUM) * twice), twice, 0.0)
        values = phi + block.linear * z + t
        scale = np.abs(phi) + 2 * steepness * np.abs(z) + flipped
        found += _sums(*map(block.counted, (values, scale, sizes)))
    return found


def _lower_sums(rows: Rows, terms: Terms, v: Vector, gamma: Gamma) -> list[Vector]:
    """For each group of these rows, the sums of the constants of tangents at v and of their sizes,
    of the slopes in the power and in alpha, and of the gradient and of the sizes of its terms."""
    found, loss, s = [], terms.loss, terms.loss.s
    for block in terms.blocks(rows):
        z = terms.scores(block, v)
        own = np.sign(terms.pulls(block, terms.scores(block, gamma.v), gamma.v)) * block.free
        where, values = gamma.within(block.places)
        own[where] = values * block.free[where]
        turned = np.where(block.label < 0, -1.0, 1.0) * own
        phi, slope = loss.phi(z), np.clip(loss.slope(z), -loss.K, loss.K)
        c = slope + block.linear + s * own
        c = block.counted(np.where(block.moves, np.maximum(c, 0.0), c))
        parts = [
            block.counted(phi - slope * z),
            block.counted(np.abs(phi) + loss.K * np.abs(z)),
            c * block.zeta,
            block.counted(np.where(block.free, terms.kappa * (1 + turned), 0.0)),
        ]
        products = c[:, None] * block.rows.dense()
        found += _sums(*parts, products, np.abs(products))
    return found


def _sums(*terms: Vector | Matrix) -> list[Vector]:
    """The sum of each column of these terms, over groups of groups of rows."""
    return list(_grouped(np.column_stack([_grouped(each) for each in terms])))


def _grouped(terms: Vector | Matrix) -> Matrix:
    """The sums over groups of rows."""
    room = -len(terms) % GROUP
    if room:
        terms = np.concatenate([terms, np.zeros((room, *terms.shape[1:]))])
    found: Matrix = terms.reshape(-1, GROUP, *terms.shape[1:]).sum(axis=1)
    return found


def _totals(found: Iterable[list[Vector]], n: int) -> list[float]:
    """The means over all agents, from the sums over groups."""
    groups = np.array([group for block in found for group in block])
    return [fsum(column) / n for column in groups.T.tolist()]
