"""Budgets: moves against their definition, by linear programs and by a general optimiser."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, linprog, minimize

import gameproof as gp
from strategic_problems import box_by_agent, make, random_budget, with_category

Vector = np.ndarray[Any, np.dtype[np.float64]]
N, D = 12, 6


def gained(response: Any, theta: Vector) -> Vector:
    """What moving adds to scores, from the answers alone."""
    X, everyone = np.random.default_rng(0).standard_normal((N, D)), np.arange(N)
    return (response.answers(theta, X, everyone) - X) @ theta


def best_in_polytope(theta: Vector, A: Vector, b: Vector) -> float:
    """The largest <v, theta> with A v <= b, by a linear program."""
    return -float(linprog(-theta, A_ub=A, b_ub=b, bounds=(None, None)).fun)


@pytest.mark.parametrize("seed", range(5))
def test_gain_of_a_box_is_that_of_a_linear_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lower, upper = -rng.random(D) * (rng.random(D) < 0.7), rng.random(D) * (rng.random(D) < 0.7)
    theta = rng.standard_normal(D)
    A, b = np.vstack([np.eye(D), -np.eye(D)]), np.concatenate([upper, -lower])
    expected = best_in_polytope(theta, A, b)
    np.testing.assert_allclose(gained(gp.BoxBudget(lower, upper), theta), expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_gain_of_prices_is_that_of_a_linear_program(seed: int) -> None:
    """sum of prices |v| <= budget has 2^d sides."""
    rng = np.random.default_rng(seed)
    prices, budget, theta = rng.random(D) + 0.2, 0.7, rng.standard_normal(D)
    signs = np.array(np.meshgrid(*[[-1, 1]] * D)).reshape(D, -1).T
    expected = best_in_polytope(theta, signs * prices, np.full(len(signs), budget))
    np.testing.assert_allclose(gained(gp.PriceBudget(budget, prices), theta), expected, atol=1e-9)


@pytest.mark.parametrize("norm", [1.3, 2.0, 3.0])
def test_gain_of_a_ball_is_that_of_a_general_optimiser(norm: float) -> None:
    theta = np.random.default_rng(1).standard_normal(D)
    inside = {"type": "ineq", "fun": lambda v: 0.5**norm - (np.abs(v) ** norm).sum()}
    start = 0.1 * np.sign(theta)
    found = minimize(lambda v: -v @ theta, start, constraints=[inside], options={"ftol": 1e-12})
    np.testing.assert_allclose(gained(gp.BallBudget(0.5, norm=norm), theta), -found.fun, rtol=1e-5)


def test_balls_of_norm_1_and_inf_are_prices_and_boxes() -> None:
    theta = np.random.default_rng(2).standard_normal(D)
    ones = np.ones(D)
    for ball, other in (
        (gp.BallBudget(0.4, norm=1), gp.PriceBudget(0.4, ones)),
        (gp.BallBudget(0.4, norm=np.inf), gp.BoxBudget(-0.4 * ones, 0.4 * ones)),
    ):
        np.testing.assert_allclose(gained(ball, theta), gained(other, theta), atol=1e-12)


def test_a_budget_is_a_power_cost_of_a_very_high_degree() -> None:
    theta = np.random.default_rng(3).standard_normal(D)
    steep = gp.PowerCost(0.4, degree=1e6, norm=1.5)
    np.testing.assert_allclose(
        gained(steep, theta), gained(gp.BallBudget(0.4, norm=1.5), theta), rtol=1e-4
    )


def test_claimed_level_is_the_best_of_those_allowed_and_the_own() -> None:
    """By trying every level for every agent."""
    response, rng = with_category(N, D), np.random.default_rng(4)
    (claim,) = response.claims
    for _ in range(20):
        theta = rng.standard_normal(D)
        values = [
            step * theta[c] if c >= 0 else 0.0
            for c, step in zip(claim.columns, claim.steps, strict=True)
        ]
        box = np.maximum(response.lower * theta, response.upper * theta).sum()
        expected = []
        for own in claim.current:
            able = {own, *np.flatnonzero(claim.allowed)}
            expected.append(box + max(values[k] for k in able) - values[own])
        np.testing.assert_allclose(gained(response, theta), expected, atol=1e-12)


def test_claims_must_fit_the_population() -> None:
    response = with_category(N, D)
    (claim,) = response.claims
    beyond = claim._replace(columns=np.full_like(claim.columns, D))
    fewer = claim._replace(current=claim.current[1:])
    for wrong, said in (
        (beyond, f"a claim uses column {D}, but columns are 0 to {D - 1}"),
        (fewer, f"a claim has {N - 1} current levels, the population {N} agents"),
    ):
        budget = gp.BoxBudget(response.lower, response.upper, (wrong,))
        with pytest.raises(ValueError, match=said):
            gp.Population(np.ones((N, D)), np.resize([1, -1], N), budget)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), factor=st.floats(1e-3, 1e3))
def test_a_larger_score_changes_no_move(seed: int, factor: float) -> None:
    """Where the best move is unique, as it is for random theta."""
    rng = np.random.default_rng(seed)
    response, theta = random_budget(rng, N, D), rng.standard_normal(D)
    X, everyone = rng.standard_normal((N, D)), np.arange(N)
    one, other = (response.answers(scale * theta, X, everyone) for scale in (1.0, factor))
    np.testing.assert_allclose(one, other, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_answers_attain_the_gains_and_compiled_scores_have_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    response, theta = random_budget(rng, N, D), rng.standard_normal(D)
    X, y = rng.standard_normal((N, D)), np.where(np.arange(N) % 2, -1.0, 1.0)
    movers = np.flatnonzero(y < 0)
    people = gp.Population(X, y, response)
    gains = response.gains(theta, movers)
    scores = people.scores(theta, np.arange(N))
    assert (gains >= 0).all()
    np.testing.assert_allclose(scores[movers], X[movers] @ theta + gains, atol=1e-10)
    problem = gp.StrategicProblem(people, 0.1)
    values = list(problem.evaluate(np.arange(N), problem.join(theta, 9.0), np.zeros(N)))
    expected = 0.9 + problem.loss.value(scores, y)
    np.testing.assert_allclose(values, expected, atol=1e-10)


# SLSQP of SciPy 1.15 says when rounding takes it out of the bounds, and goes back.
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
@pytest.mark.parametrize("seed", range(6))
def test_threshold_agents_get_the_decisions_of_the_budget_response(seed: int) -> None:
    """A refused agent looks for the nearest accepted features within its budget, by a general
    optimiser, and stays where it is if there are none."""
    rng = np.random.default_rng(seed)
    theta, intercept = rng.standard_normal(3), float(rng.normal())
    X, box = rng.standard_normal((20, 3)), box_by_agent(20, 3)
    lower, upper = np.asarray(box.lower), np.asarray(box.upper)
    # Nobody is near the decision boundary, where the optimiser's tolerance would decide.
    z = X @ theta + intercept
    sure = np.abs(z + box.gains(theta, np.arange(20))) > 1e-4
    accepted = []
    for i in np.flatnonzero(sure):
        reach = LinearConstraint(theta, -z[i] + 1e-6, np.inf)
        bounds = list(zip(lower[i], upper[i], strict=True))
        found = minimize(
            lambda v: v @ v, np.zeros(3), bounds=bounds, constraints=[reach], method="SLSQP"
        )
        accepted.append(z[i] > 0 or (found.success and z[i] + found.x @ theta > 0))
    by_budget = z + box.gains(theta, np.arange(20)) > 0
    assert sure.sum() >= 15
    np.testing.assert_array_equal(accepted, by_budget[sure])


def test_black_box_of_a_budget_runs_as_the_budget_itself() -> None:
    for response in (gp.BallBudget(0.3), gp.PriceBudget(0.4, [1, 2, 3]), box_by_agent(60, 3)):
        known = make(response=response)
        X = known.population.X
        asked = make(
            response=gp.BlackBox(lambda theta, who, r=response, X=X: r.answers(theta, X[who], who))
        )
        for gradient in (gp.OnePoint(), gp.TwoPoint(), gp.Envelope(degree=np.inf)):
            solver = gp.ogda_rr(gradient=gradient, step=0.01, radius=0.5)
            one, other = (gp.solve(p, solver, epochs=3, seed=1) for p in (known, asked))
            np.testing.assert_allclose(one.last_x, other.last_x, atol=1e-10)
            assert one.n_queries == other.n_queries


def test_envelope_of_a_budget_needs_the_degree_inf() -> None:
    with pytest.raises(ValueError, match=r"use Envelope\(degree=inf\)"):
        gp.solve(
            make(response=gp.BallBudget(0.3)), gp.ogda_rr(gradient=gp.Envelope()), epochs=1, seed=0
        )


def test_other_agents_and_other_strengths() -> None:
    rng, who = np.random.default_rng(7), np.array([3, 1, 1, 7])
    theta = rng.standard_normal(D)
    for seed in range(12):
        response = random_budget(np.random.default_rng(seed), N, D)
        all_gains = response.gains(theta, np.arange(N))
        some = response.of_agents(who)
        some.fit(4, D)
        np.testing.assert_allclose(some.gains(theta, np.arange(4)), all_gains[who], atol=1e-12)
        twice = response.scaled(2.0).gains(theta, np.arange(N))
        np.testing.assert_allclose(twice, 2 * all_gains, atol=1e-12)


@pytest.mark.parametrize(
    ("build", "match"),
    [
        (lambda: gp.BallBudget(-0.1), "radius must be at least 0, got -0.1"),
        (lambda: gp.BallBudget([]), r"one number, or one number per agent, got shape \(0,\)"),
        (lambda: gp.BallBudget(np.nan), "radius must be finite, got nan"),
        (lambda: gp.BallBudget(1.0, norm=0.5), "norm must be at least 1, got 0.5"),
        (lambda: gp.BallBudget(1.0, features=[0, 0]), "names a column twice"),
        (lambda: gp.PriceBudget(-1.0, [1.0, 2.0]), "budget must be at least 0, got -1"),
        (lambda: gp.PriceBudget(1.0, [1.0, -2.0]), "prices must be positive, got -2 for feature 1"),
        (lambda: gp.PriceBudget(1.0, [1.0, 0.0]), "use inf for a feature that cannot move"),
        (lambda: gp.PriceBudget(1.0, [1.0, np.nan]), "prices must be positive, got nan"),
        (lambda: gp.BoxBudget([0.1, 0.0], [1.0, 1.0]), "lower must be at most 0.*got 0.1"),
        (lambda: gp.BoxBudget([0.0, 0.0], [1.0, -1.0]), "upper must be at least 0.*got -1"),
        (lambda: gp.BoxBudget([0.0], [1.0, 1.0]), "must have the same shape"),
        (lambda: gp.BoxBudget([np.nan], [1.0]), "lower must be finite"),
        (lambda: gp.BoxBudget([], []), "one number per feature"),
    ],
)
def test_bad_budgets_are_refused_in_a_sentence(build: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        build()


@pytest.mark.parametrize(
    ("response", "match"),
    [
        (gp.BallBudget([0.1, 0.2]), "radius has 2 numbers, the population 60 agents"),
        (gp.BallBudget(0.1, features=[9]), "there are features 0 to 2"),
        (gp.PriceBudget(1.0, [1.0]), "prices has 1 numbers, there are 3 features"),
        (gp.BoxBudget(np.zeros(2), np.ones(2)), "lower has 2 numbers, there are 3 features"),
        (gp.BoxBudget(np.zeros((5, 3)), np.ones((5, 3))), "lower has 5 rows, the population 60"),
    ],
)
def test_budgets_of_other_people_are_refused(response: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        make(response=response)
