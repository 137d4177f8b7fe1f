"""The worst-case distribution: it lies on the ball and attains the value; whom it changes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gameproof as gp
from gameproof.strategic.worst_case import worst_case
from worst_cases import LOSSES, people, risk, theta_of, transport_cost

ALONG = np.array([1.5, 0.2, -0.1])  # mostly along the feature behind the labels


def test_distribution_gives_the_value_back_within_the_radius(made: Any) -> None:
    problem, theta, intercept = made
    worst = worst_case(problem, theta, intercept)
    back = risk(problem, theta, intercept, worst)
    assert worst.distribution.risk(problem.loss, theta, intercept) == pytest.approx(back, abs=1e-12)
    assert worst.value - 1e-6 - 1e-12 <= back <= worst.value + 1e-12
    assert back == pytest.approx(worst.value - worst.shortfall, abs=1e-9)
    cost = transport_cost(problem, theta, worst)
    assert cost <= problem.radius + 1e-12
    assert worst.cost == pytest.approx(cost, abs=1e-12)
    assert worst.attained == (worst.shortfall == 0)
    assert ("attains the worst case." in worst.note) == worst.attained


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 30),
    flips=st.sampled_from(["one-way", "both", "none"]),
    loss=st.sampled_from(LOSSES),
    kappa=st.sampled_from([0.0, 1e-3, 0.1, 0.5, 3.0]),
    delta=st.one_of(st.sampled_from([0.0, 1e-9, 0.1, 0.2, 0.3, 50.0]), st.floats(0, 1)),
    scale=st.sampled_from([1e-12, 1e-3, 1.0, 100.0]),
)
def test_distribution_on_the_ball_and_price_of_budget_enclose_the_value(
    seed: int, n: int, flips: Any, loss: gp.Loss, kappa: float, delta: float, scale: float
) -> None:
    """A distribution on the ball gives a lower bound, the objective at any alpha an upper bound."""
    population = people(seed, n=n, power=0.0 if flips == "both" else 0.2)
    problem = gp.StrategicProblem(population, delta, kappa, loss, flips=flips, alpha_max=1e12)
    theta = scale * theta_of(seed)
    worst = worst_case(problem, theta)
    allowed = 1e-11 * (1 + abs(worst.value))
    assert transport_cost(problem, theta, worst) <= delta + 1e-12 * (1 + delta)
    below = risk(problem, theta, 0.0, worst)
    above = problem.robust_value(problem.join(theta, worst.alpha))
    assert below - allowed <= worst.value <= below + 1e-6 + allowed
    assert worst.value == pytest.approx(above, abs=allowed)


@pytest.mark.parametrize("number", range(8))
def test_negative_labels_never_flip_one_way(number: int) -> None:
    problem = gp.StrategicProblem(people(number), 0.5, 0.05)
    worst = worst_case(problem, ALONG)
    spread = worst.distribution
    assert (spread.labels[problem.population.y[spread.agent] < 0] == -1).all()
    assert worst.moves.flipped.size
    assert (problem.population.y[worst.moves.flipped] > 0).all()


def test_no_label_flips_where_labels_are_fixed() -> None:
    problem = gp.StrategicProblem(people(1), 0.5)
    spread = worst_case(problem, theta_of(1)).distribution
    np.testing.assert_array_equal(spread.labels, problem.population.y[spread.agent])


def test_negative_labels_flip_both_ways() -> None:
    problem = gp.StrategicProblem(people(1, power=0.0), 0.9, 0.01, flips="both")
    moves = worst_case(problem, theta_of(1)).moves
    assert set(problem.population.y[moves.flipped]) == {-1.0, 1.0}


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9])
def test_logistic_worst_case_is_approached_as_closely_as_asked(tolerance: float) -> None:
    problem, theta = gp.StrategicProblem(people(1), 0.2), theta_of(1)
    worst = worst_case(problem, theta, tolerance=tolerance)
    assert not worst.attained
    assert 0 < worst.shortfall <= tolerance
    assert "No distribution attains" in worst.note
    assert risk(problem, theta, 0.0, worst) == pytest.approx(worst.value, abs=1.01 * tolerance)
    assert worst.value == worst_case(problem, theta).value


def test_tolerance_below_rounding_is_served_to_rounding() -> None:
    problem, theta = gp.StrategicProblem(people(1), 0.2), theta_of(1)
    worst = worst_case(problem, theta, tolerance=1e-300)
    assert risk(problem, theta, 0.0, worst) == pytest.approx(worst.value, abs=1e-13)


def test_huber_worst_case_is_attained_beyond_the_width_and_approached_within() -> None:
    X, y = np.array([[0.5], [-0.5]]), [1, -1]
    population = gp.Population(X, y)
    for width, attained in ((0.4, True), (2.0, False)):
        problem = gp.StrategicProblem(population, 0.2, loss=gp.HuberHinge(width))
        assert worst_case(problem, [-1.0]).attained == attained


def test_whose_label_flipped_may_move_as_well() -> None:
    """The +1 agent is the only one where phi has slope K, and that in the direction of its loss as
    a -1 agent: it takes the rest of the budget, and the worst case is attained."""
    population = gp.Population([[3.0], [0.1]], [1, -1])
    problem = gp.StrategicProblem(population, 0.7, 0.5, loss=gp.HuberHinge())
    worst = worst_case(problem, [1.0])
    assert worst.attained
    np.testing.assert_array_equal(worst.distribution.labels, [-1, -1])
    np.testing.assert_allclose(worst.distribution.features, [[3.4], [0.1]])


def test_attained_worst_case_takes_no_small_change() -> None:
    """The whole of an agent moves, and the value comes back to rounding."""
    problem = gp.StrategicProblem(people(1), 0.2, loss=gp.HuberHinge(0.1))
    theta = theta_of(1)
    worst = worst_case(problem, theta)
    np.testing.assert_allclose(worst.moves.moved_mass, 1 / problem.n)
    np.testing.assert_allclose(worst.moves.distance, 0.2 * problem.n)
    assert risk(problem, theta, 0.0, worst) == pytest.approx(worst.value, abs=1e-14)


def test_flips_go_to_the_best_classified_agents_and_the_last_in_part() -> None:
    X = np.array([[4.0], [3.0], [2.0], [1.0], [-1.0]])
    population = gp.Population(X, [1, 1, 1, 1, -1])
    # A label costs 2 * 0.1 / 5 = 0.04; flips of the first three gain 20, 15, 10 a unit, the best
    # distance 1. So 0.1 buys two and a half.
    worst = worst_case(gp.StrategicProblem(population, 0.1, 0.1), [1.0])
    np.testing.assert_array_equal(worst.moves.flipped, [0, 1, 2])
    np.testing.assert_allclose(worst.moves.flipped_mass, [0.2, 0.2, 0.1])
    assert worst.alpha == pytest.approx(10.0)
    assert worst.attained
    assert str(worst.moves) == "flipped: 3 agents, mass 0.5"


def test_budget_that_is_a_whole_number_of_labels_leaves_no_slivers() -> None:
    population = people(6, n=49)
    divided = set()
    for labels in range(1, 8):
        for kappa in (0.01, 0.013, 0.007):
            problem = gp.StrategicProblem(population, labels * (2 * kappa / 49), kappa)
            worst = worst_case(problem, ALONG)
            assert worst.distribution.weights.size == 49
            assert worst.moves.flipped.size == labels
            divided.add(49 * problem.radius / (2 * kappa) - labels)
    assert divided - {0.0}, "no case in which rounding matters"
