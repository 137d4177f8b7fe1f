"""What a strategic problem asks of people, counted, against the tally of a black box."""

from collections.abc import Callable

import numpy as np
import pytest

import gameproof as gp
from methods import QUERYING as ESTIMATES
from plain_strategic import EPS, ETA, SOLVERS, Crowd, Plain


@pytest.mark.parametrize("scores", [False, True])
@pytest.mark.parametrize("positive", ["exact", "estimated"])
@pytest.mark.parametrize("estimate", ESTIMATES)
def test_built_in_response_and_the_same_black_box_give_one_trajectory(
    estimate: str, positive: str, scores: bool
) -> None:
    plain = Plain(positive=positive, norm=1.5, degree=3.0, intercept=2.0)
    crowd = Crowd(plain, scores)
    solver = gp.ogda_rr(gradient=ESTIMATES[estimate], step=ETA, radius=EPS, batch=3)
    one = gp.solve(plain.problem(), solver, epochs=10, seed=1)
    other = gp.solve(crowd.problem(), solver, epochs=10, seed=1)
    for name in ("x", "y", "last_x", "last_y"):
        ours, theirs = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert (one.n_queries, one.n_deployments) == (other.n_queries, other.n_deployments)
    assert np.abs(one.last_y).max() > 0.1


@pytest.mark.parametrize("positive", ["exact", "estimated"])
@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("make", SOLVERS)
def test_queries_counted_are_queries_made_and_positive_agents_are_never_asked(
    make: Callable[..., gp.Solver], estimate: str, positive: str
) -> None:
    plain = Plain(positive=positive)
    crowd = Crowd(plain)
    problem, model = crowd.problem(), plain.problem()
    solver = make(gradient=ESTIMATES[estimate], step=ETA, radius=EPS)
    result = gp.solve(problem, solver, epochs=4, seed=2)
    compiled = gp.solve(model, solver, epochs=4, seed=2)
    assert not crowd.tally[plain.y > 0].any()
    assert crowd.tally.sum() == result.n_queries == problem.population.n_answers > 0
    assert np.array_equal(crowd.tally, problem.population.answers_by_agent)
    assert np.array_equal(crowd.tally, model.population.answers_by_agent)
    assert compiled.n_queries == result.n_queries


@pytest.mark.parametrize("positive", ["exact", "estimated"])
@pytest.mark.parametrize("estimate", ["plain", "two-point"])
def test_deployments_counted_are_the_points_at_which_somebody_was_asked(
    estimate: str, positive: str
) -> None:
    plain = Plain(positive=positive)
    crowd = Crowd(plain)
    problem, model = crowd.problem(), plain.problem()
    solver = gp.ogda_rr(gradient=ESTIMATES[estimate], step=ETA, radius=EPS)
    gp.solve(problem, solver, epochs=4, seed=2)
    compiled = gp.solve(model, solver, epochs=4, seed=2)
    assert problem.population.n_deployments == len(crowd.thetas)
    assert model.population.n_deployments == len(crowd.thetas)
    if positive == "exact":  # where +1 agents are estimated, they alone may make a point
        assert compiled.n_deployments == len(crowd.thetas)


@pytest.mark.parametrize("as_box", [True, False])
@pytest.mark.parametrize("budget", [0, 1, 13, 100])
@pytest.mark.parametrize("batch", [1, 7])
def test_budget_is_never_exceeded_and_used_up_to_a_step(
    budget: int, as_box: bool, batch: int
) -> None:
    plain = Plain()
    crowd = Crowd(plain)
    problem = crowd.problem(budget=budget) if as_box else plain.problem(budget=budget)
    solver = gp.ogda_rr(gradient=gp.TwoPoint(), step=ETA, radius=EPS, batch=batch)
    result = gp.solve(problem, solver, epochs=1000, seed=4)
    assert result.reason == "queries"
    assert result.n_queries == problem.population.n_answers <= budget
    assert budget - result.n_queries < 4 * batch
    assert problem.population.remaining == budget - result.n_queries
    if as_box:
        assert crowd.tally.sum() == result.n_queries
    again = gp.solve(problem, solver, epochs=1000, resume=result.state)
    assert again.n_queries == result.n_queries


def test_smaller_of_population_budget_and_queries_ends_the_run() -> None:
    for budget, queries in ((50, 200), (200, 50)):
        problem = Plain().problem(budget=budget)
        solver = gp.sgda_rr(step=ETA, radius=EPS)
        result = gp.solve(problem, solver, queries=queries, seed=4)
        assert result.n_queries == problem.population.n_answers == 50


def test_budget_carries_over_to_a_second_run() -> None:
    plain = Plain()
    problem = plain.problem(budget=60)
    solver = gp.sgda_rr(step=ETA, radius=EPS)
    first = gp.solve(problem, solver, queries=40, seed=4)
    second = gp.solve(problem, solver, epochs=1000, seed=5)
    assert (first.n_queries, second.n_queries) == (40, 20)
    assert problem.population.remaining == 0


def test_status_names_the_budget_that_ended_the_run() -> None:
    X, y = gp.synthetic_people(n=40, d=2, seed=0)
    people = gp.Population(X, y, gp.BlackBox(lambda theta, agents: X[agents]), budget=20)
    problem = gp.StrategicProblem(people, radius=0.1, label_cost=0.5)
    result = gp.solve(problem, gp.ogda_rr(gradient=gp.TwoPoint()), queries=100, seed=0)
    assert "what is left of the population's budget" in result.status
    again = gp.solve(problem, gp.ogda_rr(gradient=gp.TwoPoint()), queries=1, seed=0)
    assert "the budget of 1 values" in again.status
