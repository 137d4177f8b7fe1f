"""Best responses against direct maximisation of the agent's utility.

The utility of a move v is <v, theta> - |v|_p^r / (r zeta^(r-1)), written here once more from the
definition. A general optimiser finds the best move where the cost is smooth; for the norms 1 and
infinity the best move of a given size is a corner of the norm's ball, and all are tried.
"""

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from gameproof import BlackBox, NoResponse, Population, PowerCost, QuadraticCost, Response, Sight

Array = NDArray[np.float64]

NORMS = [1.5, 2.0, 3.0]
DEGREES = [1.5, 2.0, 3.0]
MASKS = [None, [0, 2]]
X = np.array([[0.3, -1.2, 0.5, 2.0], [1.0, 0.0, -0.7, 0.1], [-2.0, 0.4, 0.0, 1.5]])
AGENTS = np.arange(3)
THETA = np.array([0.8, -0.5, -1.3, 0.4])


def length(v: Array, norm: float) -> float:
    size = np.abs(v)
    return float(size.max() if np.isinf(norm) else np.sum(size**norm) ** (1 / norm))


def utility(v: Array, theta: Array, zeta: float, degree: float, norm: float) -> float:
    return float(v @ theta - length(v, norm) ** degree / (degree * zeta ** (degree - 1)))


def best_move(
    theta: Array, zeta: float, degree: float, norm: float, mask: list[int] | None
) -> Array:
    """The best move by a restarted simplex search, which uses only utilities."""
    free = np.arange(theta.size) if mask is None else np.array(mask)

    def loss(part: Array) -> float:
        return -utility(part, theta[free], zeta, degree, norm)

    part = 0.1 * theta[free]
    for _ in range(3):
        part = minimize(
            loss, part, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-15}
        ).x
    move = np.zeros(theta.size)
    move[free] = part
    return move


def every_power_cost() -> list[PowerCost]:
    return [
        PowerCost([0.7, 0.0, 1.9], degree=degree, norm=norm, features=mask)
        for degree, norm, mask in product(DEGREES, [1.0, *NORMS, np.inf], MASKS)
    ]


def named(cost: Any) -> str:
    return f"norm {cost.norm}, degree {cost.degree}, features {cost.features}"


# --- The best response is the best ------------------------------------------------------------


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("norm", NORMS)
def test_answers_maximise_the_utility_of_every_agent(
    norm: float, degree: float, mask: list[int] | None
) -> None:
    powers = [0.4, 0.9, 1.7]
    cost = PowerCost(powers, degree=degree, norm=norm, features=mask)
    moves = cost.answers(THETA, X, AGENTS) - X
    for move, zeta in zip(moves, powers, strict=True):
        best = best_move(THETA, zeta, degree, norm, mask)
        gained = utility(move, THETA, zeta, degree, norm)
        assert gained >= utility(best, THETA, zeta, degree, norm) - 1e-12
        # Within 1e-12 of the best utility a search finds the move to about its square root.
        np.testing.assert_allclose(move, best, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("norm", NORMS)
def test_common_power_is_the_same_power_for_every_agent(norm: float, degree: float) -> None:
    common = PowerCost(0.6, degree=degree, norm=norm)
    each = PowerCost([0.6, 0.6, 0.6], degree=degree, norm=norm)
    best = best_move(THETA, 0.6, degree, norm, None)
    np.testing.assert_allclose(common.answers(THETA, X, AGENTS), X + best, atol=1e-5)
    np.testing.assert_array_equal(common.answers(THETA, X, AGENTS), each.answers(THETA, X, AGENTS))


def test_power_by_agent_follows_the_agents_asked_not_their_rows() -> None:
    cost = PowerCost([0.1, 2.0, 5.0])
    chosen = np.array([2, 0, 2])
    expected = X[chosen] + np.array([[5.0], [0.1], [5.0]]) * THETA
    np.testing.assert_allclose(cost.answers(THETA, X[chosen], chosen), expected, rtol=1e-15)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("norm", [1.0, np.inf])
def test_answers_are_the_best_corner_for_norms_one_and_infinity(
    norm: float, degree: float, mask: list[int] | None
) -> None:
    zeta = 0.7
    free = range(4) if mask is None else mask
    moved = PowerCost(zeta, degree=degree, norm=norm, features=mask).answers(THETA, X, AGENTS)
    if norm == 1:
        corners = [sign * np.eye(4)[k] for k in free for sign in (-1.0, 1.0)]
    else:
        corners = []
        for signs in product([-1.0, 1.0], repeat=len(free)):
            corner = np.zeros(4)
            corner[list(free)] = signs
            corners.append(corner)
    sizes = np.linspace(0, 10, 1001)
    gains = np.array([[utility(t * c, THETA, zeta, degree, norm) for t in sizes] for c in corners])
    corner, size = np.unravel_index(np.argmax(gains), gains.shape)
    best = sizes[size] * corners[corner]
    assert 0 < size < sizes.size - 1
    for move in moved - X:
        assert utility(move, THETA, zeta, degree, norm) >= gains.max() - 1e-12
        # The grid of sizes has steps of 0.01.
        np.testing.assert_allclose(move, best, atol=0.01)


def test_no_move_on_a_grid_beats_the_answer_where_largest_coordinates_tie() -> None:
    theta = np.array([1.0, -1.0])
    grid = np.linspace(-3, 3, 61)
    for degree in DEGREES:
        move = PowerCost(0.8, degree=degree, norm=1.0).direction(theta) * 0.8
        gained = utility(move, theta, 0.8, degree, 1.0)
        assert all(
            gained >= utility(np.array(v), theta, 0.8, degree, 1.0) - 1e-12
            for v in product(grid, grid)
        )


@pytest.mark.parametrize("cost", every_power_cost(), ids=named)
def test_score_is_raised_by_the_power_of_the_dual_norm(cost: PowerCost) -> None:
    part = THETA if cost.features is None else THETA[list(cost.features)]
    dual = {1.0: np.inf, 1.5: 3.0, 2.0: 2.0, 3.0: 1.5, np.inf: 1.0}[cost.norm]
    q = {1.5: 3.0, 2.0: 2.0, 3.0: 1.5}[cost.degree]
    assert cost.dual_norm == pytest.approx(dual)
    assert cost.conjugate_degree == pytest.approx(q)
    scores = cost.answers(THETA, X, AGENTS) @ THETA
    raised = np.array([0.7, 0.0, 1.9]) * length(part, dual) ** q
    np.testing.assert_allclose(scores, X @ THETA + raised, rtol=1e-13)


def test_quadratic_cost_moves_by_power_times_theta() -> None:
    np.testing.assert_allclose(
        QuadraticCost(0.05, features=[1, 3]).answers(THETA, X, AGENTS),
        X + 0.05 * np.array([0.0, -0.5, 0.0, 0.4]),
        rtol=1e-15,
    )


# --- Agents and features that do not move -----------------------------------------------------


@pytest.mark.parametrize("cost", every_power_cost(), ids=named)
def test_agents_without_power_and_features_outside_the_mask_stay(cost: PowerCost) -> None:
    answers = cost.answers(THETA, X, AGENTS)
    np.testing.assert_array_equal(answers[1], X[1])
    if cost.features is not None:
        np.testing.assert_array_equal(answers[:, [1, 3]], X[:, [1, 3]])


@pytest.mark.parametrize("cost", every_power_cost(), ids=named)
def test_nobody_moves_when_theta_is_zero(cost: PowerCost) -> None:
    np.testing.assert_array_equal(cost.answers(np.zeros(4), X, AGENTS), X)


@pytest.mark.parametrize("norm", [1.0, *NORMS, np.inf])
def test_nobody_moves_when_theta_is_zero_on_the_mask(norm: float) -> None:
    cost = PowerCost(2.0, norm=norm, features=[0, 2])
    np.testing.assert_array_equal(cost.answers(np.array([0.0, 3.0, -0.0, 1.0]), X, AGENTS), X)


def test_nobody_moves_without_response_or_without_movable_features() -> None:
    for cost in (NoResponse(), QuadraticCost(3.0, features=[])):
        np.testing.assert_array_equal(cost.answers(THETA, X, AGENTS), X)


# --- What a convex cost implies ---------------------------------------------------------------


@pytest.mark.parametrize("cost", every_power_cost(), ids=named)
def test_moves_are_monotone_in_theta(cost: PowerCost) -> None:
    rng = np.random.default_rng(1)
    for first, second in rng.standard_normal((100, 2, 4)):
        moves = cost.answers(first, X, AGENTS) - cost.answers(second, X, AGENTS)
        assert (moves @ (first - second) >= -1e-12).all()


@pytest.mark.parametrize("cost", every_power_cost(), ids=named)
def test_scores_are_convex_along_segments(cost: PowerCost) -> None:
    rng = np.random.default_rng(2)

    def scores(theta: Array) -> Array:
        return np.asarray(cost.answers(theta, X, AGENTS) @ theta)

    for first, second in rng.standard_normal((50, 2, 4)):
        for share in (0.1, 0.5, 0.8):
            between = scores((1 - share) * first + share * second)
            chord = (1 - share) * scores(first) + share * scores(second)
            assert (between <= chord + 1e-12).all()


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("norm", NORMS)
def test_one_answer_and_the_degree_give_the_gradient_of_the_score(
    norm: float, degree: float, mask: list[int] | None
) -> None:
    cost = PowerCost(0.9, degree=degree, norm=norm, features=mask)
    q = degree / (degree - 1)
    gradient = X + q * (cost.answers(THETA, X, AGENTS) - X)
    step = 1e-6
    for k, unit in enumerate(np.eye(4)):
        ahead, behind = THETA + step * unit, THETA - step * unit
        rise = cost.answers(ahead, X, AGENTS) @ ahead - cost.answers(behind, X, AGENTS) @ behind
        np.testing.assert_allclose(rise / (2 * step), gradient[:, k], atol=1e-7)


@pytest.mark.parametrize("cost", every_power_cost(), ids=named)
def test_moves_grow_with_the_size_of_theta_by_the_conjugate_degree(cost: PowerCost) -> None:
    q = cost.degree / (cost.degree - 1)
    for t in (1e-6, 0.5, 3.0, 1e6):
        move = cost.direction(THETA)
        np.testing.assert_allclose(cost.direction(t * THETA), t ** (q - 1) * move, rtol=1e-12)


@pytest.mark.parametrize("size", [1e-4, 0.3, 30.0])
def test_norms_near_one_answer_nearly_as_norm_one(size: float) -> None:
    theta = size * np.array([1.0, -0.4, 0.2])
    expected = PowerCost(1.0, norm=1.0).direction(theta)
    np.testing.assert_allclose(PowerCost(1.0, norm=1.001).direction(theta), expected, rtol=1e-2)


# --- Black boxes ------------------------------------------------------------------------------


def test_black_box_is_asked_with_theta_and_indices_and_passes_answers_on() -> None:
    asked = []

    def function(theta: Array, indices: NDArray[np.int64]) -> list[list[float]]:
        asked.append((theta.tolist(), indices.tolist()))
        return [[float(i)] * 4 for i in indices]

    answers = BlackBox(function).answers(THETA, X[[2, 0]], np.array([2, 0]))
    assert asked == [(THETA.tolist(), [2, 0])]
    np.testing.assert_array_equal(answers, [[2.0] * 4, [0.0] * 4])


def test_black_box_scores_are_passed_on() -> None:
    box = BlackBox(lambda theta, indices: 10 * indices, scores=True)
    np.testing.assert_array_equal(box.answered_scores(THETA, np.array([2, 1])), [20.0, 10.0])


def test_black_box_must_be_callable() -> None:
    with pytest.raises(TypeError, match=r"function must be callable, got 3"):
        BlackBox(3)


@pytest.mark.parametrize(
    ("response", "sight"),
    [
        (QuadraticCost(0.1), Sight.RESPONSE),
        (NoResponse(), Sight.RESPONSE),
        (BlackBox(len), Sight.ANSWERS),
        (BlackBox(len, scores=True), Sight.SCORES),
    ],
)
def test_what_is_seen_is_declared(response: Response, sight: Sight) -> None:
    assert response.sight is sight


def test_more_sight_compares_as_more() -> None:
    assert Sight.SCORES < Sight.ANSWERS < Sight.RESPONSE


def test_only_known_best_responses_claim_that_the_assumptions_hold() -> None:
    assert "hold" in PowerCost(0.1).assumptions
    assert "Nothing is known" in BlackBox(len).assumptions


# --- Bad arguments ----------------------------------------------------------------------------


def people(response: Response) -> Population:
    return Population(X, [1, -1, -1], response)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: PowerCost(-0.1), ValueError, "power must be at least 0, got -0.1"),
        (lambda: PowerCost([0.1, -1e-9]), ValueError, "power must be at least 0"),
        (lambda: PowerCost([[0.1]]), ValueError, "or one number per agent, got"),
        (lambda: PowerCost(np.nan), ValueError, "power must be finite, got nan"),
        (lambda: PowerCost([0.1, np.nan]), ValueError, "power must be finite, got nan at coord"),
        (lambda: PowerCost(np.inf), ValueError, "power must be finite, got inf"),
        (lambda: PowerCost("0.1"), TypeError, "power must be an array of numbers, got '0.1'"),
        (lambda: PowerCost(True), TypeError, "power must be an array of numbers, got True"),
        (lambda: PowerCost([[1.0], [1.0, 2.0]]), TypeError, "got a ragged one"),
        (
            lambda: PowerCost(0.1, degree=1.0),
            ValueError,
            "degree must exceed 1 and be finite, got 1.0",
        ),
        (lambda: PowerCost(0.1, degree=1.001), ValueError, "at least 1.01, got 1.001: moves grow"),
        (
            lambda: PowerCost(0.1, degree=0.5),
            ValueError,
            "degree must exceed 1 and be finite, got 0.5",
        ),
        (lambda: PowerCost(0.1, degree=np.nan), ValueError, "finite, got nan"),
        (lambda: PowerCost(0.1, degree=np.inf), ValueError, "finite, got inf; use a budget"),
        (lambda: PowerCost(0.1, norm=0.99), ValueError, "norm must be at least 1, got 0.99"),
        (lambda: PowerCost(0.1, norm=-2.0), ValueError, "norm must be at least 1, got -2.0"),
        (lambda: PowerCost(0.1, norm=np.nan), ValueError, "norm must be at least 1, got nan"),
        (lambda: QuadraticCost(0.1, [0, 0]), ValueError, "names a column twice: [0, 0]"),
        (lambda: QuadraticCost(0.1, ["age"]), TypeError, "positions of columns, got 'age'"),
        (lambda: QuadraticCost(0.1, "age"), TypeError, "positions of columns, got 'age'"),
        (lambda: QuadraticCost(0.1, [True, False]), TypeError, "positions of columns, got True"),
        (lambda: QuadraticCost(0.1, [0.0]), TypeError, "positions of columns, got 0.0"),
        (lambda: people(QuadraticCost(0.1, [4])), ValueError, "feature 4 cannot move"),
        (lambda: people(QuadraticCost(0.1, [-1])), ValueError, "there are features 0 to 3"),
        (lambda: people(QuadraticCost([0.1, 0.2])), ValueError, "power has 2 numbers, the popul"),
        (lambda: people(QuadraticCost([0.1] * 4)), ValueError, "power has 4 numbers, the popul"),
        (lambda: people(QuadraticCost([0.1])), ValueError, "power has 1 numbers, the popul"),
        (lambda: people(QuadraticCost([])), ValueError, "or one number per agent, got"),
    ],
)
def test_bad_arguments_are_refused_and_named(
    make: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        make()


@pytest.mark.parametrize("name", ["degree", "norm"])
def test_degree_and_norm_that_are_no_numbers_are_named(name: str) -> None:
    with pytest.raises(TypeError, match=rf"{name} must be a number, got '2'"):
        PowerCost(0.1, **{name: "2"})


def test_mask_that_is_a_single_number_is_named() -> None:
    with pytest.raises(TypeError, match=r"features must be .*got 1"):
        PowerCost(0.1, features=1)


@pytest.mark.parametrize(
    "mask",
    [
        range(2),
        (0, 1),
        [np.int64(0), np.int8(1)],
        np.arange(2),
    ],
)
def test_mask_may_be_any_sequence_of_integers(mask: Any) -> None:
    answers = people(QuadraticCost(1.0, features=mask)).ask(THETA, [1])
    np.testing.assert_array_equal(answers, X[[1]] + [[0.8, -0.5, 0.0, 0.0]])


def test_changing_the_given_powers_afterwards_changes_no_answer() -> None:
    powers = np.array([1.0, 1.0, 1.0])
    cost = QuadraticCost(powers)
    powers[:] = -1.0
    np.testing.assert_array_equal(cost.answers(THETA, X, AGENTS), X + THETA)
