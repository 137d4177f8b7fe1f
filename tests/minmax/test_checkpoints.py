"""Checkpoints of `solve`: when they are written, and that a run goes on from them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from solving import GAME, SEED, SameState


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
    monkeypatch.setattr("gameproof.minmax.solve.time.monotonic", lambda: next(clock))
    saved: list[int] = []
    monkeypatch.setattr(gp.State, "save", lambda state, to: saved.append(state.steps))
    gp.solve(teller().problem, gp.sgda_rr(**schedules), epochs=40, checkpoint=path)
    # A look at this clock takes three seconds, so that ten have passed at every fourth or fifth.
    assert 2 <= len(saved) < 280 / 4
    assert saved[-1] == 280


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
    path, save, tries = tmp_path / "state", gp.State.save, []

    def no_room(state: gp.State, to: Path) -> None:
        tries.append(state.steps)
        if len(tries) <= 2:
            raise OSError(28, "No space left on device")
        save(state, to)

    monkeypatch.setattr(gp.State, "save", no_room)
    options = {"epochs": 4, "checkpoint": path, "checkpoint_every": 8}
    with pytest.warns(UserWarning, match="could not be written, and the run continues: .*No space"):
        result = gp.solve(teller().problem, gp.sgda_rr(**schedules), seed=SEED, **options)
    assert tries == [8, 16, 24, 28]
    assert gp.State.load(path).steps == result.n_steps == 28
