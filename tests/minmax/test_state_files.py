"""State files: those that cannot be used are refused, and a write that fails spoils nothing."""

import errno
import json
import os
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from gameproof.minmax import state_files
from solving import GAMES, SameState

# --- files that cannot be used

UNREADABLE = "is not a readable state file: it is truncated, damaged or from another program"


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


@pytest.mark.parametrize("version", [state_files.VERSION + 1, 99])
def test_file_of_a_newer_version_is_refused_with_both_versions(version: int, saved: Path) -> None:
    rewritten(saved, version=version)
    with pytest.raises(
        gp.StateFileError,
        match=rf"newer gameproof \(file version {version}, .* {state_files.VERSION}\); update",
    ):
        gp.State.load(saved)


def test_file_of_an_older_version_is_refused_with_what_to_do(saved: Path) -> None:
    rewritten(saved, version=state_files.VERSION - 1)
    with pytest.raises(gp.StateFileError, match=r"older gameproof .*; resume it there"):
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
    header, arrays = state_files.read(saved)
    for part in (header, arrays):
        part.pop(missing, None)
    state_files.write(saved, header, arrays)
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


def test_folder_is_a_folder_and_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
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
