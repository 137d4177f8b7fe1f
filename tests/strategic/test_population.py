"""Populations: answers, what a learner sees of them, counts and budgets.

The oracle of every count is a black box that keeps its own tally of who was asked what.
"""

from typing import Any

import numpy as np
import pytest

from gameproof import BlackBox, Noisy, Population, QuadraticCost, Response, Sight
from gameproof.core.errors import AnswerError, BudgetExceeded
from tallied import MOVING, THETA, ZETA, Array, Indices, Tally, X, Y, people

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
    with pytest.raises(TypeError, match=r"shows scores only; call scores\(\) instead"):
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
    with pytest.raises(BudgetExceeded, match=r"1 answer and .* budget of 4 has 0 left; nobody was"):
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


def test_population_keeps_its_shape_where_the_caller_reshapes_theirs() -> None:
    own = np.ones((4, 3))
    population = Population(own, [1, 1, -1, -1])
    own.shape = (12,)
    assert population.X.shape == (4, 3)
    assert np.shares_memory(population.X, own)  # people may be too many to copy
