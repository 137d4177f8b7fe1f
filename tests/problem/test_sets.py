"""Sets: every claim of `ConvexSet`, checked on every set, against oracles that stand below.

`LIBRARY` is the list of sets; a new set joins it, with its definition in `violation`, `extremes`,
`conic` and `scaled`, and all tests of the contract apply to it.
"""

from collections.abc import Callable, Iterator, Sequence
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
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist

from gameproof import Ball, Box, Cone, ConvexSet, L1Ball, Product, Simplex, kernels

Vector = NDArray[np.float64]
EPS = float(np.finfo(float).eps)
TOLERANCES = ("tol_gap_abs", "tol_gap_rel", "tol_feas")

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
    "product": Product(
        Box([-1.0], [1.0]),
        Product(Simplex(2), Product(Ball([1.0, 0.0], 0.5), Cone(2, 1.0, 2.0)), L1Ball([2.0], 1.0)),
        Box([0.0, 1.0], [1.0, 3.0]),
    ),
}
every_set = pytest.mark.parametrize("whole", LIBRARY.values(), ids=LIBRARY)
# Derandomised: the examples are the same in every run.
fixed = settings(max_examples=60, deadline=None, derandomize=True, database=None)


# --- The definitions, independent of the code under test ---------------------------------------


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
            return float(max(np.linalg.norm(u[:-1]) - u[-1] / whole.slope, u[-1] - whole.cap))
        case Product():
            return max(violation(part, own) for part, own in blocks(whole, u))
    raise NotImplementedError(whole)


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
            rim = whole.cap / whole.slope * np.eye(whole.dim)[:-1]
            points = np.concatenate([rim, -rim, np.zeros((1, whole.dim))])
            points[:-1, -1] = whole.cap
            return points
        case Product():
            return np.array([np.concatenate(u) for u in product(*map(extremes, whole.sets))])
    raise NotImplementedError(whole)


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
            return [cp.SOC(u[-1] / whole.slope, u[:-1]), u[-1] <= whole.cap]
        case Product():
            return [c for part, own in blocks(whole, u) for c in conic(part, own)]
    raise NotImplementedError(whole)


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
            return Cone(whole.dim, whole.slope, by * whole.cap)
        case Product():
            return Product(*(scaled(part, by) for part in whole.sets))
    raise NotImplementedError(whole)


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


# --- Membership, diameter, centre, samples --------------------------------------------------------


@every_set
@pytest.mark.parametrize("by", [1e-9, 1.0, 1e9])
def test_contains_its_points_at_every_scale(whole: ConvexSet, by: float) -> None:
    large = scaled(whole, by)
    assert all(large.contains(by * point) for point in members(whole, 30, seed=5))


@every_set
@pytest.mark.parametrize("by", [1e-9, 1.0, 1e9])
def test_does_not_contain_points_that_are_clearly_outside(whole: ConvexSet, by: float) -> None:
    large = scaled(whole, by)
    around = np.random.default_rng(6).normal(whole.center, 2.0, size=(100, whole.dim))
    # A thousandth of the set's own size is a million times the tolerance.
    outside = [point for point in around if violation(whole, point) > 1e-3 * reach(whole)]
    assert len(outside) >= 20
    assert not any(large.contains(by * point) for point in outside)


def test_contains_up_to_the_tolerance_that_is_asked_for() -> None:
    ball = Ball([0.0, 0.0], 1.0)
    assert ball.contains([1.05, 0.0], tolerance=0.1)
    assert not ball.contains([1.05, 0.0], tolerance=0.01)
    assert not ball.contains([1.0 + 1e-6, 0.0])


@every_set
def test_diameter_is_the_largest_distance_between_extreme_points(whole: ConvexSet) -> None:
    points = extremes(whole)
    largest = pdist(points).max() if len(points) > 1 else 0.0
    assert whole.diameter == pytest.approx(largest, rel=1e-14, abs=0)


@every_set
def test_no_two_samples_are_farther_apart_than_the_diameter(whole: ConvexSet) -> None:
    rng = np.random.default_rng(7)
    drawn = np.array([whole.sample(rng) for _ in range(300)])
    assert pdist(drawn).max() <= whole.diameter + 4 * EPS * reach(whole)


@every_set
def test_centre_is_inside_and_its_own_array(whole: ConvexSet) -> None:
    centre = whole.center
    assert centre.shape == (whole.dim,)
    assert violation(whole, centre) <= EPS * reach(whole)
    centre[:] = np.nan
    assert np.isfinite(whole.center).all()


@every_set
def test_samples_are_inside_and_come_from_the_generator_alone(whole: ConvexSet) -> None:
    first, second = np.random.default_rng(8), np.random.default_rng(8)
    for _ in range(200):
        point = whole.sample(first)
        assert violation(whole, point) <= 8 * EPS * reach(whole)
        np.testing.assert_array_equal(point, whole.sample(second))


@pytest.mark.parametrize(
    "whole",
    [
        Ball([1.0, -2.0], 1.5),
        Box([-1.0, 0.0, 2.0], [1.0, 0.0, 5.0]),
        Simplex(3, 2.0),
        L1Ball([0.5, -1.0], 1.2),
        Cone(2, 3.0, 1.5),
        Cone(3, 0.5, 2.0),
        Product(Ball([0.0], 1.0), Simplex(2)),
    ],
    ids=str,
)
def test_samples_come_near_every_extreme_point_and_centre_on_the_middle(whole: ConvexSet) -> None:
    # Let D be the diameter and k <= 3 the dimension. The set shrunk by 1/5 towards its point e lies
    # within D/5 of e, so a uniform sample does with probability at least 5^-k >= 1/125, and none of
    # 4,000 with probability under 2e-14. Each mean is off by 5 standard errors once in 1.7 million.
    rng, count = np.random.default_rng(9), 4000
    drawn = np.array([whole.sample(rng) for _ in range(count)])
    for point in [*extremes(whole), whole.center]:
        assert np.linalg.norm(drawn - point, axis=1).min() < whole.diameter / 5
    error = drawn.std(axis=0) / np.sqrt(count)
    off = np.abs(drawn.mean(axis=0) - whole.center)
    if isinstance(whole, Cone):  # not symmetric in alpha
        off, error = off[:-1], error[:-1]
    assert (off <= 5 * error + EPS).all()


# --- Products and the compiled projection ---------------------------------------------------------


class Halfline(ConvexSet):
    """A set of a user's own, with no more than is asked for: [0, 1]."""

    dim = 1
    diameter = 1.0
    center = np.array([0.5])

    def project(self, point: ArrayLike) -> Vector:
        return np.clip(np.asarray(point, dtype=float), 0.0, 1.0)

    def sample(self, rng: np.random.Generator) -> Vector:
        return rng.random(1)


interval, box = Box([-1.0, -1.0], [1.0, 1.0]), Box([0.0, 2.0], [1.0, 3.0])
ball, simplex, cone = Ball([5.0, 5.0], 1.0), Simplex(3, 2.0), Cone(3, 0.5, 2.0)
PRODUCTS = {
    "no vectors at all": Product(interval, simplex, cone),
    "interval before box": Product(interval, box),
    "box before interval": Product(box, interval),
    "centre, then interval, then box": Product(ball, interval, box),
    "one part": Product(ball),
    "nested": Product(interval, Product(ball, Product(box, simplex)), cone, Product(interval)),
    "nested, the vectors last": Product(Product(simplex, interval), Product(cone, ball)),
    "everything": LIBRARY["product"],
}


def leaves(whole: ConvexSet) -> list[ConvexSet]:
    if isinstance(whole, Product):
        return [leaf for part in whole.sets for leaf in leaves(part)]
    return [whole]


@pytest.mark.parametrize("whole", PRODUCTS.values(), ids=PRODUCTS)
def test_compiled_pieces_of_a_product_project_part_by_part(whole: Product) -> None:
    for point in probes(whole):
        compiled = point.copy()
        kernels.project(whole.pieces, compiled)
        parts, at = [], 0
        for leaf in leaves(whole):
            parts.append(leaf.project(point[at : at + leaf.dim]))
            at += leaf.dim
        np.testing.assert_array_equal(compiled, np.concatenate(parts))
        np.testing.assert_array_equal(whole.project(point), compiled)


@pytest.mark.parametrize("whole", PRODUCTS.values(), ids=PRODUCTS)
def test_product_adds_up_dimensions_and_squared_diameters(whole: Product) -> None:
    parts = leaves(whole)
    assert whole.dim == sum(leaf.dim for leaf in parts)
    assert whole.diameter == pytest.approx(sum(leaf.diameter**2 for leaf in parts) ** 0.5)


def test_product_with_a_set_of_ones_own_projects_without_compiled_pieces() -> None:
    whole = Product(Halfline(), Product(Ball([0.0, 0.0], 1.0), Halfline()))
    assert whole.pieces is None
    np.testing.assert_allclose(whole.project([2.0, 3.0, 4.0, -1.0]), [1.0, 0.6, 0.8, 0.0])
    assert whole.contains([0.5, 0.0, 0.0, 1.0])
    assert not whole.contains([0.5, 0.0, 0.0, 1.1])


def test_a_set_keeps_its_numbers_when_the_caller_changes_the_arrays() -> None:
    centre, lower, upper = np.zeros(2), np.array([0.0, 1.0]), np.array([2.0, 3.0])
    sets = Ball(centre, 1.0), L1Ball(centre, 1.0), Box(lower, upper)
    before = [whole.project([9.0, 9.0]) for whole in sets]
    centre[:], lower[:], upper[:] = 50.0, 50.0, 60.0
    for whole, found in zip(sets, before, strict=True):
        np.testing.assert_array_equal(whole.project([9.0, 9.0]), found)


# --- Bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: Ball([], 1.0), ValueError, "center is empty"),
        (lambda: Ball([0.0, np.nan], 1.0), ValueError, "center .*finite, got nan at coordinate 1"),
        (lambda: Ball([-np.inf, 0.0], 1.0), ValueError, "center .*finite, got -inf at .* 0"),
        (lambda: Ball("a", 1.0), TypeError, "center must be a vector of numbers, got 'a'"),
        (lambda: Ball([[0.0, 1.0]], 1.0), ValueError, r"one-dimensional, got shape \(1, 2\)"),
        (lambda: Ball([0.0], -0.1), ValueError, "radius must be positive.*, got -0.1"),
        (lambda: Ball([0.0], 0.0), ValueError, "radius must be positive.*, got 0"),
        (lambda: Ball([0.0], np.nan), ValueError, "radius must be positive and finite, got nan"),
        (lambda: Ball([0.0], np.inf), ValueError, "radius must be positive and finite, got inf"),
        (lambda: Ball([0.0], "wide"), TypeError, "radius must be a number, got 'wide'"),
        (lambda: Ball([0.0], None), TypeError, "radius must be a number, got None"),
        (lambda: Box([], []), ValueError, "lower is empty"),
        (lambda: Box([0.0, 2.0], [1.0, 1.5]), ValueError, "coordinate 1 .*2.0 .*1.5"),
        (lambda: Box([0.0], [1.0, 1.0]), ValueError, "lower has 1 coordinates, upper has 2"),
        (lambda: Box([0.0], [np.inf]), ValueError, "upper must be finite, got inf"),
        (lambda: Box([0.0], ["x"]), TypeError, "upper must be a vector of numbers, got .*x"),
        (lambda: Simplex(0), ValueError, "dim must be at least 1, got 0"),
        (lambda: Simplex(True), TypeError, "dim must be an integer, got True"),
        (lambda: Simplex(2.0), TypeError, "dim must be an integer, got 2.0"),  # type: ignore
        (lambda: Simplex(2, -1.0), ValueError, "total must be positive and finite, got -1.0"),
        (lambda: L1Ball([], 1.0), ValueError, "center is empty"),
        (lambda: L1Ball([0.0], 0.0), ValueError, "radius must be positive and finite, got 0"),
        (lambda: L1Ball([[0.0]], 1.0), ValueError, r"one-dimensional, got shape \(1, 1\)"),
        (lambda: Cone(1, 1.0, 1.0), ValueError, "dim must be at least 2, got 1"),
        (lambda: Cone(True, 1.0, 1.0), TypeError, "dim must be an integer, got True"),
        (lambda: Cone(2, 0.0, 1.0), ValueError, "slope must be positive and finite, got 0"),
        (lambda: Cone(2, -3.0, 1.0), ValueError, "slope must be positive and finite, got -3"),
        (lambda: Cone(2, 1.0, 0.0), ValueError, "cap must be positive and finite, got 0"),
        (lambda: Cone(2, 1.0, np.inf), ValueError, "cap must be positive and finite, got inf"),
        (lambda: Product(), ValueError, "at least one set"),
        (lambda: Product(Simplex(2), 7), TypeError, "part 1 .* must be a set, got 7"),
        (lambda: Product([Simplex(2)]), TypeError, r"part 0 .* must be a set, got \[Simplex"),
    ],
)
def test_a_set_that_makes_no_sense_is_refused_with_what_was_given(
    build: Callable[[], ConvexSet], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        build()


@every_set
@pytest.mark.parametrize("method", ["project", "contains"])
def test_a_point_that_does_not_fit_is_refused_with_what_was_given(
    whole: ConvexSet, method: str
) -> None:
    call, dim = getattr(whole, method), whole.dim
    for point, error, message in [
        (np.zeros(dim + 1), ValueError, f"point has {dim + 1} coordinates, the set has {dim}"),
        ([], ValueError, "point is empty"),
        (np.zeros((1, dim)), ValueError, f"one-dimensional, got shape \\(1, {dim}\\)"),
        (0.0, ValueError, r"one-dimensional, got shape \(\)"),
        (np.full(dim, np.nan), ValueError, "finite, got nan at coordinate 0"),
        (np.full(dim, -np.inf), ValueError, "finite, got -inf at coordinate 0"),
        (["x"] * dim, TypeError, "must be a vector of numbers, got .*x"),
    ]:
        with pytest.raises(error, match=message):
            call(point)
