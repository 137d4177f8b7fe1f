"""The smallest value of a convex quadratic function on a ball."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from gameproof.core.arguments import Vector


def ball_minimum(hessian: NDArray[np.float64], slope: Vector, radius: float) -> float:
    """min of z'Hz/2 + g'z over |z| <= radius, H positive semidefinite.

    In the eigenbasis the minimiser is -g/(h + m) with m >= 0 zero or such that |z| = radius.
    """
    h, basis = np.linalg.eigh(hessian)
    h, g = np.maximum(h, 0.0), basis.T @ slope

    def point(m: float) -> Vector:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(g == 0, 0.0, -g / (h + m))

    def excess(m: float) -> float:
        return float(1 / radius - 1 / np.linalg.norm(point(m)))

    m = 0.0
    if np.linalg.norm(point(0.0)) > radius:
        # Where h = 0 this is the answer itself, and the excess there may round to either sign.
        most = float(np.linalg.norm(g)) / radius
        m = most
        if excess(most) < 0:
            m = brentq(excess, 0.0, most, xtol=1e-300, maxiter=5000)
    z = point(m)
    return float(z @ (h * z) / 2 + g @ z)
