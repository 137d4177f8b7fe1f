"""Convex sets as compiled code takes them, and their projections.

Each set is a NamedTuple; a product is a plain tuple of them. `project` and `take_step` are chosen
by type, so a run compiles the projections of its own sets and no others.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from gameproof.kernels.jit import cached
from gameproof.kernels.memory import section
from gameproof.kernels.projections import (
    entropy_step,
    project_ball,
    project_box,
    project_cone,
    project_interval,
    project_l1_ball,
    project_scaled_cone,
    project_simplex,
)


class EncodedBall(NamedTuple):
    """{v : |v - center| <= radius}."""

    dim: int
    center: np.ndarray
    radius: float


class EncodedBox(NamedTuple):
    """{v : lower <= v <= upper}."""

    dim: int
    lower: np.ndarray
    upper: np.ndarray


class EncodedInterval(NamedTuple):
    """A box with the same bounds for every coordinate."""

    dim: int
    lower: float
    upper: float


class EncodedSimplex(NamedTuple):
    """{v >= 0 : sum v = total}."""

    dim: int
    total: float


class EncodedEntropySimplex(NamedTuple):
    """The same set, with multiplicative steps."""

    dim: int
    total: float


class EncodedL1Ball(NamedTuple):
    """{v : sum |v - center| <= radius}."""

    dim: int
    center: np.ndarray
    radius: float


class EncodedCone(NamedTuple):
    """{(theta, alpha) : |theta| <= alpha / slope, alpha <= cap}."""

    dim: int
    slope: float
    cap: float


class EncodedScaledCone(NamedTuple):
    """{(theta, alpha) : |weights theta| <= alpha / slope, alpha <= cap}; a theta_c of weight 0 lies
    between -cap / slope and cap / slope."""

    dim: int
    weights: np.ndarray
    slope: float
    cap: float


PROJECTIONS = {
    EncodedBall: lambda encoded, v: project_ball(v, encoded.center, encoded.radius),
    EncodedBox: lambda encoded, v: project_box(v, encoded.lower, encoded.upper),
    EncodedInterval: lambda encoded, v: project_interval(v, encoded.lower, encoded.upper),
    EncodedSimplex: lambda encoded, v: project_simplex(v, encoded.total),
    EncodedEntropySimplex: lambda encoded, v: project_simplex(v, encoded.total),
    EncodedL1Ball: lambda encoded, v: project_l1_ball(v, encoded.center, encoded.radius),
    EncodedCone: lambda encoded, v: project_cone(v, encoded.slope, encoded.cap),
    EncodedScaledCone: lambda encoded, v: project_scaled_cone(
        v, encoded.weights, encoded.slope, encoded.cap
    ),
}


def project(encoded, v):
    """Overwrites v with its projection on the set, inside compiled code."""
    raise TypeError("project is called from compiled code only; see project_on")


@overload(project, jit_options={"forceinline": True})
def _choose_projection(encoded, v):
    if isinstance(encoded, types.NamedTuple):
        return PROJECTIONS[encoded.instance_class]
    if len(encoded) == 1:
        return lambda encoded, v: project(encoded[0], v)

    def first_then_rest(encoded, v):
        stop = encoded[0].dim
        project(encoded[0], section(v, 0, stop))
        project(encoded[1:], section(v, stop, v.size))

    return first_then_rest


def take_step(encoded, out, origin, move):
    """Overwrites out with where a step from `origin` by -`move` leads: the projection of
    origin - move, or in a set with a mirror map its proximal step. out may be origin."""
    raise TypeError("take_step is called from compiled code only; see step_on")


@overload(take_step, jit_options={"forceinline": True})
def _choose_step(encoded, out, origin, move):
    if isinstance(encoded, types.NamedTuple):
        if encoded.instance_class is EncodedEntropySimplex:
            return lambda encoded, out, origin, move: entropy_step(out, origin, move, encoded.total)

        def euclidean(encoded, out, origin, move):
            for c in range(out.size):
                out[c] = origin[c] - move[c]
            project(encoded, out)

        return euclidean
    if len(encoded) == 1:
        return lambda encoded, out, origin, move: take_step(encoded[0], out, origin, move)

    def first_then_rest(encoded, out, origin, move):
        stop = encoded[0].dim
        head, tail = (
            (section(out, 0, stop), section(origin, 0, stop), section(move, 0, stop)),
            (
                section(out, stop, out.size),
                section(origin, stop, out.size),
                section(move, stop, out.size),
            ),
        )
        take_step(encoded[0], head[0], head[1], head[2])
        take_step(encoded[1:], tail[0], tail[1], tail[2])

    return first_then_rest


def bounds_of(encoded, c):
    """The bounds of coordinate c, inside compiled code. Sets other than boxes have none."""
    raise TypeError("bounds_of is called from compiled code only")


@overload(bounds_of, jit_options={"forceinline": True})
def _choose_bounds(encoded, c):
    kind = encoded.instance_class if isinstance(encoded, types.NamedTuple) else None
    if kind is EncodedInterval:
        return lambda encoded, c: (encoded.lower, encoded.upper)
    if kind is EncodedBox:
        return lambda encoded, c: (encoded.lower[c], encoded.upper[c])
    return lambda encoded, c: (-np.inf, np.inf)


@cached
def project_on(encoded, v):
    """Overwrites v with its projection."""
    project(encoded, v)


@cached
def step_on(encoded, out, origin, move):
    """`take_step` for calls from Python."""
    take_step(encoded, out, origin, move)
