"""``gameproof bench``: runs programs, keeps their results, and names one that failed."""

import json
from pathlib import Path

import pytest

from gameproof.cli import bench_command
from gameproof.cli.main import main

PROGRAM = """
import sys
from harness import Table, save
table = Table("numbers", ["name", "value"])
table.row("quick", float("--quick" in sys.argv))
save("steps", [table])
"""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one program, which takes no time."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "harness.py").write_bytes((bench_command.programs() / "harness.py").read_bytes())
    (folder / "steps.py").write_text(PROGRAM)
    (folder / "variance.py").write_text("raise SystemExit(3)")
    monkeypatch.setattr(bench_command, "programs", lambda: folder)
    return tmp_path / "out"


def test_every_benchmark_has_a_program() -> None:
    for name in bench_command.PROGRAMS:
        assert (bench_command.programs() / f"{name}.py").is_file()


def test_tables_are_printed_and_kept_with_the_machine(
    small: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "steps", "--quick", "--out", str(small)]) == 0
    assert "quick      1" in capfd.readouterr().out
    kept = json.loads((small / "steps.json").read_text())
    assert kept["tables"] == [
        {"title": "numbers", "columns": ["name", "value"], "rows": [["quick", 1.0]]}
    ]
    assert {"processor", "cores", "python", "packages", "date"} <= set(kept["machine"])


def test_json_is_what_was_kept(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "steps", "--out", str(small), "--json", "--quiet"]) == 0
    said = capfd.readouterr()
    assert json.loads(said.out) == {"steps": json.loads((small / "steps.json").read_text())}
    assert said.err == ""


def test_a_program_that_fails_is_named(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "variance", "--out", str(small), "--quiet"]) == 1
    assert "the benchmark variance failed with exit code 3" in capfd.readouterr().err


def test_file_in_place_of_the_folder_is_refused_before_anything_is_run(
    small: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    small.write_text("mine")
    assert main(["bench", "steps", "--out", str(small)]) == 1
    said = capfd.readouterr()
    assert said == ("", f"gameproof: {small} is a file, expected a folder\n")


def test_unknown_benchmark_is_refused_with_a_list_of_benchmarks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["bench", "speed"])
    assert ended.value.code == 2
    assert "unknown benchmark 'speed'; choose from steps, reference" in capsys.readouterr().err
