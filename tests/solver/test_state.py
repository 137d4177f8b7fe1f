"""A run that stops and goes on is the run that never stopped, to the last bit."""

import errno
import functools
import json
import os
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from gameproof.solver import files
from methods import ESTIMATES

SameState = Callable[[gp.State, gp.State], None]
N, SEED = 16, 7
GAMES = {
    "dense": gp.QuadraticGame.random(n=N, dx=3, dy=2, seed=1),
    "private": gp.RobustLeastSquares.random(n=N, dx=3, seed=1),
}
UPDATES = {"ogda": gp.OGDA(), "sgda": gp.SGDA(), "extragradient": gp.Extragradient()}
ORDERS = [gp.Reshuffle(), gp.WithReplacement(), gp.ShuffleOnce()]
# An epoch is 16 steps of one sample, or 3 of 7, 7 and 2; both runs are longer than 50 steps.
EPOCHS = {1: 4, 7: 18}


def crossed() -> dict[str, tuple[str, gp.Solver, int]]:
    """Every update with every estimate; orders, batches, averages and games take turns."""
    cases = {}
    for (u, update), (e, estimate) in product(enumerate(UPDATES), enumerate(ESTIMATES)):
        batch = (1, 7)[(u + e // 3) % 2]
        solver = gp.Solver(
            update=UPDATES[update],
            gradient=ESTIMATES[estimate],
            order=ORDERS[(u + e) % 3],
            step=gp.Power(0.02, 0.76),
            radius=gp.Power(0.5, 0.25),
            batch=batch,
            average=(gp.Suffix(), gp.StepWeighted())[e % 2],
        )
        game = ("dense", "private")[(u + e) % 2]
        cases[f"{update} {estimate} {solver.name[-2:]} of {batch} {game}"] = (
            game,
            solver,
            EPOCHS[batch],
        )
    return cases


CROSSED = crossed()
Case = tuple[str, gp.Solver, int]
every_case = pytest.mark.parametrize("case", CROSSED.values(), ids=CROSSED)
some_cases = pytest.mark.parametrize("case", list(CROSSED.values())[::4], ids=list(CROSSED)[::4])
both_paths = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])


def score(x: Any, y: Any) -> float:
    return float(x.sum() - 2 * y.sum())


def states_by_step(path: Path, problem: gp.Problem, solver: gp.Solver, **limits: Any) -> Any:
    """The states of one run after each of its steps, as it checkpoints them."""
    taken: dict[int, gp.State] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gp.State, "save", lambda self, _: taken.update({self.steps: deepcopy(self)}))
        gp.solve(problem, solver, checkpoint=path / "unused", checkpoint_every=1, **limits)
    return taken


def stopped(problem: gp.Problem, solver: gp.Solver, queries: int) -> gp.State:
    """A state in the middle of an epoch."""
    return gp.solve(problem, solver, queries=queries, seed=SEED).state


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A state file with everything in it: records, marks, a kept estimate."""
    path = tmp_path / "state.npz"
    solver = gp.ogda_rr(average=gp.Suffix(), step=0.02, radius=0.5)
    gp.solve(GAMES["dense"], solver, epochs=3, seed=SEED).state.save(path)
    return path


# --- the same bits


@every_case
@both_paths
def test_resumed_run_equals_uninterrupted_run_wherever_it_was_stopped(
    case: Case, compiled: bool, tmp_path: Path, same_state: SameState
) -> None:
    game, solver, epochs = case
    problem, options = GAMES[game], {"epochs": epochs, "score": score, "compiled": compiled}
    whole = gp.solve(problem, solver, seed=SEED, **options)
    taken = states_by_step(tmp_path, problem, solver, seed=SEED, **options)
    assert sorted(taken) == list(range(1, whole.n_steps + 1))
    assert whole.n_steps > 50
    for state in taken.values():
        again = gp.solve(problem, solver, resume=state, **options)
        same_state(again.state, whole.state)
        np.testing.assert_array_equal(np.append(again.x, again.y), np.append(whole.x, whole.y))


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
@pytest.mark.parametrize("batch", [1, 3])
def test_resumed_run_of_a_plain_function_with_one_known_block_equals_uninterrupted_run(
    update: gp.Update,
    batch: int,
    teller: Any,
    schedules: Any,
    tmp_path: Path,
    same_state: SameState,
) -> None:
    solver = gp.Solver(update=update, batch=batch, average=gp.Suffix(), **schedules)
    problem = teller(gradient=(teller.x_gradient, None)).problem
    whole = gp.solve(problem, solver, seed=SEED, epochs=8)
    taken = states_by_step(tmp_path, problem, solver, seed=SEED, epochs=8)
    assert len(taken) == whole.n_steps
    for state in taken.values():
        same_state(gp.solve(problem, solver, resume=state, epochs=8).state, whole.state)


@some_cases
def test_resumed_run_equals_uninterrupted_run_through_a_file(
    case: Case, tmp_path: Path, same_state: SameState
) -> None:
    game, solver, epochs = case
    problem, options = GAMES[game], {"epochs": epochs, "score": score}
    whole = gp.solve(problem, solver, seed=SEED, **options)
    for step, state in states_by_step(tmp_path, problem, solver, seed=SEED, **options).items():
        path = tmp_path / f"{step}.npz"
        state.save(path)
        same_state(gp.State.load(path), state)
        again = gp.solve(problem, solver, resume=str(path) if step % 2 else path, **options)
        same_state(again.state, whole.state)


@some_cases
def test_run_goes_on_to_the_same_bits_on_the_other_path(
    case: Case, tmp_path: Path, same_state: SameState
) -> None:
    game, solver, epochs = case
    problem = GAMES[game]
    whole = gp.solve(problem, solver, seed=SEED, epochs=epochs, compiled=True)
    for first in (True, False):
        taken = states_by_step(tmp_path, problem, solver, seed=SEED, epochs=epochs, compiled=first)
        for state in list(taken.values())[::3]:
            again = gp.solve(problem, solver, resume=state, epochs=epochs, compiled=not first)
            same_state(again.state, whole.state)


@pytest.mark.parametrize("order", ORDERS, ids=["RR", "WR", "SO"])
@pytest.mark.parametrize("batch", [1, 7])
@both_paths
def test_run_stopped_after_every_epoch_equals_uninterrupted_run(
    order: gp.Reshuffle, batch: int, compiled: bool, same_state: SameState
) -> None:
    solver = gp.Solver(order=order, batch=batch, average=gp.Suffix(), step=0.02, radius=0.5)
    problem, options = GAMES["dense"], {"compiled": compiled, "score": score}
    whole = gp.solve(problem, solver, seed=SEED, epochs=9, **options)
    result = gp.solve(problem, solver, seed=SEED, epochs=1, **options)
    for epochs in range(2, 10):
        result = gp.solve(problem, solver, resume=result.state, epochs=epochs, **options)
    same_state(result.state, whole.state)


@both_paths
def test_run_stopped_by_a_budget_at_every_step_equals_uninterrupted_run(
    compiled: bool, same_state: SameState
) -> None:
    problem, solver = GAMES["private"], gp.sgda_wr(average=gp.Suffix(), step=0.02, radius=0.5)
    whole = gp.solve(problem, solver, seed=SEED, epochs=4, compiled=compiled)
    result = gp.solve(problem, solver, seed=SEED, queries=1, compiled=compiled)
    for queries in range(2, 4 * N + 1):  # plain descent-ascent asks one value a step
        assert (result.reason, result.n_steps) == ("queries", queries - 1)
        result = gp.solve(problem, solver, resume=result.state, queries=queries, compiled=compiled)
    same_state(result.state, whole.state)


def test_trace_of_a_run_stopped_between_records_equals_that_of_an_uninterrupted_run() -> None:
    problem, solver = GAMES["dense"], gp.sgda_rr(step=0.02, radius=0.5)
    whole = gp.solve(problem, solver, seed=SEED, epochs=4)
    half = stopped(problem, solver, queries=N + N // 2)
    again = gp.solve(problem, solver, resume=half, epochs=4)
    assert again.trace["steps"].tolist() == whole.trace["steps"].tolist() == [16, 32, 48, 64]


def test_resume_leaves_the_state_it_was_given_as_it_was(same_state: SameState) -> None:
    problem, solver = GAMES["dense"], gp.ogda_rr(average=gp.Suffix(), step=0.02, radius=0.5)
    state = stopped(problem, solver, queries=50)
    before = deepcopy(state)
    for compiled in (True, False):
        gp.solve(problem, solver, resume=state, epochs=5, compiled=compiled)
        same_state(state, before)
        assert state.seconds == before.seconds
    run = gp.Run(problem, solver, state=state)
    run.step()
    same_state(state, before)


def test_copy_of_a_state_shares_nothing_with_it(same_state: SameState) -> None:
    problem, solver = GAMES["dense"], gp.ogda_rr(average=gp.Suffix(), step=0.02, radius=0.5)
    state = stopped(problem, solver, queries=100)
    before, copy = deepcopy(state), state.copy()
    for array in copy.memory:
        array.fill(1)
    for mark in copy.marks:
        mark.x.fill(1)
    copy.rng.random()
    copy.rows.clear()
    same_state(state, before)


@pytest.mark.parametrize(
    "parts",
    [
        {"gradient": gp.OnePoint(baseline=True), "batch": 3},
        {"gradient": gp.TwoPoint(), "update": gp.SGDA(), "order": gp.WithReplacement()},
        {"gradient": gp.TwoPoint(symmetric=True), "update": gp.Extragradient()},
        {"gradient": gp.Residual(), "order": gp.ShuffleOnce(), "batch": 7},
    ],
    ids=["one-point", "two-point", "extragradient", "residual"],
)
def test_state_saved_in_the_middle_of_a_step_goes_on_to_the_same_bits(
    parts: dict[str, Any], teller: Any, schedules: Any, tmp_path: Path, same_state: SameState
) -> None:
    solver, path = gp.Solver(**parts, **schedules), tmp_path / "state.npz"
    whole = gp.solve(teller().problem, solver, seed=SEED, epochs=3)
    answered = []
    for call in range(1, whole.n_queries + 1, 2):
        with pytest.raises(gp.EvaluationError) as failure:
            gp.solve(teller({call: lambda: 1 / 0}).problem, solver, seed=SEED, epochs=3)
        failure.value.state.save(path)
        answered.append(gp.State.load(path).queries)
        again = gp.solve(teller().problem, solver, resume=path, epochs=3)
        same_state(again.state, whole.state)
    assert answered == list(range(0, whole.n_queries, 2))


@pytest.mark.parametrize(
    "bits", [np.random.MT19937, np.random.Philox, np.random.SFC64, np.random.PCG64DXSM]
)
@both_paths
def test_every_bit_generator_of_numpy_survives_a_file(
    bits: Any, compiled: bool, tmp_path: Path, same_state: SameState
) -> None:
    problem, solver = GAMES["dense"], gp.ogda_wr(batch=3, step=0.02, radius=0.5)
    path, options = tmp_path / "state.npz", {"epochs": 6, "compiled": compiled}
    whole = gp.solve(problem, solver, seed=np.random.Generator(bits(SEED)), **options)
    seed = np.random.Generator(bits(SEED))
    gp.solve(problem, solver, seed=seed, queries=60, checkpoint=path, compiled=compiled)
    assert isinstance(gp.State.load(path).rng.bit_generator, bits)
    same_state(gp.solve(problem, solver, resume=path, **options).state, whole.state)


CHILD = """
import json, sys
from math import cos
import gameproof as gp

folder = sys.argv[1]
def wave(i, x, y):
    return x[0] ** 2 + cos(i) * x[0] + x[1] * y[0] - y[0] ** 2
def halved(t):
    return 0.04 / (t + 2)
plain = gp.SaddleProblem(wave, n=9, x_set=gp.Ball([0.0, 0.0], 2.0), y_set=gp.Box([-1.0], [1.0]))
CASES = {
    "dense": (gp.QuadraticGame.random(n=16, dx=3, dy=2, seed=1),
              gp.ogda_rr(average=gp.Suffix(), step=halved, radius=0.5)),
    "private": (gp.RobustLeastSquares.random(n=16, dx=3, seed=1),
                gp.ogda_wr(batch=7, gradient=gp.OnePoint(baseline=True), step=0.02, radius=0.5)),
    "plain": (plain, gp.Solver(update=gp.Extragradient(), order=gp.ShuffleOnce(),
                               gradient=gp.TwoPoint(), batch=2, step=halved, radius=0.5)),
}
"""
CHILD_RESUMES = """
for name, (problem, solver) in CASES.items():
    path = f"{folder}/{name}"
    gp.solve(problem, solver, epochs=6, resume=f"{path}.npz", checkpoint=f"{path}-child.npz")
    gp.solve(problem, solver, queries=55, seed=8, checkpoint=f"{path}-begun.npz")
"""


def test_run_goes_on_to_the_same_bits_in_another_process(
    tmp_path: Path, same_state: SameState
) -> None:
    room: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["", str(tmp_path)])
        exec(CHILD, room)
    for name, (problem, solver) in room["CASES"].items():
        gp.solve(problem, solver, queries=47, seed=SEED, checkpoint=tmp_path / f"{name}.npz")
    subprocess.run([sys.executable, "-c", CHILD + CHILD_RESUMES, tmp_path], check=True, timeout=120)
    for name, (problem, solver) in room["CASES"].items():
        there = gp.State.load(tmp_path / f"{name}-child.npz")
        same_state(there, gp.solve(problem, solver, epochs=6, seed=SEED).state)
        begun = tmp_path / f"{name}-begun.npz"
        here = gp.solve(problem, solver, epochs=6, resume=begun)
        same_state(here.state, gp.solve(problem, solver, epochs=6, seed=8).state)


# --- what identifies a run


class Disc(gp.ConvexSet):
    """A set of one's own, with no more than the base class asks for."""

    dim, diameter = 2, 4.0

    @property
    def center(self) -> Any:
        return np.zeros(2)

    def project(self, point: Any) -> Any:
        return np.array(point) * min(1.0, 2.0 / np.linalg.norm(point))

    def sample(self, rng: np.random.Generator) -> Any:
        return rng.uniform(-1, 1, 2)


def test_run_on_a_set_of_ones_own_goes_on_with_the_problem_built_anew(teller: Any) -> None:
    solver = gp.ogda_rr(step=0.02, radius=0.5)
    half = gp.solve(teller(x_set=Disc()).problem, solver, epochs=1, seed=SEED)
    whole = gp.solve(teller(x_set=Disc()).problem, solver, epochs=2, seed=SEED)
    again = gp.solve(teller(x_set=Disc()).problem, solver, epochs=2, resume=half.state)
    np.testing.assert_array_equal(again.x, whole.x)


class Fading:
    """A schedule with a state and no repr of its own."""

    def __call__(self, t: int) -> float:
        return 0.1 / (t + 1)


def fading(t: int, scale: float = 0.2) -> float:
    return scale / (t + 1)


@pytest.mark.parametrize(
    "schedule",
    [fading, functools.partial(fading, scale=0.1), Fading(), lambda t: 0.1],
    ids=["function", "partial", "object", "lambda"],
)
def test_signature_of_a_method_is_the_same_in_another_process(schedule: Any) -> None:
    # The address of an object is what changes between processes.
    assert " at 0x" not in gp.ogda_rr(step=schedule).signature


def other_problems() -> dict[str, gp.Problem]:
    data = GAMES["dense"].data
    moved = [part.copy() for part in data]
    moved[0][-1, -1] += 1e-12
    return {
        "one number of one sample": gp.QuadraticGame(*moved, radius=3.0),
        "radius of the sets": gp.QuadraticGame(*data, radius=3.0 + 1e-9),
        "number of samples": gp.QuadraticGame(*(part[:-1] for part in data), radius=3.0),
        "kind of problem": GAMES["private"],
    }


@pytest.mark.parametrize("difference", other_problems())
def test_state_of_another_problem_is_refused(difference: str, saved: Path) -> None:
    solver = gp.ogda_rr(average=gp.Suffix(), step=0.02, radius=0.5)
    problem = other_problems()[difference]
    with pytest.raises(gp.StateFileError, match=r"of another problem than .* resume with the"):
        gp.solve(problem, solver, epochs=5, resume=saved)


def test_state_of_a_plain_problem_with_other_name_or_sets_is_refused(teller: Any) -> None:
    solver = gp.ogda_rr(step=0.02, radius=0.5)
    state = gp.solve(teller().problem, solver, epochs=1, seed=SEED).state
    value, sets = teller.value, {"x_set": gp.Ball([0.0, 0.0], 2.0), "y_set": gp.Box([-1], [1])}
    same = gp.SaddleProblem(value, n=7, **sets, name="teller")
    gp.solve(same, solver, epochs=2, resume=state)
    for changes in ({"name": "seller"}, {"n": 8}, {"y_set": gp.Box([-1], [2])}):
        problem = gp.SaddleProblem(value, **({"n": 7, "name": "teller"} | sets | changes))
        with pytest.raises(gp.StateFileError, match="another problem"):
            gp.solve(problem, solver, epochs=2, resume=state)


@pytest.mark.parametrize(
    "parts",
    [
        {"step": 0.03},
        {"radius": gp.Power(0.5, 0.25)},
        {"gradient": gp.OnePoint(baseline=True)},
        {"batch": 2},
        {"scale": None},
        {"average": gp.Last()},
    ],
    ids=lambda parts: next(iter(parts)),
)
def test_state_of_another_method_is_refused(parts: dict[str, Any], saved: Path) -> None:
    parts = {"average": gp.Suffix(), "step": 0.02, "radius": 0.5} | parts
    with pytest.raises(gp.StateFileError, match="of another method: it was made by update=OGDA"):
        gp.solve(GAMES["dense"], gp.ogda_rr(**parts), epochs=5, resume=saved)


def test_state_of_another_update_or_order_is_refused(saved: Path) -> None:
    parts = {"average": gp.Suffix(), "step": 0.02, "radius": 0.5}
    for solver in (gp.sgda_rr(**parts), gp.ogda_wr(**parts)):
        with pytest.raises(gp.StateFileError, match="another method"):
            gp.Run(GAMES["dense"], solver, state=gp.State.load(saved))


# --- files that cannot be used

UNREADABLE = "is not a readable state file: it is cut short, damaged or of another program"


def test_file_cut_short_is_refused_at_every_length(saved: Path) -> None:
    whole = saved.read_bytes()
    lengths = [*range(0, len(whole), 211), len(whole) - 22, len(whole) - 1]
    for length in lengths:
        saved.write_bytes(whole[:length])
        with pytest.raises(gp.StateFileError, match=UNREADABLE):
            gp.State.load(saved)


def payloads(path: Path) -> list[tuple[str, int]]:
    """(member, place of the last byte of its data) for each array in the archive."""
    with zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if info.file_size > 128]
    raw = path.read_bytes()
    places = []
    for info in members:
        lengths = np.frombuffer(raw, "<u2", count=2, offset=info.header_offset + 26)
        start = info.header_offset + 30 + int(lengths.sum())
        places.append((info.filename, start + info.file_size - 1))
    return places


def test_file_with_one_bit_altered_in_any_array_is_refused(saved: Path) -> None:
    whole, places = saved.read_bytes(), payloads(saved)
    assert len(places) > 15
    for _, place in places:
        altered = bytearray(whole)
        altered[place] ^= 1
        saved.write_bytes(altered)
        with pytest.raises(gp.StateFileError, match=f"{UNREADABLE}|was altered"):
            gp.State.load(saved)


def test_file_with_one_byte_altered_anywhere_is_refused_or_loads_the_same_state(
    saved: Path, same_state: SameState
) -> None:
    whole, state = saved.read_bytes(), gp.State.load(saved)
    directory = whole.index(b"PK\x01\x02")  # what archives say of their members, at the end
    refused = 0
    for place in [*range(0, directory, 101), *range(directory, directory + 60), len(whole) - 20]:
        for change in (0xFF, 0x01):
            altered = bytearray(whole)
            altered[place] ^= change
            saved.write_bytes(altered)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # NumPy's, on a damaged array header
                    found = gp.State.load(saved)
            except gp.StateFileError:
                refused += 1
            else:
                same_state(found, state)
    assert refused > 100


def rewritten(path: Path, array: str | None = None, **changes: Any) -> None:
    """The file, made anew as a sound archive with something in it changed."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(arrays["header"].tobytes()) | changes
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    if array is not None:
        arrays[array] = arrays[array] + 1
    with path.open("wb") as file:
        np.savez(file, **arrays)


def test_file_rewritten_as_it_was_is_accepted(saved: Path, same_state: SameState) -> None:
    state = gp.State.load(saved)
    rewritten(saved)
    same_state(gp.State.load(saved), state)


@pytest.mark.parametrize("array", ["x", "counts", "order", "row_queries", "mark0_x"])
def test_file_with_an_array_changed_is_refused_as_altered(array: str, saved: Path) -> None:
    rewritten(saved, array=array)
    with pytest.raises(gp.StateFileError, match="was altered after it was written"):
        gp.State.load(saved)


@pytest.mark.parametrize(
    "changes", [{"problem": "f00"}, {"seconds": 0.0}, {"generator": {}}, {"digest": ""}]
)
def test_file_with_its_header_changed_is_refused_as_altered(
    changes: dict[str, Any], saved: Path
) -> None:
    rewritten(saved, **changes)
    with pytest.raises(gp.StateFileError, match="was altered after it was written"):
        gp.State.load(saved)


@pytest.mark.parametrize("version", [files.VERSION + 1, 99])
def test_file_of_a_newer_version_is_refused_with_both_versions(version: int, saved: Path) -> None:
    rewritten(saved, version=version)
    with pytest.raises(
        gp.StateFileError,
        match=rf"newer gameproof \(file version {version}, .* up to {files.VERSION}\); update",
    ):
        gp.State.load(saved)


def test_file_of_an_older_version_is_refused_with_what_to_do(saved: Path) -> None:
    rewritten(saved, version=files.VERSION - 1)
    with pytest.raises(gp.StateFileError, match=r"older gameproof .*; go on with it there"):
        gp.State.load(saved)


@pytest.mark.parametrize("version", ["3", None, [1], 0, -1], ids=repr)
def test_file_of_an_unknown_version_is_refused(version: Any, saved: Path) -> None:
    rewritten(saved, version=version)
    with pytest.raises(gp.StateFileError):
        gp.State.load(saved)


def test_file_of_another_format_is_refused_by_its_name(saved: Path) -> None:
    rewritten(saved, format="chess-clock")
    with pytest.raises(gp.StateFileError, match=r"not a state file of gameproof.*chess-clock"):
        gp.State.load(saved)


@pytest.mark.parametrize("missing", ["order", "mark0_x", "row_score", "marks", "generator"])
def test_sound_file_that_lacks_something_is_refused(missing: str, saved: Path) -> None:
    header, arrays = files.read(saved)
    for part in (header, arrays):
        part.pop(missing, None)
    files.write(saved, header, arrays)
    with pytest.raises(gp.StateFileError):
        gp.State.load(saved)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"{}",
        b"PK\x03\x04",
        b"PK\x05\x06" + 18 * b"\0",
        b"\x93NUMPY\x01\x00",
        9999 * b"a",
    ],
    ids=["empty", "newline", "json", "zip start", "empty zip", "npy start", "text"],
)
def test_file_that_is_no_archive_of_arrays_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    path.write_bytes(content)
    with pytest.raises(gp.StateFileError, match=UNREADABLE):
        gp.State.load(path)


def test_single_array_and_archive_of_other_arrays_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.arange(3))
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    np.savez(tmp_path / "header.npz", header=np.frombuffer(b"[1, 2]", dtype=np.uint8))
    for name in ("one.npy", "other.npz", "header.npz"):
        with pytest.raises(gp.StateFileError, match=UNREADABLE):
            gp.State.load(tmp_path / name)


def test_folder_is_refused_and_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(gp.StateFileError, match=UNREADABLE):
        gp.State.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        gp.State.load(tmp_path / "nothing.npz")
    with pytest.raises(FileNotFoundError):
        gp.solve(GAMES["dense"], epochs=1, resume=tmp_path / "nothing.npz")


class Trap:
    """Unpickled, makes a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.folder,)


@pytest.mark.parametrize("name", ["header", "x"])
def test_pickle_inside_a_file_is_refused_and_never_run(
    name: str, saved: Path, tmp_path: Path
) -> None:
    with np.load(saved) as archive:
        arrays = {key: archive[key] for key in archive.files}
    arrays[name] = np.array([Trap(tmp_path / "sprung")], dtype=object)
    with saved.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(gp.StateFileError, match=UNREADABLE):
        gp.State.load(saved)
    assert not (tmp_path / "sprung").exists()


# --- writing


@pytest.mark.parametrize("broken", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "no space left"), KeyboardInterrupt()])
def test_write_that_fails_leaves_the_old_file_and_nothing_else(
    broken: str, error: BaseException, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()
    state = gp.State.load(saved)
    state.memory.x[:] += 1

    def fail(*_: Any) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(os, broken, fail)
        with pytest.raises(type(error)):
            state.save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]
    state.save(saved)
    assert saved.read_bytes() != before


def test_file_is_complete_before_it_has_its_name(
    saved: Path, monkeypatch: pytest.MonkeyPatch, same_state: SameState
) -> None:
    state, replace = gp.State.load(saved), os.replace
    state.memory.x[:] += 1
    seen: list[gp.State] = []

    def look(source: str, target: Path) -> None:
        seen.extend([gp.State.load(source), gp.State.load(target)])
        replace(source, target)

    monkeypatch.setattr(os, "replace", look)
    before = gp.State.load(saved)
    state.save(saved)
    same_state(seen[0], state)
    same_state(seen[1], before)


def test_path_without_a_folder_is_saved_where_the_process_is(
    saved: Path, monkeypatch: pytest.MonkeyPatch, same_state: SameState
) -> None:
    state = gp.State.load(saved)
    monkeypatch.chdir(saved.parent)
    state.save("here")
    same_state(gp.State.load(saved.parent / "here"), state)


@pytest.mark.parametrize("order", [gp.Reshuffle(), gp.WithReplacement()], ids=["RR", "WR"])
def test_file_is_no_larger_than_the_arrays_a_run_needs(order: Any, tmp_path: Path) -> None:
    n = 5_000
    problem = gp.RobustLeastSquares.random(n=n, dx=3, seed=0)
    solver = gp.Solver(order=order, batch=100, step=0.001, radius=0.5)
    path = tmp_path / "state.npz"
    gp.solve(problem, solver, epochs=2, seed=0).state.save(path)
    # Of length n: the iterate y, its proposal, its total and marks; the totals after the epochs
    # at which a suffix may start, two at most; under RR a permutation. The rest is small.
    needed = 8 * n * (4 + 2 + isinstance(order, gp.Reshuffle))
    assert path.stat().st_size < needed + 20_000
