"""The value of the worst case against linear programs and duality, and refused input."""

import warnings
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from gameproof.strategic.worst_case import WorstCase, worst_case
from gameproof.strategic.worst_case_risk import worst_case_risk
from strategic_problems import KINDS
from worst_cases import (
    LOSSES,
    Array,
    answered,
    bound_from_above,
    linear_program,
    people,
    risk,
    theta_of,
    transport_cost,
)

# --- The value --------------------------------------------------------------------------------


def test_value_is_the_linear_program_over_distributions(made: Any) -> None:
    problem, theta, intercept = made
    program = linear_program(problem, theta, intercept)
    value = worst_case(problem, theta, intercept).value
    assert program - 1e-6 <= value <= program + 1e-4


def test_value_is_the_best_bound_from_duality(made: Any) -> None:
    problem, theta, intercept = made
    value = worst_case(problem, theta, intercept).value
    assert value == pytest.approx(bound_from_above(problem, theta, intercept), abs=1e-4)


def test_value_is_the_robust_value_at_its_alpha_and_least_there(made: Any) -> None:
    problem, theta, intercept = made
    worst = worst_case(problem, theta, intercept)
    least = (problem.loss.K + problem.loss.s) * np.linalg.norm(theta)
    assert worst.alpha >= least * (1 - 1e-15)
    # No cap to stop at: alpha may be any number here.
    problem = gp.StrategicProblem(
        problem.population,
        problem.radius,
        problem.label_cost,
        problem.loss,
        flips=problem.flips,
        alpha_max=1e9,
        intercept=2.0,
    )

    def robust(alpha: float) -> float:
        return problem.robust_value(problem.join(theta, alpha, intercept))

    assert robust(worst.alpha) == pytest.approx(worst.value, abs=1e-12)
    for alpha in np.linspace(least, least + 2 * worst.alpha + 1, 50):
        assert robust(float(alpha)) >= worst.value - 1e-12


@pytest.mark.parametrize("seed", range(40))
def test_linear_program_agrees_for_random_sizes_of_everything(seed: int) -> None:
    rng = np.random.default_rng([seed, 2])
    problem = gp.StrategicProblem(
        people(seed, n=int(rng.integers(8, 13)), power=float(rng.uniform(0, 0.5))),
        radius=float(rng.uniform(0, 0.6)),
        label_cost=float(rng.uniform(0.02, 1.0)),
        loss=LOSSES[seed % len(LOSSES)],
    )
    theta, intercept = theta_of(seed) * rng.uniform(0.2, 2), float(rng.normal() * (seed % 2))
    program = linear_program(problem, theta, intercept)
    assert program - 1e-6 <= worst_case(problem, theta, intercept).value <= program + 1e-4


def test_printed_form_understates_the_linear_program() -> None:
    population = people(4, n=8)
    theta = 0.98 * theta_of(4) / np.linalg.norm(theta_of(4))
    exact = gp.StrategicProblem(population, radius=0.4, label_cost=0.5)
    printed = gp.StrategicProblem(population, radius=0.4, label_cost=0.5, form="printed")
    program = linear_program(exact, theta, 0.0)
    assert worst_case(exact, theta).value == pytest.approx(program, abs=1e-4)
    assert worst_case(printed, theta).value < program - 0.1
    with pytest.raises(ValueError, match="unbounded below"):
        gp.StrategicProblem(population, radius=0.01, label_cost=0.5, form="printed")


def test_printed_form_is_the_exact_form_with_the_radius_it_amounts_to() -> None:
    population, theta = people(4, n=8), theta_of(4)
    printed = gp.StrategicProblem(population, radius=0.4, label_cost=0.5, form="printed")
    negative = 1 - population.n_positive / population.n
    exact = gp.StrategicProblem(population, radius=0.4 - 0.5 * negative, label_cost=0.5)
    worst = worst_case(printed, theta)
    assert worst.value == pytest.approx(worst_case(exact, theta).value, abs=1e-14)
    assert worst.radius == pytest.approx(exact.radius)
    assert transport_cost(printed, theta, worst) <= exact.radius + 1e-12
    assert worst.value == pytest.approx(printed.robust_value(printed.join(theta, worst.alpha)))
    assert f"a ball of radius {exact.radius:.6g}" in worst.note


@pytest.mark.parametrize("form", ["exact", "printed"])
@pytest.mark.parametrize("bound", [None, 3.0])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_at_the_saddle_point_the_worst_case_is_its_value(
    form: Any, bound: float | None, loss: gp.Loss
) -> None:
    problem = gp.StrategicProblem(
        people(7, n=60),
        radius=0.03 if form == "exact" else 0.15,
        label_cost=0.2,
        loss=loss,
        form=form,
        intercept=bound,
    )
    saddle = gp.saddle_point(problem)
    intercept = 0.0 if bound is None else float(saddle.x[0])
    worst = worst_case(problem, problem.split(saddle.x)[0], intercept)
    assert worst.value == pytest.approx(saddle.value, abs=1e-7)


@pytest.mark.parametrize("flips", ["one-way", "none", "both"])
def test_value_grows_with_the_radius_and_is_concave_in_it(flips: Any) -> None:
    population, theta = people(5, n=12, power=0.0), theta_of(5)
    radii = np.linspace(0, 1, 41)
    values = [
        worst_case(gp.StrategicProblem(population, r, 0.3, flips=flips), theta).value for r in radii
    ]
    assert (np.diff(values) >= 0).all()
    assert (np.diff(values, 2) <= 1e-12).all()


def test_alpha_is_what_a_unit_more_of_radius_adds() -> None:
    population, theta = people(5, n=12), theta_of(5)

    def at(radius: float) -> WorstCase:
        return worst_case(gp.StrategicProblem(population, radius, 0.05), theta)

    for radius in (0.011, 0.031, 0.3):
        slope = (at(radius + 1e-6).value - at(radius - 1e-6).value) / 2e-6
        assert slope == pytest.approx(at(radius).alpha, rel=1e-6)


def test_no_radius_leaves_the_risk_as_it_is() -> None:
    problem, theta = gp.StrategicProblem(people(3), 0.0, 0.5), theta_of(3)
    worst = worst_case(problem, theta)
    scores = answered(problem, theta) @ theta
    plain = np.log1p(np.exp(-problem.population.y * scores)).mean()
    assert worst.value == pytest.approx(plain, abs=1e-14)
    assert worst.attained
    assert str(worst.moves) == "nobody is changed"


def test_free_labels_flip_wherever_that_hurts() -> None:
    problem, theta = gp.StrategicProblem(people(3), 0.0, 0.0), theta_of(3)
    worst = worst_case(problem, theta)
    scores = answered(problem, theta) @ theta
    hurts = (problem.population.y > 0) & (scores > 0)
    np.testing.assert_array_equal(worst.moves.flipped, np.flatnonzero(hurts))
    signed = np.where(hurts, -1, problem.population.y) * scores
    assert worst.value == pytest.approx(np.log1p(np.exp(-signed)).mean(), abs=1e-14)


@pytest.mark.parametrize("intercept", [-0.6, 0.0, 0.6])
def test_without_theta_only_labels_matter(intercept: float) -> None:
    problem = gp.StrategicProblem(people(2), 0.1, 0.25, intercept=1.0)
    theta = np.zeros(3)
    worst = worst_case(problem, theta, intercept)
    # 0.1 buys mass 0.1 / (2 * 0.25) = 0.2 of labels, each worth 2 s * 0.6 where the sign is right.
    plain = np.log1p(np.exp(-problem.population.y * intercept)).mean()
    assert worst.value == pytest.approx(plain + 0.2 * max(0.0, intercept), abs=1e-14)
    assert worst.attained
    assert worst.moves.moved.size == 0
    assert risk(problem, theta, intercept, worst) == pytest.approx(worst.value, abs=1e-14)


@pytest.mark.parametrize("kappa", [0.0, 0.5])
def test_nobody_is_changed_where_nothing_is_gained(kappa: float) -> None:
    worst = worst_case(gp.StrategicProblem(people(2), 0.3, kappa), np.zeros(3))
    assert worst.value == pytest.approx(np.log(2), abs=1e-15)
    assert str(worst.moves) == "nobody is changed"
    assert (worst.cost, worst.alpha) == (0.0, 0.0)


# --- What is refused, and what is not asked -----------------------------------------------------


def test_nobody_is_asked() -> None:
    population = people(1)
    worst_case(gp.StrategicProblem(population, 0.2, 0.3), theta_of(1))
    assert (population.n_answers, population.n_deployments) == (0, 0)


def test_black_boxes_are_refused_before_anyone_is_asked() -> None:
    known = people(1)

    def refuse(theta: Array, agents: Any) -> Array:
        raise AssertionError("somebody was asked")

    population = gp.Population(known.X, known.y, gp.BlackBox(refuse))
    problem = gp.StrategicProblem(population, 0.2, 0.3)
    with pytest.raises(TypeError, match="worst_case needs the response function"):
        worst_case(problem, theta_of(1))


class Halfway(gp.Response):
    """A user's response that equals a quadratic cost of power 0.5."""

    def answers(self, theta: Any, features: Any, agents: Any) -> Any:
        return features + 0.5 * theta

    def fit(self, n: int, d: int) -> None:
        pass


def test_response_of_a_users_own_is_enough_and_nobody_is_asked() -> None:
    X, y = [[3.0, 1.0], [0.5, 0.0], [2.0, -1.0], [-1.0, 0.3]], [1, 1, -1, -1]
    own, built_in = (
        gp.StrategicProblem(gp.Population(X, y, response), 0.1, 0.5)
        for response in (Halfway(), gp.QuadraticCost(0.5))
    )
    theta = [0.8, -0.4]
    assert worst_case(own, theta).value == pytest.approx(worst_case(built_in, theta).value)
    assert own.population.n_answers == own.population.n_deployments == 0


@pytest.mark.parametrize("method", [gp.saddle_point, gp.largest_useful_radius])
def test_exact_solution_needs_a_closed_form_and_says_so(method: Any) -> None:
    people = gp.Population([[3.0], [0.5]], [1, -1], Halfway())
    with pytest.raises(TypeError, match=r"needs a response in closed form.*Halfway only gives"):
        method(gp.StrategicProblem(people, 0.1, 0.5))


def test_alpha_above_the_cap_is_named_and_the_value_is_still_the_worst_case() -> None:
    population, theta = people(9), 2 * theta_of(9)
    capped = gp.StrategicProblem(population, 0.001, 0.01, alpha_max=5.0)
    worst = worst_case(capped, theta)
    assert worst.alpha > 5.0
    assert "alpha_max = 5" in worst.note
    assert worst.value == pytest.approx(linear_program(capped, theta, 0.0), abs=1e-4)
    assert capped.robust_value(capped.join(theta, 5.0)) > worst.value


@pytest.mark.parametrize(
    ("theta", "options", "error", "message"),
    [
        ([1.0, 2.0], {}, ValueError, r"shape \(2,\), the population 3 features"),
        ([1.0, 2.0, 3.0, 4.0], {}, ValueError, r"problem.split\(x\)"),
        ([1.0, np.nan, 0.0], {}, ValueError, "theta must be finite"),
        (["a", "b", "c"], {}, TypeError, "theta must be a vector of numbers"),
        ([1.0, 0.0, 0.0], {"intercept": np.inf}, ValueError, "intercept must be finite"),
        ([1.0, 0.0, 0.0], {"intercept": [1.0, 2.0]}, ValueError, "intercept must be one number"),
        ([1.0, 0.0, 0.0], {"tolerance": 0.0}, ValueError, "tolerance must be positive"),
    ],
)
def test_bad_input_is_refused(theta: Any, options: Any, error: Any, message: str) -> None:
    problem = gp.StrategicProblem(people(1), 0.2, 0.3)
    with pytest.raises(error, match=message):
        worst_case(problem, theta, **options)


def test_extreme_numbers_give_finite_answers_without_warnings() -> None:
    population = people(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scale in (1e-300, 1e-160, 1e6):
            for kappa in (1e-300, 1e3):
                problem = gp.StrategicProblem(population, 0.2, kappa)
                worst = worst_case(problem, scale * theta_of(1), tolerance=1e-15)
                assert np.isfinite(worst.value)
                assert np.isfinite(worst.distribution.features).all()
                assert worst.cost <= 0.2 + 1e-12


@pytest.mark.parametrize("name", KINDS)
def test_risk_alone_is_the_value_of_the_distribution_that_attains_it(name: str) -> None:
    problem, rng = KINDS[name](), np.random.default_rng(0)
    theta = rng.standard_normal(problem.population.d)
    intercept = None if problem.intercept is None else 0.3
    whole = gp.worst_case(problem, theta, intercept)
    given = intercept or 0.0
    risk = whole.distribution.risk(problem.loss, theta, given)
    assert worst_case_risk(problem, theta, given) == pytest.approx(whole.value, rel=1e-12)
    assert risk == pytest.approx(whole.value, abs=2e-6)
