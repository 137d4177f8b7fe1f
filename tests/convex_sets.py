"""Every set, and its definition apart from the code under test.

`LIBRARY` is the list of sets; a new set joins it, with its definition in `violation`, `extremes`,
`conic` and `scaled`, and all tests of the contract apply to it.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.typing import NDArray

from gameproof import Ball, Box, Cone, ConvexSet, L1Ball, Product, Simplex

Vector = NDArray[np.float64]
EPS = float(np.finfo(float).eps)

LIBRARY: dict[str, ConvexSet] = {
    "ball": Ball([1.0, -2.0, 0.5], 1.5),
    "ball on a line": Ball([2.0], 0.5),
    "box of equal bounds": Box([-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]),
    "box with a flat coordinate": Box([-1.0, 0.25, 2.0], [1.0, 0.25, 5.0]),
    "box of one point": Box([3.0, 3.0], [3.0, 3.0]),
    "simplex": Simplex(4, 2.0),
    "simplex of one point": Simplex(1),
    "L1 ball": L1Ball([0.5, -1.0, 0.0], 1.2),
    "L1 ball on a line": L1Ball([-1.0], 2.0),
    "wide cone": Cone(3, slope=0.5, cap=2.0),
    "narrow cone": Cone(2, slope=3.0, cap=1.5),
    "scaled cone": Cone(3, slope=0.5, cap=2.0, scale=[0.5, 3.0]),
    "cone with a free coordinate": Cone(4, slope=1.5, cap=2.0, scale=[2.0, np.inf, 0.3]),
    "product": Product(
        Box([-1.0], [1.0]),
        Product(Simplex(2), Product(Ball([1.0, 0.0], 0.5), Cone(2, 1.0, 2.0)), L1Ball([2.0], 1.0)),
        Box([0.0, 1.0], [1.0, 3.0]),
    ),
}
every_set = pytest.mark.parametrize("whole", LIBRARY.values(), ids=LIBRARY)


def scales(cone: Cone) -> Vector:
    return np.ones(cone.dim - 1) if cone.scale is None else cone.scale


def blocks(whole: Product, u: Any) -> Iterator[tuple[ConvexSet, Any]]:
    start = 0
    for part in whole.sets:
        yield part, u[start : start + part.dim]
        start += part.dim


def violation(whole: ConvexSet, u: Vector) -> float:
    """By how much the worst inequality of the set's definition fails; not positive inside."""
    match whole:
        case Ball():
            return float(np.linalg.norm(u - whole.center) - whole.radius)
        case Box():
            return float(max((whole.lower - u).max(), (u - whole.upper).max()))
        case Simplex():
            return float(max(-u.min(), abs(u.sum() - whole.total)))
        case L1Ball():
            return float(np.abs(u - whole.center).sum() - whole.radius)
        case Cone():
            scale, rim = scales(whole), whole.cap / whole.slope
            beyond = max(np.abs(u[:-1][np.isinf(scale)]).max(initial=0.0) - rim, u[-1] - whole.cap)
            return float(max(np.linalg.norm(u[:-1] / scale) - u[-1] / whole.slope, beyond))
        case Product():
            return max(violation(part, own) for part, own in blocks(whole, u))
    raise TypeError(f"{whole!r} has no definition here")


def extremes(whole: ConvexSet) -> Vector:
    """Extreme points, all of them or, for round sets, those on the axes; two of them are as far
    apart as any two points of the set."""
    match whole:
        case Ball() | L1Ball():
            step = whole.radius * np.eye(whole.dim)
            return np.concatenate([whole.center + step, whole.center - step])
        case Box():
            return np.array(list(product(*zip(whole.lower, whole.upper, strict=True))))
        case Simplex():
            return whole.total * np.eye(whole.dim)
        case Cone():
            scale, rim = scales(whole), whole.cap / whole.slope
            free = np.flatnonzero(np.isinf(scale))
            steps = rim * np.diag(np.append(np.where(np.isinf(scale), 0.0, scale), 0.0))
            steps = steps[np.append(np.isfinite(scale), False)]
            points = np.concatenate([steps, -steps, np.zeros((1, whole.dim))])
            points[:-1, -1] = whole.cap
            corners = np.array(list(product(*[(-rim, rim)] * free.size)))
            repeated = np.repeat(points, len(corners), axis=0)
            repeated[:, free] = np.tile(corners, (len(points), 1))
            return repeated
        case Product():
            return np.array([np.concatenate(u) for u in product(*map(extremes, whole.sets))])
    raise TypeError(f"{whole!r} has no definition here")


def conic(whole: ConvexSet, u: Any) -> list[Any]:
    """The definition as constraints of a conic program."""
    match whole:
        case Ball():
            return [cp.norm(u - whole.center) <= whole.radius]
        case Box():
            return [u >= whole.lower, u <= whole.upper]
        case Simplex():
            return [u >= 0, cp.sum(u) == whole.total]
        case L1Ball():
            return [cp.norm1(u - whole.center) <= whole.radius]
        case Cone():
            scale = scales(whole)
            free = np.flatnonzero(np.isinf(scale))
            bounds = [cp.abs(u[free]) <= whole.cap / whole.slope] if free.size else []
            inside = cp.SOC(u[-1] / whole.slope, cp.multiply(1 / scale, u[:-1]))
            return [inside, u[-1] <= whole.cap, *bounds]
        case Product():
            return [c for part, own in blocks(whole, u) for c in conic(part, own)]
    raise TypeError(f"{whole!r} has no definition here")


def scaled(whole: ConvexSet, by: float) -> ConvexSet:
    """{by u : u in the set}."""
    match whole:
        case Ball() | L1Ball():
            return type(whole)(by * whole.center, by * whole.radius)
        case Box():
            return Box(by * whole.lower, by * whole.upper)
        case Simplex():
            return Simplex(whole.dim, by * whole.total)
        case Cone():
            return Cone(whole.dim, whole.slope, by * whole.cap, whole.scale)
        case Product():
            return Product(*(scaled(part, by) for part in whole.sets))
    raise TypeError(f"{whole!r} has no definition here")


def reach(whole: ConvexSet) -> float:
    """The size of numbers in the set."""
    return float(np.linalg.norm(extremes(whole), axis=1).max())


def members(whole: ConvexSet, count: int, seed: int) -> Vector:
    """Points of the set: mixtures of its extreme points, and some of those themselves."""
    rng, points = np.random.default_rng(seed), extremes(whole)
    mixtures = rng.dirichlet(np.full(len(points), 0.5), size=count) @ points
    return np.concatenate([mixtures, points[rng.permutation(len(points))[:count]]])


def probes(whole: ConvexSet) -> list[Vector]:
    """Random points near and far, and those where a projection may take a wrong turn."""
    rng, dim = np.random.default_rng(0), whole.dim
    corner, other = extremes(whole)[[0, -1]]
    last = np.eye(dim)[-1]
    near = [s * rng.standard_normal(dim) for s in (0.1, 1.0, 1.0, 3.0, 3.0, 10.0, 100.0)]
    ties = [np.full(dim, s) for s in (-2.0, 0.5, 1.0, 40.0)]
    inside = list(members(whole, 3, seed=1))
    axis = [s * last for s in (-5.0, -0.5, 0.7, 1.5, 60.0)]
    boundary = [corner, other, (corner + other) / 2, 3 * corner - 2 * other, 2 * other - corner]
    # A hair inside and a hair outside: far more than rounding, far less than a tolerance.
    edges = corner - whole.center, (corner + other) / 2 - whole.center
    hair = [whole.center + (1 + s) * edge for s in (-1e-7, 1e-10, 1e-7) for edge in edges]
    return [np.zeros(dim), whole.center, *near, *ties, *inside, *axis, *boundary, *hair]
