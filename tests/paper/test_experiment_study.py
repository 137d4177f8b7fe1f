"""Studies repeat no call, reuse no result of another version, and resume when killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from gameproof.paper import experiment_study as studies
from gameproof.paper.experiment_study import CLOCKED, Study
from gameproof.paper.paper_claims import mean_above


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
    first = Study("one", tmp_path / "one", jobs=jobs).map(squared, calls)
    again = Study("one", tmp_path / "one", jobs=jobs).map(squared, calls)
    assert first == again == [[{"number": k, "square": k**2 / 3}] for k in (5, 1, 3)]
    assert calls_made(tmp_path) == {"1": 1, "3": 1, "5": 1}


@pytest.mark.parametrize("damage", ["cut", "altered", "other"])
def test_damaged_part_is_named_and_computed_again(tmp_path: Path, damage: str) -> None:
    calls = [{"number": k, "folder": str(tmp_path)} for k in (1, 2)]
    first = Study("one", tmp_path / "one").map(squared, calls)
    part = next(
        p for p in (tmp_path / "one" / "parts").iterdir() if b'"number": 2' in p.read_bytes()
    )
    whole = part.read_bytes()
    part.write_bytes(
        {"cut": whole[:-9], "altered": whole.replace(b"1.33", b"1.34"), "other": b"[]"}[damage]
    )
    said: list[str] = []
    assert Study("one", tmp_path / "one", say=said.append).map(squared, calls) == first
    assert said == [f"{part} is damaged; this part is computed again"]
    assert calls_made(tmp_path) == {"1": 1, "2": 2}


def test_failed_call_loses_no_other_result(tmp_path: Path) -> None:
    calls = [{"number": k, "folder": str(tmp_path)} for k in (1, 2, -1)]
    with pytest.raises(ValueError, match="no negative numbers"):
        Study("one", tmp_path / "one").map(squared, calls)
    Study("one", tmp_path / "one").map(squared, calls[:2])
    assert calls_made(tmp_path) == {"-1": 1, "1": 1, "2": 1}


def test_forgetting_repeats_calls(tmp_path: Path) -> None:
    calls = [{"number": 2, "folder": str(tmp_path)}]
    study = Study("one", tmp_path / "one")
    study.map(squared, calls)
    study.forget()
    study.map(squared, calls)
    assert calls_made(tmp_path) == {"2": 2}


def test_changed_source_repeats_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [{"number": 2, "folder": str(tmp_path)}]
    Study("one", tmp_path / "one").map(squared, calls)
    monkeypatch.setattr(studies, "_source", lambda: "another")
    Study("one", tmp_path / "one").map(squared, calls)
    assert calls_made(tmp_path) == {"2": 2}


def test_tables_have_their_provenance_and_are_reproducible(tmp_path: Path) -> None:
    study = Study("one", tmp_path / "one")
    study.table("rows", [{"seed": 0, "value": 0.1}, {"seed": 1, "value": float("inf")}])
    csv = pd.read_csv(study.folder / "rows.csv")
    parquet = pd.read_parquet(study.folder / "rows.parquet")
    assert csv["value"].tolist() == parquet["value"].tolist() == [0.1, float("inf")]
    for frame in (csv, parquet):
        assert {"experiment", "gameproof", "versions", "machine", "when"} <= set(frame)


def run_rate(folder: Path) -> list[str]:
    program = "from gameproof.cli.main import main; import sys; sys.exit(main(sys.argv[1:]))"
    options = ["reproduce", "rate", "--quick", "--seeds", "4", "--jobs", "1", "--out", str(folder)]
    return [sys.executable, "-c", program, *options]


def numbers(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "rate" / "gaps.csv").drop(columns=list(CLOCKED))


def test_killed_experiment_resumes_to_the_same_numbers(tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = subprocess.Popen(run_rate(killed), stderr=subprocess.DEVNULL)
    parts = killed / "rate" / "parts"
    deadline = time.monotonic() + 120
    while len(list(parts.glob("*.json")) if parts.exists() else []) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = {path: path.stat().st_mtime_ns for path in parts.glob("*.json")}
    assert 2 <= len(kept) < 8
    assert not (killed / "rate" / "gaps.csv").exists()
    subprocess.run(run_rate(killed), check=True, capture_output=True)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    subprocess.run(run_rate(whole), check=True, capture_output=True)
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


def test_workers_exit_when_their_parent_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "from pathlib import Path; from gameproof.paper.experiment_study import Study\n"
        "from test_experiment_study import wait_long\n"
        "calls = [{'folder': sys.argv[1], 'number': k} for k in (1, 2)]\n"
        "Study('one', Path(sys.argv[1]) / 'one', jobs=2).map(wait_long, calls)\n"
    )
    where = str(Path(__file__).parent)
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), where],
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([where, *filter(None, sys.path)])},
    )
    started: list[Path] = []
    deadline = time.monotonic() + 60
    while len(started) < 2 and time.monotonic() < deadline:
        started = list(tmp_path.glob("*.started"))
        time.sleep(0.02)
    workers = {int(path.name.split(".")[1]) for path in started}
    parent.kill()
    parent.wait()
    assert len(workers) == 2
    while any(is_running(worker) for worker in workers):
        assert time.monotonic() < deadline, "a worker outlives its parent"
        time.sleep(0.05)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.json").write_text("mine")
    out = tmp_path / "out"
    (out / "one").mkdir(parents=True)
    (out / "one" / "parts").symlink_to(outside)
    (out / "one" / "rows.csv").symlink_to(outside / "mine.json")
    study = Study("one", out / "one")
    with pytest.raises(PermissionError, match="through a link"):
        study.forget()
    with pytest.raises(PermissionError, match="through a link"):
        study.map(squared, [{"number": 2, "folder": str(tmp_path)}])
    with pytest.raises(PermissionError, match="through a link"):
        study.table("rows", [{"seed": 0}])
    assert [path.read_text() for path in outside.iterdir()] == ["mine"]


def test_every_part_records_its_call(tmp_path: Path) -> None:
    study = Study("one", tmp_path / "one")
    study.map(squared, [{"number": 4, "folder": str(tmp_path)}])
    (path,) = (tmp_path / "one" / "parts").glob("*.json")
    part = json.loads(path.read_text())
    assert part["call"]["number"] == 4
    assert part["seconds"] >= 0


def test_findings_of_another_version_are_ignored(tmp_path: Path) -> None:
    study = Study("one", tmp_path / "one")
    study.claims.append(mean_above("text", "measure", [0.5, 0.4]))
    study.finish()
    found = Study.finished("one", tmp_path / "one")
    assert found is not None
    assert found.claims == study.claims
    path = tmp_path / "one" / studies.FINDINGS
    older = {**json.loads(path.read_text()), "format": 1}
    for findings in (older, {key: older[key] for key in older if key != "format"}):
        path.write_text(json.dumps(findings))
        assert Study.finished("one", tmp_path / "one") is None
