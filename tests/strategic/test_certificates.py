"""Certificates of hard problems, the warning where one is missing, and the digits of the point."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.optimize import root

import gameproof as gp
import honest_gaps
from gameproof.strategic import saddle_point as reference
from gameproof.strategic.conic import conic_minimum
from strategic_problems import KINDS, random_ball_problem, synthetic

Vector = np.ndarray[Any, np.dtype[np.float64]]


# At these seeds, a method whose steps follow the tangents of the ball's norm ends after 200 of them
# with a gap between 3e-6 and 1e-4.
@pytest.mark.parametrize("seed", [11, 18, 34, 42, 46, 61])
def test_balls_of_large_norms_and_accurate_features_are_certified(seed: int) -> None:
    problem = random_ball_problem(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gp.IgnoresDataWarning)
        warnings.simplefilter("ignore", gp.CapWarning)
        saddle = gp.saddle_point(problem)
    assert -1e-12 <= saddle.duality_gap <= 1e-8 * max(1.0, saddle.value)
    assert saddle.value == pytest.approx(conic_minimum(problem).value, abs=1e-6, rel=1e-6)


def test_a_gap_above_1e_8_comes_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    saddle = gp.saddle_point(KINDS["quadratic"]())

    def open_by(gap: float) -> None:
        found = gp.Saddle(saddle.x, saddle.y, saddle.value, gap)
        monkeypatch.setattr(reference, "_newton", lambda problem, start: found)
        gp.saddle_point(KINDS["quadratic"]())

    open_by(0.9e-8)
    with pytest.warns(UserWarning, match=r"certified to 1.1e-08 only"):
        open_by(1.1e-8)


def test_theta_solves_the_equations_of_the_minimum_to_rounding() -> None:
    """Labels that stay, nobody responds: the gradient of logistic regression with a norm vanishes,
    which a solver of equations finds."""
    X, y = synthetic(300, 5, 6)
    saddle = gp.saddle_point(gp.StrategicProblem(gp.Population(X, y), 0.05))

    def gradient(theta: Vector) -> Vector:
        pulls = -y / (1 + np.exp(y * (X @ theta))) / y.size
        return X.T @ pulls + 0.05 * theta / np.linalg.norm(theta)

    exact = root(gradient, saddle.x[:-1] + 1e-3, tol=1e-15).x
    np.testing.assert_allclose(saddle.x[:-1], exact, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("label_cost", [0.5, np.inf])
def test_weights_and_repeated_rows_give_the_same_coefficients(seed: int, label_cost: float) -> None:
    """Fewer people than features: many classifiers have the same scores, and one is the best, for
    people can move the first feature."""
    rng = np.random.default_rng(seed)
    X, y, each = rng.standard_normal((9, 20)), np.resize([1.0, -1.0], 9), rng.integers(1, 4, 9)
    ends = np.where(np.arange(20) == 0, 0.5, 0.0)
    box, rows = gp.BoxBudget(-ends, ends), np.repeat(np.arange(9), each)
    one, other = (
        gp.saddle_point(gp.StrategicProblem(people, 0.05, label_cost, intercept=20.0))
        for people in (
            gp.Population(X, y, box, weights=each),
            gp.Population(X[rows], y[rows], box),
        )
    )
    np.testing.assert_allclose(one.x, other.x, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("seed", range(24))
def test_certificate_is_never_below_the_true_gap_whatever_the_scale_of_features(seed: int) -> None:
    """In 40 digits; `python tests/honest_gaps.py` checks 500 problems."""
    found = honest_gaps.check(seed)
    assert found.honest, found


def test_a_certificate_without_rounding_errors_is_found_out() -> None:
    assert not honest_gaps.Check(1.0, -5e-15, -1e-14).honest
    assert not honest_gaps.Check(1.0, 1e-12, 2e-12).honest
