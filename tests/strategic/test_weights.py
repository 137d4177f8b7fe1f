"""Weights: an agent of weight k counts as k agents, in everything that is computed."""

import numpy as np
import pytest

import gameproof as gp
from strategic_problems import KINDS, make

COUNTS = np.random.default_rng(5).integers(1, 4, 60)


def rebuilt(problem: gp.StrategicProblem, people: gp.Population) -> gp.StrategicProblem:
    return gp.StrategicProblem(
        people,
        problem.radius,
        problem.label_cost,
        problem.loss,
        form=problem.form,
        flips=problem.flips,
        alpha_max=problem.alpha_max,
        intercept=problem.intercept,
        feature_cost=problem.feature_cost,
    )


def weighted(problem: gp.StrategicProblem, weights=COUNTS) -> gp.StrategicProblem:
    old = problem.population
    return rebuilt(problem, gp.Population(old.X, old.y, old.response, weights=weights))


def repeated(problem: gp.StrategicProblem) -> gp.StrategicProblem:
    old, response = problem.population, problem.population.response
    rows = np.repeat(np.arange(60), COUNTS)
    return rebuilt(problem, gp.Population(old.X[rows], old.y[rows], response.of_agents(rows)))


PAIRS = {
    name: (lambda make=make: (weighted(make()), repeated(make()))) for name, make in KINDS.items()
}
each_pair = pytest.mark.parametrize("name", PAIRS)


def some_point(problem: gp.StrategicProblem, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2, problem.x_set.dim)
    x[-1] = abs(x[-1])  # no apex, where boxes have a kink
    x = problem.x_set.project(x)
    return x, rng.uniform(-1, 1, 60)


@each_pair
def test_values_are_those_of_repeated_agents(name: str) -> None:
    one, many = PAIRS[name]()
    for seed in range(3):
        x, gamma = some_point(one, seed)
        copies = np.repeat(gamma, COUNTS)
        assert one.value(x, gamma) == pytest.approx(many.value(x, copies), abs=1e-12)
        assert one.robust_value(x) == pytest.approx(many.robust_value(x), abs=1e-12)
        assert one.duality_gap(x, gamma) == pytest.approx(many.duality_gap(x, copies), abs=1e-8)


@each_pair
def test_gradients_of_samples_are_the_derivatives_of_their_values(name: str) -> None:
    one, _ = PAIRS[name]()
    x, gamma = some_point(one, 1)
    x = one.interior + 0.2 * (x - one.interior)
    for i in (0, 1, 2, 3):
        by_x, by_gamma = one.gradient(i, x, gamma)

        def at(x: np.ndarray, gamma: np.ndarray, i: int = i) -> float:
            return one.values([i], x, gamma)[0]

        for k, found in enumerate(by_x):
            h = 1e-6 * (np.arange(x.size) == k)
            slope = (at(x + h, gamma) - at(x - h, gamma)) / 2e-6
            assert found == pytest.approx(slope, abs=1e-5)
        h = 1e-6 * (np.arange(60) == i)
        slope = (at(x, gamma + h) - at(x, gamma - h)) / 2e-6
        assert by_gamma[i] == pytest.approx(slope, abs=1e-5)


@pytest.mark.filterwarnings("ignore::gameproof.core.errors.CapWarning")
@each_pair
def test_saddle_points_are_those_of_repeated_agents(name: str) -> None:
    one, many = PAIRS[name]()
    ours, theirs = gp.saddle_point(one), gp.saddle_point(many)
    assert ours.value == pytest.approx(theirs.value, abs=1e-9)
    assert ours.duality_gap < 1e-8
    np.testing.assert_allclose(one.split(ours.x)[0], many.split(theirs.x)[0], atol=2e-4)
    assert one.duality_gap(ours.x, ours.y) < 1e-8
    np.testing.assert_allclose(np.abs(ours.y).max(), np.abs(theirs.y).max(), atol=1e-6)


@pytest.mark.parametrize("flips", ["one-way", "none"])
def test_saddle_point_of_many_is_that_of_repeated_agents(flips: str) -> None:
    """With so many agents that the interior-point method gets a sample."""
    X, y = gp.synthetic_people(n=9000, d=3, seed=1)
    counts = np.random.default_rng(2).integers(1, 4, 9000)
    cost = 0.4 if flips == "one-way" else np.inf
    found = []
    for rows, weights in ((np.arange(9000), counts), (np.repeat(np.arange(9000), counts), None)):
        people = gp.Population(X[rows], y[rows], gp.QuadraticCost(0.2), weights=weights)
        problem = gp.StrategicProblem(people, 0.05, cost, intercept=3.0)
        found.append(gp.saddle_point(problem))
        assert found[-1].duality_gap < 1e-8
        assert problem.duality_gap(found[-1].x, found[-1].y) < 1e-8
    assert found[0].value == pytest.approx(found[1].value, abs=1e-9)
    np.testing.assert_allclose(found[0].x[:-1], found[1].x[:-1], atol=1e-4)


@pytest.mark.parametrize("name", ["quadratic", "intercept", "labels both ways", "Huber"])
def test_other_methods_find_the_same_point(name: str) -> None:
    one, many = PAIRS[name]()
    value = gp.saddle_point(many).value
    assert gp.saddle_point(one, "conic").value == pytest.approx(value, abs=1e-7)
    assert gp.saddle_point(one, "conic").duality_gap < 1e-6
    assert gp.saddle_point(one, "gda").value == pytest.approx(value, abs=2e-6)


@each_pair
@pytest.mark.parametrize("radius", [0.001, 0.05, 0.4, 3.0])
def test_worst_cases_are_those_of_repeated_agents(name: str, radius: float) -> None:
    one, many = (problem.at_radius(radius + problem.least_radius) for problem in PAIRS[name]())
    x, _ = some_point(one, 7)
    theta, intercept = one.split(x)[0], 0.3 if one.intercept else None
    ours, theirs = gp.worst_case(one, theta, intercept), gp.worst_case(many, theta, intercept)
    assert ours.value == pytest.approx(theirs.value, abs=1e-12)
    assert ours.alpha == pytest.approx(theirs.alpha, abs=1e-12)
    spread = ours.distribution
    assert spread.weights.sum() == pytest.approx(1.0)
    assert (spread.weights > 0).all()
    by_agent = np.bincount(spread.agent, spread.weights, 60)
    np.testing.assert_allclose(by_agent, COUNTS / COUNTS.sum(), atol=1e-12)
    risk = spread.risk(one.loss, theta, intercept or 0.0)
    assert risk + ours.shortfall == pytest.approx(ours.value, abs=1e-9)
    assert ours.cost <= ours.radius * (1 + 1e-12) + 1e-15


def test_fresh_answers_give_the_weighted_risk() -> None:
    one, many = PAIRS["intercept"]()
    theta = np.array([0.5, -0.3, 0.8])
    truth = gp.worst_case(many, theta, 0.2).value
    assert gp.estimate_risk(one, theta, 0.2).value == pytest.approx(truth, abs=1e-12)
    guesses = [gp.estimate_risk(one, theta, 0.2, queries=8, seed=seed) for seed in range(400)]
    values = np.array([guess.value for guess in guesses])
    # Unbiased: a correct estimate exceeds 4 standard errors once in 16,000.
    assert abs(values.mean() - truth) < 4 * values.std() / 20


@pytest.mark.parametrize("gradient", [gp.TwoPoint(), gp.Envelope(), gp.Exact()])
def test_solvers_see_the_weights_whichever_way_they_run(gradient) -> None:
    plain = make(intercept=2.0)
    weights = np.where(plain.population.y < 0, 10.0, 1.0)
    problem = weighted(plain, weights)
    solver = gp.ogda_rr(gradient=gradient, step=gp.Power(0.05, 0.5), radius=0.2)
    runs = [gp.solve(problem, solver, epochs=2, seed=0, compiled=c) for c in (True, False)]
    np.testing.assert_array_equal(runs[0].x, runs[1].x)
    far = gp.solve(problem, solver, epochs=400, seed=0)
    saddle, unweighted = gp.saddle_point(problem), gp.saddle_point(plain)
    missed = problem.robust_value(unweighted.x) - saddle.value
    assert missed > 0.05
    assert problem.robust_value(far.x) - saddle.value < missed / 5


def test_people_who_are_asked_count_by_their_weights() -> None:
    """A black box that answers as the model does gives the same run."""
    model = weighted(make())
    old = model.population
    box = gp.BlackBox(lambda theta, agents: old.X[agents] + 0.2 * theta)
    asked = rebuilt(model, gp.Population(old.X, old.y, box, weights=3 * COUNTS))
    solver = gp.ogda_rr(gradient=gp.TwoPoint(), step=0.02, radius=0.2)
    runs = [gp.solve(problem, solver, epochs=3, seed=1) for problem in (model, asked)]
    np.testing.assert_allclose(runs[0].x, runs[1].x, atol=1e-10)


def test_only_ratios_matter_and_equal_weights_are_none() -> None:
    problem = make()
    saddles = [gp.saddle_point(weighted(problem, w)) for w in (COUNTS, 1e200 * COUNTS)]
    np.testing.assert_array_equal(saddles[0].x, saddles[1].x)
    none, equal = gp.saddle_point(problem), gp.saddle_point(weighted(problem, np.full(60, 0.1)))
    np.testing.assert_array_equal(none.x, equal.x)
    assert weighted(problem, np.full(60, 0.1)).fingerprint == problem.fingerprint
    assert weighted(problem).fingerprint != problem.fingerprint


def test_baselines_take_weights() -> None:
    one, many = PAIRS["quadratic"]()
    for regression in (gp.strategic_regression, gp.plain_regression):
        ours, theirs = (regression(problem.population)[0] for problem in (one, many))
        np.testing.assert_allclose(ours, theirs, atol=1e-4)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(59), "one number per row of X, 60, got shape"),
        (np.zeros(60), "weights must be positive, got 0"),
        (-np.ones(60), "weights must be positive, got -1"),
        (np.full(60, np.nan), "weights must be finite"),
        (["a"] * 60, "weights must be an array of numbers"),
        (1.0, "one number per row"),
    ],
)
def test_wrong_weights_are_refused(weights, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        weighted(make(), weights)
