"""What moving adds to a score, and its gradient: powers of a norm, boxes, claimed levels."""

from typing import NamedTuple

import numpy as np

from gameproof.kernels.jit import inlined, not_inlined, stay_apart
from gameproof.kernels.vectors import scaled_square


class Claims(NamedTuple):
    """Categories whose level agents can change, stored one after the other. Level k of category c
    is at starts[c] + k, and agent i is at level current[c, i]; see `strategic.category_claims`."""

    starts: np.ndarray
    columns: np.ndarray  # of a level, -1 for one without a column
    steps: np.ndarray
    allowed: np.ndarray
    current: np.ndarray


def no_claims() -> Claims:
    """No category can be changed."""
    none = np.zeros(0, dtype=np.int64)
    nobody = np.zeros((0, 0), dtype=np.int64)
    return Claims(np.zeros(1, np.int64), none, np.zeros(0), np.zeros(0, np.bool_), nobody)


@inlined
def unit_gain(reach, theta, p, q):
    """|reach theta|_p^q: what an agent of unit power adds to its score."""
    if p == 2.0 and q == 2.0:  # the paper's case: no root to be squared again
        return scaled_square(reach, theta)
    return raised(reach_norm(reach, theta, p), q)


@not_inlined
def reach_norm(reach, theta, p):
    """|reach theta|_p."""
    stay_apart()
    if p == 2.0:
        return np.sqrt(scaled_square(reach, theta))
    largest = 0.0
    for c in range(theta.size):
        largest = max(largest, reach[c] * abs(theta[c]))
    if np.isinf(p) or largest == 0.0:
        return largest
    total = 0.0
    for c in range(theta.size):
        if reach[c] > 0:
            total += (reach[c] * abs(theta[c]) / largest) ** p
    return largest * total ** (1.0 / p)


@inlined
def raised(length, exponent):
    """length^exponent; the usual exponents avoid a general power."""
    if exponent == 2.0:
        return length * length
    if exponent == 1.0:
        return length
    return length**exponent


@inlined
def add_gain(reach, theta, p, q, weight, out):
    """out += weight d/dtheta |reach theta|_p^q."""
    if p == 2.0 and q == 2.0:
        for c in range(theta.size):
            out[c] += 2.0 * weight * reach[c] * reach[c] * theta[c]
    else:
        add_general_gain(reach, theta, p, q, weight, out)


@not_inlined
def add_general_gain(reach, theta, p, q, weight, out):
    """The same for any p and q. With r = reach and N = |r theta|, the derivative is
    q N^(q-1) r_c sign(theta_c) (r_c |theta_c| / N)^(p-1)."""
    stay_apart()
    length = reach_norm(reach, theta, p)
    if length == 0.0:
        return
    common = weight * q * raised(length, q - 1.0)
    for c in range(theta.size):
        if reach[c] > 0 and theta[c] != 0.0:
            share = reach[c] * abs(theta[c]) / length
            if not np.isinf(p):
                out[c] += common * reach[c] * np.sign(theta[c]) * raised(share, p - 1.0)
            elif reach[c] * abs(theta[c]) == length:
                out[c] += common * reach[c] * np.sign(theta[c])
                return


@not_inlined
def gain_in_box(lower, upper, claims, i, theta):
    """The gain in score of agent i: from moves between its bounds, and from levels that it can
    claim."""
    stay_apart()
    row, gain = (i if lower.shape[0] > 1 else 0), 0.0
    for c in range(theta.size):
        gain += max(lower[row, c] * theta[c], upper[row, c] * theta[c])
    for k in range(claims.starts.size - 1):
        own, best = claimed_levels(claims, k, i, theta)
        gain += value_of_level(claims, best, theta) - value_of_level(claims, own, theta)
    return gain


@inlined
def value_of_level(claims, level, theta):
    """What a level of a category adds to a score."""
    column = claims.columns[level]
    return claims.steps[level] * theta[column] if column >= 0 else 0.0


@inlined
def claimed_levels(claims, k, i, theta):
    """The level of agent i in category k, and the one that it claims: its own unless another one
    gains more, else the first of the best."""
    own = claims.starts[k] + claims.current[k, i]
    best = own
    for level in range(claims.starts[k], claims.starts[k + 1]):
        if claims.allowed[level] and (
            value_of_level(claims, level, theta) > value_of_level(claims, best, theta)
        ):
            best = level
    return own, best


@not_inlined
def add_gain_in_box(lower, upper, claims, i, theta, weight, out):
    """out += weight times the move of agent i, which is the gradient of its gain."""
    stay_apart()
    row = i if lower.shape[0] > 1 else 0
    for c in range(theta.size):
        if theta[c] > 0.0:
            out[c] += weight * upper[row, c]
        elif theta[c] < 0.0:
            out[c] += weight * lower[row, c]
    for k in range(claims.starts.size - 1):
        own, best = claimed_levels(claims, k, i, theta)
        if best != own:
            if claims.columns[best] >= 0:
                out[claims.columns[best]] += weight * claims.steps[best]
            if claims.columns[own] >= 0:
                out[claims.columns[own]] -= weight * claims.steps[own]
