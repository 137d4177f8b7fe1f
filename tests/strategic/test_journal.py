"""The journal: what it stores, for whom, and what several programs see of it."""

import gc
import multiprocessing
import os
import pickle
import signal
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

import gameproof as gp
from kills import programs, run
from tallied import MOVING, THETA, ZETA, Array, Indices, Tally, X, Y


class Moody:
    """People who answer differently every time."""

    def __init__(self) -> None:
        self.rng, self.asked = np.random.default_rng(0), []

    def __call__(self, theta: Array, indices: Indices) -> Array:
        self.asked.extend(indices.tolist())
        return X[indices] + self.rng.standard_normal((indices.size, 2))


def people(path: Path, answer: Any, **more: Any) -> gp.Population:
    return gp.Population(X, Y, gp.BlackBox(answer), journal=path, **more)


def test_stored_answers_come_back_in_order_and_nobody_is_asked(tmp_path: Path) -> None:
    moody, questions = Moody(), [[1, 2], [1], [1, 1, 4], [2]]
    first = people(tmp_path / "a.db", moody)
    answers = [first.ask(THETA, agents) for agents in questions]
    number = len(moody.asked)
    second = people(tmp_path / "a.db", moody)
    for agents, answer in zip(questions, answers, strict=True):
        np.testing.assert_array_equal(second.ask(THETA, agents), answer)
    assert len(moody.asked) == number == second.n_answers == first.n_answers
    assert second.answers_by_agent.tolist() == [0, 4, 2, 0, 1, 0]
    second.ask(THETA, [1])  # one more than before
    assert len(moody.asked) == number + 1


def test_thetas_are_told_apart_by_their_bits(tmp_path: Path) -> None:
    tally = Tally()
    for theta in (THETA, np.nextafter(THETA, 9), np.array([0.0, 1.0]), np.array([-0.0, 1.0])):
        people(tmp_path / "a.db", tally).ask(theta, [1])
    assert len(tally.asked) == 4
    assert people(tmp_path / "a.db", tally).n_deployments == 4


def test_journal_of_other_people_is_refused_in_one_sentence(tmp_path: Path) -> None:
    people(tmp_path / "a.db", Tally()).ask(THETA, [1])
    with pytest.raises(gp.JournalError, match="journal of other people: of the same number"):
        gp.Population(X + 1, Y, gp.BlackBox(Tally()), journal=tmp_path / "a.db")
    with pytest.raises(gp.JournalError, match="6 people with 2 features, seen as features; this"):
        gp.Population(X[:, :1], Y, gp.BlackBox(Tally()), journal=tmp_path / "a.db")
    with pytest.raises(gp.JournalError, match="seen as scores"):
        gp.Population(X, Y, gp.BlackBox(Tally(), scores=True), journal=tmp_path / "a.db")


@pytest.mark.parametrize(
    "content", [b"not a database" * 100, b"SQLite format 3\0" + b"\0" * 2000, b"S"]
)
def test_file_that_is_not_a_journal_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(content)
    with pytest.raises(gp.JournalError, match=r"a\.db is damaged or not a journal"):
        people(tmp_path / "a.db", Tally())


def changed(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_altered_foreign_and_newer_files_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    people(path, Tally()).ask(THETA, [1, 2])
    changed(path, "UPDATE answer SET body = zeroblob(16) WHERE id = 2")
    with pytest.raises(gp.JournalError, match="answer 2 of agent 2 was altered"):
        people(path, Tally()).ask(THETA, [1, 2])
    changed(path, "DELETE FROM answer WHERE id = 1")
    with pytest.raises(gp.JournalError, match="damaged"):
        people(path, Tally())
    changed(path, "PRAGMA user_version = 99")
    with pytest.raises(gp.JournalError, match="newer gameproof"):
        people(path, Tally())
    changed(tmp_path / "b.db", "CREATE TABLE mine (id)")
    with pytest.raises(gp.JournalError, match="another program"):
        people(tmp_path / "b.db", Tally())


@pytest.mark.parametrize("body", ["zeroblob(16)", "NULL"])
def test_answer_altered_while_its_file_is_open_is_noticed(body: str, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    people(path, Tally()).ask(THETA, [1, 2])
    another = people(path, Tally())
    changed(path, f"UPDATE answer SET body = {body} WHERE id = 2")
    with pytest.raises(gp.JournalError, match="answer 2 of agent 2 was altered"):
        another.ask(THETA, [1, 2])


def test_unusable_answers_count_and_only_their_question_is_asked_again(tmp_path: Path) -> None:
    tally, spoil = Tally(), [True]

    def sometimes(theta: Array, indices: Indices) -> Array:
        answers = tally(theta, indices)
        if spoil[0]:
            answers[indices == 2] = np.nan
        return answers

    population = people(tmp_path / "a.db", sometimes, budget=10)
    with pytest.raises(gp.AnswerError, match=r"agent 2: .* not finite; the others' answers are ke"):
        population.ask(THETA, [1, 2, 4])
    assert (population.n_answers, population.remaining) == (3, 7)
    spoil[0] = False
    again = people(tmp_path / "a.db", sometimes, budget=10)
    np.testing.assert_allclose(again.ask(THETA, [1, 2, 4]), X[[1, 2, 4]] + ZETA * THETA)
    assert tally.agents == [1, 2, 4, 2]
    assert again.n_answers == 4


def test_failed_and_refused_questions_give_their_answers_back(tmp_path: Path) -> None:
    def fails(theta: Array, indices: Indices) -> Array:
        raise RuntimeError("nobody home")

    population = people(tmp_path / "a.db", fails, budget=4)
    for _ in range(3):
        with pytest.raises(gp.AnswerError, match="nobody home"):
            population.ask(THETA, [1, 2, 4])
    assert (population.n_answers, population.remaining) == (0, 4)
    tally = Tally()
    asks = people(tmp_path / "a.db", tally, budget=4)
    asks.ask(THETA, [1, 2, 4])
    with pytest.raises(gp.BudgetExceeded, match="needs 2 answers and the budget of 4 has 1 left"):
        asks.ask(-THETA, [1, 2])
    with pytest.raises(gp.BudgetExceeded):  # an answer that is stored does not help the others
        asks.ask(-THETA, [1, 2])
    asks.ask(-THETA, [1])
    assert tally.agents == [1, 2, 4, 1]
    assert people(tmp_path / "a.db", tally, budget=4).remaining == 0


def use_up(population: gp.Population, seed: int) -> int:
    """Asks until the budget is used up; how often."""
    rng, number = np.random.default_rng(seed), 0
    while True:
        try:
            population.ask(rng.standard_normal(2), rng.choice(MOVING, 1))
        except gp.BudgetExceeded:
            return number
        number += 1


def slow(theta: Array, indices: Indices) -> Array:
    time.sleep(0.001)
    return X[indices] + ZETA * theta


@pytest.mark.parametrize("journal", [True, False])
def test_budget_holds_exactly_across_threads(journal: bool, tmp_path: Path) -> None:
    where = tmp_path / "a.db" if journal else None
    population = gp.Population(X, Y, gp.BlackBox(slow), budget=60, journal=where)
    counts: list[int] = []
    threads = [
        threading.Thread(target=lambda k=k: counts.append(use_up(population, k))) for k in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(counts) == population.n_answers == 60
    assert population.remaining == 0


@pytest.mark.parametrize("journal", [True, False])
def test_budget_holds_exactly_across_processes(journal: bool, tmp_path: Path) -> None:
    where = tmp_path / "a.db" if journal else None
    population = gp.Population(X, Y, gp.BlackBox(slow), budget=50, journal=where)
    population.ask(THETA, MOVING)
    with joblib.parallel_config(backend="multiprocessing"):
        counts = joblib.Parallel(n_jobs=2)(joblib.delayed(use_up)(population, k) for k in range(4))
    assert sum(counts) == 50 - len(MOVING)
    assert population.remaining == 0
    if journal:
        assert population.n_answers == 50


def test_shared_count_of_a_killed_process_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def share_and_die() -> None:
        pickle.dumps(gp.Population(X, Y, gp.BlackBox(slow), budget=1))
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    process = multiprocessing.get_context("fork").Process(target=share_and_die)
    process.start()
    process.join()
    (left,) = (path for path in tmp_path.iterdir() if path.is_dir())
    population = gp.Population(X, Y, gp.BlackBox(slow), budget=1)
    assert pickle.loads(pickle.dumps(population)).remaining == 1
    assert not left.exists()
    del population
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_second_budget_covers_what_the_first_program_asked(tmp_path: Path) -> None:
    assert use_up(people(tmp_path / "a.db", slow, budget=7), 0) == 7
    assert use_up(people(tmp_path / "a.db", slow, budget=10), 1) == 3


def hang(path: Path, started: Any) -> None:
    def wait(theta: Array, indices: Indices) -> Array:
        started.set()
        time.sleep(60)
        return X[indices]

    people(path, wait, budget=10).ask(THETA, [1, 2, 4])


def test_reservation_of_a_killed_process_is_released(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    started = context.Event()
    process = context.Process(target=hang, args=(tmp_path / "a.db", started))
    process.start()
    assert started.wait(30)
    tally = Tally()
    while_asking = people(tmp_path / "a.db", tally, budget=10)
    assert while_asking.remaining == 7
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    assert while_asking.remaining == while_asking.records.obtainable == 10
    while_asking.ask(THETA, [1, 2, 4])
    assert tally.agents == [1, 2, 4]
    assert while_asking.remaining == 7
    assert not [path for path in tmp_path.iterdir() if len(path.name) > 60]


@pytest.mark.parametrize("name", ["a.db", "link.db"])
def test_question_that_another_program_is_asking_is_waited_for(name: str, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "link.db").symlink_to(tmp_path / "a.db")
    other_path = tmp_path / "links" / name if name == "link.db" else tmp_path / name
    asked, go_on = threading.Event(), threading.Event()

    def wait(theta: Array, indices: Indices) -> Array:
        asked.set()
        go_on.wait(30)
        return X[indices] + 1

    first, tally, found = people(tmp_path / "a.db", wait), Tally(), []
    one = threading.Thread(target=lambda: first.ask(THETA, [1, 2]))
    one.start()
    asked.wait(30)
    second = people(other_path, tally)
    other = threading.Thread(target=lambda: found.append(second.ask(THETA, [2, 4])))
    other.start()
    while not tally.asked:
        time.sleep(0.001)
    go_on.set()
    one.join()
    other.join()
    assert tally.agents == [4]
    np.testing.assert_array_equal(found[0][0], X[2] + 1)


def test_copy_in_another_process_continues_with_what_was_received(tmp_path: Path) -> None:
    population = people(tmp_path / "a.db", slow)
    population.ask(THETA, [1])
    copy = pickle.loads(pickle.dumps(population))
    copy.ask(THETA, [1])
    assert population.n_answers == copy.n_answers == 2


def test_relative_path_means_the_same_file_in_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    tally = Tally()
    population = people(Path("a.db"), tally)
    monkeypatch.chdir("elsewhere")
    population.ask(THETA, [1])
    pickle.loads(pickle.dumps(population)).ask(THETA, [2])
    assert people(tmp_path / "a.db", tally).n_answers == 2
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("change", ["moved", "removed", "replaced"])
def test_nobody_is_asked_when_the_journal_is_not_in_its_place(change: str, tmp_path: Path) -> None:
    path, tally = tmp_path / "a.db", Tally()
    population = people(path, tally)
    population.ask(THETA, [1])
    kept = path.rename(tmp_path / "kept.db")
    if change == "replaced":
        path.write_bytes(kept.read_bytes())
    with pytest.raises(gp.JournalError, match="moved, removed or replaced while it was in use"):
        population.ask(THETA, [2])
    assert tally.agents == [1]
    if change != "removed":
        kept.rename(path)
        population.ask(THETA, [2])
        assert people(path, tally).n_answers == 2


def test_answers_given_while_the_journal_was_away_are_not_asked_for_again(tmp_path: Path) -> None:
    path, kept, tally = tmp_path / "a.db", tmp_path / "kept.db", Tally()

    def answer(theta: Array, indices: Indices) -> Array:
        if not tally.asked:
            path.rename(kept)
        return tally(theta, indices)

    population = people(path, answer)
    with pytest.raises(gp.JournalError, match="put it back"):
        population.ask(THETA, [1, 2])
    kept.rename(path)
    population.ask(THETA, [1, 2])
    assert tally.agents == [1, 2]
    assert population.n_answers == 2


@pytest.mark.parametrize("left", ["nothing", "empty file"])
def test_log_without_its_journal_is_not_discarded(left: str, tmp_path: Path) -> None:
    path, copy = tmp_path / "a.db", tmp_path / "copy"
    population = people(path, Tally())
    population.ask(THETA, [1, 2])
    copy.mkdir()
    for name in ("a.db", "a.db-wal"):  # as a killed process leaves them
        (copy / name).write_bytes((tmp_path / name).read_bytes())
    whole = (copy / "a.db").read_bytes()
    if left == "nothing":
        (copy / "a.db").unlink()
    else:
        (copy / "a.db").write_bytes(b"")
    with pytest.raises(gp.JournalError, match=r"a\.db-wal may hold answers; put the journal back"):
        people(copy / "a.db", Tally())
    (copy / "a.db").write_bytes(whole)
    assert people(copy / "a.db", Tally()).n_answers == 2


def test_answers_that_could_not_be_written_are_not_asked_for_again(tmp_path: Path) -> None:
    tally, path = Tally(), tmp_path / "a.db"
    population = people(path, tally)
    full = "BEFORE INSERT ON answer BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"CREATE TRIGGER full {full}")
        with pytest.raises(gp.JournalError, match="disk is full"):
            population.ask(THETA, [1, 2])
        other.execute("DROP TRIGGER full")
    np.testing.assert_allclose(population.ask(THETA, [1, 2]), X[[1, 2]] + ZETA * THETA)
    assert tally.agents == [1, 2]
    assert population.n_answers == 2


def still(path: Path, moody: Moody) -> gp.StrategicProblem:
    return gp.StrategicProblem(people(path, moody), radius=0.1, label_cost=0.5)


def test_resumed_run_reads_on_where_it_was(tmp_path: Path) -> None:
    """theta never changes, so only the position in the journal tells old from new answers."""
    moody = Moody()
    solver = gp.sgda_rr(gradient=gp.Envelope(), step=1e-300)
    first = gp.solve(still(tmp_path / "a.db", moody), solver, epochs=2, seed=0)
    first.state.save(tmp_path / "run.state")
    number = len(moody.asked)
    resumed = gp.solve(
        still(tmp_path / "a.db", moody), solver, epochs=3, resume=tmp_path / "run.state"
    )
    assert len(moody.asked) == number + len(MOVING)
    whole = gp.solve(still(tmp_path / "a.db", moody), solver, epochs=3, seed=0)
    assert len(moody.asked) == number + len(MOVING)
    np.testing.assert_array_equal(resumed.state.memory.x, whole.state.memory.x)


def test_budget_ends_a_run_at_the_same_step_when_it_is_repeated(tmp_path: Path) -> None:
    def solve(budget: int) -> gp.Result:
        population = people(tmp_path / "a.db", slow, budget=budget)
        problem = gp.StrategicProblem(population, radius=0.1, label_cost=0.5)
        solver = gp.ogda_rr(gradient=gp.TwoPoint(), step=0.01, radius=0.1)
        return gp.solve(problem, solver, epochs=100, seed=0)

    results = [solve(31) for _ in range(2)]
    assert [result.reason for result in results] == ["queries"] * 2
    assert results[0].n_queries == results[1].n_queries <= 31
    np.testing.assert_array_equal(results[0].x, results[1].x)


def test_known_response_can_have_a_journal_too(tmp_path: Path) -> None:
    population = gp.Population(X, Y, gp.QuadraticCost(ZETA), journal=tmp_path / "a.db")
    problem = gp.StrategicProblem(population, radius=0.1, label_cost=0.5)
    result = gp.solve(problem, gp.sgda_rr(gradient=gp.TwoPoint()), epochs=2, seed=0)
    assert population.n_answers == result.n_queries > 0
    assert problem.duality_gap(result.x, result.y) >= 0


def test_run_without_a_seed_is_warned_about(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="without a seed every run asks different questions"):
        gp.solve(still(tmp_path / "a.db", Moody()), gp.sgda_rr(), epochs=1)


def test_killed_programs_lose_nothing(tmp_path: Path) -> None:
    """A short version of ``python tests/kills.py``."""
    table = run({"kill": 5, "terminate": 2, "interrupt": 2}, 1, tmp_path)
    assert set(table) == set(programs())
    assert sum(cell.kills for cells in table.values() for cell in cells.values()) == 9
