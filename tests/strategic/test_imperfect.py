"""Imperfect people: each kind changes answers as documented, and says what it violates.

X, the agents and THETA are such that the plain best response, X + THETA / 2, moves every feature.
"""

import re
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from gameproof import (
    BlackBox,
    Boxed,
    Limited,
    Noisy,
    Population,
    PowerCost,
    QuadraticCost,
    Reluctant,
    Response,
    Rounded,
    Sight,
    Stale,
)

Array = NDArray[np.float64]

X = np.random.default_rng(3).standard_normal((6, 3))
AGENTS = np.arange(6)
THETA = np.array([0.8, -1.5, 0.3])
ZETA = 0.5
BASE = QuadraticCost(ZETA)
MANY = 4000  # agents, for statistics

WRAPPERS: dict[str, Callable[[Response], Response]] = {
    "Noisy": lambda base: Noisy(base, 0.2),
    "Limited": lambda base: Limited(base, 0.4),
    "Boxed": lambda base: Boxed(base, -1.0, 1.0),
    "Rounded": lambda base: Rounded(base, 0.1),
    "Reluctant": lambda base: Reluctant(base, 0.4),
    "Stale": lambda base: Stale(base),
}
each_wrapper = pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)


def own_features(theta: Array, indices: NDArray[np.int64]) -> Array:
    return X[indices]


# --- What all have in common ------------------------------------------------------------------


@each_wrapper
def test_learner_sees_answers_and_no_response_function(wrap: Callable[..., Response]) -> None:
    assert wrap(BASE).sight is Sight.ANSWERS
    assert Population(X, [1, -1] * 3, wrap(BASE)).sight is Sight.ANSWERS


def test_each_states_its_assumptions_in_a_sentence_of_its_own() -> None:
    said = [wrap(BASE).assumptions for wrap in WRAPPERS.values()]
    assert len({*said, BASE.assumptions}) == len(WRAPPERS) + 1
    assert all(sentence.endswith(".") for sentence in said)
    # Each sentence starts with its own change, and ends with the assumptions of its base.
    assert all(sentence.endswith(BASE.assumptions) for sentence in said)
    assert len({sentence.split(" Before that: ")[0] for sentence in said}) == len(WRAPPERS)


@pytest.mark.parametrize("kind", ["Limited", "Reluctant"])
def test_none_claims_best_responses_of_people_of_whom_nothing_is_known(kind: str) -> None:
    wrapped = WRAPPERS[kind](BlackBox(own_features))
    assert "Nothing is known" in wrapped.assumptions


@pytest.mark.parametrize(
    ("kind", "norm"),
    [
        ("Limited", 2.0),
        ("Reluctant", 1.5),
        ("Reluctant", 2.0),
        ("Reluctant", 3.0),
    ],
)
def test_answers_said_to_be_best_responses_to_a_convex_cost_are_monotone(
    kind: str, norm: float
) -> None:
    response = WRAPPERS[kind](PowerCost(1.0, norm=norm))
    rng = np.random.default_rng(5)
    first = rng.standard_normal((300, 3))
    # A long theta, whose answer is cut, and a shorter one in nearly the same direction.
    second = 5 * (first + 0.2 * rng.standard_normal((300, 3)))
    least = np.inf
    for one, other in zip(first, second, strict=True):
        moves = response.answers(one, X, AGENTS) - response.answers(other, X, AGENTS)
        least = min(least, float((moves @ (one - other)).min()))
    assert least >= -1e-12 or "Answers are best responses" not in response.assumptions


@each_wrapper
@pytest.mark.parametrize(
    "base",
    [BlackBox(own_features, scores=True), None, 0.5, own_features, QuadraticCost],
    ids=["scores only", "None", "a number", "a function", "a class"],
)
def test_base_without_visible_answers_is_refused(wrap: Callable[..., Response], base: Any) -> None:
    with pytest.raises(TypeError, match=r"base must be a response whose answers are seen, got"):
        wrap(base)


@each_wrapper
def test_black_box_with_answers_can_be_wrapped(wrap: Callable[..., Response]) -> None:
    assert wrap(BlackBox(own_features)).answers(THETA, X, AGENTS).shape == X.shape


@each_wrapper
@pytest.mark.parametrize(
    ("base", "message"),
    [
        (QuadraticCost([0.1, 0.2]), "power has 2 numbers, the population 6 agents"),
        (QuadraticCost(0.1, [3]), "feature 3 cannot move"),
    ],
)
def test_base_that_does_not_fit_the_people_is_refused_through_the_wrapper(
    wrap: Callable[..., Response], base: Response, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Population(X, [1, -1] * 3, wrap(base))


@each_wrapper
def test_answers_leave_theta_and_features_as_they_were(wrap: Callable[..., Response]) -> None:
    theta, features, agents = THETA.copy(), X.copy(), AGENTS.copy()
    response = wrap(BASE)
    for _ in range(2):
        response.answers(theta, features, agents)[:] = 7.0
        theta[0] += 1.0
    np.testing.assert_array_equal(theta, THETA + np.array([2.0, 0.0, 0.0]))
    np.testing.assert_array_equal(features, X)
    np.testing.assert_array_equal(agents, AGENTS)


@pytest.mark.parametrize("kind", ["Noisy", "Limited", "Boxed", "Rounded", "Reluctant"])
def test_an_agents_answer_does_not_depend_on_who_else_is_asked(kind: str) -> None:
    response = WRAPPERS[kind](QuadraticCost(0.1 + AGENTS))
    together = response.answers(THETA, X, AGENTS)
    some = np.array([4, 1, 4])
    np.testing.assert_array_equal(response.answers(THETA, X[some], some), together[some])


def test_wrappers_can_be_wrapped() -> None:
    inner = Limited(BASE, 0.4)
    twice = Rounded(inner, 0.1)
    expected = 0.1 * np.round(inner.answers(THETA, X, AGENTS) / 0.1)
    np.testing.assert_allclose(twice.answers(THETA, X, AGENTS), expected, atol=1e-15)


# --- Noisy ------------------------------------------------------------------------------------


def noise(seed: int, theta: Array, sd: float = 0.3) -> Array:
    features = np.zeros((MANY, 3))
    response = Noisy(BASE, sd, seed=seed)
    return response.answers(theta, features, np.arange(MANY)) - ZETA * theta


def test_noise_is_a_function_of_seed_agent_and_theta() -> None:
    first = noise(0, THETA)
    np.testing.assert_array_equal(noise(0, THETA.copy()), first)
    assert not np.isin(noise(1, THETA), first).any()
    assert not np.isin(noise(0, THETA * (1 + 1e-12)), first).any()
    assert np.unique(first).size == first.size


def test_noise_of_a_zero_theta_does_not_depend_on_the_sign_of_zero() -> None:
    np.testing.assert_array_equal(noise(0, np.zeros(3)), noise(0, -np.zeros(3)))


def test_noise_is_normal_with_mean_zero_and_the_given_sd() -> None:
    # Five standard errors for each of three numbers: a correct implementation fails for 3 * 6e-7,
    # about 2 of a million seeds.
    sd = 0.3
    errors = noise(5, THETA, sd).ravel()
    assert abs(errors.mean()) <= 5 * sd / np.sqrt(errors.size)
    assert abs(errors.std() / sd - 1) <= 5 / np.sqrt(2 * errors.size)
    expected = 0.6826894921  # the share of a normal distribution within one standard deviation
    spread = np.sqrt(expected * (1 - expected) / errors.size)
    assert abs((np.abs(errors) <= sd).mean() - expected) <= 5 * spread


@pytest.mark.parametrize("other", ["next agent", "other theta", "other seed", "other feature"])
def test_noise_is_uncorrelated_between_agents_thetas_seeds_and_features(other: str) -> None:
    # Five standard errors of a correlation: fails for 6e-7 of all seeds.
    errors = noise(0, THETA)
    second = {
        "next agent": lambda: np.roll(errors, 1, axis=0),
        "other theta": lambda: noise(0, -THETA),
        "other seed": lambda: noise(1, THETA),
        "other feature": lambda: np.roll(errors, 1, axis=1),
    }[other]()
    correlation = np.corrcoef(errors.ravel(), second.ravel())[0, 1]
    assert abs(correlation) <= 5 / np.sqrt(errors.size)


# --- Limited ----------------------------------------------------------------------------------


def test_nobody_moves_farther_than_the_limit_and_others_move_as_before() -> None:
    powers = np.array([0.0, 0.01, 0.1, 0.5, 2.0, 100.0])
    cost = QuadraticCost(powers)
    moves = Limited(cost, 0.4).answers(THETA, X, AGENTS) - X
    free = powers[:, None] * THETA
    lengths = np.linalg.norm(free, axis=1)
    near = lengths <= 0.4
    assert near.tolist() == [True, True, True, False, False, False]
    np.testing.assert_allclose(moves[near], free[near], rtol=1e-12, atol=1e-15)
    expected = 0.4 * THETA / np.linalg.norm(THETA)
    np.testing.assert_allclose(moves[~near], np.tile(expected, (3, 1)), rtol=1e-12)


@pytest.mark.parametrize(
    "size",
    [
        1e-3,
        1.0,
        10.0,
        1e6,
    ],
)
@pytest.mark.parametrize("theta", [np.zeros(3), THETA])
def test_limit_of_any_size_lets_those_stay_who_do_not_move(size: float, theta: Array) -> None:
    powers = np.zeros(6)
    np.testing.assert_array_equal(Limited(QuadraticCost(powers), size).answers(theta, X, AGENTS), X)


@pytest.mark.parametrize("size", [0.2, 0.7, 3.0])
def test_limited_answers_are_best_responses_to_a_quadratic_cost_with_a_limit(size: float) -> None:
    move = cp.Variable(3)
    best = cp.Maximize(THETA @ move - cp.sum_squares(move) / (2 * ZETA))
    cp.Problem(best, [cp.norm(move) <= size]).solve(solver=cp.CLARABEL)
    answers = Limited(BASE, size).answers(THETA, X, AGENTS)
    # Clarabel's values are right to about 1e-8, so its moves to about 1e-4.
    np.testing.assert_allclose(answers - X, np.tile(move.value, (6, 1)), atol=3e-4)


# --- Boxed ------------------------------------------------------------------------------------


def test_boxed_answers_are_best_responses_within_the_box() -> None:
    features = np.array([[0.1, 0.2, 0.9], [0.95, 0.05, 0.5]])
    lower, upper = np.array([0.0, 0.0, 0.2]), np.array([1.0, 1.0, 0.95])
    answers = Boxed(BASE, lower, upper).answers(THETA, features, np.arange(2))
    for own, answer in zip(features, answers, strict=True):
        found = minimize(
            lambda b, own=own: -(b @ THETA) + np.sum((b - own) ** 2) / (2 * ZETA),
            own,
            bounds=list(zip(lower, upper, strict=True)),
            method="L-BFGS-B",
            options={"ftol": 1e-15, "gtol": 1e-10},
        )
        np.testing.assert_allclose(answer, found.x, atol=1e-6)
    np.testing.assert_allclose(answers[0], [0.5, 0.0, 0.95], rtol=1e-12)


def test_agents_outside_the_box_go_no_farther_out_and_need_not_come_in() -> None:
    features = np.array([[-3.0, 5.0], [-3.0, 5.0], [4.0, -2.0]])
    moves = np.array([[1.0, -1.0], [-1.0, 1.0], [-9.0, 9.0]])
    box = BlackBox(lambda theta, indices: features + moves)
    answers = Boxed(box, 0.0, 1.0).answers(np.zeros(2), features, np.arange(3))
    np.testing.assert_array_equal(answers, [[-2.0, 4.0], [-3.0, 5.0], [0.0, 1.0]])


def test_box_may_be_open_on_one_side_and_differ_by_feature() -> None:
    features = np.array([[1.0, 1.0, 1.0]])
    box = BlackBox(lambda theta, indices: np.array([[-50.0, 50.0, -50.0]]))
    boxed = Boxed(box, [0.0, 0.0, -np.inf], np.inf)
    answers = boxed.answers(THETA, features, np.array([0]))
    np.testing.assert_array_equal(answers, [[0.0, 50.0, -50.0]])


# --- Rounded ----------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [0.01, 0.25, 5.0])
def test_moved_features_are_the_nearest_multiples_of_the_unit(unit: float) -> None:
    answers = Rounded(BASE, unit).answers(THETA, X, AGENTS)
    multiples = answers / unit
    np.testing.assert_allclose(multiples, np.round(multiples), atol=1e-12)
    assert (np.abs(answers - (X + ZETA * THETA)) <= unit / 2 * (1 + 1e-12)).all()


def test_features_that_do_not_move_are_not_rounded() -> None:
    powers = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0])
    answers = Rounded(QuadraticCost(powers, features=[1]), 0.5).answers(THETA, X, AGENTS)
    np.testing.assert_array_equal(answers[:, [0, 2]], X[:, [0, 2]])
    np.testing.assert_array_equal(answers[1::2], X[1::2])
    assert (answers[::2, 1] % 0.5 == 0).all()


# --- Reluctant --------------------------------------------------------------------------------


def staying(share: float, seed: int, theta: Array) -> NDArray[np.bool_]:
    features = np.zeros((MANY, 3))
    answers = Reluctant(BASE, share, seed=seed).answers(theta, features, np.arange(MANY))
    stays = (answers == 0).all(axis=1)
    np.testing.assert_array_equal(answers[~stays], np.tile(ZETA * theta, (int((~stays).sum()), 1)))
    return np.asarray(stays)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_reluctant_share_stays_and_the_others_answer_as_before(share: float) -> None:
    # Five standard errors: fails for 6e-7 of all seeds.
    stays = staying(share, 0, THETA)
    assert abs(stays.mean() - share) <= 5 * np.sqrt(share * (1 - share) / MANY)


def test_the_same_agents_are_reluctant_whatever_is_deployed() -> None:
    first = staying(0.3, 0, THETA)
    np.testing.assert_array_equal(staying(0.3, 0, -5 * THETA), first)
    assert (staying(0.3, 1, THETA) != first).any()


def test_reluctant_share_may_be_nobody_or_everybody() -> None:
    assert not staying(0.0, 0, THETA).any()
    assert staying(1.0, 0, THETA).all()


# --- Stale ------------------------------------------------------------------------------------


@pytest.mark.parametrize("delay", [1, 2, 3])
def test_stale_people_answer_the_theta_deployed_so_many_deployments_ago(delay: int) -> None:
    response = Stale(BASE, delay=delay)
    thetas = np.random.default_rng(4).standard_normal((8, 3))
    for t, theta in enumerate(thetas):
        answers = response.answers(theta, X, AGENTS)
        expected = X if t < delay else X + ZETA * thetas[t - delay]
        np.testing.assert_allclose(answers, expected, rtol=1e-14)


def test_asking_again_at_one_deployment_is_not_another_deployment() -> None:
    response = Stale(BASE)
    first, second = THETA, -2 * THETA
    response.answers(first, X, AGENTS)
    for agent in AGENTS:
        features = X[[agent]]
        answer = response.answers(second, features, np.array([agent]))
        np.testing.assert_allclose(answer, features + ZETA * first, rtol=1e-14)


def test_theta_deployed_again_later_is_a_new_deployment() -> None:
    response = Stale(BASE)
    thetas = [THETA, -THETA, THETA]
    answers = [response.answers(theta, X, AGENTS) for theta in thetas]
    np.testing.assert_allclose(answers[1], X + ZETA * THETA, rtol=1e-14)
    np.testing.assert_allclose(answers[2], X - ZETA * THETA, rtol=1e-14)


def test_stale_people_remember_theta_as_it_was_deployed() -> None:
    response, theta = Stale(BASE), THETA.copy()
    response.answers(theta, X, AGENTS)
    theta += 10.0
    np.testing.assert_allclose(response.answers(theta, X, AGENTS), X + ZETA * THETA, rtol=1e-14)


def test_stale_people_of_one_population_know_nothing_of_another() -> None:
    response, y = Stale(BASE), [1, -1] * 3
    first, second = Population(X, y, response), Population(X, y, response)
    first.ask(THETA, AGENTS)
    np.testing.assert_array_equal(second.ask(-THETA, AGENTS), X)


# --- Bad arguments ----------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("sd", lambda bad: Noisy(BASE, bad)),
        ("size", lambda bad: Limited(BASE, bad)),
        ("unit", lambda bad: Rounded(BASE, bad)),
    ],
)
def test_sizes_must_be_positive_and_finite(
    name: str, make: Callable[[float], Response], bad: float
) -> None:
    with pytest.raises(ValueError, match=rf"{name} must be positive and finite, got {bad}"):
        make(bad)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Noisy(BASE, "1"), TypeError, "sd must be a number, got '1'"),
        (lambda: Rounded(BASE, True), TypeError, "unit must be a number, got True"),
        (lambda: Reluctant(BASE, -0.1), ValueError, "share must lie between 0 and 1, got -0.1"),
        (lambda: Reluctant(BASE, 1.1), ValueError, "share must lie between 0 and 1, got 1.1"),
        (lambda: Reluctant(BASE, np.nan), ValueError, "share must lie between 0 and 1, got nan"),
        (lambda: Stale(BASE, delay=0), ValueError, "delay must be at least 1, got 0"),
        (lambda: Stale(BASE, delay=-1), ValueError, "delay must be at least 1, got -1"),
        (lambda: Stale(BASE, delay=1.5), TypeError, "delay must be an integer, got 1.5"),
    ],
)
def test_bad_arguments_are_refused_and_named(
    make: Callable[[], Response], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        make()


@pytest.mark.parametrize("seed", [-1, "a", 0.5])
@pytest.mark.parametrize("kind", [Noisy, Reluctant])
def test_bad_seeds_are_refused_before_anybody_is_asked(kind: Any, seed: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="seed"):
        kind(BASE, 0.5, seed=seed)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(1.0, 0.0), (np.nan, 1.0), (0.0, np.nan), ("a", 1.0), ([0.0] * 4, 1.0), ([[0.0]], [1.0] * 2)],
)
def test_bad_boxes_are_refused_before_anybody_is_asked(lower: Any, upper: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"lower|upper"):
        Population(X, [1, -1] * 3, Boxed(BASE, lower, upper))
