"""Sets: membership, diameter, centre and samples of every one, products, and what is refused."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist

from convex_sets import (
    EPS,
    LIBRARY,
    Vector,
    every_set,
    extremes,
    members,
    probes,
    reach,
    scaled,
    violation,
)
from gameproof import Ball, Box, Cone, ConvexSet, L1Ball, Product, Simplex
from gameproof.kernels.sets import project_on

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
        Cone(3, 0.5, 2.0, scale=[2.0, np.inf]),
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


# --- Products and compiled projections ---------------------------------------------------------


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
def test_compiled_form_of_a_product_projects_part_by_part(whole: Product) -> None:
    for point in probes(whole):
        compiled = point.copy()
        project_on(whole.encoded, compiled)
        parts, at = [], 0
        for leaf in leaves(whole):
            parts.append(leaf.project(point[at : at + leaf.dim]))
            at += leaf.dim
        np.testing.assert_array_equal(whole.project(point), np.concatenate(parts))
        close = 1e-12 * (1 + np.abs(point).max())
        np.testing.assert_allclose(compiled, np.concatenate(parts), rtol=1e-12, atol=close)


@pytest.mark.parametrize("whole", PRODUCTS.values(), ids=PRODUCTS)
def test_product_adds_up_dimensions_and_squared_diameters(whole: Product) -> None:
    parts = leaves(whole)
    assert whole.dim == sum(leaf.dim for leaf in parts)
    assert whole.diameter == pytest.approx(sum(leaf.diameter**2 for leaf in parts) ** 0.5)


def test_product_with_a_set_of_ones_own_projects_without_a_compiled_form() -> None:
    whole = Product(Halfline(), Product(Ball([0.0, 0.0], 1.0), Halfline()))
    assert whole.encoded is None
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
        (lambda: Cone(3, 1.0, 1.0, [1.0]), ValueError, "scale must have one number per feature, 2"),
        (
            lambda: Cone(3, 1.0, 1.0, [1.0, 0.0]),
            ValueError,
            "scale must be positive, got 0",
        ),
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
