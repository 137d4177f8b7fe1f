"""Studies repeat no call, reuse no result of another version, and resume when killed."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from gameproof.cli.main import main
from gameproof.paper import experiment_study as studies
from gameproof.paper.experiment_study import CLOCKED, ExperimentStudy
from gameproof.paper.paper_claims import mean_above
from gameproof.paper.sealed_files import sealed
from gameproof.tables.parquet_files import DIGEST


def squared(number: int, folder: str) -> list[dict[str, float]]:
    """Writes a mark each time it is called."""
    with open(Path(folder) / f"{number}.calls", "a") as file:
        file.write("x")
    if number < 0:
        raise ValueError("no negative numbers")
    return [{"number": number, "square": number**2 / 3}]


def calls_made(folder: Path) -> dict[str, int]:
    return {path.stem: len(path.read_text()) for path in sorted(folder.glob("*.calls"))}


@pytest.mark.parametrize("jobs", [1, 2])
def test_calls_are_made_once_and_kept_in_order(tmp_path: Path, jobs: int) -> None:
    calls = [{"number": k, "folder": str(tmp_path)} for k in (5, 1, 3)]
    first = ExperimentStudy("one", tmp_path / "one", jobs=jobs).map(squared, calls)
    again = ExperimentStudy("one", tmp_path / "one", jobs=jobs).map(squared, calls)
    assert first == again == [[{"number": k, "square": k**2 / 3}] for k in (5, 1, 3)]
    assert calls_made(tmp_path) == {"1": 1, "3": 1, "5": 1}


@pytest.mark.parametrize("damage", ["cut", "altered", "other", "exchanged"])
def test_damaged_part_is_named_and_computed_again(tmp_path: Path, damage: str) -> None:
    calls = [{"number": k, "folder": str(tmp_path)} for k in (1, 2)]
    first = ExperimentStudy("one", tmp_path / "one").map(squared, calls)
    parts = {
        json.loads(path.read_bytes())["call"]["number"]: path
        for path in (tmp_path / "one" / "parts").iterdir()
    }
    part, whole = parts[2], parts[2].read_bytes()
    damaged = {
        "cut": whole[:-9],
        "altered": whole.replace(b"1.33", b"1.34"),
        "other": b"[]",
        "exchanged": parts[1].read_bytes(),
    }
    part.write_bytes(damaged[damage])
    said: list[str] = []
    assert ExperimentStudy("one", tmp_path / "one", say=said.append).map(squared, calls) == first
    assert said == [f"{part} is damaged; this part is computed again"]
    assert calls_made(tmp_path) == {"1": 1, "2": 2}


def test_failed_call_loses_no_other_result(tmp_path: Path) -> None:
    calls = [{"number": k, "folder": str(tmp_path)} for k in (1, 2, -1)]
    with pytest.raises(ValueError, match="no negative numbers"):
        ExperimentStudy("one", tmp_path / "one").map(squared, calls)
    ExperimentStudy("one", tmp_path / "one").map(squared, calls[:2])
    assert calls_made(tmp_path) == {"-1": 1, "1": 1, "2": 1}


def test_forgetting_repeats_calls(tmp_path: Path) -> None:
    calls = [{"number": 2, "folder": str(tmp_path)}]
    study = ExperimentStudy("one", tmp_path / "one")
    study.map(squared, calls)
    study.forget()
    study.map(squared, calls)
    assert calls_made(tmp_path) == {"2": 2}


def test_changed_source_repeats_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [{"number": 2, "folder": str(tmp_path)}]
    ExperimentStudy("one", tmp_path / "one").map(squared, calls)
    monkeypatch.setattr(studies, "source_digest", lambda: "another")
    ExperimentStudy("one", tmp_path / "one").map(squared, calls)
    assert calls_made(tmp_path) == {"2": 2}


def test_tables_have_their_provenance_and_are_reproducible(tmp_path: Path) -> None:
    study = ExperimentStudy("one", tmp_path / "one")
    study.table("rows", [{"seed": 0, "value": 0.1}, {"seed": 1, "value": float("inf")}])
    csv = pd.read_csv(study.folder / "rows.csv")
    parquet = pd.read_parquet(study.folder / "rows.parquet")
    assert csv["value"].tolist() == parquet["value"].tolist() == [0.1, float("inf")]
    for frame in (csv, parquet):
        assert {"experiment", "gameproof", "versions", "machine", "when"} <= set(frame)
    assert DIGEST in pq.read_metadata(study.folder / "rows.parquet").metadata


def rate(folder: Path) -> list[str]:
    return ["reproduce", "rate", "--quick", "--seeds", "2", "--jobs", "1", "--out", str(folder)]


def numbers(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "rate" / "gaps.csv").drop(columns=list(CLOCKED))


def test_killed_experiment_resumes_to_the_same_numbers(tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = [sys.executable, "-m", "gameproof", *rate(killed)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    parts = killed / "rate" / "parts"
    deadline = time.monotonic() + 120
    while not (parts.exists() and list(parts.glob("*.json"))):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = {path: path.stat().st_mtime_ns for path in parts.glob("*.json")}
    assert 1 <= len(kept) < 4
    assert not (killed / "rate" / "gaps.csv").exists()
    assert main(rate(killed)) == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert main(rate(whole)) == 0
    pd.testing.assert_frame_equal(numbers(killed), numbers(whole), check_exact=True)
    for name in ("figure.svg", "figure.png", "summary.md", "gaps.parquet", "claims.csv"):
        assert (whole / "rate" / name).stat().st_size > 100
    assert (killed / "rate" / "figure.png").read_bytes() == (
        whole / "rate" / "figure.png"
    ).read_bytes()


def wait_long(folder: str, number: int) -> int:
    """Leaves the number of its process behind."""
    (Path(folder) / f"{number}.{os.getpid()}.started").touch()
    time.sleep(120)
    return number


@pytest.mark.parametrize("moment", ["starting", "at work"])
def test_workers_exit_when_their_parent_is_killed(moment: str, tmp_path: Path) -> None:
    program = (
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "from pathlib import Path; from gameproof.paper.experiment_study import ExperimentStudy\n"
        "from test_experiment_study import wait_long\n"
        "calls = [{'folder': sys.argv[1], 'number': k} for k in (1, 2)]\n"
        "ExperimentStudy('one', Path(sys.argv[1]) / 'one', jobs=2).map(wait_long, calls)\n"
    )
    where = str(Path(__file__).parent)
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), where],
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([where, *filter(None, sys.path)])},
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not (
        len(list(tmp_path.glob("*.started"))) == 2
        if moment == "at work"
        else any("LokyProcess" in command for command in running(parent.pid).values())
    ):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    while left := running(parent.pid):
        assert time.monotonic() < deadline, f"{left} outlive their parent"
        time.sleep(0.05)


def running(session: int) -> dict[int, str]:
    """The processes of a session that have not ended, and their commands."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            state, _, _, own = path.read_text().rpartition(")")[2].split()[:4]
            if state != "Z" and int(own) == session:
                found[int(path.parent.name)] = (path.parent / "cmdline").read_text()
    return found


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.json").write_text("mine")
    out = tmp_path / "out"
    (out / "one").mkdir(parents=True)
    (out / "one" / "parts").symlink_to(outside)
    (out / "one" / "rows.csv").symlink_to(outside / "mine.json")
    study = ExperimentStudy("one", out / "one")
    with pytest.raises(PermissionError, match="through a link"):
        study.forget()
    with pytest.raises(PermissionError, match="through a link"):
        study.map(squared, [{"number": 2, "folder": str(tmp_path)}])
    with pytest.raises(PermissionError, match="through a link"):
        study.table("rows", [{"seed": 0}])
    assert [path.read_text() for path in outside.iterdir()] == ["mine"]


def test_every_part_records_its_call(tmp_path: Path) -> None:
    study = ExperimentStudy("one", tmp_path / "one")
    study.map(squared, [{"number": 4, "folder": str(tmp_path)}])
    (path,) = (tmp_path / "one" / "parts").glob("*.json")
    part = json.loads(path.read_text())
    assert part["call"]["number"] == 4
    assert part["seconds"] >= 0


def test_findings_of_another_version_are_ignored(tmp_path: Path) -> None:
    study = ExperimentStudy("one", tmp_path / "one")
    study.claims.append(mean_above("text", "measure", [0.5, 0.4]))
    study.finish()
    found = ExperimentStudy.finished("one", tmp_path / "one")
    assert found is not None
    assert found.claims == study.claims
    path = tmp_path / "one" / studies.FINDINGS
    older = {**json.loads(path.read_text()), "format": 1}
    del older["digest"]
    path.write_bytes(sealed(older, "one"))
    assert ExperimentStudy.finished("one", tmp_path / "one") is None


@pytest.mark.parametrize("damage", ["cut", "altered", "exchanged"])
def test_damaged_findings_are_named_and_left_out(tmp_path: Path, damage: str) -> None:
    for name in ("one", "two"):
        ExperimentStudy(name, tmp_path / name, seeds=4).finish()
    path = tmp_path / "one" / studies.FINDINGS
    whole, other = path.read_bytes(), tmp_path / "two" / studies.FINDINGS
    altered = whole.replace(b'"seeds": 4', b'"seeds": 9')
    path.write_bytes(
        {"cut": whole[:-9], "altered": altered, "exchanged": other.read_bytes()}[damage]
    )
    said: list[str] = []
    assert ExperimentStudy.finished("one", tmp_path / "one", said.append) is None
    assert len(said) == 1
    assert said[0].startswith(f"{path} is damaged")
    assert ExperimentStudy.finished("two", tmp_path / "two", said.append) is not None
