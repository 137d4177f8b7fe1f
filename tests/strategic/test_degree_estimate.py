"""`estimate_degree`: the degree of a cost, from answers to two deployments."""

import numpy as np
import pytest

import gameproof as gp

X, Y = gp.synthetic_people(n=60, d=4, seed=3)
THETA = np.array([1.0, -2.0, 0.5, 0.3])
BUDGETS = {
    "ball": gp.BallBudget(0.5),
    "box": gp.BoxBudget([-0.3, -0.1, 0.0, 0.0], [0.2, 0.0, 0.4, 0.0]),
    "prices": gp.PriceBudget(0.5, [1.0, 3.0, 2.0, np.inf]),
}


@pytest.mark.parametrize("degree", [1.5, 2.0, 3.0])
@pytest.mark.parametrize("norm", [1.5, 2.0, 3.0])
@pytest.mark.parametrize("features", [None, [0, 2]])
def test_estimated_degree_is_within_a_thousandth(
    degree: float, norm: float, features: list[int] | None
) -> None:
    people = gp.Population(X, Y, gp.PowerCost(0.3, degree, norm, features))
    assert gp.estimate_degree(people, THETA) == pytest.approx(degree, abs=1e-3)
    assert people.n_deployments == 2


@pytest.mark.parametrize(
    ("budget", "said"), [(1, "It takes at least 2"), (25, "Give agents=12 or")]
)
def test_degree_beyond_the_budget_asks_nobody(budget: int, said: str) -> None:
    people = gp.Population(X, Y, gp.PowerCost(0.3, 3.0), budget=budget)
    with pytest.raises(gp.BudgetExceeded, match=f"needs 40 answers.*nobody was asked. {said}"):
        gp.estimate_degree(people, THETA)
    assert people.n_answers == people.n_deployments == 0
    if budget > 1:
        assert gp.estimate_degree(people, THETA, agents=12) == pytest.approx(3.0)


def test_degree_of_people_who_do_not_move_cannot_be_seen() -> None:
    with pytest.raises(ValueError, match="none of the agents asked moved"):
        gp.estimate_degree(gp.Population(X, Y), THETA)


@pytest.mark.parametrize("degree", [1.5, 2.0, 3.0])
@pytest.mark.parametrize("norm", [1.5, 2.0, 3.0])
@pytest.mark.parametrize("features", [None, [0, 2]])
def test_envelope_gradient_is_that_of_the_score(
    degree: float, norm: float, features: list[int] | None
) -> None:
    cost = gp.PowerCost(0.3, degree, norm, features)
    people, q = gp.Population(X, Y, cost), degree / (degree - 1)
    agent = np.flatnonzero(Y < 0)[:1]
    envelope = X[agent[0]] + q * (people.ask(THETA, agent)[0] - X[agent[0]])
    step = 1e-6
    differences = [
        (people.scores(THETA + step * e, agent)[0] - people.scores(THETA - step * e, agent)[0])
        / (2 * step)
        for e in np.eye(4)
    ]
    np.testing.assert_allclose(envelope, differences, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", BUDGETS)
@pytest.mark.parametrize("factor", [0.5, 2.0, 10.0])
def test_degree_of_a_budget_is_infinite(name: str, factor: float) -> None:
    people = gp.Population(X, Y, BUDGETS[name])
    assert gp.estimate_degree(people, THETA, factor=factor) == np.inf


def test_degree_of_a_noisy_budget_is_infinite_more_often_than_not() -> None:
    # A rate that is 0 lies within two standard errors in 95 of 100; of 20, fewer than 14 by chance
    # under 1e-4. Where it does not, the degree is large.
    found = [
        gp.estimate_degree(gp.Population(X, Y, gp.Noisy(gp.BallBudget(0.5), 0.02, seed=s)), THETA)
        for s in range(10)
    ] + [
        gp.estimate_degree(
            gp.Population(X, Y, gp.Noisy(gp.BallBudget(0.5), 0.02, seed=s)), THETA, factor=4.0
        )
        for s in range(10)
    ]
    assert np.isinf(found).sum() >= 14
    assert min(found) > 10


def test_moves_that_shrink_as_theta_grows_are_of_no_degree() -> None:
    shrinking = gp.BlackBox(lambda theta, agents: X[agents] + theta / (theta @ theta))
    with pytest.raises(ValueError, match="grow as the power -1 of theta, which no cost"):
        gp.estimate_degree(gp.Population(X, Y, shrinking), THETA)
