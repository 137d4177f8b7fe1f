"""The adversary's answer, held against linear programs over distributions and against duality.

The programs know nothing of breakpoints or of who should flip: each agent's mass is spread over a
list of points, with both labels where they may flip, at most the radius is spent, and the risk is
maximised. Every such distribution is on the ball, so the program's value is a lower bound of the
worst case; its list reaches so far along theta that it comes within 1e-4. From above, any price of
a unit of budget gives a bound, and the best one is searched for numerically.
"""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

import gameproof as gp
from gameproof.exact.worst_case import WorstCase, worst_case

Array = NDArray[np.float64]

FAR = 1e6
ALONG = np.array([1.5, 0.2, -0.1])  # much along the feature that labels come from
LOSSES = [gp.Logistic(), gp.HuberHinge(), gp.HuberHinge(0.3), gp.PseudoHuberHinge()]
STEPS = np.concatenate([[0.0], np.geomspace(0.01, FAR, 33), -np.geomspace(0.01, FAR, 33)])


def people(seed: int, n: int = 10, d: int = 3, power: float = 0.2) -> gp.Population:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sign(X[:, 0] + 0.5 * rng.standard_normal(n))
    y[0], y[1] = 1, -1
    return gp.Population(X, y, gp.QuadraticCost(power, features=[0, 1]) if power else None)


def theta_of(seed: int, d: int = 3) -> Array:
    return np.random.default_rng([seed, 1]).standard_normal(d)


def answered(problem: gp.StrategicProblem, theta: Array) -> Array:
    """The answers, by their definition in math: x + power * (movable part of theta)."""
    population = problem.population
    response: Any = population.response
    moves = np.outer(population.y < 0, theta * [1, 1, 0][: theta.size])
    return population.X + float(response.power) * moves


def labels_allowed(problem: gp.StrategicProblem, label: float) -> list[float]:
    if problem.flips == "none" or (problem.flips == "one-way" and label < 0):
        return [label]
    return [1.0, -1.0]


def linear_program(problem: gp.StrategicProblem, theta: Array, intercept: float) -> float:
    """The largest risk among distributions on the list of points.

    A mass m that goes to a point of cost k enters as m max(1, k), so that far points, which get
    little mass, do not vanish in the solver's tolerances.
    """
    rng = np.random.default_rng(0)
    norm = np.linalg.norm(theta)
    along = np.outer(STEPS, theta / norm if norm else np.eye(theta.size)[0])
    offsets = np.vstack([along, 0.5 * rng.standard_normal((20, theta.size))])
    agents, gains, costs = [], [], []
    for i, (x, y) in enumerate(zip(answered(problem, theta), problem.population.y, strict=True)):
        for label in labels_allowed(problem, y):
            flip = 0.0 if label == y else 2 * problem.label_cost
            for offset in offsets:
                z = np.float64((x + offset) @ theta + intercept)
                agents.append(i)
                gains.append(float(problem.loss.phi(z) - problem.loss.s * label * z))
                costs.append(float(np.linalg.norm(offset)) + flip)
    scale = np.maximum(1.0, costs)
    mass = np.zeros((problem.n, len(agents)))
    mass[agents, np.arange(len(agents))] = 1 / scale
    found = linprog(
        -np.array(gains) / scale,
        A_ub=[np.array(costs) / scale],
        b_ub=[problem.radius],
        A_eq=mass,
        b_eq=np.full(problem.n, 1 / problem.n),
    )
    assert found.success
    return float(-found.fun)


def bound_from_above(problem: gp.StrategicProblem, theta: Array, intercept: float) -> float:
    """The least over alpha of alpha radius + the mean of the suprema, each over all labels and
    over distances 0 and FAR, between which the function is convex; searched for in alpha."""
    scores = answered(problem, theta) @ theta + intercept
    norm, loss = float(np.linalg.norm(theta)), problem.loss
    least = (loss.K + loss.s) * norm

    def bound(alpha: float) -> float:
        total = 0.0
        for z, y in zip(scores, problem.population.y, strict=True):
            total += max(
                float(loss.phi(z + t * norm) - loss.s * label * (z + t * norm))
                - alpha * (abs(t) + (0 if label == y else 2 * problem.label_cost))
                for label in labels_allowed(problem, y)
                for t in (0.0, FAR, -FAR)
            )
        return alpha * problem.radius + total / problem.n

    low, high = least, least + 1.0
    while bound(2 * high) < bound(high) and high < 1e6:
        high *= 2
    high *= 2
    for _ in range(100):
        third = (high - low) / 3
        if bound(low + third) <= bound(high - third):
            high -= third
        else:
            low += third
    return min(bound(low), bound(high))


def transport_cost(problem: gp.StrategicProblem, theta: Array, worst: WorstCase) -> float:
    """By the definition, from the atoms; checks on the way that each agent has mass 1/n."""
    spread = worst.distribution
    mass = np.bincount(spread.agent, spread.weights, minlength=problem.n)
    np.testing.assert_allclose(mass, 1 / problem.n, rtol=1e-12)
    assert (spread.weights > 0).all()
    away = np.linalg.norm(spread.features - answered(problem, theta)[spread.agent], axis=1)
    turned = spread.labels != problem.population.y[spread.agent]
    prices = np.where(turned, 2 * problem.label_cost, 0.0)
    return float(spread.weights @ (away + prices))


def risk(problem: gp.StrategicProblem, theta: Array, intercept: float, worst: WorstCase) -> float:
    spread = worst.distribution
    z = spread.features @ theta + intercept
    return float(spread.weights @ (problem.loss.phi(z) - problem.loss.s * spread.labels * z))


CASES = [
    (flips, kappa, delta, intercept)
    for flips in ("one-way", "both", "none")
    for kappa in (0.0, 0.05, 0.5, 2.0)
    for delta in (0.0, 0.02, 0.1, 0.4)
    for intercept in (0.0, 0.7)
    if flips != "none" or kappa == 0.5
]


def case(number: int) -> tuple[gp.StrategicProblem, Array, float]:
    flips, kappa, delta, intercept = CASES[number]
    power = 0.0 if flips == "both" else 0.2
    problem = gp.StrategicProblem(
        people(number, n=8 + number % 5, power=power),
        radius=delta,
        label_cost=kappa,
        loss=LOSSES[number % len(LOSSES)],
        flips=flips,  # type: ignore[arg-type]
        intercept=2.0,
    )
    return problem, theta_of(number), intercept


@pytest.fixture(params=range(len(CASES)), ids=lambda number: "-".join(map(str, CASES[number])))
def made(request: pytest.FixtureRequest) -> tuple[gp.StrategicProblem, Array, float]:
    return case(request.param)


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


# --- The distribution -------------------------------------------------------------------------


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


@settings(max_examples=150, deadline=None, derandomize=True)
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
    """A distribution on the ball is below the worst case, the objective at any alpha above."""
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
