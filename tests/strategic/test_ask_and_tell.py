"""`Run.ask` and `Run.tell` on a strategic problem: answers that come from elsewhere are counted."""

from typing import Any

import numpy as np
import pytest

import gameproof as gp
from plain_strategic import EPS, ETA, Crowd, N, Plain

ESTIMATES = [gp.OnePoint(), gp.TwoPoint(), gp.Envelope()]
every_estimate = pytest.mark.parametrize("estimate", ESTIMATES, ids=lambda e: type(e).__name__)


def silent(theta: Any, agents: Any) -> Any:
    """People whom the problem itself cannot ask."""
    raise AssertionError("the run asked the people itself")


def unasked(plain: Plain, **more: Any) -> gp.StrategicProblem:
    return plain.problem(gp.BlackBox(silent), **more)


def answers(plain: Plain, problem: gp.StrategicProblem, question: gp.Question, run: gp.Run) -> Any:
    """What the people asked would answer: values, or their features for `Envelope`."""
    if isinstance(run.solver.gradient, gp.Envelope):
        theta = problem.split(question.x)[0]
        return np.array([plain.answer(int(i), theta) for i in question.indices])
    u = np.concatenate([question.x, question.y])
    return [plain.value(int(i), u) for i in question.indices]


@every_estimate
@pytest.mark.parametrize("batch", [1, 7])
def test_run_that_is_told_equals_the_run_that_asks_a_black_box(
    estimate: gp.Gradient, batch: int
) -> None:
    plain = Plain()
    crowd = Crowd(plain)
    solver = gp.ogda_rr(gradient=estimate, step=ETA, radius=EPS, batch=batch)
    asked, told = crowd.problem(), unasked(plain)
    result = gp.solve(asked, solver, epochs=3, seed=2)
    run = gp.Run(told, solver, seed=2)
    while run.state.steps < result.n_steps:
        question = run.ask()
        run.tell(question, answers(plain, told, question, run))
    np.testing.assert_allclose(run.state.last[0], result.last_x, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(run.state.last[1], result.last_y, rtol=1e-9, atol=1e-12)
    assert run.state.queries == result.n_queries == told.population.n_answers > 0
    assert run.state.deployments == result.n_deployments == told.population.n_deployments
    assert np.array_equal(told.population.answers_by_agent, asked.population.answers_by_agent)
    assert np.array_equal(told.population.answers_by_agent, crowd.tally)


@every_estimate
def test_question_beyond_the_budget_is_not_asked(estimate: gp.Gradient) -> None:
    plain, budget = Plain(), 10
    problem = unasked(plain, budget=budget)
    solver = gp.sgda_rr(gradient=estimate, step=ETA, radius=EPS, batch=7)
    run = gp.Run(problem, solver, seed=2)

    def until_nothing_is_left() -> None:
        while True:
            question = run.ask()
            run.tell(question, answers(plain, problem, question, run))

    with pytest.raises(gp.BudgetExceeded, match=r"budget of 10 has \d+ left; nobody was asked"):
        until_nothing_is_left()
    population = problem.population
    assert 0 < population.n_answers == run.state.queries <= budget
    with pytest.raises(gp.BudgetExceeded):
        run.ask()
    assert population.n_answers == run.state.queries


@pytest.mark.parametrize("bad", [np.nan, np.inf, None, "much", 1j], ids=repr)
def test_unusable_value_does_not_count_and_the_rest_is_asked_again(bad: Any) -> None:
    plain = Plain()
    problem = unasked(plain)
    run = gp.Run(problem, gp.sgda_rr(step=ETA, radius=EPS, batch=N), seed=2)
    question = run.ask()
    good = answers(plain, problem, question, run)
    with pytest.raises(gp.EvaluationError, match=f"sample {question.indices[2]} gave"):
        run.tell(question, [*good[:2], bad, *good[3:]])
    assert run.state.queries == problem.population.n_answers == 2
    rest = run.ask()
    assert rest.indices.tolist() == question.indices[2:].tolist()
    assert np.array_equal(rest.x, question.x)
    run.tell(rest, good[2:])
    assert run.state.steps == 1
    assert run.state.queries == problem.population.n_answers == len(question.indices)
    assert run.state.deployments == problem.population.n_deployments == 1


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda rows: rows[:, :-1], r"expected \(\d+, 4\): one row of features per agent"),
        (lambda rows: np.where(rows == rows, np.nan, 0.0), "not finite"),
        (lambda rows: rows[:, 0], "one row of features per agent"),
    ],
    ids=["narrow", "not finite", "scores"],
)
def test_unusable_observation_does_not_count_and_is_asked_again(break_it: Any, said: str) -> None:
    plain = Plain()
    problem = unasked(plain)
    solver = gp.sgda_rr(gradient=gp.Envelope(), step=ETA, batch=N)
    run = gp.Run(problem, solver, seed=2)
    question = run.ask()
    rows = answers(plain, problem, question, run)
    with pytest.raises(gp.AnswerError, match=said):
        run.tell(question, break_it(rows))
    assert run.state.queries == problem.population.n_answers == 0
    again = run.ask()
    assert np.array_equal(again.indices, question.indices)
    run.tell(again, rows)
    assert run.state.steps == 1
    assert run.state.queries == problem.population.n_answers == len(rows)


def test_observations_are_asked_at_the_iterate_itself() -> None:
    plain = Plain()
    problem = unasked(plain)
    run = gp.Run(problem, gp.ogda_rr(gradient=gp.Envelope(), step=ETA, batch=5), seed=2)
    for _ in range(6):
        x = run.state.last[0]
        question = run.ask()
        assert np.array_equal(question.x, x)
        assert (plain.y[question.indices] < 0).all()
        run.tell(question, answers(plain, problem, question, run))


@every_estimate
def test_question_survives_a_saved_state(estimate: gp.Gradient, tmp_path: Any) -> None:
    plain = Plain()
    solver = gp.ogda_rr(gradient=estimate, step=ETA, radius=EPS, batch=4)
    problem = unasked(plain)
    run = gp.Run(problem, solver, seed=2)
    for _ in range(5):
        question = run.ask()
        run.tell(question, answers(plain, problem, question, run))
    pending = run.ask()
    run.state.save(tmp_path / "state")
    again = gp.Run(problem, solver, state=gp.State.load(tmp_path / "state")).ask()
    assert again.id == pending.id
    assert np.array_equal(again.x, pending.x)
    assert np.array_equal(again.y, pending.y)
    assert np.array_equal(again.indices, pending.indices)
