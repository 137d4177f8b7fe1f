"""`solve`: where it stops, what it counts and records, and that nothing it meets loses a run."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import gameproof as gp

SameState = Callable[[gp.State, gp.State], None]
SEED = 3
GAME = gp.QuadraticGame.random(n=16, dx=3, dy=2, seed=1)
METHODS = {
    "OGDA": {},
    "OGDA in batches": {"batch": 3},
    "SGDA": {"update": gp.SGDA()},
    "WR": {"order": gp.WithReplacement(), "batch": 2},
    "baseline": {"gradient": gp.OnePoint(baseline=True)},
    "two-point": {"gradient": gp.TwoPoint(), "batch": 3},
    "symmetric": {"gradient": gp.TwoPoint(symmetric=True), "update": gp.SGDA(), "batch": 9},
    "extragradient": {"update": gp.Extragradient(), "gradient": gp.Residual()},
    "extragradient two-point": {"update": gp.Extragradient(), "gradient": gp.TwoPoint()},
}
every_method = pytest.mark.parametrize("parts", METHODS.values(), ids=METHODS)


def costs(solver: gp.Solver, n: int) -> Iterator[int]:
    """The values each step asks, from the definition of the method alone."""
    points = 2 if isinstance(solver.gradient, gp.TwoPoint) else 1
    phases = 2 if isinstance(solver.update, gp.Extragradient) else 1
    again = isinstance(solver.update, gp.OGDA)
    before, left = 0, n
    while True:
        size = min(solver.batch, left)
        yield points * phases * (size + before)
        before, left = size if again else 0, left - size or n


# --- where it stops, and what it counts


@every_method
def test_epochs_end_a_run_after_n_samples_each(parts: Any, teller: Any, schedules: Any) -> None:
    told, solver = teller(), gp.Solver(**parts, **schedules)
    result = gp.solve(told.problem, solver, epochs=3, seed=SEED)
    steps = 3 * -(-7 // solver.batch)
    values = sum(cost for cost, _ in zip(costs(solver, 7), range(steps), strict=False))
    assert (result.reason, result.epochs, result.n_steps) == ("epochs", 3, steps)
    assert result.n_queries == told.calls == values
    assert result.n_deployments == len(told.points)


@every_method
def test_budget_is_used_up_and_never_exceeded(parts: Any, teller: Any, schedules: Any) -> None:
    solver = gp.Solver(**parts, **schedules)
    for budget in range(1, 60):
        told = teller()
        result = gp.solve(told.problem, solver, queries=budget, seed=SEED)
        spent = steps = 0
        for cost in costs(solver, 7):
            if spent + cost > budget:
                break
            spent, steps = spent + cost, steps + 1
        assert (result.reason, result.n_steps) == ("queries", steps)
        assert result.n_queries == told.calls == sum(told.answered.values()) == spent <= budget
        assert result.n_deployments == len(told.points)


@pytest.mark.parametrize("budget", [1, 2, 10, 47, 500])
@every_method
def test_compiled_run_keeps_to_its_budget(parts: Any, budget: int, schedules: Any) -> None:
    solver = gp.Solver(**parts, **schedules)
    spent = steps = 0
    for cost in costs(solver, GAME.n):
        if spent + cost > budget:
            break
        spent, steps = spent + cost, steps + 1
    result = gp.solve(GAME, solver, queries=budget, seed=SEED, compiled=True)
    assert (result.n_queries, result.n_steps) == (spent, steps)


def test_first_of_two_limits_ends_the_run(schedules: Any) -> None:
    solver = gp.sgda_rr(**schedules)
    assert gp.solve(GAME, solver, epochs=2, queries=40).reason == "epochs"
    assert gp.solve(GAME, solver, epochs=3, queries=40).reason == "queries"
    assert gp.solve(GAME, solver).epochs == 100  # what is promised where none is given


def test_limits_of_a_resumed_run_are_totals(teller: Any, schedules: Any) -> None:
    solver, told = gp.ogda_rr(**schedules), teller()
    first = gp.solve(told.problem, solver, epochs=2, seed=SEED)
    second = gp.solve(told.problem, solver, epochs=5, resume=first.state)
    assert (second.epochs, second.n_queries) == (5, told.calls)
    third = gp.solve(told.problem, solver, queries=100, resume=second.state)
    assert third.n_queries == told.calls == 99  # one in the first step, two in the others
    assert third.n_deployments == len(told.points) == 50
    fourth = gp.solve(told.problem, solver, epochs=5, resume=third.state)
    assert (fourth.n_steps, told.calls) == (50, 99)
    assert third.seconds > second.seconds > first.seconds


def test_step_begun_before_the_limit_was_lowered_ends_alike_on_both_paths(
    schedules: Any,
) -> None:
    solver = gp.ogda_rr(**schedules)
    run = gp.Run(GAME, solver, seed=SEED)
    for _ in range(GAME.n):
        run.step()
    run.ask()  # the first step of the second epoch is under way
    results = [
        gp.solve(GAME, solver, epochs=1, resume=run.state, compiled=compiled).n_steps
        for compiled in (True, False)
    ]
    assert results[0] == results[1]


# --- tolerance, score, callback


def test_tolerance_is_met_by_the_duality_gap_where_the_problem_has_one() -> None:
    solver = gp.ogda_rr(gradient=gp.TwoPoint(), step=0.02, radius=0.01)
    result = gp.solve(GAME, solver, epochs=500, tolerance=0.5, seed=SEED)
    assert result.reason == "tolerance"
    assert GAME.duality_gap(result.x, result.y) == result.trace["score"][-1] <= 0.5
    assert (result.trace["score"][:-1] > 0.5).all()
    assert len(result.trace["score"]) > 2


def test_tolerance_is_met_by_the_gap_to_a_known_saddle_point(teller: Any) -> None:
    # The mean of the samples is quadratic: both gradients vanish where x0 + y0 = mean sin i,
    # x1 = 0, x0 - 2 y0 = -mean cos i.
    sine, cosine = np.sin(np.arange(7)).mean(), np.cos(np.arange(7)).mean()
    y = (sine + cosine) / 3
    at = np.array([sine - y, 0.0]), np.array([y])
    value = float(np.mean([teller.value(i, *at) for i in range(7)]))
    told = teller(saddle=gp.Saddle(*at, value))
    solver = gp.ogda_rr(gradient=gp.TwoPoint(), step=0.1, radius=0.01)
    result = gp.solve(
        told.problem, solver, epochs=2000, tolerance=1e-3, seed=SEED, start=([2, 0], [1])
    )
    assert result.reason == "tolerance"
    above = np.mean([teller.value(i, result.x, at[1]) for i in range(7)])
    below = np.mean([teller.value(i, at[0], result.y) for i in range(7)])
    np.testing.assert_allclose(result.trace["score"][-1], above - below, atol=1e-12)
    assert result.trace["score"][0] > 1e-3 >= result.trace["score"][-1]
    assert result.n_queries < told.calls  # values asked for the score do not count


def test_score_of_ones_own_is_recorded_and_decides(teller: Any, schedules: Any) -> None:
    seen = []

    def score(x: Any, y: Any) -> float:
        seen.append((x.copy(), y.copy()))
        return 10.0 - len(seen)

    result = gp.solve(
        teller().problem, gp.ogda_rr(**schedules), epochs=50, tolerance=4.5, score=score
    )
    assert result.trace["score"].tolist() == [9, 8, 7, 6, 5, 4]
    assert (result.reason, result.epochs) == ("tolerance", 6)
    np.testing.assert_array_equal(seen[-1][0], result.x)
    np.testing.assert_array_equal(seen[-1][1], result.y)
    result = gp.solve(teller().problem, epochs=3, score=lambda x, y: 0.25)
    assert (result.reason, result.trace["score"].tolist()) == ("epochs", [0.25] * 3)


def test_without_a_score_the_trace_says_so(teller: Any) -> None:
    result = gp.solve(teller().problem, epochs=3, seed=SEED)
    assert np.isnan(result.trace["score"]).all()


@pytest.mark.parametrize("compiled", [True, False])
def test_callback_sees_the_run_at_every_record_as_copies_it_cannot_write(
    compiled: bool, schedules: Any
) -> None:
    solver, seen = gp.ogda_rr(**schedules), []

    def look(snapshot: gp.Snapshot) -> None:
        seen.append(snapshot)
        for name in ("x", "y", "last_x", "last_y"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(snapshot, name)[0] = 9.0

    result = gp.solve(
        GAME,
        solver,
        epochs=5,
        seed=SEED,
        callback=look,
        score=lambda x, y: float(x[0]),
        compiled=compiled,
    )
    assert [snapshot.epoch for snapshot in seen] == [1, 2, 3, 4, 5]
    assert [snapshot.steps for snapshot in seen] == result.trace["steps"].tolist()
    assert [snapshot.queries for snapshot in seen] == result.trace["queries"].tolist()
    assert [snapshot.seconds for snapshot in seen] == result.trace["seconds"].tolist()
    assert [snapshot.score for snapshot in seen] == [float(snapshot.x[0]) for snapshot in seen]
    for snapshot in seen:  # as it was then, though the run went on
        there = gp.solve(GAME, solver, epochs=int(snapshot.epoch), seed=SEED)
        np.testing.assert_array_equal(snapshot.x, there.x)
        np.testing.assert_array_equal(snapshot.y, there.y)
        np.testing.assert_array_equal(snapshot.last_x, there.last_x)
        np.testing.assert_array_equal(snapshot.last_y, there.last_y)


@pytest.mark.parametrize(
    "true", [True, np.True_, np.float64(2) > 1], ids=["bool", "numpy", "comparison"]
)
def test_callback_that_returns_true_ends_the_run(true: Any, schedules: Any) -> None:
    result = gp.solve(
        GAME,
        gp.ogda_rr(**schedules),
        epochs=9,
        callback=lambda now: true if now.epoch == 4 else None,
    )
    assert (result.reason, result.epochs) == ("callback", 4)


@pytest.mark.parametrize("other", [None, False, np.False_, 0, ""], ids=repr)
def test_callback_that_returns_anything_else_ends_nothing(other: Any, schedules: Any) -> None:
    result = gp.solve(GAME, gp.ogda_rr(**schedules), epochs=3, callback=lambda _: other)
    assert result.reason == "epochs"


@pytest.mark.parametrize("where", ["callback", "score"])
def test_exception_from_a_callback_or_score_is_its_own_and_the_checkpoint_goes_on(
    where: str, schedules: Any, tmp_path: Path, same_state: SameState
) -> None:
    def fail(*_: Any) -> float:
        raise LookupError("mine")

    solver, path = gp.ogda_rr(**schedules), tmp_path / "state"
    with pytest.raises(LookupError, match="mine"):
        gp.solve(GAME, solver, epochs=5, seed=SEED, checkpoint=path, **{where: fail})
    again = gp.solve(GAME, solver, epochs=5, resume=path)
    whole = gp.solve(GAME, solver, epochs=5, seed=SEED)
    np.testing.assert_array_equal(again.x, whole.x)
    assert again.state.rng.bit_generator.state == whole.state.rng.bit_generator.state


# --- the trace


def test_trace_has_a_record_of_everything_at_every_epoch(schedules: Any) -> None:
    trace = gp.solve(GAME, gp.ogda_rr(**schedules), epochs=4, seed=SEED).trace
    columns = ["epoch", "steps", "queries", "deployments", "seconds", "step_size", "radius"]
    assert list(trace) == [*columns, "score"]
    assert trace["epoch"].tolist() == [1, 2, 3, 4]
    assert trace["steps"].tolist() == trace["deployments"].tolist() == [16, 32, 48, 64]
    assert trace["queries"].tolist() == [31, 63, 95, 127]
    np.testing.assert_array_equal(trace["step_size"], [schedules["step"](t) for t in range(4)])
    np.testing.assert_array_equal(trace["radius"], [schedules["radius"](t) for t in range(4)])
    assert (np.diff(trace["seconds"]) >= 0).all()
    assert trace["seconds"][0] > 0
    assert {name: column.dtype.kind for name, column in trace.items()} == {
        "epoch": "f",
        "steps": "i",
        "queries": "i",
        "deployments": "i",
        **dict.fromkeys(("seconds", "step_size", "radius", "score"), "f"),
    }


def test_trace_goes_to_a_dictionary_and_to_a_data_frame(schedules: Any) -> None:
    trace = gp.solve(GAME, gp.ogda_rr(**schedules), epochs=4, seed=SEED).trace
    frame = trace.to_frame()
    assert list(frame.columns) == list(dict(trace)) == list(trace)
    for name in trace:
        np.testing.assert_array_equal(frame[name].to_numpy(), dict(trace)[name])
    assert frame["queries"].dtype == np.int64
    assert repr(trace).startswith("Trace(4 records of epoch, steps, queries")


@pytest.mark.parametrize("compiled", [True, False])
def test_records_come_every_so_many_epochs_and_at_the_end(compiled: bool, schedules: Any) -> None:
    def steps(**options: Any) -> list[int]:
        result = gp.solve(GAME, gp.sgda_rr(**schedules), compiled=compiled, **options)
        return [int(step) for step in result.trace["steps"]]

    assert steps(epochs=10, record_every=3) == [48, 96, 144, 160]
    assert steps(epochs=6, record_every=3) == [48, 96]
    assert steps(epochs=2, record_every=9) == [32]
    assert steps(queries=40) == [16, 32, 40]
    assert steps(queries=40, record_every=5) == [40]


def test_recording_does_not_change_the_run(schedules: Any) -> None:
    solver = gp.ogda_rr(average=gp.Suffix(), **schedules)
    often = gp.solve(GAME, solver, epochs=7, seed=SEED, score=GAME.duality_gap)
    seldom = gp.solve(GAME, solver, epochs=7, seed=SEED, record_every=100)
    np.testing.assert_array_equal(often.x, seldom.x)


def test_clock_stops_while_others_look(teller: Any, schedules: Any) -> None:
    def dawdle(*_: Any) -> float:
        time.sleep(0.05)
        return 1.0

    began = time.perf_counter()
    result = gp.solve(
        GAME, gp.ogda_rr(**schedules), epochs=5, score=dawdle, callback=lambda _: dawdle()
    )
    elapsed = time.perf_counter() - began
    assert elapsed > 0.5
    assert result.seconds < elapsed - 0.5
    assert result.trace["seconds"][-1] == result.seconds


def test_clock_runs_while_values_are_asked(teller: Any, schedules: Any) -> None:
    def slow(i: int, x: Any, y: Any) -> float:
        time.sleep(0.005)
        return teller.value(i, x, y)

    sets = {"x_set": gp.Ball([0, 0], 2), "y_set": gp.Box([-1], [1])}
    problem, solver = gp.SaddleProblem(slow, n=4, **sets), gp.sgda_rr(**schedules)
    first = gp.solve(problem, solver, epochs=2)
    assert first.seconds > 2 * 4 * 0.005
    assert gp.solve(problem, solver, epochs=4, resume=first.state).seconds > 4 * 4 * 0.005


# --- the bar


def test_nothing_is_shown_where_nobody_looks(schedules: Any, capsys: Any) -> None:
    gp.solve(GAME, gp.ogda_rr(**schedules), epochs=3)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("options", "unit"), [({"epochs": 20}, "20 epochs"), ({"queries": 500}, "500 values")]
)
def test_bar_counts_what_limits_the_run(
    options: Any, unit: str, schedules: Any, capsys: Any
) -> None:
    gp.solve(GAME, gp.ogda_rr(**schedules), progress=True, **options)
    out, err = capsys.readouterr()
    assert out == ""
    assert "OGDA-RR:" in err
    assert f"/{unit}" in err


def test_bar_is_shown_on_a_terminal_unless_unwanted(
    schedules: Any, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    gp.solve(GAME, gp.ogda_rr(**schedules), epochs=3, progress=False)
    assert capsys.readouterr().err == ""
    gp.solve(GAME, gp.ogda_rr(**schedules), epochs=3)
    assert "OGDA-RR:" in capsys.readouterr().err


# --- Ctrl-C

CHILD = """
import json, sys, time
import gameproof as gp

path = sys.argv[1]
solver = gp.ogda_rr(step=gp.Power(0.02, 0.76), radius=gp.Power(0.5, 0.25), average=gp.Suffix())
sets = {"x_set": gp.Ball([0.0, 0.0], 2.0), "y_set": gp.Box([-1.0], [1.0])}
def started(*_):
    print("started", flush=True)
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
    assert child.stdout.readline() == "started\n"
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
    assert "go on with resume=result.state" in status
    state = gp.State.load(path)
    assert (state.steps, state.queries) == (steps, queries)

    sets = {"x_set": gp.Ball([0.0, 0.0], 2.0), "y_set": gp.Box([-1.0], [1.0])}
    problem = GAME if kind == "compiled" else gp.SaddleProblem(slow, n=7, **sets)
    solver = gp.ogda_rr(average=gp.Suffix(), **schedules)
    options = {"epochs": state.epoch + 3, "record_every": 1000 if kind == "compiled" else 1}
    whole = gp.solve(problem, solver, seed=3, **options)
    same_state(gp.solve(problem, solver, resume=path, **options).state, whole.state)


def test_killed_process_leaves_a_checkpoint_from_which_the_run_goes_on(
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


# --- checkpoints


@pytest.mark.parametrize(("every", "steps"), [(1, 1), (4, 4), (10, 10)])
def test_checkpoint_is_written_every_so_many_steps_and_at_the_end(
    every: int, steps: int, teller: Any, schedules: Any, tmp_path: Path
) -> None:
    path = tmp_path / "state"
    in_file: list[int] = []

    def look(i: int, x: Any, y: Any) -> float:
        in_file.append(gp.State.load(path).steps if path.exists() else 0)
        return teller.value(i, x, y)

    sets = {"x_set": gp.Ball([0, 0], 2), "y_set": gp.Box([-1], [1])}
    problem, solver = gp.SaddleProblem(look, n=7, **sets), gp.sgda_rr(**schedules)
    result = gp.solve(problem, solver, epochs=4, checkpoint=path, checkpoint_every=every)
    # Before step k + 1, k steps are done.
    assert in_file == [k // steps * steps for k in range(28)]
    assert gp.State.load(path).steps == result.n_steps == 28


def test_checkpoint_is_written_by_the_clock_where_no_steps_are_given(
    teller: Any, schedules: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, clock = tmp_path / "state", iter(range(0, 10**6, 3))
    monkeypatch.setattr("gameproof.solver.solve.time.monotonic", lambda: next(clock))
    saved: list[int] = []
    monkeypatch.setattr(gp.State, "save", lambda state, to: saved.append(state.steps))
    gp.solve(teller().problem, gp.sgda_rr(**schedules), epochs=40, checkpoint=path)
    # A look at this clock takes three seconds, so that ten have passed at every fourth or fifth.
    assert 2 <= len(saved) < 280 / 4
    assert saved[-1] == 280


def test_epochs_are_recorded_to_three_digits() -> None:
    result = gp.solve(GAME, gp.sgda_rr(), epochs=1200, seed=SEED)
    assert result.trace["epoch"].tolist() == [*range(1, 1001), *range(1010, 1201, 10)]


def test_checkpoint_is_written_on_an_error_with_every_answer(
    teller: Any, schedules: Any, tmp_path: Path, same_state: SameState
) -> None:
    path, solver, told = tmp_path / "state", gp.ogda_rr(**schedules), teller({17: lambda: 1 / 0})
    with pytest.raises(gp.EvaluationError) as failure:
        gp.solve(told.problem, solver, epochs=3, checkpoint=path, checkpoint_every=1000, seed=SEED)
    same_state(gp.State.load(path), failure.value.state)
    assert gp.State.load(path).queries == 16
    again = gp.solve(told.problem, solver, epochs=3, resume=path)
    assert again.n_queries == sum(told.answered.values())


def test_checkpoint_can_be_the_file_that_is_resumed(schedules: Any, tmp_path: Path) -> None:
    solver, path = gp.ogda_rr(**schedules), tmp_path / "state"
    gp.solve(GAME, solver, epochs=2, seed=SEED, checkpoint=path)
    for epochs in (3, 4, 5):
        result = gp.solve(GAME, solver, epochs=epochs, resume=path, checkpoint=str(path))
    whole = gp.solve(GAME, solver, epochs=5, seed=SEED)
    np.testing.assert_array_equal(result.x, whole.x)
    assert [file.name for file in tmp_path.iterdir()] == ["state"]


# --- start and seed


def test_start_outside_the_sets_is_projected_with_a_warning(
    teller: Any, schedules: Any, same_state: SameState
) -> None:
    problem, solver = teller().problem, gp.ogda_rr(**schedules)
    inside = gp.solve(problem, solver, epochs=2, seed=SEED, start=([2.0, 0.0], [1.0]))
    for start, named in [
        (([4.0, 0.0], [1.0]), "of x;"),
        (([2.0, 0.0], [8.0]), "of y;"),
        (([4.0, 0.0], [1.5]), "of x and of y;"),
    ]:
        with pytest.warns(gp.StartProjectedWarning, match=f"outside the set {named}") as caught:
            result = gp.solve(problem, solver, epochs=2, seed=SEED, start=start)
        same_state(result.state, inside.state)
        assert caught[0].filename == __file__


def test_start_on_the_boundary_brings_no_warning(teller: Any) -> None:
    third = 2 / np.sqrt(3)
    gp.solve(teller().problem, epochs=1, start=([third, third * np.sqrt(2)], [-1.0]))


def test_start_is_left_as_it_was(teller: Any) -> None:
    x, y = np.array([0.5, 0.5]), np.array([0.5])
    gp.solve(teller().problem, gp.ogda_rr(step=0.1, radius=0.5), epochs=2, start=(x, y))
    assert (x.tolist(), y.tolist()) == ([0.5, 0.5], [0.5])


@pytest.mark.parametrize("kind", ["compiled", "python"])
def test_every_form_of_a_seed_gives_the_same_bits(
    kind: str, teller: Any, schedules: Any, same_state: SameState
) -> None:
    problem, solver = GAME if kind == "compiled" else teller().problem, gp.ogda_wr(**schedules)
    expected = gp.solve(problem, solver, epochs=2, seed=5).state
    for seed in (5, np.int64(5), np.random.SeedSequence(5), np.random.default_rng(5)):
        same_state(gp.solve(problem, solver, epochs=2, seed=seed).state, expected)


def test_different_seeds_and_no_seed_give_different_runs(schedules: Any) -> None:
    solver = gp.ogda_rr(**schedules)
    runs = [gp.solve(GAME, solver, epochs=1, seed=seed).x[0] for seed in (5, 6, None, None)]
    assert len(set(runs)) == 4


def test_generator_given_as_a_seed_is_drawn_from(schedules: Any) -> None:
    rng, solver = np.random.default_rng(5), gp.ogda_rr(**schedules)
    first = gp.solve(GAME, solver, epochs=1, seed=rng)
    second = gp.solve(GAME, solver, epochs=1, seed=rng)
    assert first.x[0] != second.x[0]


# --- the result


def results(teller: Any, schedules: Any) -> dict[str, gp.Result]:
    solver, told = (
        gp.sgda_rr(**schedules),
        teller({11: lambda: signal.raise_signal(signal.SIGINT) or 0.5}),
    )
    return {
        "epochs": gp.solve(GAME, solver, epochs=3),
        "queries": gp.solve(GAME, solver, queries=40),
        "tolerance": gp.solve(GAME, solver, tolerance=99.5, score=lambda x, y: 12.25),
        "callback": gp.solve(GAME, solver, callback=lambda _: True, score=lambda x, y: 12.25),
        "interrupted": gp.solve(told.problem, solver),
    }


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("epochs", ["all 3 epochs", "larger epochs", "resume=result.state"]),
        ("queries", ["2.5 epochs", "40 values", "budget of 40 values", "resume=result.state"]),
        ("tolerance", ["tolerance 99.5", "12.2", "1 epochs"]),
        ("callback", ["callback", "1 epochs", "16 values", "score 12.2"]),
        ("interrupted", ["Interrupted", "11 values", "resume=result.state"]),
    ],
)
def test_status_is_a_sentence_for_every_reason(
    reason: str, said: list[str], teller: Any, schedules: Any
) -> None:
    result = results(teller, schedules)[reason]
    assert result.reason == reason
    assert result.status[0].isupper()
    assert result.status.endswith(".")
    for part in said:
        assert part in result.status
    assert result.status in repr(result)


def test_result_carries_the_average_the_last_iterate_and_their_points_are_inside(
    schedules: Any,
) -> None:
    for average in (gp.StepWeighted(), gp.Suffix(), gp.Last()):
        result = gp.solve(GAME, gp.ogda_rr(average=average, **schedules), epochs=5, seed=SEED)
        assert np.array_equal(result.x, result.last_x) == isinstance(average, gp.Last)
        for x, y in ((result.x, result.y), (result.last_x, result.last_y)):
            assert GAME.x_set.contains(x)
            assert GAME.y_set.contains(y)


# --- compiled or not, and parts of one's own


def test_problem_with_a_part_in_python_cannot_run_compiled(
    teller: Any, compiled_functions: Any
) -> None:
    part_compiled = teller(gradient=(None, compiled_functions.y_gradient)).problem
    own_set = gp.QuadraticGame.random(n=5, dx=2, dy=2, seed=0)
    own_set.x_set = OwnBall(2, 3.0)
    for problem in (teller().problem, part_compiled, own_set):
        with pytest.raises(ValueError, match=r"cannot run compiled: .* plain Python; leave out"):
            gp.solve(problem, epochs=1, compiled=True)


class OwnBall(gp.ConvexSet):
    """The ball around 0, with a projection in Python."""

    def __init__(self, dim: int, radius: float) -> None:
        self.dim, self.radius = dim, radius

    @property
    def diameter(self) -> float:
        return 2 * self.radius

    @property
    def center(self) -> Any:
        return np.zeros(self.dim)

    def project(self, point: Any) -> Any:
        vector = np.array(point, dtype=float)
        return vector * min(1.0, self.radius / np.linalg.norm(vector))

    def sample(self, rng: np.random.Generator) -> Any:
        return self.project(rng.standard_normal(self.dim))


@pytest.mark.parametrize("gradient", [gp.OnePoint(), gp.TwoPoint(), gp.Exact()], ids=str)
def test_set_of_ones_own_runs_as_the_built_in_one(gradient: Any) -> None:
    # Steps long enough that the projections are active.
    solver = gp.Solver(update=gp.Extragradient(), gradient=gradient, step=0.3, radius=0.5, batch=7)
    results = []
    for own in (False, True):
        game = gp.QuadraticGame.random(n=16, dx=3, dy=2, seed=1)
        if own:
            game.x_set, game.y_set = OwnBall(3, 3.0), OwnBall(2, 3.0)
        results.append(gp.solve(game, solver, epochs=5, seed=SEED))
    assert np.linalg.norm(results[0].last_x) > 2.9 or not isinstance(gradient, gp.OnePoint)
    for name in ("x", "y", "last_x", "last_y"):
        ours, theirs = (getattr(result, name) for result in results)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_set_of_ones_own_in_a_product_runs_as_the_built_in_one(teller: Any, schedules: Any) -> None:
    half = gp.Box([-1.0], [1.0])
    xs = [
        gp.solve(
            teller(x_set=gp.Product(first, half)).problem,
            gp.ogda_rr(step=1.0, radius=0.5),
            epochs=5,
            seed=SEED,
        ).x
        for first in (OwnBall(1, 0.25), gp.Ball([0.0], 0.25))
    ]
    np.testing.assert_allclose(xs[0], xs[1], rtol=0, atol=1e-12)


SETS = {"x_set": gp.Ball([0.0, 0.0], 2.0), "y_set": gp.Box([-1.0], [1.0])}


def test_users_compiled_function_runs_as_the_plain_one(
    compiled_functions: Any, schedules: Any, same_state: SameState
) -> None:
    compiled = gp.SaddleProblem(compiled_functions.value, n=7, **SETS)
    plain = gp.SaddleProblem(compiled_functions.value.py_func, n=7, **SETS)
    for parts in ({}, {"batch": 3, "order": gp.WithReplacement(), "gradient": gp.TwoPoint()}):
        solver = gp.Solver(**parts, **schedules)
        theirs = gp.solve(plain, solver, epochs=5, seed=SEED)
        for path in (None, True, False):
            ours = gp.solve(compiled, solver, epochs=5, seed=SEED, compiled=path)
            np.testing.assert_allclose(ours.last_x, theirs.last_x, rtol=0, atol=1e-12)
            np.testing.assert_allclose(ours.y, theirs.y, rtol=0, atol=1e-12)
            assert ours.n_queries == theirs.n_queries
    same_state(
        gp.solve(compiled, solver, epochs=5, seed=SEED, compiled=True).state,
        gp.solve(compiled, solver, epochs=5, seed=SEED, compiled=False).state,
    )


@numba.njit("float64(int64, float64[::1], float64[::1])")
def declared(i: int, x: Any, y: Any) -> float:
    return x[0] ** 2 + 0.1 * i * x[1] - y[0] ** 2


def test_users_compiled_function_with_declared_types_can_be_asked_from_python() -> None:
    problem = gp.SaddleProblem(declared, n=3, **SETS)
    np.testing.assert_allclose(problem.value([1.0, 1.0], [0.5]), 1.0 + 0.1 - 0.25)
    assert gp.solve(problem, epochs=2, seed=SEED, compiled=False).n_queries == 11


def test_users_compiled_gradient_of_one_block_runs_as_the_plain_one(
    compiled_functions: Any, schedules: Any
) -> None:
    value, slope = compiled_functions.value, compiled_functions.y_gradient
    problem = gp.SaddleProblem(value, n=7, gradient=(None, slope), **SETS)
    plain = gp.SaddleProblem(value.py_func, n=7, gradient=(None, slope.py_func), **SETS)
    solver = gp.ogda_rr(batch=2, **schedules)
    theirs = gp.solve(plain, solver, epochs=5, seed=SEED)
    for compiled in (True, False):
        ours = gp.solve(problem, solver, epochs=5, seed=SEED, compiled=compiled)
        np.testing.assert_allclose(ours.last_x, theirs.last_x, rtol=0, atol=1e-12)
        np.testing.assert_allclose(ours.last_y, theirs.last_y, rtol=0, atol=1e-12)


def test_gradient_of_one_block_leaves_only_the_other_to_be_asked_about(
    teller: Any, schedules: Any
) -> None:
    for block in ("x", "y"):
        gradient = (teller.x_gradient, None) if block == "x" else (None, teller.y_gradient)
        told, moved = teller(gradient=gradient), []
        run = gp.Run(told.problem, gp.sgda_rr(**schedules), seed=SEED)
        while run.state.epoch < 2:
            x, y = run.state.last
            question = run.ask()
            moved.append((np.linalg.norm(question.x - x), np.linalg.norm(question.y - y)))
            # One step by hand: the known block moves along its gradient, up for y, down for x.
            eta, i = schedules["step"](run.state.epoch), int(question.indices[0])
            run.step()
            if block == "x":
                after, expected = run.state.last[0], x - eta * teller.x_gradient(i, x, y)
                expected *= min(1.0, 2.0 / np.linalg.norm(expected))
            else:
                after, expected = run.state.last[1], y + eta * teller.y_gradient(i, x, y)
                expected = np.clip(expected, -1.0, 1.0)
            np.testing.assert_allclose(after, expected, rtol=0, atol=1e-12)
        radii = [schedules["radius"](t) for t in (0, 1) for _ in range(7)]
        known, asked = np.array(moved).T if block == "x" else np.array(moved).T[::-1]
        assert known.max() == 0.0
        np.testing.assert_allclose(asked, radii)


@numba.njit
def slopes_x(i: int, x: Any, y: Any) -> Any:
    return np.array([x[0] - 0.1 * i + y[0], 0.5 * x[1]])


def test_users_compiled_pair_of_gradients_moves_both_blocks(
    compiled_functions: Any, schedules: Any
) -> None:
    value, gradient = compiled_functions.value, (slopes_x, compiled_functions.y_gradient)
    problem = gp.SaddleProblem(value, n=7, gradient=gradient, **SETS)
    solver = gp.sgda_rr(gradient=gp.Exact(), **schedules)
    results = [
        gp.solve(problem, solver, epochs=3, seed=SEED, start=([1, 1], [0.5]), compiled=compiled)
        for compiled in (True, False)
    ]
    np.testing.assert_allclose(results[0].last_x, results[1].last_x, rtol=0, atol=1e-12)
    np.testing.assert_allclose(results[0].last_y, results[1].last_y, rtol=0, atol=1e-12)
    assert results[0].last_y != 0.5
