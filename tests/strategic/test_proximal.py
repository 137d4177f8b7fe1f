"""Descent-ascent at kinks: its step against a conic solver, its saddle points against Newton's."""

import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import gameproof as gp
from gameproof.strategic import descent_ascent
from gameproof.strategic.conic import score_rises
from gameproof.strategic.newton.convex_objective import ConvexObjective
from gameproof.strategic.proximal import Proximal
from strategic_problems import KINDS, make, random_budget_problem, synthetic

FIVE = np.where(np.arange(10) < 5, 1.0, 0.0)
FREE = [1.0, 2.0, 0.5, np.inf, 1.0, 3.0, 1.0, np.inf, 1.0, 1.0]


def ten(response: gp.Response, radius: float = 0.02, **options: Any) -> gp.StrategicProblem:
    people = gp.Population(*synthetic(200, 10), response)
    return gp.StrategicProblem(people, radius, **({"label_cost": 0.5, "intercept": 5.0} | options))


# The best classifier of each sits on a kink, and gradient steps stay some 1e-5 or more away.
ON_KINKS: dict[str, Callable[[], gp.StrategicProblem]] = {
    "ball": lambda: ten(gp.BallBudget(2.0, features=range(5))),
    "huge ball": lambda: ten(gp.BallBudget(1000.0, features=range(5))),
    "box": lambda: ten(gp.BoxBudget(-0.8 * FIVE, 0.8 * FIVE), label_cost=np.inf),
    "wide box": lambda: ten(gp.BoxBudget(-10 * FIVE, 10 * FIVE)),
    "box by agent": lambda: ten(
        gp.BoxBudget(-1.5 * FIVE, np.random.default_rng(0).random((200, 10)) * FIVE)
    ),
    "prices": lambda: ten(gp.PriceBudget(1.0, np.ones(10)), 0.05),
    "norm inf": lambda: ten(gp.BallBudget(0.5, norm=np.inf)),
    "norm 1": lambda: ten(gp.BallBudget(1.0, norm=1.0)),
    "power, norm 1": lambda: ten(gp.PowerCost(1.0, norm=1.0)),
    "power, norm inf": lambda: ten(gp.PowerCost(0.3, norm=np.inf)),
    "power, norm inf, degree 3": lambda: ten(gp.PowerCost(0.3, degree=3.0, norm=np.inf)),
    "cheap labels": lambda: ten(gp.BoxBudget(-FIVE, FIVE), label_cost=0.01),
    "some features accurate": lambda: ten(gp.PriceBudget(1.0, np.ones(10)), feature_cost=FREE),
    "category": KINDS["category"],
}


# Its movable features are in the cone in part: prox and projection in turn would end elsewhere.
HALF_IN_THE_CONE = {"ball of norm 1.3, half in the cone": lambda: random_budget_problem(2)}


@pytest.mark.parametrize("name", [*ON_KINKS, *HALF_IN_THE_CONE])
def test_the_tolerance_is_reached_on_kinks(name: str) -> None:
    problem = (ON_KINKS | HALF_IN_THE_CONE)[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        saddle = gp.saddle_point(problem, "gda")
    assert -1e-12 <= saddle.duality_gap <= 1e-6
    assert saddle.duality_gap == pytest.approx(
        gp.duality_gap(problem, saddle.x, saddle.y), abs=1e-11
    )
    assert abs(saddle.value - gp.saddle_point(problem).value) <= saddle.duality_gap + 1e-11
    assert problem.x_set.contains(saddle.x)


@pytest.mark.parametrize(
    "name",
    ["ball", "ball by agent", "ball, norm 1", "ball, norm 3", "box", "box by agent", "prices"],
)
def test_a_descent_is_the_argmin_of_the_model_that_keeps_the_kinks(name: str) -> None:
    """By a conic solver, which states what moving adds in its own way."""
    problem, rng = KINDS[name](), np.random.default_rng(0)
    objective, eta, people = ConvexObjective(problem), 0.7, problem.population
    x = problem.x_set.project(rng.standard_normal(problem.x_set.dim))
    v = objective.lift(x)
    z = objective.at(v).z
    way = Proximal(objective)
    found = way.descended(v, objective.gradient(v), eta)

    theta, intercept = cp.Variable(people.d), cp.Variable()
    rises, limits = score_rises(cp, problem, theta)
    scores = people.X @ theta + intercept + cp.multiply(people.y < 0, rises)
    if problem.intercept is None:
        limits.append(intercept == 0)
    labels = np.where(problem.has_gamma, 0.0, people.y)
    by_z = problem.loss.slope(z) - problem.loss.s * labels
    far = cp.sum_squares(theta - problem.split(x)[0]) + (intercept - problem.offset(x)) ** 2
    model = by_z @ scores / people.n + far / (2 * eta)
    cp.Problem(cp.Minimize(model), limits).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(problem.split(found)[0], theta.value, atol=1e-5)
    if problem.intercept is not None:
        assert problem.offset(found) == pytest.approx(float(intercept.value), abs=1e-5)


def test_out_of_steps_at_kinks_the_gap_is_told(monkeypatch) -> None:
    problem = ON_KINKS["ball"]()
    monkeypatch.setattr(descent_ascent, "MAX_STEPS", 1)
    with pytest.warns(UserWarning, match=r'certified to .* only.*method="newton" may come closer'):
        saddle = gp.saddle_point(problem, "gda")
    best = gp.saddle_point(problem).value
    assert saddle.duality_gap > 1e-6
    assert best - 1e-11 <= saddle.value <= best + saddle.duality_gap


def test_coefficients_on_a_kink_are_exactly_0() -> None:
    problem = ON_KINKS["ball"]()
    theta, _ = problem.split(gp.saddle_point(problem, "gda").x)
    assert not theta[:5].any()
    assert np.abs(theta[5:]).min() > 1e-3


def test_smooth_scores_take_plain_gradient_steps(monkeypatch) -> None:
    def refused(*_: Any) -> None:
        raise AssertionError("a proximal step")

    monkeypatch.setattr(descent_ascent, "Proximal", refused)
    for response in (gp.NoResponse(), gp.QuadraticCost(0.1), gp.PowerCost(0.1, norm=3.0)):
        assert gp.saddle_point(make(response=response), "gda").duality_gap <= 1e-6
