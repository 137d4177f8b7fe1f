"""Samples of the built-in games and of a user's own functions.

`value(data, i, x, y, at)` is L_i. `gradient(data, i, x, y, at, weight, gx, gy, from_x, from_y)`
adds weight times its gradient to gx from coordinate `from_x` on, and to gy from `from_y` on; the
coordinates before them are estimated. A sample with a private coordinate finds it at y[at], and
its derivative goes to gy[at]; other samples use all of y.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from gameproof.kernels.jit import inlined
from gameproof.kernels.vectors import add_scaled, dot


class Bilinear(NamedTuple):
    """L_i = x' A_i y + p_i' x + q_i' y."""

    matrices: np.ndarray  # (n, dim x, dim y)
    p: np.ndarray
    q: np.ndarray


class RankOne(NamedTuple):
    """L_i = (a_i'x)^2 / 2 + (a_i'x)(b_i'y) - (b_i'y)^2 / 2 + p_i'x - q_i'y."""

    a: np.ndarray
    b: np.ndarray
    p: np.ndarray
    q: np.ndarray


class LeastSquares(NamedTuple):
    """L_i = (a_i'x - b_i - y_i)^2 / 2 - penalty y_i^2 / 2; y_i is private."""

    a: np.ndarray
    b: np.ndarray
    penalty: float


class UserFunction(NamedTuple):
    """L_i from a user's compiled functions; those that are missing are None."""

    value: Any
    gradient: Any  # (i, x, y) -> (gx, gy)
    x_gradient: Any  # (i, x, y) -> gx
    y_gradient: Any


@inlined
def bilinear_value(data, i, x, y, at):
    total = dot(data.p[i], x) + dot(data.q[i], y)
    for r in range(x.size):
        total += x[r] * dot(data.matrices[i, r], y)
    return total


@inlined
def bilinear_gradient(data, i, x, y, at, weight, gx, gy, from_x, from_y):
    add_scaled(gx, weight, data.p[i], from_x)
    add_scaled(gy, weight, data.q[i], from_y)
    for r in range(from_x, x.size):
        gx[r] += weight * dot(data.matrices[i, r], y)
    for r in range(x.size):
        add_scaled(gy, weight * x[r], data.matrices[i, r], from_y)


@inlined
def rank_one_value(data, i, x, y, at):
    s, t = dot(data.a[i], x), dot(data.b[i], y)
    return 0.5 * s * s + s * t - 0.5 * t * t + dot(data.p[i], x) - dot(data.q[i], y)


@inlined
def rank_one_gradient(data, i, x, y, at, weight, gx, gy, from_x, from_y):
    s, t = dot(data.a[i], x), dot(data.b[i], y)
    add_scaled(gx, weight * (s + t), data.a[i], from_x)
    add_scaled(gx, weight, data.p[i], from_x)
    add_scaled(gy, weight * (s - t), data.b[i], from_y)
    add_scaled(gy, -weight, data.q[i], from_y)


@inlined
def least_squares_value(data, i, x, y, at):
    residual = dot(data.a[i], x) - data.b[i] - y[at]
    return 0.5 * (residual * residual - data.penalty * y[at] * y[at])


@inlined
def least_squares_gradient(data, i, x, y, at, weight, gx, gy, from_x, from_y):
    residual = dot(data.a[i], x) - data.b[i] - y[at]
    add_scaled(gx, weight * residual, data.a[i], from_x)
    if at >= from_y:
        gy[at] += weight * (-residual - data.penalty * y[at])


@inlined
def user_value(data, i, x, y, at):
    return data.value(i, x, y)


@inlined
def add_checked(out, weight, v, first):
    """`add_scaled` for a user's v of any number type. A wrong length gives NaN."""
    if v.size != out.size:
        out[:] = np.nan
    else:
        add_scaled(out, weight, v, first)


@inlined
def user_joint(data, i, x, y, at, weight, gx, gy, from_x, from_y):
    found = data.gradient(i, x, y)
    add_checked(gx, weight, found[0], from_x)
    add_checked(gy, weight, found[1], from_y)


@inlined
def user_pair(data, i, x, y, at, weight, gx, gy, from_x, from_y):
    add_checked(gx, weight, data.x_gradient(i, x, y), from_x)
    add_checked(gy, weight, data.y_gradient(i, x, y), from_y)


@inlined
def user_x(data, i, x, y, at, weight, gx, gy, from_x, from_y):
    add_checked(gx, weight, data.x_gradient(i, x, y), from_x)


@inlined
def user_y(data, i, x, y, at, weight, gx, gy, from_x, from_y):
    add_checked(gy, weight, data.y_gradient(i, x, y), from_y)


@inlined
def no_gradient(data, i, x, y, at, weight, gx, gy, from_x, from_y):
    pass


def user_gradient(kind: Any) -> Any:
    """The gradient function for a UserFunction of this Numba type, by which fields are given."""
    given = {
        name
        for name, part in zip(kind.fields, kind.types, strict=True)
        if not isinstance(part, types.NoneType)
    }
    if "gradient" in given:
        return user_joint
    if {"x_gradient", "y_gradient"} <= given:
        return user_pair
    if "x_gradient" in given:
        return user_x
    return user_y if "y_gradient" in given else no_gradient
