"""Samples of the built-in games and of a user's own functions.

`sample_value` is L_i. `add_gradient` adds weight times its gradient to gx from coordinate `from_x`
on, and to gy from `from_y` on; the coordinates before them are estimated. A sample with a private
coordinate finds it slot y[slot], and its derivative goes to gy[slot]; other samples use all of y.
`prefetch_sample`, where it is given, starts loading the data of a sample.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from gameproof.kernels.jit import by_type, inlined
from gameproof.kernels.memory import prefetch, prefetch_row
from gameproof.kernels.vectors import add_scaled, dot


class Bilinear(NamedTuple):
    """L_i = x' A_i y + p_i' x + q_i' y."""

    matrices: np.ndarray  # (n, dim x, dim y)
    p: np.ndarray
    q: np.ndarray

    def sample_value(self, i, x, y, slot):
        total = dot(self.p[i], x) + dot(self.q[i], y)
        for r in range(x.size):
            total += x[r] * dot(self.matrices[i, r], y)
        return total

    def add_gradient(self, i, x, y, slot, weight, gx, gy, from_x, from_y):
        add_scaled(gx, weight, self.p[i], from_x)
        add_scaled(gy, weight, self.q[i], from_y)
        for r in range(from_x, x.size):
            gx[r] += weight * dot(self.matrices[i, r], y)
        for r in range(x.size):
            add_scaled(gy, weight * x[r], self.matrices[i, r], from_y)


class RankOne(NamedTuple):
    """L_i = (a_i'x)^2 / 2 + (a_i'x)(b_i'y) - (b_i'y)^2 / 2 + p_i'x - q_i'y."""

    a: np.ndarray
    b: np.ndarray
    p: np.ndarray
    q: np.ndarray

    def sample_value(self, i, x, y, slot):
        s, t = dot(self.a[i], x), dot(self.b[i], y)
        return 0.5 * s * s + s * t - 0.5 * t * t + dot(self.p[i], x) - dot(self.q[i], y)

    def add_gradient(self, i, x, y, slot, weight, gx, gy, from_x, from_y):
        s, t = dot(self.a[i], x), dot(self.b[i], y)
        add_scaled(gx, weight * (s + t), self.a[i], from_x)
        add_scaled(gx, weight, self.p[i], from_x)
        add_scaled(gy, weight * (s - t), self.b[i], from_y)
        add_scaled(gy, -weight, self.q[i], from_y)


class LeastSquares(NamedTuple):
    """L_i = (a_i'x - b_i - y_i)^2 / 2 - penalty y_i^2 / 2; y_i is private."""

    a: np.ndarray
    b: np.ndarray
    penalty: float

    def sample_value(self, i, x, y, slot):
        residual = dot(self.a[i], x) - self.b[i] - y[slot]
        return 0.5 * (residual * residual - self.penalty * y[slot] * y[slot])

    def add_gradient(self, i, x, y, slot, weight, gx, gy, from_x, from_y):
        residual = dot(self.a[i], x) - self.b[i] - y[slot]
        add_scaled(gx, weight * residual, self.a[i], from_x)
        if slot >= from_y:
            gy[slot] += weight * (-residual - self.penalty * y[slot])

    def prefetch_sample(self, i):
        prefetch(self.b, i)
        prefetch_row(self.a, i)


class UserFunction(NamedTuple):
    """L_i from a user's compiled functions; those that are missing are None."""

    value: Any
    gradient: Any  # (i, x, y) -> (gx, gy)
    x_gradient: Any  # (i, x, y) -> gx
    y_gradient: Any

    def sample_value(self, i, x, y, slot):
        return self.value(i, x, y)

    def add_gradient(self, i, x, y, slot, weight, gx, gy, from_x, from_y):
        add_joint(self.gradient, i, x, y, weight, gx, gy, from_x, from_y)
        add_single(self.x_gradient, i, x, y, weight, gx, from_x)
        add_single(self.y_gradient, i, x, y, weight, gy, from_y)


@by_type
def add_joint(function, i, x, y, weight, gx, gy, from_x, from_y):
    """Adds the two gradients that a user's function returns, unless it is None."""
    if isinstance(function, types.NoneType):
        return lambda function, i, x, y, weight, gx, gy, from_x, from_y: None

    def add(function, i, x, y, weight, gx, gy, from_x, from_y):
        found = function(i, x, y)
        add_checked(gx, weight, found[0], from_x)
        add_checked(gy, weight, found[1], from_y)

    return add


@by_type
def add_single(function, i, x, y, weight, out, first):
    """Adds the gradient that a user's function returns, unless it is None."""
    if isinstance(function, types.NoneType):
        return lambda function, i, x, y, weight, out, first: None
    return lambda function, i, x, y, weight, out, first: add_checked(
        out, weight, function(i, x, y), first
    )


@inlined
def add_checked(out, weight, v, first):
    """`add_scaled` for a user's v of any number type. A wrong length gives NaN."""
    if v.size != out.size:
        out[:] = np.nan
    else:
        add_scaled(out, weight, v, first)
