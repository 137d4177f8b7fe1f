"""`Run`: what may be asked, what may be told, and that by hand or by `solve` it is one run."""

import pickle
from copy import copy, deepcopy
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gameproof as gp
from copies import every_copy
from gameproof.kernels.step import run as loop
from gameproof.minmax.run_engine import UNLIMITED
from solving import GAMES, SameState
from strategic_problems import make

SOLVERS = {
    "OGDA": gp.ogda_rr,
    "WR in batches": lambda **parts: gp.ogda_wr(batch=3, **parts),
    "two-point": lambda **parts: gp.sgda_rr(gradient=gp.TwoPoint(), **parts),
    "baseline": lambda **parts: gp.ogda_rr(
        gradient=gp.OnePoint(baseline=True), average=gp.Last(), **parts
    ),
    "extragradient": lambda **parts: gp.Solver(
        update=gp.Extragradient(), gradient=gp.Residual(), order=gp.ShuffleOnce(), batch=2, **parts
    ),
    "suffix": lambda **parts: gp.ogda_rr(average=gp.Suffix(), **parts),
    "variance-reduced": lambda **parts: gp.ogda_wr(
        gradient=gp.VarianceReduced(every=2), batch=2, **parts
    ),
}
every_solver = pytest.mark.parametrize("make", SOLVERS.values(), ids=SOLVERS)


@pytest.fixture
def run(teller: Any, schedules: Any) -> gp.Run:
    """OGDA in its third step: four values are asked."""
    run = gp.Run(teller().problem, gp.ogda_rr(batch=2, **schedules), seed=3)
    run.step()
    run.step()
    return run


def answers(question: gp.Question, teller: Any) -> list[float]:
    return [teller.value(i, question.x, question.y) for i in question.indices.tolist()]


@every_solver
def test_run_driven_by_hand_equals_solve(make: Any, teller: Any, schedules: Any) -> None:
    problem, solver = teller().problem, make(**schedules)
    run = gp.Run(problem, solver, seed=3)
    while run.state.epoch < 5:
        question = run.ask()
        run.tell(question, answers(question, teller))
    result = gp.solve(problem, solver, epochs=5, seed=3)
    for name, ours, theirs in zip(
        result.state.memory._fields, run.state.memory, result.state.memory, strict=True
    ):
        assert ours.tobytes() == theirs.tobytes(), name
    assert run.state.rng.bit_generator.state == result.state.rng.bit_generator.state
    for ours, theirs in zip(run.recommend(), (result.x, result.y), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@every_solver
def test_run_driven_by_hand_resumes_in_solve(
    make: Any, teller: Any, schedules: Any, same_state: SameState
) -> None:
    problem, solver = teller().problem, make(**schedules)
    whole = gp.solve(problem, solver, epochs=6, seed=3)
    for steps in (1, 3, 6, 8, 11, 15):
        run = gp.Run(problem, solver, seed=3)
        for _ in range(steps):
            run.step()
        question = run.ask()
        again = gp.solve(problem, solver, epochs=6, resume=run.state)
        np.testing.assert_array_equal(again.x, whole.x)
        assert question.id == run.state.deployments
        again.state.rows[:] = whole.state.rows  # by hand, nothing is recorded
        same_state(again.state, whole.state)


def test_solve_resumes_by_hand(teller: Any, schedules: Any) -> None:
    problem, solver = teller().problem, gp.ogda_rr(**schedules)
    run = gp.Run(problem, solver, state=gp.solve(problem, solver, queries=20, seed=3).state)
    while run.state.epoch < 3:
        run.step()
    whole = gp.solve(problem, solver, epochs=3, seed=3)
    np.testing.assert_array_equal(run.recommend()[0], whole.x)


@every_solver
def test_asking_twice_gives_the_same_question_and_moves_nothing(
    make: Any, teller: Any, schedules: Any, same_state: SameState
) -> None:
    run = gp.Run(teller().problem, make(**schedules), seed=3)
    for _ in range(20):
        question = run.ask()
        before = deepcopy(run.state)
        assert run.ask() is question
        same_state(run.state, before)
        run.tell(question, answers(question, teller))


def test_questions_have_ids_of_their_own_and_read_only_points(run: gp.Run, teller: Any) -> None:
    seen = set()
    for _ in range(30):
        question = run.ask()
        seen.add(question.id)
        assert len(question.indices) > 0
        for point in (question.x, question.y):
            with pytest.raises(ValueError, match="read-only"):
                point[0] = 0.0
        run.tell(question, answers(question, teller))
    assert len(seen) == 30


def test_points_already_given_do_not_change_with_the_run(run: gp.Run, teller: Any) -> None:
    question = run.ask()
    before = question.x.copy(), question.y.copy(), question.indices.copy()
    run.tell(question, answers(question, teller))
    run.step()
    for now, then in zip(question[1:], before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_optimistic_step_asks_the_samples_of_the_step_before_again(
    teller: Any, schedules: Any
) -> None:
    run = gp.Run(teller().problem, gp.ogda_rr(batch=3, **schedules), seed=3)
    before: list[int] = []
    for size in (3, 3, 1, 3, 3, 1):  # of 7 samples
        question = run.ask()
        samples = question.indices.tolist()
        assert samples[size:] == before
        before = samples[:size]
        run.tell(question, answers(question, teller))


def test_tell_refuses_what_was_not_asked(run: gp.Run, teller: Any, same_state: SameState) -> None:
    with pytest.raises(TypeError, match=r"the question that ask\(\) returned, got \(1, "):
        run.tell((1, [0.0, 0.0], [0.0], [0]), [0.0])  # type: ignore[arg-type]
    nothing = gp.Question(1, np.zeros(2), np.zeros(1), np.array([0]))
    with pytest.raises(ValueError, match="question 1 is not the pending one"):
        run.tell(nothing, [0.0])  # before anything is asked
    question = run.ask()
    before = deepcopy(run.state)
    for other in (question.id - 1, question.id + 1):
        with pytest.raises(ValueError, match=f"question {other} is not the pending one"):
            run.tell(question._replace(id=other), [0.0] * 4)
    same_state(run.state, before)
    run.tell(question, answers(question, teller))
    with pytest.raises(ValueError, match=f"question {question.id} is not the pending one"):
        run.tell(question, answers(question, teller))  # a second time


@pytest.mark.parametrize("count", [0, 1, 3, 5])
def test_tell_refuses_a_wrong_number_of_values(
    count: int, run: gp.Run, same_state: SameState
) -> None:
    question = run.ask()
    before = deepcopy(run.state)
    with pytest.raises(ValueError, match=f"question {question.id} asks 4 values, got {count}"):
        run.tell(question, [0.5] * count)
    for values, named in (
        (np.array(3.0), r"array\(3\.\)"),
        (iter([0.5] * 4), "<list_iter.*>"),
        (pd.Series([0.5] * 4), r"Series of shape \(4,\) and type float64"),
    ):
        with pytest.raises(ValueError, match=f"asks 4 values, got {named}, not a list"):
            run.tell(question, values)  # type: ignore[arg-type]
    same_state(run.state, before)
    run.tell(question, [0.5] * 4)


def test_sample_that_replaces_another_enters_the_step_and_the_next(teller: Any) -> None:
    run = gp.Run(teller().problem, gp.ogda_rr(step=0.02, radius=0.5), seed=3)
    question, (x, y) = run.ask(), run.state.last
    other = 6 - int(question.indices[0])
    replaced = run.substitute(question, [other])
    assert (run.ask() is replaced, replaced.indices.tolist()) == (True, [other])
    with pytest.raises(ValueError, match="is not the pending one"):
        run.tell(question, [0.0])
    run.tell(replaced, answers(replaced, teller))
    # One point in three dimensions: (d / eps) L_i(u + eps v) v, in the first step without optimism.
    change = 0.02 * 3 / 0.5**2 * teller.value(other, question.x, question.y)
    np.testing.assert_allclose(run.state.last[0], x - change * (question.x - x), rtol=1e-12)
    np.testing.assert_allclose(run.state.last[1], y + change * (question.y - y), rtol=1e-12)
    assert other in run.ask().indices


@pytest.mark.parametrize(
    ("others", "error", "said"),
    [
        ([0, 1, 2, 7], IndexError, "teller has samples 0 to 6, got 7"),
        ([0, 1, 2, -1], IndexError, "teller has samples 0 to 6, got -1"),
        ([0, 1, 2, 0.5], TypeError, "sample numbers must be integers"),
        (["0", "1", "2", "3"], TypeError, "sample numbers must be integers"),
        ([0, 1, 2], ValueError, "asks 4 samples, got 3"),
    ],
    ids=["beyond the end", "negative", "not whole", "text", "too few"],
)
def test_samples_that_cannot_replace_others_are_refused(
    others: Any, error: Any, said: str, run: gp.Run, same_state: SameState
) -> None:
    question = run.ask()
    before = deepcopy(run.state)
    with pytest.raises(error, match=said):
        run.substitute(question, others)
    same_state(run.state, before)
    assert run.ask() is question


def test_known_sample_cannot_replace_one_that_is_asked() -> None:
    problem = make(n=24)
    labels = problem.population.y
    run = gp.Run(problem, gp.ogda_rr(gradient=gp.TwoPoint()), seed=0)
    question = run.ask()
    bad, good = np.flatnonzero(labels < 0), np.flatnonzero(labels > 0)
    size = question.indices.size
    said = f"sample {good[0]} cannot replace sample {question.indices[0]}"
    with pytest.raises(ValueError, match=said):
        run.substitute(question, good[:size])
    assert run.substitute(question, bad[:size]).indices.tolist() == bad[:size].tolist()


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, None, "much", 1j], ids=repr)
def test_tell_refuses_a_value_that_is_no_finite_number(
    bad: Any, place: int, run: gp.Run, teller: Any
) -> None:
    question = run.ask()
    values: list[Any] = answers(question, teller)
    values[place] = bad
    with pytest.raises(gp.EvaluationError) as failure:
        run.tell(question, values)
    message = str(failure.value)
    assert (
        message.startswith(f"sample {question.indices[place]} gave {bad}") or repr(bad) in message
    )
    assert "in step 3 (epoch 1)" in message
    assert failure.value.state.steps == 2


@pytest.mark.parametrize("place", range(4))
def test_after_a_bad_value_the_rest_is_asked_and_the_run_is_the_same(
    place: int, run: gp.Run, teller: Any
) -> None:
    other = gp.Run(run.problem, run.solver, state=run.state)
    question = run.ask()
    values = answers(question, teller)
    with pytest.raises(gp.EvaluationError):
        run.tell(question, [*values[:place], np.nan, *values[place + 1 :]])
    rest = run.ask()
    assert rest.indices.tolist() == question.indices.tolist()[place:]
    np.testing.assert_array_equal(rest.x, question.x)
    run.tell(rest, values[place:])
    other.step()
    assert run.state.memory.x.tobytes() == other.state.memory.x.tobytes()
    assert run.state.memory.answers.tobytes() == other.state.memory.answers.tobytes()


@pytest.mark.parametrize("place", range(4))
def test_step_that_failed_can_be_tried_again_on_the_same_run(
    place: int, teller: Any, schedules: Any
) -> None:
    solver = gp.ogda_rr(batch=2, **schedules)
    whole = gp.Run(teller().problem, solver, seed=3)
    told = teller({2 + 4 + place + 1: lambda: np.nan})  # steps ask 2, 4, 4, … values
    run = gp.Run(told.problem, solver, seed=3)
    for step in range(6):
        whole.step()
        if step == 2:
            with pytest.raises(gp.EvaluationError):
                run.step()
        run.step()
    assert run.state.memory.x.tobytes() == whole.state.memory.x.tobytes()
    assert max(told.answered.values()) == 1


def test_recommend_before_the_first_step_is_the_start(teller: Any, schedules: Any) -> None:
    for average in (gp.StepWeighted(), gp.Suffix(), gp.Last()):
        solver = gp.ogda_rr(average=average, **schedules)
        x, y = gp.Run(teller().problem, solver, start=([0.5, -0.25], [0.125])).recommend()
        assert (x.tolist(), y.tolist()) == ([0.5, -0.25], [0.125])
        x, y = gp.Run(teller().problem, solver).recommend()
        assert (x.tolist(), y.tolist()) == ([0.0, 0.0], [0.0])


def test_recommend_is_the_step_weighted_mean_of_the_iterates(teller: Any, schedules: Any) -> None:
    run = gp.Run(teller().problem, gp.ogda_rr(**schedules), seed=3)
    total, weights = np.zeros(3), 0.0
    for k in range(30):
        run.step()
        eta = schedules["step"](k // 7)
        total, weights = total + eta * np.concatenate(run.state.last), weights + eta
        np.testing.assert_allclose(np.concatenate(run.recommend()), total / weights, rtol=1e-12)


def test_what_recommend_gives_can_be_changed_without_harm(run: gp.Run) -> None:
    x, y = run.recommend()
    before = x.copy(), y.copy()
    x += 1.0
    y += 1.0
    for now, then in zip(run.recommend(), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_method_that_asks_no_values_says_so_when_asked(teller: Any, schedules: Any) -> None:
    problem = teller(gradient=(teller.x_gradient, teller.y_gradient)).problem
    run = gp.Run(problem, gp.ogda_rr(gradient=gp.Exact(), **schedules), seed=3)
    with pytest.raises(TypeError, match=r"Exact\(\) asks for no values: call step\(\)"):
        run.ask()
    run.step()
    assert (run.state.steps, run.state.queries, run.state.deployments) == (1, 0, 0)


def test_resumed_run_takes_neither_seed_nor_start(run: gp.Run) -> None:
    for extra in ({"seed": 1}, {"start": ([0, 0], [0])}):
        with pytest.raises(ValueError, match="a resumed run keeps its seed and its start"):
            gp.Run(run.problem, run.solver, state=run.state, **extra)


def test_limits_that_are_never_reached_cost_nothing() -> None:
    run = gp.Run(gp.QuadraticGame.random(n=5, seed=0), gp.sgda_rr(step=0.01), seed=0)
    assert not run.advance(UNLIMITED, 1000, compiled=True)
    assert run.state.queries == 1000


def test_questions_about_known_samples_have_ids_of_their_own() -> None:
    """Nobody is asked, so that no deployment is counted."""
    X, y = gp.synthetic_people(n=30, d=2, seed=0)
    people = gp.Population(X, y, gp.QuadraticCost(0.1))
    problem = gp.StrategicProblem(people, radius=0.1, label_cost=0.5, positive="estimated")
    run = gp.Run(problem, gp.ogda_rr(gradient=gp.TwoPoint()), seed=0)
    seen = []
    for _ in range(20):
        question = run.ask()
        seen.append(question.id)
        run.tell(question, problem.values(question.indices, question.x, question.y))
    assert seen == list(range(1, 21))


@pytest.mark.parametrize("gradient", [gp.OnePoint(), gp.TwoPoint(), gp.Envelope()], ids=repr)
def test_step_over_everybody_costs_the_answers_of_those_who_move(gradient: Any) -> None:
    X, y = gp.synthetic_people(n=50, d=2, seed=0)
    problem = gp.StrategicProblem(gp.Population(X, y, gp.QuadraticCost(0.1)), 0.1, 0.5)
    points = 2 if gradient == gp.TwoPoint() else 1
    cost = points * int((y < 0).sum())
    solver = gp.sgda_rr(gradient=gradient, batch=50, step=0.01, radius=0.5)
    result = gp.solve(problem, solver, queries=cost, seed=0)
    assert (result.n_steps, result.n_queries) == (1, cost)
    assert gp.solve(problem, solver, queries=cost - 1, seed=0).n_steps == 0


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_what_a_run_writes_to_lies_apart_from_all_else(game: Any) -> None:
    """Else threads with runs of their own would wait for each other."""
    memory = gp.Run(game, gp.ogda_rr(), seed=0).state.memory
    for array in (part for part in memory if part.size):
        room = array
        while room.base is not None:
            room = room.base
        before = array.ctypes.data - room.ctypes.data
        assert array.ctypes.data % 128 == 0
        assert room.nbytes - before - array.nbytes >= 128


@pytest.mark.parametrize("part", ["problem", "solver", "state"])
def test_parts_of_a_run_stay_what_they_are(part: str, run: gp.Run) -> None:
    with pytest.raises(AttributeError):
        setattr(run, part, getattr(run, part))


@pytest.mark.parametrize("duplicate", [copy, deepcopy, pickle.dumps])
def test_run_is_not_copied_and_says_what_can_be(duplicate: Any, run: gp.Run) -> None:
    with pytest.raises(TypeError, match=r"cannot be copied or pickled; keep run\.state\.copy\(\)"):
        duplicate(run)


def test_plain_function_does_not_advance_compiled(run: gp.Run) -> None:
    with pytest.raises(ValueError, match=r"teller cannot run compiled: .*is plain Python"):
        run.advance(10, UNLIMITED, compiled=True)
    assert run.state.steps == 2


def test_limits_beyond_what_can_be_counted_are_none() -> None:
    problem = make()
    found = gp.Run(problem, gp.ogda_rr(gradient=gp.Envelope()), seed=0)
    found.advance(20, 2**70, compiled=True)
    assert found.state.steps == 20
    assert problem.population.n_answers == found.state.queries


@pytest.mark.parametrize("batch", [np.uint8(200), np.int8(100), np.int16(100), np.int32(100)])
def test_batch_of_any_kind_of_integer_is_that_many(batch: Any, same_state: SameState) -> None:
    """Twice as many do not fit into a byte, and the room for answers once was 2 · batch in one."""
    problem = gp.QuadraticGame.random(n=250, dx=2, dy=2, seed=0)
    for compiled in (True, False):
        found = [
            gp.solve(problem, gp.ogda_rr(batch=b), epochs=2, seed=0, compiled=compiled).state
            for b in (batch, int(batch))
        ]
        same_state(*found)


def test_point_that_was_asked_and_is_answered_compiled_is_a_deployment_too() -> None:
    by_hand, alone = make(), make()
    solver = gp.ogda_rr(step=0.01, radius=1.0)
    run = gp.Run(by_hand, solver, seed=0)
    while run.state.steps < 30:
        run.ask()
        run.advance(run.state.steps + 2, UNLIMITED, compiled=True)
    gp.Run(alone, solver, seed=0).advance(run.state.steps, UNLIMITED, compiled=True)
    assert by_hand.population.n_deployments == alone.population.n_deployments
    assert by_hand.population.n_answers == alone.population.n_answers


@pytest.mark.parametrize("compiled", [True, False])
@every_copy
def test_a_copied_problem_is_solved_and_counted_as_the_first(copied: Any, compiled: bool) -> None:
    solver = gp.ogda_rr(step=0.01, radius=0.5, batch=3)
    first = make(n=11, response=gp.QuadraticCost(np.linspace(0.1, 0.2, 11)))
    before = gp.solve(first, solver, epochs=2, seed=0, compiled=compiled)
    second, compiled_for = copied(first), set(loop.signatures)
    after = gp.solve(second, solver, epochs=2, seed=0, compiled=compiled)
    assert set(loop.signatures) == compiled_for, "the copy was compiled again"
    assert after.x.tobytes() == before.x.tobytes()
    assert second.population.answers_by_agent.sum() == 2 * first.population.answers_by_agent.sum()
    assert first.population.answers_by_agent.sum() == before.n_queries


def test_a_problem_is_sent_with_its_features_once() -> None:
    problem = make(n=2000, d=20)
    raw = pickle.dumps(problem, protocol=5)
    assert problem.population.X.nbytes < len(raw) < 1.5 * problem.population.X.nbytes


@every_copy
def test_people_whose_response_knows_the_problem_can_be_copied(copied: Any) -> None:
    known, simulation = make(n=11).population, Simulation()
    people = gp.Population(known.X, known.y, gp.BlackBox(simulation.answer))
    simulation.problem = gp.StrategicProblem(people, radius=0.1)
    theta, everyone = np.ones(people.d), np.arange(people.n)
    again = copied(people)
    assert np.array_equal(again.ask(theta, everyone), people.ask(theta, everyone))
    assert again.n_answers == people.n_answers > 0


class Simulation:
    """People who are asked about the problem they are part of."""

    problem: gp.StrategicProblem

    def answer(self, theta: Any, agents: Any) -> Any:
        return self.problem.population.X[agents] + 0.1 * theta


def test_a_generator_put_in_place_of_another_is_drawn_from_alone(same_state: SameState) -> None:
    """Order and directions, compiled or not; directions once came from the one before."""
    found = []
    for compiled in (True, False):
        run = gp.Run(gp.RobustLeastSquares.random(n=13, dx=4, seed=1), gp.ogda_rr(), seed=1)
        run.advance(5, UNLIMITED, compiled)
        run.state.rng = np.random.default_rng(9)
        run.advance(40, UNLIMITED, compiled)
        found.append(run.state)
    same_state(*found)
