"""What is asked of people is counted, kept within its budget, and refused where it is no answer.

The oracle of every count is a black box that keeps its own tally of who was asked what.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gameproof import (
    BlackBox,
    Noisy,
    NoResponse,
    Population,
    QuadraticCost,
    Response,
    Sight,
)
from gameproof.errors import AnswerError, BudgetExceeded

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

X = np.array([[1.0, 2.0], [3.0, -4.0], [0.5, 0.0], [2.0, 2.0], [-1.0, 1.0], [0.0, 0.3]])
Y = np.array([1, -1, -1, 1, -1, -1])
MOVING = [1, 2, 4, 5]
THETA = np.array([0.5, -1.0])
ZETA = 0.3


class Tally:
    """People who move by ZETA theta and write down every question."""

    def __init__(self, scores: bool = False) -> None:
        self.asked: list[tuple[list[float], list[int]]] = []
        self.scores = scores

    def __call__(self, theta: Array, indices: Indices) -> Array:
        self.asked.append((theta.tolist(), indices.tolist()))
        moved = X[indices] + ZETA * theta
        return np.asarray(moved @ theta if self.scores else moved)

    @property
    def agents(self) -> list[int]:
        return [agent for _, agents in self.asked for agent in agents]

    @property
    def deployments(self) -> int:
        thetas = [theta for theta, _ in self.asked]
        return sum(k == 0 or thetas[k] != thetas[k - 1] for k in range(len(thetas)))

    def by_agent(self) -> list[int]:
        return np.bincount(np.array(self.agents, dtype=int), minlength=len(X)).tolist()


class Custom(Response):
    """A response of one's own, from a function of theta, features and agents."""

    def __init__(self, function: Callable[[Array, Array, Indices], Any]) -> None:
        self.function = function

    def fit(self, n: int, d: int) -> None:
        pass

    def answers(self, theta: Array, features: Array, agents: Indices) -> Any:
        return self.function(theta, features, agents)


def people(response: Response | None = None, budget: int | None = None) -> Population:
    return Population(X, Y, response, budget=budget)


# --- Answers ----------------------------------------------------------------------------------


def test_only_negative_agents_move() -> None:
    expected = X.copy()
    expected[MOVING] += ZETA * THETA
    np.testing.assert_allclose(people(QuadraticCost(ZETA)).ask(THETA, range(6)), expected)


def test_answers_come_in_the_order_of_the_agents_asked() -> None:
    order = [5, 0, 1, 5, 3]
    all_answers = people(QuadraticCost(ZETA)).ask(THETA, range(6))
    np.testing.assert_array_equal(people(QuadraticCost(ZETA)).ask(THETA, order), all_answers[order])


def test_one_agent_may_be_asked_by_number() -> None:
    np.testing.assert_allclose(
        people(QuadraticCost(ZETA)).ask(THETA, 1), X[[1]] + ZETA * THETA, rtol=1e-15
    )


@pytest.mark.parametrize(
    "response",
    [QuadraticCost(ZETA), BlackBox(Tally()), BlackBox(Tally(scores=True), scores=True)],
    ids=["known", "black box", "scores only"],
)
def test_scores_are_those_of_the_answers(response: Response) -> None:
    expected = X @ THETA + np.where(Y < 0, ZETA * THETA @ THETA, 0.0)
    np.testing.assert_allclose(people(response).scores(THETA, range(6)), expected, rtol=1e-14)


def test_built_in_response_and_the_same_as_a_black_box_answer_alike() -> None:
    np.testing.assert_array_equal(
        people(QuadraticCost(ZETA)).ask(THETA, range(6)),
        people(BlackBox(Tally())).ask(THETA, range(6)),
    )


def test_nobody_responds_by_default() -> None:
    np.testing.assert_array_equal(people().ask(THETA, range(6)), X)


def test_changing_an_answer_or_the_given_labels_changes_no_population() -> None:
    labels = Y.astype(float)
    population = Population(X, labels)
    population.ask(THETA, range(6))[:] = 99.0
    labels[:] = 1.0
    np.testing.assert_array_equal(population.X, X)
    np.testing.assert_array_equal(population.y, Y)


# --- What is seen -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "sight"),
    [
        (None, Sight.RESPONSE),
        (QuadraticCost(0.1), Sight.RESPONSE),
        (Noisy(QuadraticCost(0.1), 1.0), Sight.ANSWERS),
        (BlackBox(Tally()), Sight.ANSWERS),
        (BlackBox(Tally(), scores=True), Sight.SCORES),
    ],
)
def test_population_declares_what_is_seen(response: Response | None, sight: Sight) -> None:
    assert people(response).sight is sight


def test_answers_that_are_not_seen_are_refused_before_anybody_is_asked() -> None:
    tally = Tally(scores=True)
    population = people(BlackBox(tally, scores=True))
    with pytest.raises(TypeError, match=r"shows scores only; ask scores\(\) instead"):
        population.ask(THETA, MOVING)
    assert tally.asked == []
    assert (population.n_answers, population.n_deployments) == (0, 0)


# --- Counts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scores", [False, True])
def test_counts_are_those_of_people_who_keep_their_own_tally(scores: bool) -> None:
    tally = Tally(scores)
    population = people(BlackBox(tally, scores=scores))
    rng = np.random.default_rng(0)
    thetas = rng.standard_normal((3, 2))
    for _ in range(100):
        theta = thetas[rng.integers(3)]
        agents = rng.integers(6, size=rng.integers(1, 8))
        population.scores(theta, agents)
        assert population.n_answers == len(tally.agents)
        assert population.n_deployments == tally.deployments
    assert population.answers_by_agent.tolist() == tally.by_agent()
    assert population.n_deployments > 3


@pytest.mark.parametrize("scores", [False, True])
def test_positive_agents_are_never_passed_to_the_response(scores: bool) -> None:
    tally = Tally(scores)
    population = people(BlackBox(tally, scores=scores))
    population.scores(THETA, [0, 3])
    assert tally.asked == []
    assert (population.n_answers, population.n_deployments) == (0, 0)
    population.scores(THETA, range(6))
    assert tally.agents == MOVING
    assert population.answers_by_agent[[0, 3]].tolist() == [0, 0]


def test_agent_asked_twice_answers_twice() -> None:
    tally = Tally()
    population = people(BlackBox(tally))
    population.ask(THETA, [1, 1, 2])
    assert population.answers_by_agent.tolist() == [0, 2, 1, 0, 0, 0] == tally.by_agent()


def test_known_responses_are_counted_like_black_boxes() -> None:
    population = people(QuadraticCost(0.1))
    population.ask(THETA, range(6))
    population.ask(THETA, [1])
    population.ask(-THETA, [1, 0])
    assert (population.n_answers, population.n_deployments) == (6, 2)
    assert population.answers_by_agent.tolist() == [0, 3, 1, 0, 1, 1]


def test_noted_questions_are_counted_like_asked_ones() -> None:
    asked, noted = people(budget=5), people(budget=5)
    for theta, agents in [(THETA, [0, 1, 1]), (THETA, [3]), (-THETA, [2, 4]), (THETA, [5])]:
        asked.ask(theta, agents)
        noted.note(theta, np.array(agents))
    assert noted.answers_by_agent.tolist() == asked.answers_by_agent.tolist()
    assert noted.n_deployments == asked.n_deployments == 3
    with pytest.raises(BudgetExceeded):
        noted.note(THETA, np.array([1]))


def test_asking_nobody_asks_nobody() -> None:
    population = people(QuadraticCost(0.1), budget=0)
    assert population.ask(THETA, []).shape == (0, 2)
    assert population.scores(THETA, []).shape == (0,)
    assert (population.n_answers, population.n_deployments) == (0, 0)


def test_function_that_changes_what_it_is_given_changes_no_count_and_no_score() -> None:
    def careless(theta: Array, indices: Indices) -> Array:
        moved = X[indices] + ZETA * theta
        theta[:] = 99.0
        indices[:] = 0
        return moved

    population = people(BlackBox(careless))
    expected = people(QuadraticCost(ZETA)).scores(THETA, [1, 4])
    np.testing.assert_allclose(population.scores(THETA, [1, 4]), expected, rtol=1e-15)
    assert population.answers_by_agent.tolist() == [0, 1, 0, 0, 1, 0]


def test_representation_names_the_people_and_their_response() -> None:
    text = repr(people(QuadraticCost(0.1)))
    assert "6 agents, 2 features, 2 positive" in text
    assert "PowerCost" in text


# --- Budget -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scores", [False, True])
def test_budget_is_never_exceeded_and_nobody_is_asked_when_refused(scores: bool) -> None:
    tally = Tally(scores)
    population = people(BlackBox(tally, scores=scores), budget=10)
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(50):
        before = (len(tally.agents), population.n_deployments)
        agents = rng.integers(6, size=4)
        try:
            population.scores(rng.standard_normal(2), agents)
        except BudgetExceeded:
            refused += 1
            assert (len(tally.agents), population.n_deployments) == before
            assert before[0] + int((Y[agents] < 0).sum()) > 10
        assert population.n_answers == len(tally.agents) <= 10
        assert population.remaining == 10 - len(tally.agents)
    assert refused > 0


def test_budget_can_be_used_to_the_last_answer_and_positive_agents_stay_free() -> None:
    population = people(QuadraticCost(0.1), budget=4)
    population.ask(THETA, range(6))
    assert population.remaining == 0
    population.ask(-THETA, [0, 3])
    with pytest.raises(BudgetExceeded, match=r"1 answers .* budget of 4 has 0 left; nobody was"):
        population.ask(THETA, [1])


def test_budget_of_nothing_and_no_budget() -> None:
    with pytest.raises(BudgetExceeded):
        people(budget=0).ask(THETA, [1])
    assert people().remaining is None


def test_budget_holds_for_people_whose_answers_cannot_be_used() -> None:
    asked: list[int] = []

    def useless(theta: Array, indices: Indices) -> Array:
        asked.extend(indices.tolist())
        return np.zeros((1, 2))

    population = people(BlackBox(useless), budget=4)
    for _ in range(5):
        with pytest.raises((AnswerError, BudgetExceeded)):
            population.ask(THETA, [1, 2])
    assert population.n_answers == len(asked) <= 4


@pytest.mark.parametrize(
    ("budget", "error"), [(-1, ValueError), (2.0, TypeError), ("5", TypeError), (True, TypeError)]
)
def test_bad_budgets_are_refused(budget: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"budget must be"):
        people(budget=budget)


# --- Answers that are none --------------------------------------------------------------------


def rather(answer: Callable[[Array, Indices], Any]) -> Callable[[Array, Indices], Any]:
    """People who answer well the first time, and with `answer` afterwards."""
    good = Tally()

    def function(theta: Array, indices: Indices) -> Any:
        return answer(theta, indices) if good.asked else good(theta, indices)

    return function


def raising(theta: Array, indices: Indices) -> Array:
    raise ConnectionError("the line is dead")


def with_nan(theta: Array, indices: Indices) -> Array:
    answers = X[indices].copy()
    answers[indices == 4, 1] = np.nan
    return answers


BAD_ANSWERS: dict[str, tuple[Callable[[Array, Indices], Any], str]] = {
    "a row too few": (lambda t, i: X[i][1:], r"agents 2, 4: .*shape \(1, 2\), expected \(2, 2\)"),
    "a row too many": (lambda t, i: X[[*i, 0]], r"agents 2, 4: .*shape \(3, 2\), expected \(2, 2"),
    "a column too many": (lambda t, i: np.ones((2, 3)), r"agents 2, 4: .*shape \(2, 3\)"),
    "one row for all": (lambda t, i: X[0], r"agents 2, 4: .*shape \(2,\)"),
    "scores": (lambda t, i: X[i] @ t, r"agents 2, 4: .*shape \(2,\)"),
    "nothing": (lambda t, i: None, r"agents 2, 4:"),
    "ragged": (lambda t, i: [[1.0], [1.0, 2.0]], r"agents 2, 4:"),
    "words": (lambda t, i: [["much", "little"]] * 2, r"agents 2, 4:"),
    "NaN": (with_nan, r"agent 4: an answer that is not finite"),
    "infinity": (lambda t, i: np.full((2, 2), np.inf), r"agents 2, 4: an answer that is not fin"),
    "an exception": (raising, r"agents 2, 4: ConnectionError: the line is dead"),
}


@pytest.mark.parametrize("kind", BAD_ANSWERS)
def test_bad_answers_name_agents_and_deployment_and_lose_no_count(kind: str) -> None:
    answer, message = BAD_ANSWERS[kind]
    population = people(BlackBox(rather(answer)))
    population.ask(THETA, range(6))
    with pytest.raises(AnswerError, match=r"^deployment 2, " + message) as raised:
        population.ask(-THETA, [0, 2, 4])
    assert (population.answers_by_agent >= [0, 1, 1, 0, 1, 1]).all()
    assert population.answers_by_agent[[0, 1, 3, 5]].tolist() == [0, 1, 0, 1]
    if kind == "an exception":
        assert isinstance(raised.value.__cause__, ConnectionError)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda t, i: np.zeros(3), r"agents 2, 4: .*shape \(3,\), expected \(2,\)"),
        (lambda t, i: np.zeros((2, 1)), r"agents 2, 4: .*shape \(2, 1\), expected \(2,\)"),
        (lambda t, i: 0.0, r"agents 2, 4: .*shape \(\), expected \(2,\)"),
        (lambda t, i: np.array([0.0, np.nan]), r"agent 4: an answer that is not finite"),
        (raising, r"agents 2, 4: ConnectionError"),
    ],
)
def test_bad_scores_name_agents_and_deployment(
    answer: Callable[[Array, Indices], Any], message: str
) -> None:
    population = people(BlackBox(answer, scores=True))
    with pytest.raises(AnswerError, match=r"^deployment 1, " + message):
        population.scores(THETA, [0, 2, 4])


@pytest.mark.parametrize(
    "answer",
    [
        lambda theta, features, agents: features[:, :1],
        lambda theta, features, agents: features[:1],
        lambda theta, features, agents: features.ravel(),
        lambda theta, features, agents: np.vstack([features, features]),
        lambda theta, features, agents: None,
    ],
    ids=["one column", "one row", "flat", "twice the rows", "nothing"],
)
def test_bad_answers_of_a_response_of_ones_own_name_agents_and_deployment(
    answer: Callable[[Array, Array, Indices], Any],
) -> None:
    population = people(Custom(answer))
    with pytest.raises(AnswerError, match=r"^deployment 1, agents 1, 2, 4:"):
        population.ask(THETA, [1, 2, 4])


def test_many_agents_with_bad_answers_are_named_in_short() -> None:
    n = 30
    population = Population(
        np.ones((n, 1)), [1] + [-1] * (n - 1), BlackBox(lambda t, i: np.full((i.size, 1), np.nan))
    )
    with pytest.raises(AnswerError, match=r"deployment 1, agents 1, 2, 3, 4, 5, …:"):
        population.ask([1.0], range(n))


def test_population_goes_on_after_a_bad_answer() -> None:
    broken = [True]

    def function(theta: Array, indices: Indices) -> Array:
        if broken:
            broken.clear()
            raise TimeoutError("nobody home")
        return X[indices]

    population = people(BlackBox(function))
    with pytest.raises(AnswerError, match=r"TimeoutError: nobody home"):
        population.ask(THETA, [1])
    np.testing.assert_array_equal(population.ask(THETA, [1]), X[[1]])
    assert population.n_deployments == 1


# --- Bad questions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theta", "agents", "error", "message"),
    [
        ([1.0], [1], ValueError, "theta has shape (1,), the population 2 features"),
        ([[1.0, 2.0]], [1], ValueError, "theta has shape (1, 2), the population 2 features"),
        ([1.0, np.nan], [1], ValueError, "theta must be finite, got nan at coordinate 1"),
        ([1.0, np.inf], [1], ValueError, "theta must be finite, got inf at coordinate 1"),
        ("ab", [1], TypeError, "theta must be a vector of numbers, got 'ab'"),
        ([1.0, 2.0], [6], IndexError, "there are agents 0 to 5, got [6]"),
        ([1.0, 2.0], [-1], IndexError, "there are agents 0 to 5, got [-1]"),
        ([1.0, 2.0], [1.0], TypeError, "agents must be numbered by integers, got [1.0]"),
        ([1.0, 2.0], [True] * 6, TypeError, "agents must be numbered by integers"),
        ([1.0, 2.0], ["1"], TypeError, "agents must be numbered by integers, got ['1']"),
    ],
)
@pytest.mark.parametrize("scores", [False, True])
def test_bad_questions_are_refused_before_anybody_is_asked(
    theta: Any, agents: Any, error: type[Exception], message: str, scores: bool
) -> None:
    tally = Tally(scores)
    population = people(BlackBox(tally, scores=scores))
    question = population.scores if scores else population.ask
    with pytest.raises(error, match=re.escape(message)):
        question(theta, agents)
    assert tally.asked == []
    assert (population.n_answers, population.n_deployments) == (0, 0)


# --- Bad people -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "labels", "error", "message"),
    [
        (X, [0, 1, 0, 1, 0, 1], ValueError, "labels must be -1 and +1, got 0, 1"),
        (X, [-1, 1, 2, 1, 1, 1], ValueError, "labels must be -1 and +1, got -1, 1, 2"),
        (X, [-1, 1, 0.5, 1, 1, 1], ValueError, "labels must be -1 and +1, got -1.0, 0.5, 1.0"),
        (X, [-1, 1, np.nan, 1, 1, 1], ValueError, "labels must be -1 and +1, got -1.0, 1.0, nan"),
        (X, ["a", "b"] * 3, ValueError, "labels must be -1 and +1, got 'a', 'b'"),
        (X, ["-1", "1"] * 3, ValueError, "labels must be -1 and +1, got '-1', '1'"),
        (X, [True, False] * 3, ValueError, "labels must be -1 and +1, got False, True"),
        (X, range(6), ValueError, "labels must be -1 and +1, got 0, 1, 2, 3, 4"),
        (X, [1] * 6, ValueError, "labels must be of both kinds, got +1 alone"),
        (X, [-1] * 6, ValueError, "labels must be of both kinds, got -1 alone"),
        (X[:1], [1], ValueError, "labels must be of both kinds, got +1 alone"),
        (X, [1, -1], ValueError, "y must have one label a row of X, 6 of them, got shape (2,)"),
        (X, Y[:, None], ValueError, "one label a row of X, 6 of them, got shape (6, 1)"),
        (X, 1, ValueError, "one label a row of X, 6 of them, got shape ()"),
        (np.where(X == 2, np.nan, X), Y, ValueError, "X must be finite, got nan at coordinate (0,"),
        (np.where(X == 3, -np.inf, X), Y, ValueError, "X must be finite, got -inf at coordinate"),
        (np.zeros((0, 2)), [], ValueError, "X must have rows and columns, got shape (0, 2)"),
        (np.zeros((6, 0)), Y, ValueError, "X must have rows and columns, got shape (6, 0)"),
        ([], [], ValueError, "X must have rows and columns, got shape (0,)"),
        (X[:, 0], Y, ValueError, "X must have rows and columns, got shape (6,)"),
        (X[None], Y, ValueError, "X must have rows and columns, got shape (1, 6, 2)"),
        (X.astype(str), Y, TypeError, "X must be an array of numbers, got one of type"),
        (X.astype(object), Y, TypeError, "X must be an array of numbers, got one of type object"),
        (X * 1j, Y, TypeError, "X must be an array of numbers, got one of type complex128"),
    ],
)
def test_bad_features_and_labels_are_refused_and_named(
    features: Any, labels: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        Population(features, labels)


def test_labels_of_mixed_kind_are_refused_and_named() -> None:
    with pytest.raises((TypeError, ValueError), match=r"labels must be -1 and \+1"):
        Population(X, [1, -1, None, 1, -1, 1])


def test_ragged_features_are_refused_and_named() -> None:
    with pytest.raises((TypeError, ValueError), match=r"^X must"):
        Population([[1.0, 2.0], [3.0]], [1, -1])


@pytest.mark.parametrize("response", [0.5, "quadratic", Tally(), QuadraticCost])
def test_response_that_is_none_is_refused(response: Any) -> None:
    with pytest.raises(TypeError, match=r"response must be a Response, such as QuadraticCost"):
        people(response)


@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.float32, float])
def test_labels_and_features_may_be_of_any_number_type(kind: Any) -> None:
    population = Population(np.arange(12).reshape(6, 2).astype(kind), Y.astype(kind))
    assert population.X.dtype == population.y.dtype == np.float64
    np.testing.assert_array_equal(population.y, Y)
    assert (population.n, population.d, population.n_positive) == (6, 2, 2)


@pytest.mark.parametrize(
    "response", [NoResponse(), QuadraticCost(ZETA), QuadraticCost(ZETA, features=[0, 2])]
)
def test_constant_and_duplicate_columns_are_answered_like_any_other(response: Response) -> None:
    features = np.column_stack([X[:, 0], np.ones(6), X[:, 0], np.zeros(6)])
    theta = np.array([1.0, -2.0, 1.0, 0.0])
    population = Population(features, Y, response)
    power = 0.0 if response.power == 0 else ZETA
    mask = np.ones(4) if response.features is None else [1, 0, 1, 0]
    expected = features + np.where(Y < 0, power, 0.0)[:, None] * (theta * mask)
    np.testing.assert_allclose(population.ask(theta, range(6)), expected, rtol=1e-15)


def test_two_agents_of_both_kinds_are_a_population() -> None:
    answers = Population([[1.0], [2.0]], [1, -1], QuadraticCost(0.5)).ask([2.0], [0, 1])
    np.testing.assert_array_equal(answers, [[1.0], [3.0]])
