"""Equal budgets, choices of movable features, exponents and the inner loop, checked by hand."""

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import gameproof as gp
from gameproof import theory
from gameproof.paper import complexity, exponents, inner_loop, movable_features
from gameproof.paper.experiment_runs import CHI, at_the_edge, grid, make_solver
from gameproof.paper.participants import draw_people
from gameproof.paper.tuning import epochs_for


@pytest.mark.parametrize("order", ["RR", "WR"])
def test_ogda_asks_as_many_values_in_half_the_epochs(order: str) -> None:
    """With reshuffling, the counts agree up to the first and the last step. With replacement, a
    value is counted with probability 1/2, so two counts of 2,000 differ by more than 5 standard
    deviations of sqrt(2,000 / 2) for about two seeds in a million."""
    problem = draw_people("synthetic", 100, 5, 0).problem()
    setting = {"step": 0.002, "radius": 4.0, "gamma": 8.0}
    asked = [
        gp.solve(
            problem,
            make_solver(f"{update}-{order}", 100, setting),
            epochs=epochs_for(f"{update}-{order}", "values", 20),
            seed=1,
        ).n_queries
        for update in ("OGDA", "SGDA")
    ]
    assert abs(asked[0] - asked[1]) <= (2 if order == "RR" else 5 * np.sqrt(1000))
    assert epochs_for(f"OGDA-{order}", "epochs", 20) == epochs_for("SGDA-RR", "values", 20) == 20


def test_a_setting_at_the_edge_of_the_grid_is_named() -> None:
    tried = grid(quick=False, to_the_letter=False)
    assert at_the_edge({"step": 0.002, "radius": 8.0, "gamma": 2.0}, tried) == ["radius", "gamma"]
    letter = grid(quick=False, to_the_letter=True)
    assert at_the_edge({"step": 0.002, "radius": 4.0, "gamma": None}, letter) == []


def test_choices_of_movable_features_reach_the_people(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAMEPROOF_DATA", str(published))
    assert movable_features.choices("credit") == ["as stated", "all"]
    assert movable_features.choices("bank") == ["as stated", "numbers", "all"]
    stated, numbers, every = (
        draw_people("bank", 100, 0, 0, movable_features.columns("bank", choice))
        for choice in movable_features.choices("bank")
    )
    assert stated.movable == draw_people("bank", 100, 0, 0).movable
    assert set(stated.movable) < set(numbers.movable) < set(every.movable)
    assert len(numbers.movable) == 6
    assert every.movable == list(range(every.X.shape[1]))
    np.testing.assert_array_equal(stated.X, every.X)


def test_exponents_of_a_power_law_are_found() -> None:
    rows = [
        {"n": n, "d": d, "queries": 3 * n**0.4 * d**-1.5, "step": 0.1, "radius": 1.0, "gamma": g}
        for n in (10, 20, 40)
        for d in (2, 3)
        for g in (2.0, 8.0)
    ]
    assert exponents.exponents(rows) == pytest.approx((0.4, -1.5))
    rows[1]["queries"] = float("nan")  # one run with gamma = 8 never reached the gap
    (fixed,) = exponents.fixed_exponents(rows, runs=6)
    assert (fixed["gamma"], fixed["n"], fixed["d"]) == pytest.approx((2.0, 0.4, -1.5))


def log_values(n: int, d: int, tuned: bool) -> float:
    """Returns the exponents of the values in the corrected bound: 2 n times the epochs."""
    constants = theory.Constants(n=n, d=d, D=2.0, G=1.0, ell=0.5, M=1.0)

    def log_constant(z: np.ndarray) -> float:
        step, radius = min(np.exp(z[0]), 1.0), np.exp(z[1])
        return float(np.log(theory.rate_constant(constants, step, radius, CHI)))

    if not tuned:
        return np.log(n) + complexity.P * log_constant(np.log([0.01, 4.0]))
    starts = [[-shift - np.log(n), radius] for shift in (0, 5) for radius in (0, 2)]
    found = [minimize(log_constant, start, method="Nelder-Mead", tol=1e-9).fun for start in starts]
    return float(np.log(n) + complexity.P * min(found))


@pytest.mark.parametrize("case", ["tuned", "one setting"])
def test_theorem_exponents_match_its_bound_for_many_people(case: str) -> None:
    """A general optimiser chooses step and radius. The limit in d is slow: the radius adds a term
    of order d^(1/4) to K, whose leading term is of order d^(1/2)."""
    n, d, tuned = 10**15, 10**8, case == "tuned"
    at = log_values(n, d, tuned)
    in_n = (log_values(2 * n, d, tuned) - at) / np.log(2)
    in_d = (log_values(n, 2 * d, tuned) - at) / np.log(2)
    expected = complexity.THEOREM[case]
    assert in_n == pytest.approx(expected[0], abs=0.01)
    assert in_d == pytest.approx(expected[1], abs=0.2 if tuned else 0.01)


def test_many_rounds_of_the_inner_loop_are_a_proximal_step() -> None:
    """On a bilinear game w = u - eta F(w) is linear, so one step can be solved directly."""
    game = gp.BilinearGame.random(n=1, dim=3, seed=5)
    (matrix,), (p,), (q,) = game.data
    steps = np.array([[0.1, 0.3]])
    (averages,) = inner_loop.algorithm_2(game, steps, rounds=200, seed=0)
    u = np.concatenate(inner_loop.START)
    zero = np.zeros((3, 3))
    operator = np.block([[zero, matrix], [-matrix.T, zero]])
    for eta, found in zip(steps[0], averages, strict=True):
        expected = np.linalg.solve(np.eye(6) + eta * operator, u - eta * np.concatenate([p, -q]))
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_one_round_of_the_inner_loop_is_plain_descent_ascent() -> None:
    """The oracle is written out, with a step-weighted average and iterates that reach the balls."""
    game = gp.BilinearGame.random(n=4, dim=3, noise=3.0, seed=6)
    steps = np.array([[0.5], [0.25]])
    found = inner_loop.algorithm_2(game, steps, rounds=1, seed=7)
    order, (x, y) = np.random.default_rng(7), inner_loop.START
    total, weight, reached = np.zeros(6), 0.0, 0
    for (eta,), averages in zip(steps, found, strict=True):
        for i in order.permutation(4):
            slope_x, slope_y = game.gradient(i, x, y)
            x, y = game.x_set.project(x - eta * slope_x), game.y_set.project(y + eta * slope_y)
            reached += np.linalg.norm(x) > 2 - 1e-9
            total += eta * np.concatenate([x, y])
            weight += eta
        np.testing.assert_allclose(averages[0], total / weight, rtol=1e-12)
    assert reached > 0


def test_all_methods_are_compared_after_the_same_gradients() -> None:
    rows = [
        row
        for method in inner_loop.METHODS
        for row in inner_loop.solve_game(
            method, 0, [{"step": 0.2, "decay": 0.0}], inner_loop.QUICK_EPOCHS, only_last=True
        )
    ]
    assert {row["gradients"] for row in rows} == {2 * inner_loop.QUICK_EPOCHS}
    assert len(rows) == len(inner_loop.METHODS)
    assert 2 * inner_loop.EPOCHS % inner_loop.gradients_per_step(inner_loop.METHODS[1]) == 0
