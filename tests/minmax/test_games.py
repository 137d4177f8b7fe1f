"""Values and gradients of games, held against their formulas, and what games refuse."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from gameproof import BilinearGame, MatrixGame, Problem, QuadraticGame, RobustLeastSquares
from known_games import Case, every_case, random_points

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
