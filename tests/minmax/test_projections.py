"""Projections on every set, against a conic solver, exact arithmetic and what defines them."""

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from convex_sets import (
    EPS,
    Vector,
    conic,
    every_set,
    extremes,
    members,
    probes,
    reach,
    scaled,
    violation,
)
from gameproof import Ball, Box, Cone, ConvexSet, L1Ball, Simplex

TOLERANCES = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
# Derandomised: the examples are the same in every run.
fixed = settings(max_examples=60, deadline=None, database=None)


# --- Projection against a conic solver ----------------------------------------------------------


@every_set
def test_projection_is_the_nearest_point_that_a_conic_solver_finds(whole: ConvexSet) -> None:
    # The solver stops when |v - u|^2 is within `accuracy` of its least value (relative to it
    # where it is large) and u within `accuracy` of the set. The square is strongly convex, so that
    # |u - Pv|^2 <= accuracy, up to the few units that u may gain by being a little outside.
    accuracy = 1e-8
    u, v = cp.Variable(whole.dim), cp.Parameter(whole.dim)
    program = cp.Problem(cp.Minimize(cp.sum_squares(u - v)), conic(whole, u))
    for point in probes(whole):
        v.value = point
        program.solve(solver=cp.CLARABEL, **dict.fromkeys(TOLERANCES, accuracy))
        size = max(1.0, float(np.linalg.norm(point)))
        found = whole.project(point)
        assert violation(whole, found) <= 32 * EPS * size
        np.testing.assert_allclose(found, u.value, rtol=0, atol=3 * np.sqrt(accuracy) * size)
        least = float(np.sum((u.value - point) ** 2))
        assert np.sum((found - point) ** 2) <= least + 10 * accuracy * size**2


@pytest.mark.parametrize("slope", [0.1, 1.0, 7.0])
def test_projection_on_a_cone_of_the_polar_cone_is_the_apex(slope: float) -> None:
    # (theta, alpha) is in the polar cone where alpha <= -|theta| / slope.
    cone = Cone(3, slope, cap=2.0)
    for theta in ([0.0, 0.0], [3.0, 4.0], [0.0, -5.0], [1e-9, 0.0]):
        edge = -np.linalg.norm(theta) / slope
        np.testing.assert_array_equal(cone.project([*theta, edge]), np.zeros(3))
        np.testing.assert_array_equal(cone.project([*theta, edge - 1.0]), np.zeros(3))
        above = cone.project([*theta, edge + 0.5])
        assert above[-1] > 0


# --- Projection against exact arithmetic, at all scales ------------------------------------------


def nearest(point: Sequence[Any], candidates: Sequence[Sequence[Any]]) -> Sequence[Any]:
    return min(candidates, key=lambda u: sum((a - b) ** 2 for a, b in zip(u, point, strict=True)))


def exact_simplex(v: Sequence[Fraction], total: Fraction) -> Sequence[Fraction]:
    """By brute force: on the face where the coordinates in `support` are free, v moves along the
    all-ones vector until the sum is right; of the feasible results the nearest."""
    candidates = []
    for size in range(1, len(v) + 1):
        for support in combinations(range(len(v)), size):
            t = (sum(v[c] for c in support) - total) / size
            u = [v[c] - t if c in support else Fraction(0) for c in range(len(v))]
            if min(u) >= 0:
                candidates.append(u)
    return nearest(v, candidates)


def exact_l1(v: Sequence[Fraction], radius: Fraction) -> Sequence[Fraction]:
    """By brute force over the orthants, in each of which the sphere is a simplex."""
    if sum(map(abs, v)) <= radius:
        return v
    candidates = []
    for signs in product((1, -1), repeat=len(v)):
        size = exact_simplex([s * a for s, a in zip(signs, v, strict=True)], radius)
        candidates.append([s * a for s, a in zip(signs, size, strict=True)])
    return nearest(v, candidates)


def exact_ball(v: Sequence[Decimal], radius: Decimal) -> Sequence[Decimal]:
    length = sum((a * a for a in v), Decimal(0)).sqrt()
    return v if length <= radius else [a * radius / length for a in v]


def exact_cone(v: Sequence[Decimal], slope: Decimal, cap: Decimal) -> Sequence[Decimal]:
    """By brute force over the edges of the triangle of pairs (|theta|, alpha)."""
    length = sum((a * a for a in v[:-1]), Decimal(0)).sqrt()
    if length * slope <= v[-1] <= cap:
        return v
    zero, rim = Decimal(0), (cap / slope, cap)
    feet = []
    for a, b in [((zero, zero), rim), ((zero, cap), rim)]:
        run, rise = b[0] - a[0], b[1] - a[1]
        along = ((length - a[0]) * run + (v[-1] - a[1]) * rise) / (run**2 + rise**2)
        along = min(max(along, zero), Decimal(1))
        feet.append((a[0] + along * run, a[1] + along * rise))
    radius, alpha = nearest((length, v[-1]), feet)
    return [*(a * radius / length if length else zero for a in v[:-1]), alpha]


def in_decimals(exact: Callable[..., Sequence[Decimal]], v: Vector, *numbers: float) -> Vector:
    with localcontext() as context:
        context.prec = 80
        return np.array(exact([*map(Decimal, v.tolist())], *map(Decimal, numbers)), dtype=float)


def in_fractions(exact: Callable[..., Sequence[Fraction]], v: Vector, *numbers: float) -> Vector:
    return np.array(exact([*map(Fraction, v.tolist())], *map(Fraction, numbers)), dtype=float)


def shapes(dim: int) -> list[Vector]:
    """Points of size one, to be scaled: random, zero, ties, the axis, many zeros, near ties."""
    rng = np.random.default_rng(2)
    close = 1.0 + EPS * np.arange(dim)
    ones, last = np.ones(dim), np.eye(dim)[-1]
    drawn = list(rng.standard_normal((12, dim)))
    return [*drawn, 0 * ones, ones, -ones, last, -last, np.eye(dim)[0], close, -close]


all_scales = pytest.mark.parametrize(
    ("of_point", "of_set"), list(product((1e-9, 1.0, 1e9), repeat=2))
)


@all_scales
def test_projection_on_a_ball_is_exact_to_rounding(of_point: float, of_set: float) -> None:
    for shape in shapes(3):
        point, radius = of_point * shape, 0.7 * of_set
        exact = in_decimals(exact_ball, point, radius)
        found = Ball(np.zeros(3), radius).project(point)
        np.testing.assert_allclose(found, exact, rtol=0, atol=8 * EPS * radius)


@all_scales
def test_projection_on_an_off_centre_ball_is_exact_to_rounding(
    of_point: float, of_set: float
) -> None:
    centre, radius = of_set * np.array([1.0, -2.0, 0.3]), 0.7 * of_set
    with localcontext() as context:
        context.prec = 80
        for shape in shapes(3):
            point = of_point * shape
            offset = [Decimal(a) - Decimal(b) for a, b in zip(point.tolist(), centre, strict=True)]
            moved = exact_ball(offset, Decimal(radius))
            exact = [float(Decimal(c) + z) for c, z in zip(centre, moved, strict=True)]
            found = Ball(centre, radius).project(point)
            # Taking the centre off rounds each coordinate to EPS of what is left, adding it
            # again to EPS of the centre.
            np.testing.assert_allclose(found, exact, rtol=0, atol=16 * EPS * of_set)


@all_scales
def test_projection_on_a_box_is_exact(of_point: float, of_set: float) -> None:
    lower, upper = of_set * np.array([-1.0, 0.3, 0.0]), of_set * np.array([0.5, 0.3, 2.0])
    for shape in shapes(3):
        point = of_point * shape
        exact = [sorted(three)[1] for three in zip(lower, point, upper, strict=True)]
        np.testing.assert_array_equal(Box(lower, upper).project(point), exact)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [([0.0, 0.0], [1.0, 2.0]), ([-1.0, -2.0], [0.0, 0.0]), ([-1.0, -1.0], [1.0, 1.0])],
)
def test_bounds_that_agree_on_one_side_leave_the_other_as_it_is(lower, upper) -> None:
    box = Box(lower, upper)
    assert box.project([9.0, 9.0]).tolist() == upper
    assert box.project([-9.0, -9.0]).tolist() == lower


@all_scales
def test_projection_on_a_simplex_is_exact_to_rounding(of_point: float, of_set: float) -> None:
    for shape in shapes(4):
        point, total = of_point * shape, 0.9 * of_set
        exact = in_fractions(exact_simplex, point, total)
        found = Simplex(4, total).project(point)
        np.testing.assert_allclose(found, exact, rtol=0, atol=16 * EPS * total)


@all_scales
def test_projection_on_an_l1_ball_is_exact_to_rounding(of_point: float, of_set: float) -> None:
    for shape in shapes(4):
        point, radius = of_point * shape, 0.9 * of_set
        exact = in_fractions(exact_l1, point, radius)
        found = L1Ball(np.zeros(4), radius).project(point)
        np.testing.assert_allclose(found, exact, rtol=0, atol=16 * EPS * radius)


@all_scales
@pytest.mark.parametrize("slope", [0.3, 1.0, 4.0])
def test_projection_on_a_cone_is_exact_to_rounding(
    of_point: float, of_set: float, slope: float
) -> None:
    cap = 0.8 * of_set
    for shape in shapes(3):
        point = of_point * shape
        exact = in_decimals(exact_cone, point, slope, cap)
        # On the slanted side the answer is a difference of numbers of the size of the point.
        slanted = 0 < exact[-1] < cap
        size = float(np.linalg.norm(point)) if slanted else cap * max(1.0, 1 / slope)
        found = Cone(3, slope, cap).project(point)
        np.testing.assert_allclose(found, exact, rtol=0, atol=8 * EPS * size)


@every_set
@pytest.mark.parametrize("by", [2.0**-30, 2.0**30])
def test_projection_commutes_with_scaling_to_the_last_bit(whole: ConvexSet, by: float) -> None:
    # A power of two scales without rounding: a difference is a tolerance that is not relative.
    large = scaled(whole, by)
    for point in probes(whole):
        np.testing.assert_array_equal(large.project(by * point), by * whole.project(point))


# --- What every projection does -----------------------------------------------------------------


def vectors(dim: int) -> st.SearchStrategy[Vector]:
    finite = st.floats(-1e4, 1e4, allow_subnormal=False)
    return arrays(np.float64, dim, elements=finite | st.sampled_from([-1.0, 0.0, 0.5, 1.0]))


def rounding(whole: ConvexSet, *points: Vector) -> float:
    return 100 * EPS * (reach(whole) + sum(float(np.linalg.norm(point)) for point in points))


@every_set
@fixed
@given(data=st.data())
def test_projection_is_in_the_set_and_stays_there(whole: ConvexSet, data: st.DataObject) -> None:
    v = data.draw(vectors(whole.dim))
    once = whole.project(v)
    assert violation(whole, once) <= rounding(whole, v)
    np.testing.assert_allclose(whole.project(once), once, rtol=0, atol=rounding(whole, once))


@every_set
@fixed
@given(data=st.data())
def test_projection_is_non_expansive(whole: ConvexSet, data: st.DataObject) -> None:
    v, w = data.draw(vectors(whole.dim)), data.draw(vectors(whole.dim))
    apart = float(np.linalg.norm(whole.project(v) - whole.project(w)))
    assert apart <= np.linalg.norm(v - w) + rounding(whole, v, w)


@every_set
@fixed
@given(data=st.data())
def test_projection_satisfies_the_variational_inequality(
    whole: ConvexSet, data: st.DataObject
) -> None:
    """<v - Pv, w - Pv> <= 0 for all w in the set says that Pv is nearest, and nothing else is."""
    v = data.draw(vectors(whole.dim))
    foot = whole.project(v)
    everywhere = np.concatenate([extremes(whole), members(whole, 20, seed=3)])
    products = (everywhere - foot) @ (v - foot)
    assert products.max() <= rounding(whole, v) * (reach(whole) + float(np.linalg.norm(v)))


@every_set
def test_projection_keeps_a_point_that_is_inside(whole: ConvexSet) -> None:
    for point in members(whole, 20, seed=4):
        np.testing.assert_allclose(whole.project(point), point, rtol=0, atol=rounding(whole, point))


@every_set
def test_projection_leaves_its_argument_alone(whole: ConvexSet) -> None:
    for point in probes(whole):
        before = point.copy()
        point.flags.writeable = False
        found = whole.project(point)
        np.testing.assert_array_equal(point, before)
        assert not np.shares_memory(found, point)
        assert found.dtype == np.float64
        found[:] = np.inf  # a later projection must not see what is done to this result
        assert np.isfinite(whole.project(point)).all()
