"""Budgets as further variables u in which scores are linear.

Moving within a budget adds a support function sigma_i(theta) to a score. It has kinks, and the best
theta often lies on one. With variables u_k >= rho_k(theta) for a few convex rho_k, it is

    sigma_i(theta) = sum over k of w_ik u_k,   w_ik >= 0,

at the smallest u. Higher scores raise the loss of agents who move, so the smallest u is optimal,
and the u_k act as additional features with the values w_ik. The lifts are

    interval   u >= rise theta_c and u >= fall theta_c: boxes, and balls of norm inf
    prices     u >= reach_c |theta_c| for all c: prices, and balls of norm 1
    ball       u >= |theta_M|_{p*}, a curved constraint; for p* < 2, where the curvature is
               unbounded, sizes y_c >= |theta_c| replace theta_c
    claims     u_g >= steps_k theta_k for the levels k that group g can have. Agents at a level that
               can be claimed are one group, and so are those at each other level. The score also
               loses steps_l theta_l for an agent's own level l

Bounds. The minimum of <g, theta> + <gu, u> over theta of a given length is -length times the
distance of -g from the set of all sums of gu_k s_k, with s_k a subgradient of rho_k at 0. Every
point of that set gives a bound. One is the nearest point (`nearest`). Another comes from v: on the
path of the interior-point method the multiplier of a constraint is mu over its height, so the
slopes of the constraints of u_k, weighted by 1 / height, approach the best s_k, even if other
constraints than the length bind.
"""

from __future__ import annotations

import numpy as np

from gameproof.strategic.budgets import BallBudget, BoxBudget, PriceBudget
from gameproof.strategic.newton.claim_lift import ClaimLift
from gameproof.strategic.newton.interval_lift import IntervalLift
from gameproof.strategic.newton.lift import Lift
from gameproof.strategic.newton.single_lift import BallLift, PriceLift
from gameproof.strategic.people import People


def lifts_of(people: People) -> list[Lift]:
    """The lifts of a budget; none for a power cost, or if nobody moves."""
    response, d, movers = people.response, people.d, people.movers
    if isinstance(response, BoxBudget):
        numbered = enumerate(response.claims)
        claims = [ClaimLift(claim, k, movers) for k, claim in numbered if claim.allowed.any()]
        return [*_box(response, d), *claims]
    if not isinstance(response, (BallBudget, PriceBudget)) or not response.moves(d):
        return []
    strength, reach = response.strength, response.reach(d)
    if np.isinf(response.dual_norm):
        return [PriceLift(strength, reach)]
    if response.dual_norm == 1:
        own = np.flatnonzero(reach)
        weights = np.tile(strength, (own.size, 1))
        return [IntervalLift(own, -np.ones(own.size), np.ones(own.size), weights)]
    return [BallLift(strength, reach, response.dual_norm)]


def _box(response: BoxBudget, d: int) -> list[Lift]:
    """The intervals of a box. Bounds that are common to all agents are the ends of the intervals;
    bounds that differ are the weights of two intervals, for moves up and for moves down."""
    bounds = response.encoded(d)
    lower, upper = bounds.lower, bounds.upper
    if len(lower) == 1:
        own = np.flatnonzero((lower[0] < 0) | (upper[0] > 0))
        ones = np.ones((own.size, 1))
        return [IntervalLift(own, lower[0, own], upper[0, own], ones)] if own.size else []
    found: list[Lift] = []
    for ends, sign in ((upper, 1.0), (lower, -1.0)):
        own = np.flatnonzero(ends.any(axis=0))
        nothing, slope = np.zeros(own.size), np.full(own.size, sign)
        low, high = (nothing, slope) if sign > 0 else (slope, nothing)
        if own.size:
            found.append(IntervalLift(own, low, high, sign * ends[:, own].T))
    return found
