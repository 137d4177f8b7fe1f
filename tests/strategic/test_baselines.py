"""Plain and strategic regression against other optimisers."""

import numpy as np
import pytest
from scipy.optimize import minimize

import gameproof as gp

X, Y = gp.synthetic_people(n=400, d=5, noise=1.0, seed=1)


def mean_loss(theta: np.ndarray, power: float, intercept: float = 0.0) -> float:
    z = X @ theta + np.where(Y < 0, power * theta @ theta, 0.0) + intercept
    return float(np.logaddexp(0.0, -Y * z).mean())


@pytest.mark.parametrize("power", [0.0, 0.1, 0.5])
def test_strategic_regression_minimises_the_mean_loss_at_the_answers(power: float) -> None:
    people = gp.Population(X, Y, gp.QuadraticCost(power))
    theta, intercept = gp.strategic_regression(people)
    other = minimize(mean_loss, np.zeros(5), args=(power,), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(theta, other.x, atol=1e-4)
    assert intercept == 0.0


def test_plain_regression_ignores_the_response() -> None:
    people = gp.Population(X, Y, gp.QuadraticCost(0.5))
    still = gp.strategic_regression(gp.Population(X, Y))[0]
    np.testing.assert_array_equal(gp.plain_regression(people)[0], still)


def test_intercept_is_fitted_with_theta() -> None:
    theta, intercept = gp.strategic_regression(
        gp.Population(X, Y, gp.QuadraticCost(0.2)), intercept=5.0
    )
    other = minimize(
        lambda v: mean_loss(v[1:], 0.2, v[0]), np.zeros(6), method="BFGS", options={"gtol": 1e-9}
    )
    np.testing.assert_allclose([intercept, *theta], other.x, atol=1e-4)


def test_query_only_version_comes_near() -> None:
    people = gp.Population(X, Y, gp.QuadraticCost(0.2))
    best = mean_loss(gp.strategic_regression(people)[0], 0.2)
    problem = gp.strategic_problem(people)
    solver = gp.sgda_rr(gradient=gp.TwoPoint(), step=gp.Power(0.02, 0.5), radius=0.1)
    result = gp.solve(problem, solver, epochs=60, seed=0)
    assert mean_loss(problem.split(result.x)[0], 0.2) < best + 0.02
    assert people.n_answers == result.n_queries
