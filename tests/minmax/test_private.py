"""Coordinates that one sample alone sees: what is kept of them is what the definition says."""

from typing import Any

import numpy as np
import pytest

import gameproof as gp
from gameproof.kernels.layout import BASE, OWN_DUE, OWN_U
from gameproof.kernels.step import PREFETCHED
from strategic_problems import make

METHODS = {
    "OGDA-RR": gp.ogda_rr,
    "OGDA-WR": gp.ogda_wr,  # a sample may be drawn twice for one batch, and again for the next
    "extragradient": lambda **parts: gp.Solver(update=gp.Extragradient(), **parts),
}
# With the second, a step leads out of the box by millions of times its width, and back to its edge.
STEPS = {"short": 10.0, "beyond the box": 1e10}


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("method", METHODS)
def test_sums_are_those_of_the_iterates(method: str, step: str, batch: int, compiled: bool) -> None:
    problem = make(n=11)
    solver = METHODS[method](step=0.01, radius=0.5, batch=batch, scale=(1.0, STEPS[step]))
    run = gp.Run(problem, solver, seed=3)
    total = np.zeros(problem.n)
    for count in range(1, 60):
        run.advance(count, 10**9, compiled)
        total += 0.01 * run.state.last[1]
    assert np.ptp(run.state.last[1]) > 0.001  # something has moved
    np.testing.assert_allclose(run.state.totals()[1], total, rtol=0, atol=1e-14 * 60)


def test_between_the_phases_of_a_step_the_iterate_is_the_one_before(same_memory: Any) -> None:
    run = gp.Run(make(n=11), METHODS["extragradient"](step=0.1, radius=0.5, batch=7), seed=3)
    run.advance(4, 10**9, compiled=True)
    before, base = run.state.last[1], run.state.memory.y[BASE].copy()
    moved = 0
    while run.state.steps == 4:
        question = run.ask()
        run.tell(question, run.problem.values(question.indices, question.x, question.y))
        if run.state.steps == 4:
            moved += not np.array_equal(run.state.memory.y[BASE], base)
            assert np.array_equal(run.state.last[1], before)
            again = gp.Run(run.problem, run.solver, state=run.state)  # goes on from there
    assert moved > 0
    again.advance(5, 10**9, compiled=True)
    same_memory(run.state, again.state)


@pytest.mark.parametrize("method", ["OGDA-WR", "extragradient"])
def test_a_coordinate_that_is_no_number_is_not_made_one(method: str) -> None:
    """So that a run that diverges is told of."""
    run = gp.Run(make(n=11), METHODS[method](step=0.1, radius=0.5, batch=11), seed=3)
    fixed = int(np.flatnonzero(run.problem.population.y < 0)[0])
    run.state.memory.own[fixed, OWN_U] = np.nan
    run.advance(5, 10**9, compiled=True)
    assert np.isnan(run.state.last[1][fixed])


@pytest.mark.parametrize(("batch", "compiled"), [(1, True), (7, True), (7, False)])
def test_coordinates_that_nothing_pulls_on_are_left_alone(batch: int, compiled: bool) -> None:
    """Labels -1 are fixed, so their gamma has no effect: neither gamma nor its sum is touched, and
    its average is where it started."""
    problem = make()
    fixed = problem.population.y < 0
    gamma = np.random.default_rng(0).uniform(-1, 1, problem.n)
    gamma[np.flatnonzero(fixed)[::2]] = -0.0
    solver = gp.ogda_rr(step=0.01, radius=0.5, batch=batch)
    start = (problem.start[0], gamma)
    result = gp.solve(problem, solver, start=start, epochs=5, seed=2, compiled=compiled)
    assert result.last_y[fixed].tobytes() == gamma[fixed].tobytes()  # zeros with their signs
    assert not np.any(result.last_y[~fixed] == gamma[~fixed])
    assert not result.state.memory.own[fixed, OWN_DUE].any()
    assert np.allclose(result.y[fixed], gamma[fixed], rtol=1e-14, atol=0)


@pytest.mark.parametrize("people", [True, False])
def test_prefetching_changes_no_bit(people: bool, same_memory: Any) -> None:
    n, solver = PREFETCHED + 7, gp.ogda_rr(step=0.01, radius=0.5)
    runs = []
    for compiled in (True, False):
        problem = make(n=n, d=9) if people else gp.RobustLeastSquares.random(n=n, dx=9, seed=5)
        runs.append(gp.Run(problem, solver, seed=1))
        runs[-1].advance(n + 50, 10**9, compiled)
    same_memory(runs[0].state, runs[1].state)


@pytest.mark.parametrize("estimate", [gp.OnePoint(), gp.TwoPoint(), gp.Envelope()], ids=repr)
def test_run_limited_to_a_few_values_at_a_time_has_the_same_bits(
    estimate: gp.Gradient, same_memory: Any
) -> None:
    solver = gp.ogda_rr(gradient=estimate, step=0.01, radius=0.5)
    whole, piecewise = gp.Run(make(), solver, seed=1), gp.Run(make(), solver, seed=1)
    whole.advance(150, 10**9, compiled=True)
    while piecewise.state.steps < 150:
        piecewise.advance(150, piecewise.state.queries + 5, compiled=True)
    same_memory(whole.state, piecewise.state)


class OwnBall(gp.ConvexSet):
    """A ball whose projection is in Python."""

    def __init__(self, ball: gp.Ball) -> None:
        self._ball = ball

    dim = property(lambda self: self._ball.dim)  # type: ignore[assignment]
    diameter = property(lambda self: self._ball.diameter)  # type: ignore[assignment]
    center = property(lambda self: self._ball.center)  # type: ignore[assignment]

    def project(self, point: Any) -> Any:
        return self._ball.project(point)

    def sample(self, rng: np.random.Generator) -> Any:
        return self._ball.sample(rng)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_a_set_in_which_one_coordinate_moves_others_is_respected(
    method: str, compiled: bool
) -> None:
    problem = make(n=11)
    ball = gp.Ball(np.zeros(11), 0.3)
    problem.y_set = ball if compiled else OwnBall(ball)
    run = gp.Run(problem, METHODS[method](step=0.05, radius=0.3, batch=3, scale=(1, 50)), seed=0)
    total = np.zeros(11)
    for count in range(1, 30):
        run.advance(count, 10**9, compiled)
        assert np.linalg.norm(run.state.last[1]) <= 0.3 * (1 + 1e-12)
        total += 0.05 * run.state.last[1]
    assert np.linalg.norm(run.state.last[1]) > 0.299
    np.testing.assert_allclose(run.state.totals()[1], total, rtol=0, atol=1e-13)
