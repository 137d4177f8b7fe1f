"""Checkpoints of `solve`: when they are written, and that a run goes on from them."""

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from gameproof.core.atomic_files import beside
from gameproof.core.process_lock import ProcessLock
from solving import GAME, SEED, SameState


class Clock:
    """A clock that answers and saves move on by so many seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answer: float, save: float) -> None:
        self.now, self.answer, self.saved = 0.0, answer, list[int]()
        write = gp.State.save

        def timed(state: gp.State, to: Path) -> None:
            self.now += save
            self.saved.append(state.queries)
            write(state, to)

        monkeypatch.setattr("gameproof.minmax.checkpoints.time.monotonic", lambda: self.now)
        monkeypatch.setattr(gp.State, "save", timed)

    def problem(self, teller: Any) -> gp.SaddleProblem:
        def value(i: int, x: Any, y: Any) -> float:
            self.now += self.answer
            return float(teller.value(i, x, y))

        sets = {"x_set": gp.Ball([0, 0], 2), "y_set": gp.Box([-1], [1])}
        return gp.SaddleProblem(value, n=7, **sets)


@pytest.mark.parametrize(("every", "steps"), [(1, 1), (4, 4), (10, 10)])
def test_checkpoint_is_written_every_so_many_steps_and_at_the_end(
    every: int,
    steps: int,
    teller: Any,
    schedules: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "state"
    Clock(monkeypatch, answer=0.0, save=0.0)  # real answers may take longer than real saves
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
    clock = Clock(monkeypatch, answer=3.0, save=4.0)
    problem, path = clock.problem(teller), tmp_path / "state"
    gp.solve(problem, gp.sgda_rr(**schedules), epochs=4, checkpoint=path, seed=SEED)
    # Four answers take more than ten seconds. The clock is looked at once an epoch or more often.
    first, *between, last = clock.saved
    assert (first, last) == (0, 28)
    assert len(between) >= 3
    assert np.diff([first, *between]).min() >= 4


@pytest.mark.parametrize("gradient", [gp.TwoPoint(), gp.Coordinates()], ids=str)
def test_slow_answers_are_saved_one_by_one(
    gradient: gp.Gradient,
    teller: Any,
    schedules: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch, answer=5.0, save=4.0)
    problem, path = clock.problem(teller), tmp_path / "state"
    solver = gp.sgda_rr(gradient=gradient, **schedules)
    options = {"checkpoint": path, "checkpoint_every": 10**9}
    result = gp.solve(problem, solver, epochs=1, seed=SEED, **options)
    assert set(range(result.n_queries)) <= set(clock.saved)


def test_checkpoint_belongs_to_one_run_at_a_time(schedules: Any, tmp_path: Path) -> None:
    path, solver = tmp_path / "state", gp.ogda_rr(**schedules)
    refused: list[str] = []

    def second(_: gp.Snapshot) -> None:
        with pytest.raises(gp.StateFileError, match="checkpoint of another run") as error:
            gp.solve(GAME, solver, epochs=1, checkpoint=path)
        refused.append(str(error.value))

    gp.solve(GAME, solver, epochs=1, seed=SEED, checkpoint=path, callback=second)
    assert refused
    gp.solve(GAME, solver, epochs=2, resume=path, checkpoint=path)
    assert [file.name for file in tmp_path.iterdir()] == ["state"]


def test_leftovers_of_a_killed_run_are_removed(schedules: Any, tmp_path: Path) -> None:
    path, solver = tmp_path / "state", gp.ogda_rr(**schedules)
    with pytest.MonkeyPatch.context() as killed:
        killed.setattr("gameproof.core.atomic_files.os.replace", lambda *_: None)
        killed.setattr(ProcessLock, "release", lambda lock: None)
        gp.solve(GAME, solver, epochs=1, seed=SEED, checkpoint=path)
    assert any(file.suffix == ".tmp" for file in tmp_path.iterdir())
    gp.solve(GAME, solver, epochs=1, seed=SEED, checkpoint=path)
    assert [file.name for file in tmp_path.iterdir()] == ["state"]


def test_first_checkpoint_that_cannot_be_written_ends_the_run(
    teller: Any, schedules: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(state: gp.State, to: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(gp.State, "save", no_room)
    told = teller()
    with pytest.raises(OSError, match="No space"):
        gp.solve(told.problem, gp.sgda_rr(**schedules), epochs=4, checkpoint=tmp_path / "state")
    assert told.calls == 0


def test_run_whose_first_checkpoint_cannot_be_written_leaves_signals_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(state: gp.State, to: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(gp.State, "save", full)
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(OSError, match="No space"):
        gp.solve(GAME, epochs=1, seed=SEED, checkpoint=tmp_path / "run.state", compiled=False)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_file_that_is_not_a_checkpoint_is_kept(teller: Any, schedules: Any, tmp_path: Path) -> None:
    told, path = teller(), tmp_path / "answers.db"
    path.write_bytes(b"SQLite format 3")
    with pytest.raises(FileExistsError, match="not a checkpoint; it was not overwritten"):
        gp.solve(told.problem, gp.sgda_rr(**schedules), epochs=1, checkpoint=path)
    assert told.calls == 0
    assert path.read_bytes() == b"SQLite format 3"
    assert list(tmp_path.iterdir()) == [path]


def test_lock_that_cannot_be_made_names_the_checkpoint(
    teller: Any, schedules: Any, tmp_path: Path
) -> None:
    told, path = teller(), tmp_path / "state"
    beside(path, ".lock").mkdir()
    with pytest.raises(OSError, match=f"'{path}'"):
        gp.solve(told.problem, gp.sgda_rr(**schedules), epochs=1, checkpoint=path)
    assert told.calls == 0


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


def test_checkpoint_that_cannot_be_written_for_a_while_does_not_end_the_run(
    teller: Any, schedules: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, tries = tmp_path / "state", []
    Clock(monkeypatch, answer=0.0, save=0.0)
    save = gp.State.save

    def no_room(state: gp.State, to: Path) -> None:
        tries.append(state.steps)
        if len(tries) in (2, 3):
            raise OSError(28, "No space left on device")
        save(state, to)

    monkeypatch.setattr(gp.State, "save", no_room)
    options = {"epochs": 4, "checkpoint": path, "checkpoint_every": 8}
    with pytest.warns(UserWarning, match="could not be written, and the run continues: .*No space"):
        result = gp.solve(teller().problem, gp.sgda_rr(**schedules), seed=SEED, **options)
    assert tries == [0, 8, 16, 24, 28]
    assert gp.State.load(path).steps == result.n_steps == 28
