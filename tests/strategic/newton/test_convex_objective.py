"""The convex objective: derivatives against differences, bounds against points of the set."""

from typing import Any

import numpy as np
import pytest

import gameproof as gp
from gameproof.strategic.newton.constraints import Constraints
from gameproof.strategic.newton.convex_objective import ConvexObjective
from gameproof.strategic.newton.minimum import minimum
from strategic_problems import KINDS, random_problem

Vector = np.ndarray[Any, np.dtype[np.float64]]


def random_x(problem: gp.StrategicProblem, rng: np.random.Generator) -> Vector:
    x = rng.standard_normal(problem.x_set.dim) * 10 ** rng.uniform(-1, 1)
    x[-1] = abs(x[-1])
    return problem.x_set.project(x)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("given", [False, True])
def test_derivatives_are_those_of_the_value(name: str, given: bool) -> None:
    problem, rng = KINDS[name](), np.random.default_rng(0)
    gamma = rng.uniform(-1, 1, problem.n) if given else None
    objective = ConvexObjective(problem, gamma)
    nothing, step = np.zeros(objective.free.size), 1e-5
    for _ in range(3):
        v = objective.lift(random_x(problem, rng), 0.3)
        found = objective.derivatives(objective.at(v), nothing)
        np.testing.assert_allclose(objective.gradient(v), found.gradient, atol=1e-12)
        for c in range(v.size):
            change = step * np.eye(v.size)[c]
            up, down = objective.at(v + change), objective.at(v - change)
            slope = (up.value - down.value) / (2 * step)
            assert found.gradient[c] == pytest.approx(slope, abs=1e-6)
            slopes = [objective.derivatives(end, nothing).gradient for end in (up, down)]
            if not isinstance(problem.loss, gp.HuberHinge):  # whose second derivative jumps
                bend = (slopes[0] - slopes[1]) / (2 * step)
                np.testing.assert_allclose(found.hessian[c], bend, atol=2e-5)


@pytest.mark.parametrize("name", ["quadratic", "intercept", "labels both ways"])
def test_free_agents_add_their_bends_along_their_pulls(name: str) -> None:
    problem, rng = KINDS[name](), np.random.default_rng(1)
    objective = ConvexObjective(problem)
    v = random_x(problem, rng)
    rows = np.array([objective.pulls(e) for e in np.eye(v.size)]).T
    bends = rng.uniform(0, 5, objective.free.size)
    here = objective.at(v)
    added = (
        objective.derivatives(here, bends).hessian - objective.derivatives(here, 0 * bends).hessian
    )
    np.testing.assert_allclose(added, (rows.T * bends) @ rows / problem.n, atol=1e-12)
    np.testing.assert_allclose(objective.pulled(bends), bends @ rows / problem.n, atol=1e-12)
    t = problem.loss.s * objective.at(v).z - problem.label_cost * problem.population.y * v[-1]
    np.testing.assert_allclose(objective.pulls(v), t[objective.free], atol=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_bounds_hold_at_every_point_of_the_set(seed: int) -> None:
    """For all v and gamma, the lower bound is at most L(x, gamma) for all x: here for 50 points and
    the best one known."""
    problem, rng = random_problem(seed), np.random.default_rng(seed)
    gamma = rng.uniform(-1, 1, problem.n)
    objective = ConvexObjective(problem, gamma)
    best = minimum(problem, gamma).v
    others = [best, *(random_x(problem, rng) for _ in range(50))]
    least = min(problem.value(x, gamma) for x in others)
    for x in others[:10]:
        for room in (0.0, 0.1):
            here = objective.at(objective.lift(x, room))
            nobody = np.zeros(0)
            lower, upper = objective.bounds(here, objective.derivatives(here, nobody), nobody)
            value = problem.value(x, gamma)
            assert lower <= least + 1e-12 * max(1.0, abs(least))
            assert upper >= value - 1e-12 * max(1.0, abs(value))


@pytest.mark.parametrize("seed", range(30))
def test_minimum_of_a_given_gamma_is_within_its_bounds(seed: int) -> None:
    problem, rng = random_problem(seed), np.random.default_rng(seed)
    gamma = rng.uniform(-1, 1, problem.n)
    found = minimum(problem, gamma)
    assert problem.x_set.contains(found.v)
    assert found.lower <= problem.value(found.v, gamma) <= found.upper + 1e-12
    assert found.upper - found.lower <= 1e-8 * max(1.0, abs(found.upper))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_squares_and_bends_of_constraints_are_those_of_dense_matrices(kind: str) -> None:
    """The Hessian of each height by central differences of its gradient."""
    problem = KINDS[kind]()
    objective = ConvexObjective(problem)
    constraints = Constraints(objective)
    rng = np.random.default_rng(0)
    x = problem.interior + 0.02 * rng.uniform(0.5, 1.0, problem.interior.size)
    v, weights = objective.lift(x, 0.3), rng.uniform(size=constraints.number)
    slopes, squares = constraints.slopes(v), np.zeros((v.size, v.size))
    constraints.add_squares(squares, slopes, weights)
    np.testing.assert_allclose(squares, (slopes.T * weights) @ slopes, atol=1e-12)
    steps = 1e-6 * np.eye(v.size)
    changes = [constraints.slopes(v + h) - constraints.slopes(v - h) for h in steps]
    hessians = np.array(changes) / 2e-6
    bent = -np.einsum("j,ajb->ab", weights, hessians)
    np.testing.assert_allclose(constraints.bend(v, weights), bent, atol=1e-5)
