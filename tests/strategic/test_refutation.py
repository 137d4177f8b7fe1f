"""`refute`: whether answers can be best responses."""

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


def observed(response: gp.Response, thetas: np.ndarray) -> gp.Verdict:
    people, agents = gp.Population(X, Y, response), np.flatnonzero(Y < 0)[:8]
    return gp.refute(X[agents], thetas, [people.ask(theta, agents) for theta in thetas])


@pytest.mark.parametrize("norm", [1.5, 2.0, 3.0])
def test_best_responses_are_never_refuted(norm: float) -> None:
    thetas = np.random.default_rng(0).standard_normal((12, 4))
    verdict = observed(gp.PowerCost(0.3, 2.0, norm), thetas)
    assert not verdict
    assert not verdict.refuted


def test_people_who_flee_from_the_classifier_are_refuted() -> None:
    contrary = gp.BlackBox(lambda theta, agents: X[agents] - 0.2 * theta)
    verdict = observed(contrary, np.array([THETA, 2 * THETA]))
    assert verdict.refuted
    assert "moved against deployment 1" in verdict.sentence


def test_answers_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        gp.refute(np.zeros((2, 3)), np.zeros((4, 3)), np.zeros((4, 3, 2)))


def test_one_deployment_is_enough_where_people_move_against_it() -> None:
    """Staying is free, so that a move against theta is never a best response."""
    contrary = gp.BlackBox(lambda theta, agents: X[agents] - 0.2 * theta)
    assert observed(contrary, np.array([THETA])).refuted
    # The same wrong answer to two deployments along one line: the change between them is 0.
    stuck = gp.BlackBox(lambda theta, agents: X[agents] - 0.2 * THETA)
    assert observed(stuck, np.array([THETA, 2 * THETA])).refuted


@pytest.mark.parametrize("name", BUDGETS)
@pytest.mark.parametrize("units", [1.0, 1e9])
def test_budgets_are_never_refuted(name: str, units: float) -> None:
    """Whatever the size of the features beside the moves."""
    thetas = np.random.default_rng(0).standard_normal((12, 4))
    thetas = np.concatenate([thetas, 3 * thetas[:4], -thetas[:4]])
    people, agents = gp.Population(units * X, Y, BUDGETS[name]), np.flatnonzero(Y < 0)[:8]
    answers = [people.ask(theta, agents) for theta in thetas]
    assert not gp.refute(units * X[agents], thetas, answers)


def test_budget_that_is_used_the_wrong_way_is_refuted() -> None:
    contrary = gp.BlackBox(lambda theta, agents: X[agents] - 0.2 * np.sign(theta))
    assert observed(contrary, np.array([THETA, -THETA])).refuted
