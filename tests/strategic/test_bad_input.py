"""Invalid answers, refused questions, and invalid populations."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from copies import every_copy
from gameproof import (
    BlackBox,
    NoResponse,
    Population,
    QuadraticCost,
    Response,
    StrategicProblem,
    TwoPoint,
    learn_response,
    ogda_rr,
    solve,
)
from gameproof.core.errors import AnswerError, EvaluationError
from tallied import THETA, ZETA, Array, Indices, Tally, X, Y, people


class Custom(Response):
    """A user's response, from a function of theta, features and agents."""

    def __init__(self, function: Callable[[Array, Array, Indices], Any]) -> None:
        self.function = function

    def fit(self, n: int, d: int) -> None:
        pass

    def answers(self, theta: Array, features: Array, agents: Indices) -> Any:
        return self.function(theta, features, agents)


# --- Invalid answers --------------------------------------------------------------------------


def rather(answer: Callable[[Array, Indices], Any]) -> Callable[[Array, Indices], Any]:
    """People whose first answers are valid, and later ones those of `answer`."""
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
    "objects": (
        lambda t, i: X[i].astype(object),
        r"agents 2, 4: answers must be .* numbers, got ndarray of shape \(2, 2\) and type object$",
    ),
    "words": (lambda t, i: [["much", "little"]] * 2, r"agents 2, 4:"),
    "NaN": (with_nan, r"agent 4: an answer that is not finite"),
    "infinity": (lambda t, i: np.full((2, 2), np.inf), r"agents 2, 4: an answer that is not fin"),
    "huge": (lambda t, i: X[i] + [[0], [-1e300]], r"agent 4: an answer of size 1e\+300, too large"),
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


def test_population_continues_after_a_bad_answer() -> None:
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


class Flaky(Tally):
    """People among whom agents 2 and 5 answer one of the questions with NaN."""

    def __init__(self, scores: bool = False, question: int = 1) -> None:
        super().__init__(scores)
        self.question = question

    def __call__(self, theta: Array, indices: Indices) -> Array:
        answers = super().__call__(theta, indices)
        if len(self.asked) == self.question:
            answers[(indices == 2) | (indices == 5)] = np.nan
        return answers


@pytest.mark.parametrize("scores", [False, True])
def test_good_answers_beside_bad_ones_are_kept_for_the_same_question(scores: bool) -> None:
    flaky, well = Flaky(scores), people(BlackBox(Tally(scores), scores=scores))
    population = people(BlackBox(flaky, scores=scores), budget=6)
    ask, rightly = (p.scores if scores else p.ask for p in (population, well))
    with pytest.raises(
        AnswerError, match=r"^deployment 1, agents 2, 5: .* the others' answers are"
    ):
        ask(THETA, range(6))
    np.testing.assert_array_equal(ask(THETA, range(6)), rightly(THETA, range(6)))
    assert [agents for _, agents in flaky.asked] == [[1, 2, 4, 5], [2, 5]]
    assert (population.n_answers, population.n_deployments) == (6, 1)


@every_copy
def test_good_answers_are_kept_in_a_copy_as_well(copied: Any) -> None:
    first = people(BlackBox(Flaky()))
    with pytest.raises(AnswerError):
        first.ask(THETA, range(6))
    again = copied(first)
    np.testing.assert_array_equal(again.ask(THETA, range(6)), first.ask(THETA, range(6)))
    assert again.n_answers == first.n_answers == 6


@pytest.mark.parametrize(("theta", "agents"), [(2 * THETA, range(6)), (THETA, [1, 2])])
def test_answers_kept_are_forgotten_with_another_question(theta: Array, agents: Any) -> None:
    flaky = Flaky()
    population = people(BlackBox(flaky))
    with pytest.raises(AnswerError):
        population.ask(THETA, range(6))
    population.ask(theta, agents)
    for _ in range(2):  # answers to a complete question are not kept
        population.ask(THETA, range(6))
        assert flaky.asked[-1] == (THETA.tolist(), [1, 2, 4, 5])


def test_resumed_run_asks_only_those_whose_answers_were_bad() -> None:
    flaky, solver = Flaky(question=3), ogda_rr(gradient=TwoPoint(), step=0.1, radius=0.1, batch=6)
    problem = StrategicProblem(people(BlackBox(flaky)), 0.1, 0.5)
    with pytest.raises(EvaluationError) as caught:
        solve(problem, solver, epochs=3, seed=0)
    result = solve(problem, solver, epochs=3, resume=caught.value.state)
    (theta, everyone), again = flaky.asked[2:4]
    assert again == (theta, [agent for agent in everyone if agent in (2, 5)])
    known = StrategicProblem(people(QuadraticCost(ZETA)), 0.1, 0.5)
    np.testing.assert_allclose(result.x, solve(known, solver, epochs=3, seed=0).x, rtol=1e-9)


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
        ([1.0, 2.0], [1.0], TypeError, "agents must be row indices (integers), got [1.0]"),
        ([1.0, 2.0], [True] * 6, TypeError, "agents must be row indices (integers)"),
        ([1.0, 2.0], ["1"], TypeError, "agents must be row indices (integers), got ['1']"),
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


# --- Invalid populations ----------------------------------------------------------------------


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
        (X, [1] * 6, ValueError, "y must contain both -1 and +1, got only +1"),
        (X, [-1] * 6, ValueError, "y must contain both -1 and +1, got only -1"),
        (X[:1], [1], ValueError, "y must contain both -1 and +1, got only +1"),
        (X, [1, -1], ValueError, "y must have one label per row of X, 6, got shape (2,)"),
        (X, Y[:, None], ValueError, "one label per row of X, 6, got shape (6, 1)"),
        (X, 1, ValueError, "one label per row of X, 6, got shape ()"),
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
        (np.ma.masked_equal(X, X[1, 0]), Y, ValueError, "X has masked entries; fill them"),
        (X, np.ma.masked_equal(Y, 1), ValueError, "y has masked entries; fill them"),
    ],
)
def test_bad_features_and_labels_are_refused_and_named(
    features: Any, labels: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        Population(features, labels)


@pytest.mark.parametrize("label", [1, -1])
def test_people_of_one_label_answer_but_there_is_nothing_to_learn_from_them(label: int) -> None:
    population = Population(X, [label] * 6, QuadraticCost(ZETA), one_label=True)
    moved = X + (label < 0) * ZETA * THETA
    np.testing.assert_allclose(population.ask(THETA, range(6)), moved, rtol=1e-15)
    for learn in (learn_response, lambda people: StrategicProblem(people, 0.1, 0.5)):
        with pytest.raises(ValueError, match=r"y must contain both -1 and \+1, got only [+-]1"):
            learn(population)


def test_labels_of_mixed_kind_are_refused_and_named() -> None:
    with pytest.raises((TypeError, ValueError), match=r"labels must be -1 and \+1"):
        Population(X, [1, -1, None, 1, -1, 1])


def test_ragged_features_are_refused_and_named() -> None:
    with pytest.raises((TypeError, ValueError), match=r"^X must"):
        Population([[1.0, 2.0], [3.0]], [1, -1])


@pytest.mark.parametrize("response", [0.5, "quadratic", Tally(), QuadraticCost])
def test_response_that_is_none_is_refused(response: Any) -> None:
    with pytest.raises(TypeError, match=r"must be a Response, such as .* BlackBox\(function\)"):
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
