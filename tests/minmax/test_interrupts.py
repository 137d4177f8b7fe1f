"""Ctrl-C, kills and threads: a run that is interrupted loses no answer, and goes on."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from solving import GAME, SEED, SETS, SameState

CHILD = """
import json, sys, time
import gameproof as gp

path = sys.argv[1]
solver = gp.ogda_rr(step=gp.Power(0.02, 0.76), radius=gp.Power(0.5, 0.25), average=gp.Suffix())
sets = {"x_set": gp.Ball([0.0, 0.0], 2.0), "y_set": gp.Box([-1.0], [1.0])}
def started(*_):
    print("started\\n", end="", flush=True)  # one write: threads take turns in between
def told(result):
    print(json.dumps([result.reason, result.status, result.n_steps, result.n_queries]), flush=True)
"""
COMPILED = """
game = gp.QuadraticGame.random(n=16, dx=3, dy=2, seed=1)
told(gp.solve(game, solver, epochs=10**9, record_every=1000, seed=3, callback=started,
              checkpoint=path, checkpoint_every=10**12))
"""
SLOW = """
calls = 0
def slow(i, x, y):
    global calls
    calls += 1
    if calls == 20:
        started()
    time.sleep(PAUSE)
    return x[0] ** 2 / 2 - 0.1 * i * x[0] + x[1] * y[0] - y[0] ** 2
problem = gp.SaddleProblem(slow, n=7, **sets)
told(gp.solve(problem, solver, epochs=10**6, seed=3, checkpoint=path, checkpoint_every=EVERY))
"""


def slow(i: int, x: Any, y: Any) -> float:
    """As in the other process, without the pause."""
    return float(x[0] ** 2 / 2 - 0.1 * i * x[0] + x[1] * y[0] - y[0] ** 2)


def started(script: str, path: Path) -> subprocess.Popen[str]:
    """A process that runs the script, once it has begun to solve."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD + script, path], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    if (line := child.stdout.readline()) != "started\n":
        child.kill()
        pytest.fail(f"the process said {line + child.communicate()[0]!r}")
    return child


@pytest.mark.parametrize("kind", ["compiled", "python"])
def test_interrupt_from_the_keyboard_returns_what_has_been_computed(
    kind: str, schedules: Any, tmp_path: Path, same_state: SameState
) -> None:
    path = tmp_path / "state"
    script = SLOW.replace("PAUSE", "0.02").replace("EVERY", "10**9")
    with started(COMPILED if kind == "compiled" else script, path) as child:
        child.send_signal(signal.SIGINT)
        lines, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    reason, status, steps, queries = json.loads(lines.splitlines()[-1])
    assert reason == "interrupted"
    assert status.startswith("Interrupted after ")
    assert "continue with resume=result.state" in status
    state = gp.State.load(path)
    assert (state.steps, state.queries) == (steps, queries)

    sets = {"x_set": gp.Ball([0.0, 0.0], 2.0), "y_set": gp.Box([-1.0], [1.0])}
    problem = GAME if kind == "compiled" else gp.SaddleProblem(slow, n=7, **sets)
    solver = gp.ogda_rr(average=gp.Suffix(), **schedules)
    options = {"epochs": state.epoch + 3, "record_every": 1000 if kind == "compiled" else 1}
    whole = gp.solve(problem, solver, seed=3, **options)
    same_state(gp.solve(problem, solver, resume=path, **options).state, whole.state)


def test_killed_process_leaves_a_checkpoint_from_which_the_run_resumes(
    schedules: Any, tmp_path: Path, same_state: SameState
) -> None:
    path = tmp_path / "state"
    with started(SLOW.replace("PAUSE", "0.0").replace("EVERY", "1"), path) as child:
        time.sleep(0.3)  # it writes its state all the time
        child.kill()
    state = gp.State.load(path)
    assert state.steps >= 9
    sets = {"x_set": gp.Ball([0.0, 0.0], 2.0), "y_set": gp.Box([-1.0], [1.0])}
    problem = gp.SaddleProblem(slow, n=7, **sets)
    solver = gp.ogda_rr(average=gp.Suffix(), **schedules)
    whole = gp.solve(problem, solver, seed=3, epochs=state.epoch + 3)
    again = gp.solve(problem, solver, resume=path, epochs=state.epoch + 3)
    same_state(again.state, whole.state)


@pytest.mark.parametrize("call", [1, 2, 3, 20, 21, 30])
def test_interrupt_inside_the_callable_loses_no_answer(
    call: int, teller: Any, schedules: Any, same_state: SameState
) -> None:
    def interrupt() -> float:
        raise KeyboardInterrupt

    solver, clean, told = gp.ogda_rr(batch=3, **schedules), teller(), teller({call: interrupt})
    whole = gp.solve(clean.problem, solver, epochs=4, seed=SEED)
    result = gp.solve(told.problem, solver, epochs=4, seed=SEED)
    assert (result.reason, result.n_queries, told.calls) == ("interrupted", call - 1, call)
    assert f" {call - 1} values" in result.status
    again = gp.solve(told.problem, solver, epochs=4, resume=result.state)
    assert told.answered == clean.answered
    same_state(again.state, whole.state)


@pytest.mark.parametrize("parts", [{"batch": 3}, {"gradient": gp.TwoPoint(), "batch": 2}], ids=str)
def test_signal_ends_the_run_between_two_answers(
    parts: dict[str, Any], teller: Any, schedules: Any, same_state: SameState
) -> None:
    solver, clean = gp.ogda_rr(average=gp.Suffix(), **parts, **schedules), teller()
    whole = gp.solve(clean.problem, solver, epochs=3, seed=SEED)
    for call in range(1, clean.calls):
        told = teller()
        told.faults[call] = interrupted_answer(told)
        result = gp.solve(told.problem, solver, epochs=3, seed=SEED)
        assert (result.reason, result.n_queries, told.calls) == ("interrupted", call, call)
        again = gp.solve(told.problem, solver, epochs=3, resume=result.state)
        assert told.calls == clean.calls
        same_state(again.state, whole.state)


def interrupted_answer(told: Any) -> Callable[[], float]:
    """Ctrl-C arrives while a value is computed, and the value arrives all the same."""

    def fault() -> float:
        signal.raise_signal(signal.SIGINT)
        return float(told.value(*told.last))

    return fault


@pytest.mark.parametrize("call", [1, 2, 5])
def test_signal_during_a_batch_function_loses_none_of_its_answers(
    call: int, teller: Any, schedules: Any, same_state: SameState
) -> None:
    asked: list[int] = []
    calls = 0

    def values(indices: Any, x: Any, y: Any) -> Any:
        nonlocal calls
        calls += 1
        asked.extend(indices.tolist())
        if calls == call:
            signal.raise_signal(signal.SIGINT)
        return np.array([teller.value(i, x, y) for i in indices.tolist()])

    problem = gp.SaddleProblem(values, n=7, vectorized=True, **SETS)
    solver = gp.ogda_rr(batch=3, **schedules)
    result = gp.solve(problem, solver, epochs=3, seed=SEED)
    assert result.reason == "interrupted"
    assert result.n_queries == len(asked)
    again = gp.solve(problem, solver, epochs=3, resume=result.state)
    assert again.n_queries == len(asked)
    whole = gp.solve(problem, solver, epochs=3, seed=SEED)
    same_state(again.state, whole.state)


def test_second_signal_interrupts_at_once(teller: Any, schedules: Any) -> None:
    def twice() -> float:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("not reached")

    result = gp.solve(teller({9: twice}).problem, gp.ogda_rr(**schedules), epochs=4, seed=SEED)
    assert (result.reason, result.n_queries) == ("interrupted", 8)


def test_second_signal_waits_for_the_checkpoint(
    teller: Any, schedules: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, save = tmp_path / "state", gp.State.save

    def slow_save(state: gp.State, to: Path) -> None:
        if state.queries:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        save(state, to)

    def interrupt() -> float:
        signal.raise_signal(signal.SIGINT)
        return 1.0

    monkeypatch.setattr(gp.State, "save", slow_save)
    options = {"epochs": 4, "checkpoint": path, "checkpoint_every": 10**9}
    told = teller({9: interrupt})
    result = gp.solve(told.problem, gp.ogda_rr(**schedules), seed=SEED, **options)
    assert (result.reason, result.n_queries) == ("interrupted", 9)
    assert gp.State.load(path).queries == 9


def test_termination_saves_the_run_and_then_takes_its_effect(
    schedules: Any, tmp_path: Path
) -> None:
    path = tmp_path / "state"
    script = SLOW.replace("PAUSE", "0.02").replace("EVERY", "10**9")
    with started(script, path) as child:
        child.send_signal(signal.SIGTERM)
        lines, _ = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGTERM
    assert lines == ""
    assert gp.State.load(path).queries >= 19


def test_handler_of_signals_is_put_back_whatever_happens(teller: Any) -> None:
    before = signal.getsignal(signal.SIGINT)
    during: list[Any] = []
    gp.solve(
        teller({1: lambda: during.append(signal.getsignal(signal.SIGINT)) or 1.0}).problem, epochs=1
    )
    assert during[0] is not before
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(gp.EvaluationError):
        gp.solve(teller({3: lambda: np.nan}).problem, epochs=1)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("kind", ["compiled", "python"])
def test_run_in_another_thread_is_the_same_run(
    kind: str, teller: Any, schedules: Any, same_state: SameState
) -> None:
    solver, found = gp.ogda_rr(**schedules), []
    problem = GAME if kind == "compiled" else teller().problem
    thread = threading.Thread(
        target=lambda: found.append(gp.solve(problem, solver, epochs=5, seed=SEED))
    )
    thread.start()
    thread.join()
    same_state(found[0].state, gp.solve(problem, solver, epochs=5, seed=SEED).state)


MANY = """
import threading
threads = set()
def all_started(*_):
    threads.add(threading.get_ident())
    if len(threads) == int(path):
        started()
game = gp.QuadraticGame.random(n=16, dx=3, dy=2, seed=1)
results = gp.solve_many(game, solver, seeds=range(9), jobs=int(path), epochs=10**9,
                        record_every=1000, callback=all_started)
print(json.dumps(["done", [result.reason for result in results]]), flush=True)
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupt_ends_many_runs_and_keeps_what_they_have(jobs: int) -> None:
    child = started(MANY, Path(str(jobs)))
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    told = [line for line in out.splitlines() if "done" in line]
    assert json.loads(told[0])[1] == ["interrupted"] * jobs
    assert child.returncode == 0
