"""Robust strategic classification: scores of people who respond, losses, gradients.

See `strategic.robust_problem` for the formulas. x = (intercept, theta, alpha), with theta from
`start` on (1 with an intercept, else 0); y = gamma, and gamma_i is private to agent i.
"""

from typing import Any, NamedTuple

import numpy as np

from gameproof.kernels.gains import Claims, add_gain, add_gain_in_box, gain_in_box, unit_gain
from gameproof.kernels.jit import cached, inlined
from gameproof.kernels.losses import phi, phi_slope
from gameproof.kernels.memory import bit, prefetch_row, section
from gameproof.kernels.vectors import add_scaled, dot

ONE_WAY, NO_FLIP, BOTH_WAYS = range(3)


class Strategic(NamedTuple):
    """The data of a strategic problem."""

    features: np.ndarray
    labels: np.ndarray  # packed bits, set for label +1
    zeta: np.ndarray  # one number per agent, or one for all
    reach: np.ndarray  # the weight of each feature in the norm, 0 if it cannot move
    start: int
    slope: float  # of alpha
    kappa: float
    s: float
    loss: Any  # a code, or a UserLoss
    width: float
    dual_norm: float
    degree: float  # q, of the conjugate of the cost
    lower: np.ndarray  # bounds of moves: one row per agent, one for all, or none without a box
    upper: np.ndarray
    claims: Claims
    flips: int
    smooth: bool  # if false, every gamma is maximised out of its sample
    weights: np.ndarray  # with mean 1, or empty where all agents count the same

    def sample_value(self, i, x, y, slot):
        return value_at_score(self, i, score(self, i, x), x, y, slot)

    def add_gradient(self, i, x, y, slot, weight, gx, gy, from_x, from_y):
        if (from_x > 0) & (not has_gamma(self, i)):  # one branch: labels are hard to predict
            if from_x < x.size:  # only the derivative in alpha is left
                gx[x.size - 1] += weight * self.slope
            return
        z = score(self, i, x)
        by_score = add_beside_score(self, i, z, x, y, slot, weight, gx, gy, from_x, from_y)
        if from_x == 0:
            add_score_gradient(self, i, x, by_score, gx)

    def prefetch_sample(self, i):
        prefetch_row(self.features, i)


@inlined
def theta_of(data, x):
    """The part of x that is theta."""
    return section(x, data.start, data.start + data.features.shape[1])


@inlined
def power_of(data, i):
    """zeta of agent i."""
    return data.zeta[i if data.zeta.size > 1 else 0]


@inlined
def score(data, i, x):
    """z_i = <b_i(theta), theta> + intercept."""
    theta = theta_of(data, x)
    z = dot(data.features[i], theta)
    if data.start == 1:
        z += x[0]
    if bit(data.labels, i):
        return z
    if data.lower.shape[0] > 0:
        z += gain_in_box(data.lower, data.upper, data.claims, i, theta)
    elif power_of(data, i) > 0.0:
        z += power_of(data, i) * unit_gain(data.reach, theta, data.dual_norm, data.degree)
    return z


@inlined
def add_score_gradient(data, i, x, weight, gx):
    """gx += weight dz_i/dx."""
    theta, out = theta_of(data, x), theta_of(data, gx)
    if data.start == 1:
        gx[0] += weight
    add_scaled(out, weight, data.features[i])
    if bit(data.labels, i):
        return
    if data.lower.shape[0] > 0:
        add_gain_in_box(data.lower, data.upper, data.claims, i, theta, weight, out)
    elif power_of(data, i) > 0.0:
        add_gain(data.reach, theta, data.dual_norm, data.degree, weight * power_of(data, i), out)


@inlined
def label_of(data, i):
    """y_i, +1 or -1."""
    return 1.0 if bit(data.labels, i) else -1.0


@inlined
def has_gamma(data, i):
    """True if the adversary can change the label of agent i."""
    return (data.flips == BOTH_WAYS) | ((data.flips == ONE_WAY) & bit(data.labels, i))


@inlined
def value_at_score(data, i, z, x, y, slot):
    """L_i for a known score z."""
    alpha, label, common = x[x.size - 1], label_of(data, i), data.slope * x[x.size - 1]
    weight = data.weights[i] if data.weights.size else 1.0
    value = phi(data.loss, data.width, z)
    if not has_gamma(data, i):
        return common + weight * (value - data.s * label * z)
    pull = data.s * z - label * data.kappa * alpha
    return common + weight * (value + (y[slot] * pull if data.smooth else abs(pull)))


@inlined
def add_beside_score(data, i, z, x, y, slot, weight, gx, gy, from_x, from_y):
    """Adds the derivatives of L_i in alpha and gamma; returns weight times dL_i/dz."""
    last, label = x.size - 1, label_of(data, i)
    by_score, by_alpha = phi_slope(data.loss, data.width, z), 0.0
    own = weight * data.weights[i] if data.weights.size else weight
    if not has_gamma(data, i):
        by_score -= data.s * label
    else:
        pull = data.s * z - label * data.kappa * x[last]
        turn = y[slot] if data.smooth else np.sign(pull)
        by_score += turn * data.s
        by_alpha -= turn * label * data.kappa
        if data.smooth and slot >= from_y:
            gy[slot] += own * pull
    if from_x <= last:
        gx[last] += weight * data.slope + own * by_alpha
    return own * by_score


@cached
def scores_at(data, x, out):
    """Overwrites out with the score of every agent."""
    for i in range(out.size):
        out[i] = score(data, i, x)


@cached
def values_at_scores(data, indices, scores, x, y, out):
    """Overwrites out with L_i for i in indices, given their scores."""
    for m in range(indices.size):
        out[m] = value_at_score(data, indices[m], scores[m], x, y, indices[m])
