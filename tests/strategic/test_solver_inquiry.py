"""A run as an inquiry gives the same bits as `solve`, and uses whoever answers."""

import numpy as np
import pytest

import gameproof as gp
from gameproof.strategic.inquiry import Replies, ask_now
from gameproof.strategic.solver_inquiry import SolverInquiry

SOLVERS = [
    gp.ogda_rr(batch=10),
    gp.ogda_wr(batch=7),
    gp.sgda_wr(batch=10, gradient=gp.TwoPoint()),
    gp.ogda_rr(batch=10, gradient=gp.Envelope()),
]


def problem(**options):
    X, y = gp.synthetic_people(n=90, d=4, seed=0)
    people = gp.Population(X, y, gp.BlackBox(lambda theta, agents: X[agents] + 0.1 * theta))
    return gp.StrategicProblem(people, radius=0.1, label_cost=0.5, **options)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: f"{solver.name}-{solver.gradient}")
@pytest.mark.parametrize("options", [{}, {"intercept": 3.0}, {"positive": "estimated"}])
def test_an_inquiry_gives_the_bits_of_solve(solver, options) -> None:
    result = gp.solve(problem(**options), solver, epochs=3, seed=0)
    asked = problem(**options)
    found = SolverInquiry(asked, solver, 0, epochs=3)
    ask_now(found.inquiry(), asked.population)
    np.testing.assert_array_equal(found.run.recommend()[0], result.x)
    assert found.run.state.queries == result.n_queries


def test_a_step_uses_the_gradient_of_whoever_answered() -> None:
    """One SGDA step from theta = 0, by the formula for the agents who answered."""
    asked = problem()
    people, step = asked.population, 0.01
    solver = gp.sgda_rr(batch=10, gradient=gp.Envelope(), step=step, scale=None)
    found = SolverInquiry(asked, solver, 0)
    steps = found.inquiry()
    deployment = next(steps)
    batch = found.run.state.memory.samples[0, :10].copy()
    silent = np.setdiff1d(np.flatnonzero(people.y < 0), deployment.agents)
    others = silent[: deployment.agents.size]
    following = steps.send(Replies(others, people.X[others]))
    positive = batch[people.y[batch] > 0]
    # At theta = 0, z = 0: d phi(z) + z/2 is 1/2 for label -1, and gamma/2 = 0 for label +1.
    gradient = 0.5 * people.X[others].sum(axis=0) / 10
    assert positive.size + others.size == 10
    np.testing.assert_allclose(following.theta, -step * gradient, rtol=1e-12)


def test_those_who_answered_fill_the_places_of_the_silent() -> None:
    """Two of three who answer count as if all places were theirs, in turn."""
    asked = problem()
    found = SolverInquiry(asked, gp.sgda_rr(batch=10, gradient=gp.Envelope()), 0)
    steps = found.inquiry()
    deployment = next(steps)
    some = deployment.agents[:2]
    answers = asked.population.X[some] + 0.1 * deployment.theta
    following = steps.send(Replies(some, answers))
    assert np.isfinite(following.theta).all()
    assert not np.array_equal(following.theta, deployment.theta)
    filled = np.resize(some, deployment.agents.size)
    again = SolverInquiry(problem(), gp.sgda_rr(batch=10, gradient=gp.Envelope()), 0)
    steps = again.inquiry()
    next(steps)
    same = steps.send(Replies(filled, asked.population.X[filled] + 0.1 * deployment.theta))
    np.testing.assert_array_equal(same.theta, following.theta)
