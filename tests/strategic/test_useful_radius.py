"""Saddle points that ignore the data: the warnings, and the radius from which on they do."""

from typing import Any

import numpy as np
import pytest

import gameproof as gp
from gameproof.strategic import saddle_point
from strategic_problems import make, paper


def test_exact_form_of_the_paper_ignores_the_data_and_warns() -> None:
    problem = paper("exact")
    with pytest.warns(gp.IgnoresDataWarning, match="the radius 0.4 is so large"):
        saddle = gp.saddle_point(problem)
    assert gp.largest_useful_radius(problem) == pytest.approx(0.319, abs=1e-3)
    useful = gp.saddle_point(problem.at_radius(0.31))
    assert np.linalg.norm(problem.split(useful.x)[0]) > 1e-3
    theta, _ = problem.split(saddle.x)
    assert np.linalg.norm(theta) < 1e-6
    assert saddle.value == pytest.approx(np.log(2), abs=1e-8)
    assert 0 <= saddle.duality_gap <= 1e-8


@pytest.mark.parametrize("method", ["newton", "conic", "gda"])
def test_every_method_warns_where_the_data_are_ignored(method: Any) -> None:
    problem = paper("exact")
    with pytest.warns(gp.IgnoresDataWarning, match="a smaller radius may give a useful one"):
        saddle = gp.saddle_point(problem, method)
    assert saddle.value == pytest.approx(np.log(2), abs=1e-8)


def test_the_warning_solves_no_further_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    solved, solve = [], saddle_point.certified_minimum
    monkeypatch.setattr(
        saddle_point, "certified_minimum", lambda *given: solved.append(1) or solve(*given)
    )
    with pytest.warns(gp.IgnoresDataWarning):
        gp.saddle_point(paper("exact"))
    assert len(solved) == 1


def test_where_no_radius_is_useful_the_warning_says_so() -> None:
    """People who move so easily that they can reach every score other than 0."""
    problem = make(response=gp.PowerCost(50.0, degree=5.0), label_cost=0.01, radius=0.0)
    with pytest.warns(gp.IgnoresDataWarning, match="no smaller radius helps"):
        saddle = gp.saddle_point(problem)
    assert saddle.value == pytest.approx(np.log(2), abs=1e-8)
    assert gp.largest_useful_radius(problem) == 0.0


@pytest.mark.parametrize("small", [True, False], ids=["small", "constant"])
def test_features_that_cannot_matter_are_among_the_causes_named(small: bool) -> None:
    """Nobody moves, labels stay and the radius is 0: the features alone are to blame."""
    X = 1e-9 * np.random.default_rng(0).standard_normal((60, 3)) if small else np.ones((60, 3))
    problem = gp.StrategicProblem(gp.Population(X, [1, -1] * 30), 0.0, intercept=9.0)
    with pytest.warns(
        gp.IgnoresDataWarning, match="features carry too little information or are too small"
    ):
        gp.saddle_point(problem)


@pytest.mark.parametrize("share", [0.3, 0.7])
@pytest.mark.parametrize("intercept", [None, 9.0])
def test_largest_useful_radius_is_the_slope_at_nothing_where_labels_stay(
    share: float, intercept: float | None
) -> None:
    """The best intercept of theta = 0 makes the mean slope of the loss 0; a theta lowers it by the
    length of the mean of slope times features, and costs the adversary's radius. Quadratic efforts
    are of second order."""
    rng = np.random.default_rng(0)
    X, weights = rng.standard_normal((300, 4)), rng.uniform(0.5, 2.0, 300)
    scores = X @ [1.0, 0.5, 0.0, -1.0] + rng.standard_normal(300)
    y = np.where(scores > np.quantile(scores, 1 - share), 1.0, -1.0)
    people = gp.Population(X, y, gp.QuadraticCost(0.3), weights=weights)
    problem = gp.StrategicProblem(people, 0.1, intercept=intercept)
    rate = 0.0 if intercept is None else np.average(y, weights=weights)
    slopes = (rate - y) / 2
    truth = np.linalg.norm(np.average(slopes[:, None] * X, axis=0, weights=weights))
    assert gp.largest_useful_radius(problem, 1e-4) == pytest.approx(truth, rel=2e-4)


def test_largest_useful_radius_ends_at_a_precision_that_floats_do_not_have() -> None:
    """Where labels stay, nobody moves and theta is one number, it is the slope at theta = 0."""
    people = gp.Population([[1.0], [2.0], [-1.0], [-3.0]], [1, 1, -1, -1])
    problem = gp.StrategicProblem(people, 0.1)
    assert gp.largest_useful_radius(problem, 1e-300) == pytest.approx(7 / 8, rel=1e-4)


@pytest.mark.parametrize("precision", [0, -1, float("nan"), float("inf")])
def test_a_precision_that_is_not_positive_is_refused(precision: float) -> None:
    with pytest.raises(ValueError, match=f"precision must be positive and finite, got {precision}"):
        gp.largest_useful_radius(make(), precision)


def test_large_features_with_a_small_theta_are_not_ignored() -> None:
    """Whether data are ignored depends on scores, not on the size of theta."""
    rng = np.random.default_rng(0)
    X = 1e6 * rng.standard_normal((80, 2))
    y = np.sign(X[:, 0])
    problem = gp.StrategicProblem(gp.Population(X, y), radius=1.0, label_cost=1e6)
    theta, _ = problem.split(gp.saddle_point(problem).x)
    assert np.linalg.norm(theta) > 0
    assert np.mean(np.sign(X @ theta) == y) > 0.9


def test_descent_that_did_not_arrive_says_nothing_of_the_radius() -> None:
    X, y = gp.synthetic_people(n=60, d=4, seed=0)
    X[:, 1] *= 1e6
    problem = gp.StrategicProblem(gp.Population(X, y), radius=0.1, label_cost=0.5)
    with pytest.warns(UserWarning, match="certified to") as told:
        gp.saddle_point(problem, method="gda")
    assert all("certified" in str(warning.message) for warning in told)
