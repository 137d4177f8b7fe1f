"""What a strategic problem accepts and refuses, and where a run starts."""

from typing import Any

import numpy as np
import pytest

import gameproof as gp
from plain_strategic import EPS, ETA, Crowd, D, N, Plain, people


def make_problem(**changed: Any) -> gp.StrategicProblem:
    X, y = people()
    response = changed.pop("response", gp.QuadraticCost(0.1))
    parts = {"radius": 0.1, "label_cost": 0.5} | changed
    return gp.StrategicProblem(gp.Population(X, y, response), **parts)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"radius": -0.1}, "radius must be finite and at least 0, got -0.1"),
        ({"radius": float("nan")}, "radius must be finite and at least 0, got nan"),
        ({"radius": float("inf")}, "radius must be finite and at least 0, got inf"),
        ({"label_cost": -1.0}, "label_cost must be at least 0, got -1.0"),
        ({"label_cost": float("nan")}, "label_cost must be at least 0, got nan"),
        ({"form": "precise"}, "form must be one of exact, printed, got 'precise'"),
        ({"flips": "some"}, "flips must be one of one-way, none, both, got 'some'"),
        ({"positive": "known"}, "positive must be one of exact, estimated, got 'known'"),
        ({"label_cost": 1e300}, r"label_cost must be at most 1e\+100, got 1e\+300: .*overflow"),
        ({"radius": 1e300}, r"radius must be at most 1e\+100, got 1e\+300"),
        ({"response": gp.QuadraticCost([0.1] * (N - 1) + [1e300])}, r"power .* got 1e\+300"),
        ({"alpha_max": 0.0}, "alpha_max must be positive"),
        ({"alpha_max": float("inf")}, "alpha_max must be positive and finite"),
        ({"intercept": -1.0}, "intercept must be positive"),
        ({"flips": "both"}, "only where nobody moves"),
        ({"flips": "one-way", "label_cost": float("inf")}, "needs a finite label_cost"),
        ({"flips": "both", "label_cost": float("inf")}, "needs a finite label_cost"),
        ({"form": "printed", "flips": "none", "radius": 1.0}, "printed"),
    ],
    ids=str,
)
def test_bad_numbers_and_names_are_refused_with_a_sentence(
    changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make_problem(**changed)


def test_flips_both_ways_are_refused_for_a_black_box() -> None:
    box = gp.BlackBox(lambda theta, agents: people()[0][agents])
    with pytest.raises(ValueError, match="only where nobody moves"):
        make_problem(response=box, flips="both")


def test_features_too_large_to_multiply_are_refused_with_a_sentence() -> None:
    X, y = people()
    X[-1, 0] = -1e160
    with pytest.raises(ValueError, match=r"X must be at most 1e\+100, got 1e\+160"):
        gp.StrategicProblem(gp.Population(X, y), 0.1, 0.5)


@pytest.mark.parametrize("intercept", [None, 2.0])
@pytest.mark.parametrize("x", [np.zeros(2), np.zeros(D + 3), np.zeros((1, D + 1)), 0.0])
def test_parts_of_what_is_no_point_are_refused(intercept: float | None, x: Any) -> None:
    problem = make_problem(intercept=intercept)
    with pytest.raises(ValueError, match=rf"x has .* coordinates, the set has {problem.x_set.dim}"):
        problem.split(x)
    if intercept is not None:
        with pytest.raises(ValueError, match=r"x has .* coordinates, the set has"):
            problem.offset(x)


def test_value_of_one_sample_may_be_asked_by_its_number() -> None:
    problem = make_problem()
    x, y = problem.start
    np.testing.assert_array_equal(problem.values(3, x, y), problem.values([3], x, y))


@pytest.mark.parametrize("given", [None, np.zeros((3, 2)), gp.QuadraticCost(0.1)])
def test_what_is_not_a_population_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match="population must be a Population, got"):
        gp.StrategicProblem(given, 0.1, 0.5)


def test_printed_form_is_refused_where_unbounded_naming_the_smallest_radius() -> None:
    X, y = people()
    population = gp.Population(X, y)
    least = 0.5 * float(np.mean(y < 0))
    with pytest.raises(ValueError, match=f"smallest radius that works is {least:.6g}"):
        gp.StrategicProblem(population, least - 1e-3, 0.5, form="printed")
    at_least = gp.StrategicProblem(population, least, 0.5, form="printed")
    assert at_least.robust_value([0, 0, 0, 0, 20.0]) == pytest.approx(np.log(2))
    # The oracle: below that radius the risk of theta = 0 decreases in alpha without bound.
    below = Plain(form="printed", delta=least - 1e-3, zeta=0.0)
    risks = []
    for alpha in (10.0, 1000.0):
        ends = [np.concatenate([np.zeros(D), [alpha], np.full(N, g)]) for g in (-1.0, 1.0)]
        risks.append(np.mean([max(below.value(i, u) for u in ends) for i in range(N)]))
    assert risks[1] < risks[0] - 0.9


@pytest.mark.parametrize("scores", [False, True])
def test_exact_gradients_of_a_black_box_are_refused_before_the_first_query(scores: bool) -> None:
    crowd = Crowd(Plain(), scores)
    with pytest.raises(ValueError, match=r"Exact\(\) needs the gradient of x, and .* does not"):
        gp.solve(crowd.problem(), gp.ogda_rr(gradient=gp.Exact()), epochs=1, seed=0)
    assert crowd.calls == 0


def test_gradient_of_a_black_box_is_none_where_it_is_unknown() -> None:
    crowd = Crowd(Plain())
    problem = crowd.problem()
    x, gamma = np.split(Plain().random_point(np.random.default_rng(0)), [D + 1])
    asked, _ = problem.gradient(1, x, gamma)
    assert crowd.plain.y[1] < 0
    assert asked is None


@pytest.mark.parametrize("what", ["value", "robust_value", "duality_gap", "best_gamma"])
def test_whole_risk_of_a_black_box_is_refused_with_a_sentence(what: str) -> None:
    crowd = Crowd(Plain())
    problem = crowd.problem()
    x, gamma = problem.start
    arguments = (x,) if what in ("robust_value", "best_gamma") else (x, gamma)
    with pytest.raises(TypeError, match=r"needs .*response function|needs an answer"):
        getattr(problem, what)(*arguments)
    assert crowd.calls == 0


def test_tolerance_without_a_score_is_refused_for_a_black_box_before_the_first_query() -> None:
    crowd = Crowd(Plain())
    with pytest.raises((TypeError, ValueError), match=r"score|response function"):
        gp.solve(crowd.problem(), gp.ogda_rr(step=ETA, radius=EPS), tolerance=0.1, seed=0)
    assert crowd.calls == 0


def test_points_of_the_wrong_size_are_refused() -> None:
    problem = make_problem()
    with pytest.raises(ValueError, match="x has 3 coordinates, the set has 5"):
        problem.value(np.zeros(3), np.zeros(N))
    with pytest.raises(ValueError, match="y has 2 coordinates, the set has 23"):
        problem.value(np.zeros(5), np.zeros(2))
    with pytest.raises(IndexError, match="samples 0 to 22, got 23"):
        problem.gradient(23, *problem.start)


def test_parts_of_x_come_apart_and_together() -> None:
    for intercept in (None, 2.0):
        problem = make_problem(intercept=intercept)
        x = problem.join([1.0, 2.0, 3.0, 4.0], 5.0, 0.5)
        assert x.tolist() == ([] if intercept is None else [0.5]) + [1, 2, 3, 4, 5]
        theta, alpha = problem.split(x)
        assert (theta.tolist(), alpha) == ([1, 2, 3, 4], 5.0)


def test_run_starts_at_theta_zero_alpha_one_gamma_zero_with_steps_scaled_by_twice_n() -> None:
    for cap, alpha in ((20.0, 1.0), (0.5, 0.5)):
        problem = make_problem(alpha_max=cap)
        x, gamma = problem.start
        assert x.tolist() == [0, 0, 0, 0, alpha]
        assert not gamma.any()
        assert problem.scale == (1.0, 2.0 * N)


def test_points_may_be_of_any_kind_of_numbers_but_not_of_any_length() -> None:
    X = np.arange(12.0).reshape(4, 3)
    problem = gp.StrategicProblem(gp.Population(X, [1, -1, 1, -1]), radius=0.1, label_cost=0.5)
    x, y = np.array([0, 1, 2, 3]), np.arange(problem.n) % 2
    expected = problem.gradient(0, x.astype(float), y.astype(float))
    for found in (
        problem.gradient(0, x, y),
        problem.gradient(0, x.astype(np.float32), y.astype(np.float32)),
        problem.gradient(0, np.repeat(x.astype(float), 2)[::2], y.astype(float)),
    ):
        assert all(map(np.array_equal, found, expected))
    with pytest.raises(ValueError, match="x has 3 coordinates, the set has 4"):
        problem.gradient(0, x[:3].astype(float), y.astype(float))
    with pytest.raises(ValueError, match="x has 5 coordinates, the set has 4"):
        problem.evaluate(np.arange(2), np.zeros(5), y.astype(float))
