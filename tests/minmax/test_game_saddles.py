"""Saddle points and gaps of games, and the minimum over a ball, against conic programs."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from gameproof import (
    BilinearGame,
    MatrixGame,
    QuadraticGame,
    RobustLeastSquares,
    Saddle,
    duality_gap,
    gap,
)
from gameproof.minmax.games.ball_minimum import ball_minimum
from known_games import Array, Case, every_case, every_saddle, random_points, solved

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
