"""Projections: the point s of a set of moves that is nearest to -g in the norm |cost s|.

The remainder g + s gives a lower bound (`lifts`). Every point of the set gives a valid bound, so
the projections need not be exact, but the nearest point gives the best bound.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from gameproof.core.arguments import Vector
from gameproof.strategic.norms import norm_of

# Bisections of the multiplier of a simplex, Newton's steps for the sizes in a ball of a norm, and
# the largest logarithm of a multiplier.
BISECTIONS, STEPS, LARGEST = 120, 8, 700.0


def in_price_ball(g: Vector, cost: Vector, reach: Vector, size: float) -> Vector:
    """The nearest point of {s : sum |s_c| / reach_c <= size}; reach is positive.

    With the multiplier mu, |s_c| / reach_c = (|g_c| / reach_c - mu / (reach_c cost_c)^2)_+. The sum
    decreases in mu, and is linear between the points at which a term vanishes.
    """
    start, slope = np.abs(g) / reach, 1 / (reach * cost) ** 2
    if start.sum() <= size:
        return -g
    order = np.argsort(-start / slope)
    starts, slopes = np.cumsum(start[order]), np.cumsum(slope[order])
    # If exactly the first k terms are positive, the sum equals size at mu[k - 1].
    mu = (starts - size) / slopes
    ends = np.append((start / slope)[order][1:], 0.0)
    k = int(np.argmax(mu >= ends))
    spent = np.maximum(0.0, start - max(mu[k], 0.0) * slope)
    spent *= min(1.0, size / max(float(spent.sum()), np.finfo(float).tiny))
    nearest: Vector = -np.sign(g) * spent * reach
    return nearest


def in_norm_ball(g: Vector, cost: Vector, p: float, size: float) -> Vector:
    """The nearest point of {s : |s|_p <= size}, for 1 < p < inf.

    With the multiplier mu, t = |s_c| solves cost_c^2 (|g_c| - t) = mu t^(p-1). It decreases in mu.
    """
    length = np.abs(g)
    if norm_of(g, p) <= size or size <= 0:
        return -g if size > 0 else np.zeros_like(g)
    if p == 2 and np.ptp(cost) == 0:
        return -g * (size / float(np.linalg.norm(g)))
    weight = cost**2

    def sizes(mu: float) -> Vector:
        if p == 2:
            found: Vector = weight * length / (weight + mu)
            return found
        return _sizes(mu, weight, length, p)

    def excess(log: float) -> float:
        return norm_of(sizes(float(np.exp(log))), p) - size

    high = float(weight.max()) * float(length.max()) / (size / g.size ** (1 / p)) ** (p - 1)
    low, high = _bracket(excess, high)
    # With sizes that differ by rounding, nothing lies between the ends.
    spent = sizes(float(np.exp(brentq(excess, low, high) if excess(low) > 0 else low)))
    spent *= min(1.0, size / max(norm_of(spent, p), np.finfo(float).tiny))
    return -np.sign(g) * spent


def _bracket(excess: Callable[[float], float], guess: float) -> tuple[float, float]:
    """Logarithms of multipliers between which a falling function passes through 0."""
    low = high = float(np.log(max(guess, np.finfo(float).tiny)))
    while excess(low) <= 0 and low > -LARGEST:
        low -= 5.0
    while excess(high) >= 0 and high < LARGEST:
        high += 5.0
    return low, high


def _sizes(mu: float, weight: Vector, length: Vector, p: float) -> Vector:
    """Where mu t^(p-1) + weight t = weight length. With t = length e^x it is the zero of the convex
    log(e^x + k e^((p-1) x)), by Newton's method from above, which takes few steps: away from a
    corner the function is a line."""
    own = np.maximum(length, np.finfo(float).tiny)
    k = np.log(mu) + (p - 2) * np.log(own) - np.log(weight)
    x = np.minimum(0.0, -k / (p - 1))
    for _ in range(STEPS):
        one, other = np.exp(x), np.exp(k + (p - 1) * x)
        total = one + other
        x -= np.log(total) * total / (one + (p - 1) * other)
    found: Vector = length * np.exp(x)
    return found


def in_capped_simplex(g: Vector, cost: Vector, steps: Vector, caps: Vector, total: float) -> Vector:
    """The masses m in {0 <= m <= caps, sum m = total} for which s = steps m is nearest to -g.

    A step of 0 is a level without a column, which takes up mass but moves nothing. With the
    multiplier nu, m_k is (nu - cost_k^2 steps_k g_k) / (cost_k steps_k)^2, clipped to [0, cap_k].
    """
    moves = steps != 0
    pull, bend = cost**2 * steps * g, np.where(moves, (cost * steps) ** 2, 1.0)

    def masses(nu: float) -> Vector:
        return np.where(moves, np.clip((nu - pull) / bend, 0.0, caps), 0.0)

    still = np.where(moves, 0.0, caps)
    at_rest = masses(0.0)
    missing = total - float(at_rest.sum())
    if 0 <= missing <= float(still.sum()):
        return at_rest + _filled(still, missing)
    absorbed = min(float(still.sum()), total) if missing > 0 else 0.0
    wanted = total - absorbed
    reach = float((np.abs(pull) + bend * max(total, 1e-300)).max()) if moves.any() else 0.0
    low, high = (0.0, reach) if missing > 0 else (-reach, 0.0)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if masses(middle).sum() > wanted else (middle, high)
    found = masses(low)
    return found + _filled(still, absorbed) + _filled(caps - found, wanted - float(found.sum()))


def _filled(room: Vector, mass: float) -> Vector:
    """Distributes this mass, filling the rooms in order."""
    if mass <= 0:
        return np.zeros_like(room)
    before = np.concatenate([[0.0], np.cumsum(np.minimum(room, 2 * mass + 1))[:-1]])
    return np.clip(mass - before, 0.0, np.maximum(room, 0.0))
