"""Many seeds at once."""

import numpy as np
import pytest

import gameproof as gp
from strategic_problems import make

SOLVER = gp.ogda_rr(step=0.01, radius=1.0)


def test_many_seeds_at_once_give_what_they_give_one_by_one_in_their_order() -> None:
    at_once, one_by_one = make(), make()
    many = gp.solve_many(at_once, SOLVER, seeds=range(7), epochs=20, jobs=3)
    for seed, result in enumerate(many):
        alone = gp.solve(one_by_one, SOLVER, seed=seed, epochs=20)
        assert np.array_equal(result.x, alone.x)
        assert np.array_equal(result.y, alone.y)
        assert result.n_queries == alone.n_queries


def test_no_answer_of_runs_at_once_is_lost_to_the_population() -> None:
    at_once, one_by_one = make().population, make().population
    for people, jobs in ((at_once, 4), (one_by_one, 1)):
        problem = gp.StrategicProblem(people, radius=0.05, label_cost=0.4)
        results = gp.solve_many(problem, SOLVER, seeds=range(8), epochs=50, jobs=jobs)
        assert people.n_answers == sum(result.n_queries for result in results)
    assert np.array_equal(at_once.answers_by_agent, one_by_one.answers_by_agent)
    assert at_once.n_deployments == one_by_one.n_deployments


def test_runs_that_share_a_budget_go_one_after_the_other() -> None:
    people = gp.Population(*_data(), gp.QuadraticCost(0.2), budget=100)
    problem = gp.StrategicProblem(people, radius=0.05, label_cost=0.4)
    results = gp.solve_many(problem, SOLVER, seeds=range(3), epochs=5, jobs=3)
    assert [result.reason for result in results] == ["queries"] * 3
    assert sum(result.n_queries for result in results) == people.n_answers <= 100


def test_a_plain_python_function_is_called_from_one_thread() -> None:
    import threading

    seen = set()

    def value(i: int, x: np.ndarray, y: np.ndarray) -> float:
        seen.add(threading.get_ident())
        return float(x[0] * y[0])

    square = gp.Ball([0.0], 1.0)
    problem = gp.SaddleProblem(value, n=4, x_set=square, y_set=square)
    assert len(gp.solve_many(problem, SOLVER, seeds=range(4), epochs=2, jobs=4)) == 4
    assert seen == {threading.get_ident()}


def test_what_belongs_to_one_run_is_refused() -> None:
    with pytest.raises(ValueError, match="resume belongs to one run"):
        gp.solve_many(make(), SOLVER, seeds=[0], resume="state.npz")
    for alone in (3, np.array(3)):
        with pytest.raises(TypeError, match="seeds must be a list"):
            gp.solve_many(make(), SOLVER, seeds=alone)  # type: ignore[arg-type]
    for seeds, kind in ((["a"], TypeError), ([0, -1], ValueError)):
        with pytest.raises(kind, match=f"seed must be an integer of .*, got {seeds[-1]!r}"):
            gp.solve_many(make(), SOLVER, seeds=seeds)  # type: ignore[arg-type]
    assert gp.solve_many(make(), SOLVER, seeds=[]) == []


def _data() -> tuple[np.ndarray, np.ndarray]:
    people = make().population
    return people.X, people.y


def test_runs_that_share_a_generator_go_one_after_the_other() -> None:
    found = []
    for jobs in (1, 3):
        rng = np.random.default_rng(0)
        found.append(gp.solve_many(make(), SOLVER, seeds=[rng] * 5, epochs=3, jobs=jobs))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one.x, other.x)


@pytest.mark.parametrize(
    "seeds",
    [
        lambda bits: [bits, bits],
        lambda bits: [np.random.Generator(bits), np.random.Generator(bits)],
        lambda bits: [np.random.RandomState(bits), bits],
    ],
    ids=["bits", "generators", "legacy"],
)
def test_runs_that_share_the_bits_of_a_generator_go_one_after_the_other(seeds) -> None:
    found = []
    for jobs in (1, 2):
        given = seeds(np.random.PCG64(1))
        found.append(gp.solve_many(make(), SOLVER, seeds=given, epochs=100, jobs=jobs))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one.x, other.x)


@pytest.mark.parametrize("jobs", [1, 3])
def test_run_that_fails_says_which_seed_it_had(jobs: int) -> None:
    def score(x: np.ndarray, y: np.ndarray) -> float:
        raise RuntimeError("no score today")

    with pytest.raises(RuntimeError) as failed:
        gp.solve_many(make(), SOLVER, seeds=[11, 12], epochs=1, jobs=jobs, score=score)
    assert any("the run with seed 11;" in note for note in failed.value.__notes__)


@pytest.mark.parametrize("jobs", [1, 3])
def test_run_that_fails_hands_over_those_that_ended(jobs: int) -> None:
    ended = 0

    def score(x: np.ndarray, y: np.ndarray) -> float:
        nonlocal ended
        ended += 1
        if ended == 3:
            raise RuntimeError("no score today")
        return 1.0

    with pytest.raises(RuntimeError) as failed:
        gp.solve_many(make(), SOLVER, seeds=[5, 6, 7], epochs=1, jobs=jobs, score=score)
    results = failed.value.results  # type: ignore[attr-defined]
    assert len(results) == 2
    for k, result in results.items():
        assert np.array_equal(result.x, gp.solve(make(), SOLVER, seed=5 + k, epochs=1).x)
