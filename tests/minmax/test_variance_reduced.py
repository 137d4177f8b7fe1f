"""Variance reduction: whom a pass asks, what it costs, and what it is good for.

`test_methods` compares every update with the plain formula, `test_resume` stops runs after any
answer, and `test_run` drives one by hand.
"""

from collections import Counter
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from strategic_problems import make


def test_pass_asks_every_sample_once_per_point_also_with_replacement(
    teller: Any, schedules: Any
) -> None:
    told = teller()
    solver = gp.sgda_wr(gradient=gp.VarianceReduced(every=2), batch=3, **schedules)
    run = gp.Run(told.problem, solver, seed=3)
    run.step()
    start = told.problem.start
    per_sample: Counter[int] = Counter()
    for (point, i), times in told.answered.items():
        x, y = np.frombuffer(point)[:2], np.frombuffer(point)[2:]
        far = np.linalg.norm(np.concatenate([x - start[0], y - start[1]]))
        assert far <= run.solver.by_epoch(0, 1)[1][0] * (1 + 1e-12)
        per_sample[i] += times
    # Three coordinates and the centre in the pass; then a batch of three, at four points each.
    assert run.state.queries == told.calls == 4 * 7 + 4 * 3
    assert sorted(per_sample) == list(range(7))


@pytest.mark.parametrize("every", [1, 2])
def test_questions_have_increasing_ids(every: int, teller: Any, schedules: Any) -> None:
    solver = gp.sgda_rr(gradient=gp.VarianceReduced(every=every), batch=2, **schedules)
    run, ids = gp.Run(teller().problem, solver, seed=3), []
    while run.state.epoch < 3:
        question = run.ask()
        ids.append(question.id)
        run.tell(question, [teller.value(i, question.x, question.y) for i in question.indices])
    assert ids == sorted(set(ids))


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])
def test_people_who_move_are_counted_in_the_pass_and_in_the_steps(compiled: bool) -> None:
    problem = make(n=24)
    n, movers = 24, int((problem.population.y < 0).sum())
    solver = gp.sgda_rr(gradient=gp.VarianceReduced(gp.TwoPoint()), step=0.01, radius=0.1)
    result = gp.solve(problem, solver, epochs=2, seed=0, compiled=compiled)
    asked = problem.population.answers_by_agent
    each = 2 * (problem.population.d + 1) + 2 * 4  # coefficients and the centre; then four points
    assert result.n_queries == each * movers == problem.population.n_answers
    np.testing.assert_array_equal(asked, each * (problem.population.y < 0))
    assert n > movers > 0


def test_run_stops_before_a_pass_that_the_budget_does_not_cover() -> None:
    problem = make(n=24)
    movers = int((problem.population.y < 0).sum())
    solver = gp.sgda_rr(gradient=gp.VarianceReduced(), batch=24, step=0.01, radius=0.1)
    first = (problem.population.d + 1 + 4) * movers
    for compiled in (True, False):
        for queries, steps in [(first - 1, 0), (first, 1), (2 * first - 1, 1), (2 * first, 2)]:
            result = gp.solve(problem, solver, queries=queries, seed=0, compiled=compiled)
            assert (result.n_steps, result.n_queries) == (steps, steps * first)


def test_budget_that_ends_within_a_pass_is_not_overdrawn() -> None:
    problem = make(n=24)
    movers = int((problem.population.y < 0).sum())
    solver = gp.sgda_rr(gradient=gp.VarianceReduced(), batch=5, step=0.01, radius=0.1)
    run = gp.Run(problem, solver, seed=0)
    whole = run.step_cost
    for _ in range(3):
        question = run.ask()
        run.tell(question, problem.values(question.indices, question.x, question.y))
    told = run.state.queries
    assert run.step_cost == whole - told
    for limit, done in [(whole - 1, False), (whole, True)]:
        resumed = gp.Run(problem, solver, state=run.state)
        assert resumed.advance(1, limit, compiled=True) == done
        assert resumed.state.steps == done
    assert whole >= (problem.population.d + 1) * movers


@pytest.mark.parametrize(
    ("plain", "step"), [(gp.Exact(), 0.05), (gp.Coordinates(), 0.05), (gp.TwoPoint(), 0.01)]
)
def test_noise_of_the_samples_vanishes(plain: gp.Gradient, step: float) -> None:
    """With a constant step, the plain estimate leaves an error that the reduced one removes. The
    gap of a run from values ends near the radius: 1e-4 is a hundred times what is observed."""
    game = gp.QuadraticGame.random(n=20, dx=3, dy=3, seed=0)
    gaps = []
    for gradient in (plain, gp.VarianceReduced(plain)):
        solver = gp.sgda_rr(gradient=gradient, step=step, radius=1e-3, average=gp.Last())
        result = gp.solve(game, solver, epochs=400, seed=0)
        gaps.append(gp.duality_gap(game, result.x, result.y))
    assert gaps[0] > 1e-2
    assert gaps[1] < 1e-4


@pytest.mark.parametrize("plain", [gp.TwoPoint, gp.Directions, gp.Gaussian])
def test_symmetric_differences_of_a_quadratic_game_leave_no_bias(plain: Any) -> None:
    """They are exact for quadratic functions, at the snapshot as well."""
    game = gp.QuadraticGame.random(n=20, dx=3, dy=3, seed=0)
    gradient = gp.VarianceReduced(plain(symmetric=True))
    solver = gp.sgda_rr(gradient=gradient, step=0.01, radius=0.1, average=gp.Last())
    result = gp.solve(game, solver, epochs=400, seed=0)
    assert gp.duality_gap(game, result.x, result.y) < 1e-8
