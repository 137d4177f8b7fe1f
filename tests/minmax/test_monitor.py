"""What looks at a run from outside: tolerance, score, callback, trace and bar."""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from solving import GAME, SEED, SameState

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


@pytest.mark.parametrize("given", [None, "1.5", np.ones(1), True])
def test_score_that_is_no_number_is_said_to_be_none(given: Any) -> None:
    with pytest.raises(TypeError, match=r"the score must be a number, got ") as failed:
        gp.solve(GAME, epochs=3, seed=SEED, score=lambda x, y: given)
    assert failed.value.state.epoch == 1  # type: ignore[attr-defined]


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
def test_exception_from_a_callback_or_score_is_its_own_and_the_checkpoint_can_resume(
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


def test_epochs_are_recorded_to_three_digits() -> None:
    result = gp.solve(GAME, gp.sgda_rr(), epochs=1200, seed=SEED)
    assert result.trace["epoch"].tolist() == [*range(1, 1001), *range(1010, 1201, 10)]


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


# --- a score that raises


def failing_score(call: int) -> Any:
    calls = 0

    def score(x: Any, y: Any) -> float:
        nonlocal calls
        calls += 1
        if calls == call:
            raise RuntimeError("no score today")
        return float(x.sum())

    return score


def test_record_whose_score_raised_is_taken_when_the_run_resumes(
    teller: Any, schedules: Any
) -> None:
    problem, solver = teller().problem, gp.sgda_rr(**schedules)
    with pytest.raises(RuntimeError) as failed:
        gp.solve(problem, solver, epochs=6, seed=SEED, score=failing_score(3))
    state = failed.value.state  # type: ignore[attr-defined]
    again = gp.solve(problem, solver, epochs=6, resume=state, score=failing_score(0))
    assert again.trace["epoch"].tolist() == [1, 2, 3, 4, 5, 6]


def test_score_that_raises_at_the_very_end_leaves_the_run(teller: Any, schedules: Any) -> None:
    """After 13 values the run stands between two records."""
    problem, solver = teller().problem, gp.sgda_rr(**schedules)
    with pytest.raises(RuntimeError) as failed:
        gp.solve(problem, solver, queries=13, seed=SEED, score=failing_score(2))
    assert failed.value.state.queries == 13  # type: ignore[attr-defined]
