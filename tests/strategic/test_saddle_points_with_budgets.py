"""Saddle points with budgets and feature costs: references, other solvers, exact zeros."""

import warnings
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from gameproof.strategic.conic import conic_minimum
from strategic_problems import (
    KINDS,
    make,
    random_budget,
    random_budget_problem,
    synthetic,
)

Vector = np.ndarray[Any, np.dtype[np.float64]]
FIVE = np.where(np.arange(10) < 5, 1.0, 0.0)


@pytest.mark.parametrize(("method", "within"), [("newton", 1e-8), ("gda", 1e-6)])
def test_reference_values(method: Any, within: float) -> None:
    """From a conic solver, to 1e-8."""
    X, y = synthetic(500, 10)
    ball = gp.Population(X, y, gp.BallBudget(0.5, features=range(5)))
    saddle = gp.saddle_point(gp.StrategicProblem(ball, 0.05, 0.5), method)
    assert saddle.value == pytest.approx(0.50068016, abs=within)
    box = gp.Population(X, y, gp.BoxBudget(-0.3 * FIVE, 0.3 * FIVE))
    problem = gp.StrategicProblem(box, 0.02, intercept=5.0)
    saddle = gp.saddle_point(problem, method)
    assert saddle.value == pytest.approx(0.29168377, abs=within)
    assert problem.offset(saddle.x) == pytest.approx(-0.25594, abs=1e-5 if within < 1e-7 else 1e-3)


@pytest.mark.parametrize("seed", range(40))
def test_saddle_points_of_budgets_agree_with_a_conic_solver(seed: int) -> None:
    problem = random_budget_problem(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gp.IgnoresDataWarning)
        warnings.simplefilter("ignore", gp.CapWarning)
        saddle = gp.saddle_point(problem)
    assert -1e-12 <= saddle.duality_gap < 1e-9
    assert saddle.value == pytest.approx(conic_minimum(problem).value, abs=1e-7)
    assert problem.x_set.contains(saddle.x)
    assert saddle.value == pytest.approx(problem.robust_value(saddle.x), abs=1e-12)


# --- exact zeros


@pytest.mark.parametrize("method", ["newton", "conic"])
def test_a_movable_feature_that_is_dropped_has_the_coefficient_0(method: Any) -> None:
    X, y = synthetic(500, 10)
    people = gp.Population(X, y, gp.BoxBudget(-0.8 * FIVE, 0.8 * FIVE))
    problem = gp.StrategicProblem(people, 0.02, intercept=5.0)
    saddle = gp.saddle_point(problem, method)
    theta, _ = problem.split(saddle.x)
    assert np.flatnonzero(theta == 0).tolist() == [0, 1, 3]
    assert np.abs(theta[theta != 0]).min() > 1e-2
    assert saddle.duality_gap < 1e-8
    # The certificate is that of the point returned.
    found = problem.robust_value(saddle.x) - conic_minimum(problem).value
    assert abs(found) <= saddle.duality_gap + 1e-8


@pytest.mark.parametrize("method", ["newton", "conic", "gda"])
@pytest.mark.parametrize("response", [gp.NoResponse(), gp.QuadraticCost(0.1)])
def test_theta_is_exactly_0_where_the_radius_is_large(method: Any, response: Any) -> None:
    with pytest.warns(gp.IgnoresDataWarning):
        saddle = gp.saddle_point(make(response=response, radius=3.0), method)
    assert not saddle.x.any()
    assert saddle.value == pytest.approx(np.log(2), abs=1e-9)


@pytest.mark.parametrize("power", [0.01, 1.0])
def test_a_column_of_zeros_has_the_coefficient_0(power: float) -> None:
    X, y = synthetic(200, 4)
    people = gp.Population(X * [1, 0, 1, 1], y, gp.QuadraticCost(power))
    problem = gp.StrategicProblem(people, 0.05)
    theta, _ = problem.split(gp.saddle_point(problem).x)
    assert theta[1] == 0
    assert np.abs(theta[[0, 2, 3]]).min() > 1e-3


def test_small_coefficients_that_matter_stay() -> None:
    """In units in which coefficients are of size 1e-8, nothing is set to 0. Their cap is as small,
    or the bound would have as many digits less."""
    X, y = synthetic(200, 3)
    one, other = (
        gp.saddle_point(
            gp.StrategicProblem(gp.Population(X * scale, y), 0.0, alpha_max=20 / scale)
        ).x[:3]
        for scale in (1.0, 1e8)
    )
    np.testing.assert_allclose(other, one / 1e8, rtol=1e-4)


def test_most_people_who_can_be_gamed_are_certified_too() -> None:
    """Enough agents for Newton's method; the barrier of all agents is the oracle."""
    from gameproof.strategic.newton.barrier import minimise
    from gameproof.strategic.newton.convex_objective import ConvexObjective

    X, y = synthetic(20_000, 6)
    scale = np.random.default_rng(0).random((20_000, 1))
    ends = scale * np.array([0.3, 0.3, 0.0, 0.0, 0.0, 0.0])
    people = gp.Population(X, y, gp.BoxBudget(-ends, 2 * ends))
    problem = gp.StrategicProblem(people, 0.03, 0.4, intercept=3.0)
    saddle = gp.saddle_point(problem)
    assert saddle.duality_gap < 1e-10
    barrier = minimise(ConvexObjective(problem))
    assert saddle.value == pytest.approx(barrier.upper, abs=1e-10)


# --- linearly dependent columns


@pytest.mark.parametrize("label_cost", [0.5, np.inf])
@pytest.mark.parametrize("lower", [0.0, -0.5])
def test_a_column_is_not_played_off_against_its_copy(label_cost: float, lower: float) -> None:
    """The movable one of two copies gets 0, whichever way it can move; without the tie it could be
    as negative as the other one is large."""
    X, y = synthetic(300, 2, 3)
    copied = np.column_stack([X, X[:, 0]])
    response = gp.BoxBudget([lower, 0.0, 0.0], [0.5, 0.0, 0.0])
    problem = gp.StrategicProblem(
        gp.Population(copied, y, response), 0.01, label_cost, intercept=5.0
    )
    theta, _ = problem.split(gp.saddle_point(problem).x)
    alone = gp.StrategicProblem(gp.Population(X, y), 0.01, label_cost, intercept=5.0)
    saddle = gp.saddle_point(alone)
    assert theta[0] == 0
    np.testing.assert_allclose(theta[[2, 1]], alone.split(saddle.x)[0], atol=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_fewer_people_than_features_are_certified_inside_the_set(seed: int) -> None:
    """Many classifiers give the same scores; the one returned lies in the set to rounding."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((4, 6)), np.array([1.0, -1.0, 1.0, -1.0])
    response = random_budget(rng, 4, 6)
    cost = None if seed % 2 else [np.inf, 1.0, 2.0, 0.5, np.inf, 1.0]
    people = gp.Population(X, y, response)
    problem = gp.StrategicProblem(people, 0.05, 0.1, intercept=5.0, feature_cost=cost)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        saddle = gp.saddle_point(problem)
    theta, alpha = problem.split(saddle.x)
    assert problem.dual_length(theta) <= alpha * (1 + 1e-12)
    assert -1e-13 <= saddle.duality_gap < 1e-8
    assert saddle.value == pytest.approx(conic_minimum(problem).value, abs=1e-7)


def test_levels_beside_an_intercept_have_small_coefficients() -> None:
    """All levels of a category and an intercept are linearly dependent: among equal classifiers,
    the one with the smallest coefficients has level coefficients that sum to 0."""
    rng = np.random.default_rng(5)
    level = rng.integers(0, 3, 400)
    X = np.column_stack([rng.standard_normal(400), level[:, None] == np.arange(3)]).astype(float)
    y = np.sign(X @ [1.0, 0.5, -0.5, 0.2] + 0.5 * rng.standard_normal(400))
    problem = gp.StrategicProblem(gp.Population(X, y), 0.01, 0.5, intercept=5.0)
    saddle = gp.saddle_point(problem)
    theta, _ = problem.split(saddle.x)
    assert saddle.duality_gap < 1e-9
    assert theta[1:].sum() == pytest.approx(0.0, abs=1e-6)


# --- a transport cost by feature


@pytest.mark.parametrize("name", ["quadratic", "ball", "box", "prices", "labels both ways"])
def test_costs_by_feature_are_other_units_of_features(name: str) -> None:
    """|cost (x - x')| is the plain distance of features times their cost."""
    cost = np.array([0.5, 2.0, 3.0])
    plain = KINDS[name]()
    people = plain.population
    options = {"intercept": plain.intercept, "flips": plain.flips}
    costly = gp.StrategicProblem(
        people, plain.radius, plain.label_cost, feature_cost=cost, **options
    )
    X, y = people.X * cost, people.y

    def answers(theta: Vector, who: Vector) -> Vector:
        return people.response.answers(cost * theta, people.X[who], who) * cost

    units = gp.Population(X, y, gp.BlackBox(answers))
    theta, _ = costly.split(gp.saddle_point(costly).x)
    offset = costly.offset(gp.saddle_point(costly).x)
    given = offset if plain.intercept is not None else None
    value = gp.worst_case(costly, theta, given).value
    assert gp.saddle_point(costly).value == pytest.approx(value, abs=1e-8)
    if name != "labels both ways":
        other = gp.StrategicProblem(units, plain.radius, plain.label_cost, **options)
        estimate = gp.estimate_risk(other, theta / cost, given, seed=0)
        assert estimate.value == pytest.approx(value, abs=1e-9)


def test_worst_case_distribution_is_on_the_ball_of_its_costs() -> None:
    problem = make(feature_cost=[0.5, 3.0, np.inf], loss=gp.HuberHinge())
    theta = np.array([0.7, -0.4, 0.9])
    worst = gp.worst_case(problem, theta)
    moved, people = worst.distribution, problem.population
    answers = people.ask(theta, np.arange(people.n))
    change = moved.features - answers[moved.agent]
    assert not change[:, 2].any()
    far = np.linalg.norm(change[:, :2] * [0.5, 3.0], axis=1)
    flips = 2 * problem.label_cost * (moved.labels != people.y[moved.agent])
    assert moved.weights @ (far + flips) == pytest.approx(problem.radius, abs=1e-9)
    assert moved.risk(problem.loss, theta) == pytest.approx(worst.value, abs=1e-6)
    # No other small change of the same cost does more harm: a thousand are tried.
    rng = np.random.default_rng(0)
    length = np.linalg.norm(theta[:2] / [0.5, 3.0])
    tried = rng.standard_normal((1000, 2))
    tried /= np.linalg.norm(tried * [0.5, 3.0], axis=1)[:, None]
    assert (tried @ theta[:2]).max() <= length + 1e-12


def test_a_radius_changes_which_features_are_used() -> None:
    """Two features with the same information: as the radius grows, the one known to be accurate is
    preferred, and the other is dropped."""
    rng = np.random.default_rng(0)
    signal = rng.standard_normal(400)
    X = np.column_stack([signal + 0.3 * rng.standard_normal(400) for _ in range(2)])
    y = np.sign(signal + 0.3 * rng.standard_normal(400))
    shares = []
    for radius in (0.0, 0.1, 0.3):
        people = gp.Population(X, y)
        problem = gp.StrategicProblem(people, radius, feature_cost=[1.0, np.inf])
        theta, _ = problem.split(gp.saddle_point(problem).x)
        shares.append(theta[0] / theta[1])
    assert shares[0] > 0.7
    assert shares[1] < shares[0]
    assert shares[2] == 0


@pytest.mark.parametrize(
    "response",
    [
        gp.BallBudget(0.1),
        gp.BallBudget(0.1, norm=1.5),
        gp.BallBudget(0.1, norm=3.0),
        gp.PriceBudget(0.1, np.arange(1.0, 7.0)),
        gp.BoxBudget(np.full(6, -0.1), np.full(6, 0.1)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("cost", [[np.inf] * 6, [np.inf, np.inf, np.inf, 5.0, 0.2, 1.0]])
def test_features_at_their_bound_are_certified_too(response: Any, cost: list[float]) -> None:
    """Six people who can be told apart: the bound of a feature without a cost binds."""
    X = np.random.default_rng(0).normal(size=(6, 6))
    y = np.where(np.arange(6) % 2, 1.0, -1.0)
    people = gp.Population(X, y, response)
    problem = gp.StrategicProblem(people, 0.05, feature_cost=cost, alpha_max=2.0)
    with pytest.warns(gp.CapWarning, match="alpha_max = 2 binds"):
        saddle = gp.saddle_point(problem)
    assert saddle.duality_gap < 1e-9
    assert saddle.value == pytest.approx(conic_minimum(problem).value, abs=1e-7)


@pytest.mark.parametrize("size", [1e-8, 1e8, 1e15])
def test_budgets_of_any_size_are_certified(size: float) -> None:
    """With a huge budget the movable features are dropped, with a tiny one nobody moves."""
    X, y = synthetic(300, 5)
    prices = [1.0, 1.0, np.inf, np.inf, np.inf]
    ends = size * np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    still = np.zeros(5)
    for response in (
        gp.BallBudget(size, features=[0, 1]),
        gp.PriceBudget(size, prices),
        gp.BoxBudget(-ends, ends),
    ):
        problem = gp.StrategicProblem(gp.Population(X, y, response), 0.02, 0.5)
        saddle = gp.saddle_point(problem)
        assert saddle.duality_gap < 1e-8
        kept = X * [0, 0, 1, 1, 1] if size > 1 else X
        plain = gp.StrategicProblem(gp.Population(kept, y), 0.02, 0.5)
        assert saddle.value == pytest.approx(gp.saddle_point(plain).value, abs=1e-6)
        assert not size > 1 or np.array_equal(saddle.x[:2], still[:2])


@pytest.mark.parametrize(
    ("cost", "match"),
    [
        ([1.0, 2.0], "one number per feature, 3"),
        ([1.0, 0.0, 1.0], "positive, got 0 for feature 1"),
        ([1.0, np.nan, 1.0], "positive, got nan for feature 1"),
        ([1.0, 1e-200, 1.0], "1 / feature_cost must be at most"),
    ],
)
def test_bad_costs_are_refused(cost: list[float], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        make(feature_cost=cost)
