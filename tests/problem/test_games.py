"""Games with known saddle points, held against conic programs for both sides of each game.

Where max over y is taken under a bound, the programs below use the conjugate of a sum: for a
positive definite Q, max over |z| <= R of c'z - z'Qz/2 is the minimum over w of
(c - w)' Q^-1 (c - w) / 2 + R |w|. So min over x of max over y is one convex program, and max over y
of min over x another; that they agree certifies the value.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import approx_fprime, minimize_scalar

from gameproof import (
    BilinearGame,
    MatrixGame,
    Problem,
    QuadraticGame,
    RobustLeastSquares,
    Saddle,
    duality_gap,
    gap,
)
from gameproof.problem.games import ball_minimum

Array = NDArray[np.float64]
Formula = Callable[[int, Array, Array], float]


# --- The same games, written once more --------------------------------------------------------


@dataclass
class Case:
    """A game, the formula of its samples, and the mean of that formula for cvxpy: concave in y
    where x is an array, convex in x where y is one."""

    game: Problem
    formula: Formula
    of_x: Callable[[Any, Array], Any]
    of_y: Callable[[Array, Any], Any]
    within: Callable[[Any, str], list[Any]]
    both_sides: Callable[[], tuple[float, Array, float, Array]]


def solved(program: Any) -> float:
    """The optimal value, right to about 1e-8 of its size: Clarabel's default tolerance."""
    return float(program.solve(solver=cp.CLARABEL))


def simplex(u: Any, block: str) -> list[Any]:
    return [u >= 0, cp.sum(u) == 1]


def ball(radius: float) -> Callable[[Any, str], list[Any]]:
    return lambda u, block: [cp.norm(u) <= radius]


def quadratic(z: Any, root: Array) -> Any:
    """|root z|^2 / 2 / n with n the number of rows: z'Hz/2 for H the mean of the rows' squares."""
    return cp.sum_squares(root @ z) / 2 / len(root)


def inverse_quadratic(z: Any, root: Array) -> Any:
    """z' H^-1 z / 2 for the same H."""
    factor = np.linalg.inv(np.linalg.cholesky(root.T @ root / len(root)))
    return cp.sum_squares(factor @ z) / 2


def matrix_case(n: int, dx: int, dy: int, seed: int) -> Case:
    stack = np.random.default_rng(seed).normal(size=(n, dx, dy))
    mean = sum(stack) / n

    def both_sides() -> tuple[float, Array, float, Array]:
        x, y = cp.Variable(dx), cp.Variable(dy)
        high = solved(cp.Problem(cp.Minimize(cp.max(mean.T @ x)), simplex(x, "x")))
        low = solved(cp.Problem(cp.Maximize(cp.min(mean @ y)), simplex(y, "y")))
        return high, x.value, low, y.value

    return Case(
        MatrixGame(stack),
        lambda i, x, y: float(np.einsum("r,rc,c", x, stack[i], y)),
        lambda x, y: (mean @ y) @ x,
        lambda x, y: (mean.T @ x) @ y,
        simplex,
        both_sides,
    )


def bilinear_case(n: int, dim: int, seed: int, radius: float) -> Case:
    rng = np.random.default_rng(seed)
    stack = np.eye(dim) + 0.3 * rng.normal(size=(n, dim, dim))
    p, q = 0.3 * rng.normal(size=(2, n, dim))
    mean, pm, qm = sum(stack) / n, sum(p) / n, sum(q) / n

    def both_sides() -> tuple[float, Array, float, Array]:
        x, y = cp.Variable(dim), cp.Variable(dim)
        worst = pm @ x + radius * cp.norm(mean.T @ x + qm)
        best = qm @ y - radius * cp.norm(mean @ y + pm)
        high = solved(cp.Problem(cp.Minimize(worst), [cp.norm(x) <= radius]))
        low = solved(cp.Problem(cp.Maximize(best), [cp.norm(y) <= radius]))
        return high, x.value, low, y.value

    return Case(
        BilinearGame(stack, p, q, radius),
        lambda i, x, y: float(x @ stack[i] @ y + p[i] @ x + q[i] @ y),
        lambda x, y: (mean @ y + pm) @ x + qm @ y,
        lambda x, y: (mean.T @ x + qm) @ y + pm @ x,
        ball(radius),
        both_sides,
    )


def quadratic_case(n: int, dx: int, dy: int, seed: int, radius: float) -> Case:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(n, dx)), rng.normal(size=(n, dy))
    p, q = rng.normal(size=(n, dx)), rng.normal(size=(n, dy))
    cross, pm, qm = (
        sum(np.outer(*pair) for pair in zip(a, b, strict=True)) / n,
        sum(p) / n,
        sum(q) / n,
    )

    def formula(i: int, x: Array, y: Array) -> float:
        s, t = float(a[i] @ x), float(b[i] @ y)
        return s**2 / 2 + s * t - t**2 / 2 + float(p[i] @ x) - float(q[i] @ y)

    def both_sides() -> tuple[float, Array, float, Array]:
        x, y, w, z = cp.Variable(dx), cp.Variable(dy), cp.Variable(dy), cp.Variable(dx)
        worst = quadratic(x, a) + pm @ x + inverse_quadratic(cross.T @ x - qm - w, b)
        best = quadratic(y, b) + qm @ y + inverse_quadratic(-cross @ y - pm - z, a)
        high = solved(cp.Problem(cp.Minimize(worst + radius * cp.norm(w)), ball(radius)(x, "x")))
        low = -solved(cp.Problem(cp.Minimize(best + radius * cp.norm(z)), ball(radius)(y, "y")))
        return high, x.value, low, y.value

    return Case(
        QuadraticGame(a, b, p, q, radius),
        formula,
        lambda x, y: quadratic(x, a) + (cross @ y + pm) @ x - (b @ y) @ (b @ y) / 2 / n - qm @ y,
        lambda x, y: (a @ x) @ (a @ x) / 2 / n + pm @ x + (cross.T @ x - qm) @ y - quadratic(y, b),
        ball(radius),
        both_sides,
    )


def least_squares_case(
    n: int, dx: int, seed: int, radius: float, bound: float, penalty: float
) -> Case:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(n, dx)), rng.normal(size=n)

    def within(u: Any, block: str) -> list[Any]:
        return [cp.norm(u) <= radius] if block == "x" else [cp.abs(u) <= bound]

    def both_sides() -> tuple[float, Array, float, Array]:
        x, y, m = cp.Variable(dx), cp.Variable(n), cp.Variable(n)
        # max over |y| <= B of (r - y)^2/2 - P y^2/2 is r^2/2 plus a Huber function of r.
        knee, r = (penalty - 1) * bound, a @ x - b
        worst = cp.sum_squares(r) / 2 + cp.sum(cp.huber(r, knee)) / 2 / (penalty - 1)
        # min over |x| <= R of |Ax - t|^2/2n is, with multipliers m of Ax - t = r,
        # max over m of -n |m|^2/2 - m't - R |A'm|; t = b + y, and the square is completed.
        best = -cp.sum_squares(np.sqrt(n) * m + y / np.sqrt(n)) / 2 - m @ b
        best -= radius * cp.norm(a.T @ m) + (penalty - 1) * cp.sum_squares(y) / 2 / n
        high = solved(cp.Problem(cp.Minimize(worst / n), within(x, "x")))
        low = solved(cp.Problem(cp.Maximize(best), within(y, "y")))
        return high, x.value, low, y.value

    return Case(
        RobustLeastSquares(a, b, penalty, radius, bound),
        lambda i, x, y: float((a[i] @ x - b[i] - y[i]) ** 2 - penalty * y[i] ** 2) / 2,
        lambda x, y: (cp.sum_squares(a @ x - b - y) - penalty * y @ y) / 2 / n,
        # The square of y_i is gathered, so that what is left is seen to be concave.
        lambda x, y: (
            ((a @ x - b) @ (a @ x - b) - 2 * (a @ x - b) @ y - (penalty - 1) * cp.sum_squares(y))
            / (2 * n)
        ),
        within,
        both_sides,
    )


SADDLES_INSIDE = {
    "matrix 4 x 3": matrix_case(6, 4, 3, seed=0),
    "matrix 2 x 5": matrix_case(3, 2, 5, seed=1),
    "bilinear": bilinear_case(5, 3, seed=2, radius=2.0),
    "quadratic": quadratic_case(12, 3, 2, seed=3, radius=3.0),
    "least squares": least_squares_case(8, 2, seed=4, radius=3.0, bound=4.0, penalty=2.0),
    "matrix of one sample": matrix_case(1, 3, 3, seed=5),
    "bilinear of one sample": bilinear_case(1, 2, seed=6, radius=2.0),
    "quadratic of one sample": quadratic_case(1, 1, 1, seed=15, radius=3.0),
    "least squares of one sample": least_squares_case(1, 1, 8, radius=4.0, bound=1.0, penalty=1.5),
}
"""The closed forms hold: the saddle point is interior, except on simplices."""
CASES = SADDLES_INSIDE | {
    "quadratic, small balls": quadratic_case(12, 3, 2, seed=9, radius=0.1),
    "quadratic, one sample, singular": quadratic_case(1, 3, 2, seed=10, radius=1.0),
    "quadratic, fewer samples than unknowns": quadratic_case(3, 5, 4, seed=11, radius=2.0),
    "least squares, small sets": least_squares_case(8, 2, 12, radius=0.1, bound=0.05, penalty=3.0),
    "least squares, one sample": least_squares_case(1, 3, 13, radius=1.0, bound=1.0, penalty=1.5),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
every_saddle = pytest.mark.parametrize("case", SADDLES_INSIDE.values(), ids=SADDLES_INSIDE)


def random_points(game: Problem, count: int, seed: int = 0) -> list[tuple[Array, Array]]:
    rng = np.random.default_rng(seed)
    return [(game.x_set.sample(rng), game.y_set.sample(rng)) for _ in range(count)]


# --- Values and gradients ---------------------------------------------------------------------


@every_case
def test_compiled_values_are_those_of_the_formula(case: Case) -> None:
    game = case.game
    for x, y in random_points(game, 5):
        expected = [case.formula(i, x, y) for i in range(game.n)]
        np.testing.assert_allclose(game.values(range(game.n), x, y), expected, rtol=0, atol=1e-13)
        assert game.value(x, y) == pytest.approx(sum(expected) / game.n, abs=1e-13)


@every_case
def test_values_come_in_the_order_asked_and_as_often(case: Case) -> None:
    game = case.game
    asked = [game.n - 1, 0, game.n - 1, game.n // 2]
    (x, y), *_ = random_points(game, 1)
    expected = [case.formula(i, x, y) for i in asked]
    np.testing.assert_allclose(game.values(asked, x, y), expected, rtol=0, atol=1e-13)


@every_case
def test_compiled_gradients_are_central_differences_of_the_formula(case: Case) -> None:
    # The formulas are quadratic: a central difference has no error but rounding, 1e-16 / step.
    game, step = case.game, 1e-3
    for x, y in random_points(game, 3):
        for i in range(game.n):
            gx, gy = game.gradient(i, x, y)
            for found, at, f in (
                (gx, x, lambda u, i=i, y=y: case.formula(i, u, y)),
                (gy, y, lambda u, i=i, x=x: case.formula(i, x, u)),
            ):
                central = (approx_fprime(at, f, step) + approx_fprime(at, f, -step)) / 2
                np.testing.assert_allclose(found, central, rtol=0, atol=1e-10)


@every_case
def test_points_may_be_of_any_kind_of_numbers_but_not_of_any_length(case: Case) -> None:
    game, everyone = case.game, np.arange(case.game.n)
    x, y = np.arange(game.x_set.dim) % 3, np.arange(game.y_set.dim) % 2
    expected = game.gradient(0, x.astype(float), y.astype(float))
    values = list(game.evaluate(everyone, x.astype(float), y.astype(float)))
    for kind in (
        lambda v: v,
        lambda v: v.astype(np.float32),
        lambda v: np.repeat(v.astype(float), 2)[::2],
    ):
        found = game.gradient(0, kind(x), kind(y))
        assert all(map(np.array_equal, found, expected))
        assert list(game.evaluate(everyone, kind(x), kind(y))) == values
    with pytest.raises(ValueError, match=f"x has {x.size - 1} coordinates, the set has {x.size}"):
        game.gradient(0, x[:-1].astype(float), y.astype(float))
    with pytest.raises(ValueError, match=f"y has {y.size + 1} coordinates, the set has {y.size}"):
        game.evaluate(everyone, x.astype(float), np.zeros(y.size + 1))


@every_case
def test_every_sample_is_convex_in_x_and_concave_in_y(case: Case) -> None:
    game = case.game
    points = random_points(game, 20, seed=1)
    for (x, y), (other_x, other_y), t in zip(
        points, points[1:], np.linspace(0.05, 0.95, 19), strict=False
    ):
        everyone = range(game.n)
        here = game.values(everyone, x, y)
        chord = (1 - t) * here + t * game.values(everyone, other_x, y)
        assert (game.values(everyone, (1 - t) * x + t * other_x, y) <= chord + 1e-12).all()
        chord = (1 - t) * here + t * game.values(everyone, x, other_y)
        assert (game.values(everyone, x, (1 - t) * y + t * other_y) >= chord - 1e-12).all()


def test_robust_least_squares_sample_sees_its_own_y_alone() -> None:
    game = RobustLeastSquares.random(n=6, dx=2)
    assert game.private_y
    x, y = game.x_set.center, np.linspace(-1, 1, 6)
    for i in range(6):
        elsewhere = y + np.where(np.arange(6) == i, 0.0, 0.7)
        assert game.values([i], x, y) == game.values([i], x, elsewhere)
        assert np.flatnonzero(game.gradient(i, x, y)[1]).tolist() == [i]


# --- Saddle points and gaps -------------------------------------------------------------------


@every_saddle
def test_saddle_point_is_what_conic_programs_of_both_sides_find(case: Case) -> None:
    high, x, low, y = case.both_sides()
    saddle = case.game.saddle
    assert high == pytest.approx(low, abs=1e-6)
    assert saddle.value == pytest.approx((high + low) / 2, abs=1e-6)
    # The points: 1e-3 is what an objective right to 1e-8 and curved by 0.01 or more can say.
    np.testing.assert_allclose(saddle.x, x, rtol=0, atol=1e-3)
    np.testing.assert_allclose(saddle.y, y, rtol=0, atol=1e-3)


@every_saddle
def test_no_player_gains_by_leaving_the_saddle_point(case: Case) -> None:
    game, saddle = case.game, case.game.saddle
    assert game.x_set.contains(saddle.x)
    assert game.y_set.contains(saddle.y)
    assert saddle.value == pytest.approx(game.value(saddle.x, saddle.y), abs=1e-14)
    for x, y in random_points(game, 200, seed=2):
        assert game.value(saddle.x, y) <= saddle.value + 1e-10
        assert game.value(x, saddle.y) >= saddle.value - 1e-10


@every_saddle
def test_duality_gap_is_zero_at_the_saddle_point(case: Case) -> None:
    saddle = case.game.saddle
    assert saddle.duality_gap == case.game.duality_gap(saddle.x, saddle.y)
    assert abs(saddle.duality_gap) <= 1e-9


@every_case
def test_duality_gap_is_the_difference_of_best_responses(case: Case) -> None:
    game = case.game
    corner = game.x_set.project(np.full(game.x_set.dim, 99.0)), game.y_set.center
    for x, y in [*random_points(game, 3, seed=3), corner]:
        u, v = cp.Variable(game.x_set.dim), cp.Variable(game.y_set.dim)
        worst = solved(cp.Problem(cp.Maximize(case.of_y(x, v)), case.within(v, "y")))
        best = solved(cp.Problem(cp.Minimize(case.of_x(u, y)), case.within(u, "x")))
        assert game.duality_gap(x, y) == pytest.approx(worst - best, rel=1e-6, abs=1e-6)
        assert duality_gap(game, x, y) == game.duality_gap(x, y)


@every_saddle
def test_duality_gap_is_never_below_the_gap_and_that_never_below_zero(case: Case) -> None:
    game = case.game
    for x, y in random_points(game, 100, seed=4):
        assert game.gap(x, y) >= -1e-10
        assert game.duality_gap(x, y) >= game.gap(x, y) - 1e-10


@every_saddle
def test_gap_is_its_definition(case: Case) -> None:
    game, n = case.game, case.game.n
    given = Saddle(game.x_set.center, game.y_set.center, value=0.0)
    for x, y in random_points(game, 3, seed=5):
        for saddle, found in ((game.saddle, game.gap(x, y)), (given, gap(game, x, y, given))):
            terms = (case.formula(i, x, saddle.y) - case.formula(i, saddle.x, y) for i in range(n))
            assert found == pytest.approx(sum(terms) / n, abs=1e-12)


def test_rock_paper_scissors_is_worth_nothing_and_played_evenly() -> None:
    game = MatrixGame([[[0, 1, -1], [-1, 0, 1], [1, -1, 0]]])
    np.testing.assert_allclose(game.saddle.x, np.full(3, 1 / 3), atol=1e-12)
    np.testing.assert_allclose(game.saddle.y, np.full(3, 1 / 3), atol=1e-12)
    assert game.saddle.value == pytest.approx(0.0, abs=1e-12)
    # Always rock against always rock: either player could gain 1 by changing.
    assert game.duality_gap([1, 0, 0], [1, 0, 0]) == 2.0


@pytest.mark.parametrize("by", [1e-9, 1e-3, 1.0, 1e9])
def test_two_by_two_game_has_the_value_of_the_textbook(by: float) -> None:
    # No pure saddle point: value (ad - bc) / (a + d - b - c), x_1 = (d - c) / (same).
    (a, b), (c, d) = entries = ((3.0, -1.0), (-2.0, 4.0))
    whole = a + d - b - c
    saddle = MatrixGame(by * np.array([entries])).saddle
    assert saddle.value == pytest.approx(by * (a * d - b * c) / whole, rel=1e-9, abs=0)
    np.testing.assert_allclose(saddle.x, [(d - c) / whole, (a - b) / whole], atol=1e-9)
    np.testing.assert_allclose(saddle.y, [(d - b) / whole, (a - c) / whole], atol=1e-9)


def test_matrix_game_with_a_pure_saddle_point_is_won_by_it() -> None:
    # Row 1 is below row 0, and in it column 0 is best for the one who maximises.
    saddle = MatrixGame([[[5.0, 3.0], [2.0, 1.0]]]).saddle
    np.testing.assert_allclose(saddle.x, [0, 1], atol=1e-12)
    np.testing.assert_allclose(saddle.y, [1, 0], atol=1e-12)
    assert saddle.value == pytest.approx(2.0, abs=1e-12)


def test_saddle_is_that_of_the_mean_not_of_a_sample() -> None:
    a, b = np.array([[3.0, -1.0], [-2.0, 4.0]]), np.array([[1.0, 2.0], [7.0, 0.0]])
    both, mean = MatrixGame([a, b]).saddle, MatrixGame([(a + b) / 2]).saddle
    np.testing.assert_allclose(both.x, mean.x, atol=1e-12)
    assert both.value == pytest.approx(mean.value, abs=1e-12)
    assert both.value != pytest.approx(MatrixGame([a]).saddle.value, abs=1e-3)


@pytest.mark.parametrize("kind", [MatrixGame, BilinearGame, QuadraticGame, RobustLeastSquares])
def test_random_game_is_fixed_by_its_seed_and_has_its_saddle_point_inside(kind: Any) -> None:
    for seed in range(10):
        game = kind.random(seed=seed)
        assert abs(game.saddle.duality_gap) <= 1e-9
        for field, again in zip(game.data, kind.random(seed=seed).data, strict=True):
            np.testing.assert_array_equal(field, again)
    assert not np.array_equal(kind.random(seed=0).data[0], kind.random(seed=1).data[0])


# --- The minimum of a quadratic over a ball ---------------------------------------------------


def dual_maximum(hessian: Array, slope: Array, radius: float) -> float:
    """max over m >= 0 of -g'(H + m)^-1 g/2 - m R^2/2: every m gives a lower bound, the best one the
    minimum. As m R^2/2 <= |g| R at the best, m is sought in [0, 2 |g|/R], to 1e-12."""
    eye = np.eye(len(slope))

    def bound(m: float) -> float:
        return float(slope @ np.linalg.solve(hessian + m * eye, slope) + m * radius**2) / 2

    most = 2 * float(np.linalg.norm(slope)) / radius
    found = minimize_scalar(bound, bounds=(0, most), method="bounded", options={"xatol": 1e-12})
    return -float(min(found.fun, bound(1e-14)))


@pytest.mark.parametrize("rank", [1, 2, 4])
@pytest.mark.parametrize("radius", [0.01, 1.0, 100.0])
def test_ball_minimum_is_what_a_conic_solver_and_the_dual_find(rank: int, radius: float) -> None:
    rng = np.random.default_rng(rank)
    for _ in range(4):
        rows, slope = rng.normal(size=(rank, 4)), rng.normal(size=4)
        z = cp.Variable(4)
        program = cp.Problem(cp.Minimize(cp.sum_squares(rows @ z) / 2 + slope @ z))
        least = solved(cp.Problem(program.objective, [cp.norm(z) <= radius]))
        found = ball_minimum(rows.T @ rows, slope, radius)
        assert found == pytest.approx(least, rel=1e-6, abs=1e-7)
        assert found == pytest.approx(dual_maximum(rows.T @ rows, slope, radius), rel=1e-9)


def test_ball_minimum_of_a_singular_hessian_with_the_slope_in_its_range_is_interior() -> None:
    # The slope is -Hw, so w is a minimiser and the minimum -w'Hw/2.
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = rng.normal(size=(2, 5))
        hessian, w = rows.T @ rows, rows.T @ rng.normal(size=2)
        found = ball_minimum(hessian, -hessian @ w, 2 * float(np.linalg.norm(w)))
        assert found == pytest.approx(-w @ hessian @ w / 2, rel=1e-10)


def test_ball_minimum_without_curvature_is_minus_slope_times_radius() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        slope, radius = rng.normal(size=3), float(rng.uniform(0.1, 5))
        for hessian in (np.zeros((3, 3)), 1e-18 * np.eye(3)):
            found = ball_minimum(hessian, slope, radius)
            assert found == pytest.approx(-radius * np.linalg.norm(slope), rel=1e-12)


def test_ball_minimum_without_slope_is_zero() -> None:
    for hessian in (np.zeros((2, 2)), np.diag([0.0, 3.0]), np.diag([1.0, 2.0])):
        assert ball_minimum(hessian, np.zeros(2), 1.5) == 0.0


@pytest.mark.parametrize("little", [1e-300, 1e-40, 1e-17, 1e-9])
def test_ball_minimum_with_hardly_any_slope_where_the_hessian_is_zero(little: float) -> None:
    # H = diag(0, 1), g = (little, 1), R = 2: the second coordinate goes to -1 and the first takes
    # what is left of the ball, sqrt(3), for a gain of `little` a unit.
    found = ball_minimum(np.diag([0.0, 1.0]), np.array([little, 1.0]), 2.0)
    assert found == pytest.approx(-0.5 - np.sqrt(3) * little, rel=1e-12)


@pytest.mark.parametrize("by", [1e-9, 1e9])
def test_ball_minimum_scales_with_the_problem(by: float) -> None:
    rng = np.random.default_rng(1)
    rows, slope = rng.normal(size=(2, 3)), rng.normal(size=3)
    hessian = rows.T @ rows
    least = ball_minimum(hessian, slope, 0.8)
    assert ball_minimum(by * hessian, by * slope, 0.8) == pytest.approx(
        by * least, rel=1e-11, abs=0
    )
    assert ball_minimum(hessian, by * slope, by * 0.8) == pytest.approx(
        by**2 * least, rel=1e-11, abs=0
    )


# --- What is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "block"),
    [
        (BilinearGame([[[1.0]]], [[0.0]], [[3.0]], radius=2.0), "x"),
        (BilinearGame([[[1.0]]], [[3.0]], [[0.0]], radius=2.0), "y"),
        (QuadraticGame([[1.0]], [[1.0]], [[-4.0]], [[0.0]], radius=1.0), "x"),
        (RobustLeastSquares([[1.0]], [5.0], penalty=2.0, radius=1.0, bound=1.0), "x"),
        (RobustLeastSquares([[1.0], [1.0]], [5.0, -5.0], 2.0, radius=1.0, bound=1.0), "y"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_saddle_point_outside_the_sets_is_an_error_that_says_which(
    game: Problem, block: str
) -> None:
    with pytest.raises(
        ValueError, match=f"{re.escape(game.name)}.* {block} outside its set.*enlarge"
    ):
        _ = game.saddle
    assert game.duality_gap(game.x_set.center, game.y_set.center) > 0


two = [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: MatrixGame(two), r"matrices .*3 axes.*\(2, 2\)"),
        (lambda: MatrixGame(np.zeros((0, 2, 2))), r"matrices .*non-empty.*\(0, 2, 2\)"),
        (lambda: MatrixGame(np.zeros((2, 0, 2))), r"matrices .*non-empty.*\(2, 0, 2\)"),
        (lambda: MatrixGame([[[np.nan, 0.0]]]), "matrices must be finite"),
        (lambda: MatrixGame([[[np.inf, 0.0]]]), "matrices must be finite"),
        (lambda: BilinearGame([[[1.0, 2.0]]], [[0.0]], [[0.0]], 1.0), "square, got 1 x 2"),
        (lambda: BilinearGame([two], [[0.0]], [[0.0] * 2], 1.0), r"p .*\(1, 2\).*\(1, 1\)"),
        (lambda: BilinearGame([two], [[0.0] * 2], two, 1.0), r"q .*\(1, 2\).*\(2, 2\)"),
        (lambda: BilinearGame([two], [[0.0] * 2], [[0.0] * 2], 0.0), "radius .*positive"),
        (lambda: QuadraticGame(two, [[1.0]], two, [[1.0]], 1.0), r"b .*\(2, 1\).*\(1, 1\)"),
        (lambda: QuadraticGame(two, two, [[1.0]], two, 1.0), r"p .*\(2, 2\).*\(1, 1\)"),
        (lambda: QuadraticGame(two, two, two, [1.0], 1.0), r"q .*\(1,\)"),
        (lambda: QuadraticGame(two, two, two, two, -3.0), "radius .*positive.*-3"),
        (lambda: QuadraticGame(two, [[np.nan] * 2] * 2, two, two, 1.0), "b must be finite"),
        (lambda: RobustLeastSquares(two, [1.0], 2.0, 1.0, 1.0), r"b .*\(2,\).*\(1,\)"),
        (lambda: RobustLeastSquares([1.0], [1.0], 2.0, 1.0, 1.0), r"a .*2 axes.*\(1,\)"),
        (lambda: RobustLeastSquares(two, [1, 2], 1.0, 1.0, 1.0), "penalty must exceed 1.*1.0"),
        (lambda: RobustLeastSquares(two, [1, 2], 0.5, 1.0, 1.0), "penalty must exceed 1.*0.5"),
        (lambda: RobustLeastSquares(two, [1, 2], -2.0, 1.0, 1.0), "penalty .*positive.*-2"),
        (lambda: RobustLeastSquares(two, [1, 2], np.nan, 1.0, 1.0), "penalty .*finite.*nan"),
        (lambda: RobustLeastSquares(two, [1, 2], 2.0, 0.0, 1.0), "radius .*positive"),
        (lambda: RobustLeastSquares(two, [1, 2], 2.0, 1.0, 0.0), "bound .*positive"),
    ],
)
def test_a_game_that_makes_no_sense_is_refused_with_what_was_given(
    build: Callable[[], Problem], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        build()


@every_case
@pytest.mark.parametrize("method", ["value", "duality_gap"])
def test_a_point_that_does_not_fit_the_game_is_refused(case: Case, method: str) -> None:
    call, (x, y) = getattr(case.game, method), (case.game.x_set.center, case.game.y_set.center)
    with pytest.raises(ValueError, match=f"x has {x.size + 1} coordinates, .* {x.size}"):
        call(np.append(x, 0.0), y)
    with pytest.raises(ValueError, match=f"y has {y.size + 1} coordinates, .* {y.size}"):
        call(x, np.append(y, 0.0))
    with pytest.raises(ValueError, match="y must be finite, got nan"):
        call(x, np.full(y.size, np.nan))


@pytest.mark.parametrize("index", [-1, 4])
def test_a_sample_that_the_game_does_not_have_is_refused(index: int) -> None:
    game = MatrixGame.random(n=4, dx=2, dy=2)
    with pytest.raises((IndexError, ValueError), match=str(index)):
        game.values([0, index], [0.5, 0.5], [0.5, 0.5])


def test_a_game_keeps_its_numbers_when_the_caller_changes_the_arrays() -> None:
    stack = np.array([[[1.0, -1.0], [-1.0, 1.5]]])
    game = MatrixGame(stack)
    stack[:] = 7.0
    assert game.value([1.0, 0.0], [1.0, 0.0]) == 1.0
