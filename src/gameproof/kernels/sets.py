"""Convex sets as compiled code takes them, and their projections.

Each set is a NamedTuple with a compiled method `project`, which overwrites v with its projection.
A set with a mirror map has its own `step`, a box gives the `bounds` of a coordinate. A product is a
plain tuple of sets.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from gameproof.kernels.jit import by_type, cached, inlined
from gameproof.kernels.memory import section
from gameproof.kernels.projections import (
    entropy_step,
    project_ball,
    project_cone,
    project_l1_ball,
    project_scaled_cone,
    project_simplex,
)
from gameproof.kernels.vectors import clip


class EncodedBall(NamedTuple):
    """{v : |v - center| <= radius}."""

    dim: int
    center: np.ndarray
    radius: float

    def project(self, v):
        project_ball(v, self.center, self.radius)


class EncodedBox(NamedTuple):
    """{v : lower <= v <= upper}."""

    dim: int
    lower: np.ndarray
    upper: np.ndarray

    def project(self, v):
        for c in range(v.size):
            v[c] = clip(v[c], self.lower[c], self.upper[c])

    def bounds(self, c):
        return self.lower[c], self.upper[c]


class EncodedInterval(NamedTuple):
    """A box with the same bounds for every coordinate."""

    dim: int
    lower: float
    upper: float

    def project(self, v):
        for c in range(v.size):
            v[c] = clip(v[c], self.lower, self.upper)

    def bounds(self, c):
        return self.lower, self.upper


class EncodedSimplex(NamedTuple):
    """{v >= 0 : sum v = total}."""

    dim: int
    total: float

    def project(self, v):
        project_simplex(v, self.total)


class EncodedEntropySimplex(NamedTuple):
    """The same set, with multiplicative steps."""

    dim: int
    total: float

    def project(self, v):
        project_simplex(v, self.total)

    def step(self, out, origin, move):
        entropy_step(out, origin, move, self.total)


class EncodedL1Ball(NamedTuple):
    """{v : sum |v - center| <= radius}."""

    dim: int
    center: np.ndarray
    radius: float

    def project(self, v):
        project_l1_ball(v, self.center, self.radius)


class EncodedCone(NamedTuple):
    """{(theta, alpha) : |theta| <= alpha / slope, alpha <= cap}."""

    dim: int
    slope: float
    cap: float

    def project(self, v):
        project_cone(v, self.slope, self.cap)


class EncodedScaledCone(NamedTuple):
    """{(theta, alpha) : |weights theta| <= alpha / slope, alpha <= cap}; a theta_c of weight 0 lies
    between -cap / slope and cap / slope."""

    dim: int
    weights: np.ndarray
    slope: float
    cap: float

    def project(self, v):
        project_scaled_cone(v, self.weights, self.slope, self.cap)


@by_type
def project(encoded, v):
    """Overwrites v with its projection on the set."""
    if isinstance(encoded, types.NamedTuple):
        return encoded.instance_class.project
    if len(encoded) == 1:
        return lambda encoded, v: project(encoded[0], v)

    def first_then_rest(encoded, v):
        first, rest = halves(v, encoded[0].dim)
        project(encoded[0], first)
        project(encoded[1:], rest)

    return first_then_rest


@by_type
def take_step(encoded, out, origin, move):
    """Overwrites out with where a step from `origin` by -`move` leads: the projection of
    origin - move, or in a set with a mirror map its proximal step. out may be origin."""
    if isinstance(encoded, types.NamedTuple):
        return getattr(encoded.instance_class, "step", euclidean_step)
    if len(encoded) == 1:
        return lambda encoded, out, origin, move: take_step(encoded[0], out, origin, move)

    def first_then_rest(encoded, out, origin, move):
        stop = encoded[0].dim
        outs, origins, moves = halves(out, stop), halves(origin, stop), halves(move, stop)
        take_step(encoded[0], outs[0], origins[0], moves[0])
        take_step(encoded[1:], outs[1], origins[1], moves[1])

    return first_then_rest


def euclidean_step(encoded, out, origin, move):
    """`take_step` without a mirror map."""
    for c in range(out.size):
        out[c] = origin[c] - move[c]
    project(encoded, out)


@inlined
def halves(v, stop):
    """v before and from coordinate `stop` on."""
    return section(v, 0, stop), section(v, stop, v.size)


@by_type
def bounds_of(encoded, c):
    """The bounds of coordinate c. Sets other than boxes have none."""
    box = isinstance(encoded, types.NamedTuple) and hasattr(encoded.instance_class, "bounds")
    return encoded.instance_class.bounds if box else lambda encoded, c: (-np.inf, np.inf)


@cached
def project_on(encoded, v):
    """`project`, for calls from Python."""
    project(encoded, v)
