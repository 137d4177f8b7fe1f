"""`Solver.auto` on problems of which nothing is known but their sets and values."""

import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gameproof as gp

GAMES = {
    "quadratic": lambda: gp.QuadraticGame.random(n=50, seed=0),
    "matrix": lambda: gp.MatrixGame.random(n=50, seed=1),
    "least squares": lambda: gp.RobustLeastSquares.random(n=50, seed=0),
}


@pytest.mark.parametrize("name", GAMES)
def test_games_come_closer_without_tuning(name: str) -> None:
    game: Any = GAMES[name]()
    solver = gp.Solver.auto(game)
    result = gp.solve(game, solver, epochs=200, seed=0)
    assert game.duality_gap(result.x, result.y) < 0.3 * game.duality_gap(*game.start)


def test_choice_for_values_does_not_depend_on_their_unit() -> None:
    # Values and coordinates in other units give the same run in those units.
    def make(unit: float, length: float) -> gp.SaddleProblem:
        def value(i: int, x: Any, y: Any) -> float:
            a, b = x[0] / length, y[0] / length
            return unit * (0.5 * (a - 0.3) ** 2 + a * b - 0.5 * (b + 0.1 * i) ** 2)

        ball = gp.Ball([0.0], length)
        return gp.SaddleProblem(value, n=3, x_set=ball, y_set=ball)

    found = []
    for unit, length in ((1.0, 1.0), (1e4, 1e-3)):
        problem = make(unit, length)
        result = gp.solve(problem, gp.Solver.auto(problem), epochs=50, seed=0)
        found.append(np.append(result.x, result.y) / length)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


def test_values_too_large_to_square_are_refused_without_a_warning() -> None:
    ball = gp.Ball([0.0], 1.0)
    value = lambda i, x, y: 1e200 * (x[0] ** 2 - y[0] ** 2)  # noqa: E731
    problem = gp.SaddleProblem(value, n=5, x_set=ball, y_set=ball)
    with pytest.raises(ValueError, match=r"gave 1e.* in the pilot; values must be finite"):
        gp.Solver.auto(problem)


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_sample_whose_value_cannot_be_used_is_named(value: float) -> None:
    ball = gp.Ball([0.0], 1.0)
    problem = gp.SaddleProblem(
        lambda i, x, y: value if i == 2 else x[0] ** 2 - y[0] ** 2, n=3, x_set=ball, y_set=ball
    )
    with pytest.raises(ValueError, match=f"gave {value} for sample 2 in the pilot"):
        gp.Solver.auto(problem)


def test_pilot_too_small_for_values_is_refused_before_the_first() -> None:
    game = gp.QuadraticGame.random(n=5, seed=0)
    with pytest.raises(ValueError, match="pilot must be"):
        gp.Solver.auto(game, pilot=10)


EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "saddle_problems").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_problems_run_and_do_not_end_worse_than_they_start(path: Path, capsys: Any) -> None:
    example = runpy.run_path(str(path), run_name=path.stem)
    example["main"].__globals__["QUERIES"] = 4_000
    example["main"]()
    printed = capsys.readouterr().out
    start, end = re.search(r"gap: (\S+) at the start, (\S+) now", printed).groups()
    # Both are printed rounded: the start to four decimals, the end to two digits.
    assert -1e-9 <= float(end) <= 1.05 * float(start)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_run_of_few_values_never_ends_worse_than_its_start(path: Path) -> None:
    example = runpy.run_path(str(path), run_name=path.stem)
    problem, gap = example["PROBLEM"], example["duality_gap"]
    solver = gp.Solver.auto(problem, queries=1_000, seed=1)
    result = gp.solve(problem, solver, queries=1_000, seed=1)
    assert gap(result.x, result.y) <= gap(*problem.start)


def bilinear_game(noise: float = 0.0) -> tuple[gp.SaddleProblem, Any]:
    """The 2 x 2 game of value 5/3 as one sample, and its gap."""
    payoffs, rng = np.array([[1.0, 2.0], [3.0, 1.0]]), np.random.default_rng(5)

    def value(i: int, x: Any, y: Any) -> float:
        return float(x @ payoffs @ y) + noise * rng.normal()

    problem = gp.SaddleProblem(value, n=1, x_set=gp.Simplex(2), y_set=gp.Simplex(2))
    return problem, lambda x, y: float((x @ payoffs).max() - (payoffs @ y).min())


@pytest.mark.parametrize("seed", range(2))
def test_exact_differences_of_a_bilinear_game_lead_to_its_saddle_point(seed: int) -> None:
    problem, gap = bilinear_game()
    solver = gp.Solver.auto(problem, queries=8_000, seed=seed)
    result = gp.solve(problem, solver, queries=8_000, seed=seed)
    assert gap(result.x, result.y) < 1e-9


@pytest.mark.parametrize(("noise", "share"), [(0.05, 0.2), (1.0, 1.0)])
def test_noisy_values_come_closer_or_leave_the_run_at_its_start(noise: float, share: float) -> None:
    # Seeds are fixed. With noise as large as the payoffs, a run may not improve.
    for seed in range(2):
        problem, gap = bilinear_game(noise)
        solver = gp.Solver.auto(problem, queries=8_000, seed=seed)
        result = gp.solve(problem, solver, queries=8_000, seed=seed)
        assert gap(result.x, result.y) <= share * gap(*problem.start)


def test_same_seed_gives_the_same_solver() -> None:
    game = gp.MatrixGame.random(n=20, seed=1)
    one, two = (gp.Solver.auto(game, queries=3_000, seed=3) for _ in range(2))
    assert one == two
    np.testing.assert_array_equal(one.start[0], two.start[0])


def test_run_stays_at_a_start_that_is_a_saddle_point() -> None:
    game = gp.MatrixGame([[[0, 1, -1], [-1, 0, 1], [1, -1, 0]]])
    solver = gp.Solver.auto(game, queries=2_000)
    result = gp.solve(game, solver, queries=2_000, seed=0)
    assert "None of them beat the start" in solver.why
    assert game.duality_gap(result.x, result.y) < 1e-9


def test_queries_stay_inside_if_values_are_not_defined_outside() -> None:
    def value(i: int, x: Any, y: Any) -> float:
        if y.min() < 0 or x.min() < 0:
            raise ValueError("outside")
        return float(x @ np.array([[1.0, 2.0], [3.0, 1.0]]) @ y)

    problem = gp.SaddleProblem(value, n=1, x_set=gp.Simplex(2), y_set=gp.Simplex(2))
    solver = gp.Solver.auto(problem, queries=2_000)
    assert solver.gradient.feasible
    assert gp.solve(problem, solver, queries=2_000, seed=0).reason == "queries"


def test_differences_of_a_sample_are_measured_on_one_sample_and_within_the_pilot() -> None:
    """The values of samples differ by constants: a difference of two values of one sample is small,
    one of two samples about 100 times as large."""
    asked: list[int] = []

    def value(i: int, x: Any, y: Any) -> float:
        asked.append(i)
        return 100.0 * i + 0.5 * float(x @ x) - 0.5 * float(y @ y)

    ball = gp.Ball(np.zeros(3), 1.0)
    problem = gp.SaddleProblem(value, n=5, x_set=ball, y_set=ball)
    scales = {}
    for estimate in (gp.TwoPoint(), gp.Gaussian(), gp.Coordinates(), gp.Directions(2)):
        asked.clear()
        scales[repr(estimate)] = gp.Solver.auto(problem, estimate=estimate, pilot=300).scale[0]
        assert len(asked) <= 300
    assert max(scales.values()) < 1.5 * min(scales.values())
    for estimate in (gp.Residual(), gp.OnePoint(baseline=True)):
        asked.clear()
        assert gp.Solver.auto(problem, estimate=estimate, pilot=300).scale[0] < min(scales.values())
        assert len(asked) <= 300
