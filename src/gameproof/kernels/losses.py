"""phi and its derivative, for the built-in losses and for a user's own."""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from gameproof.kernels.jit import inlined
from gameproof.kernels.vectors import clip

LOGISTIC, HUBER, PSEUDO_HUBER = range(3)


class UserLoss(NamedTuple):
    """phi and its slope, a user's compiled functions of one number."""

    phi: Any
    slope: Any


def is_user_loss(kind: Any) -> bool:
    """True if a field of this Numba type holds a `UserLoss`."""
    return isinstance(kind, types.BaseTuple)


@inlined
def built_in_phi(code, width, z):
    if code == LOGISTIC:
        return 0.5 * abs(z) + np.log1p(np.exp(-abs(z)))
    if code == PSEUDO_HUBER:
        return np.sqrt(1.0 + z * z)
    inside = min(abs(z), width)
    return inside * inside / (2.0 * width) + (abs(z) - inside)


@inlined
def built_in_slope(code, width, z):
    if code == LOGISTIC:
        # tanh(z / 2) / 2 in half the time; an error of 1e-16 does not matter beside s.
        small = np.exp(-abs(z))
        return np.copysign(0.5 * (1.0 - small) / (1.0 + small), z)
    if code == PSEUDO_HUBER:
        return z / np.sqrt(1.0 + z * z)
    return clip(z / width, -1.0, 1.0)


def phi(loss, width, z):
    """phi(z), inside compiled code."""
    raise TypeError("phi is called from compiled code only; see Loss.phi")


@overload(phi, jit_options={"forceinline": True})
def _choose_phi(loss, width, z):
    if is_user_loss(loss):
        return lambda loss, width, z: loss.phi(z)
    return lambda loss, width, z: built_in_phi(loss, width, z)


def phi_slope(loss, width, z):
    """phi'(z), inside compiled code."""
    raise TypeError("phi_slope is called from compiled code only; see Loss.slope")


@overload(phi_slope, jit_options={"forceinline": True})
def _choose_slope(loss, width, z):
    if is_user_loss(loss):
        return lambda loss, width, z: loss.slope(z)
    return lambda loss, width, z: built_in_slope(loss, width, z)
