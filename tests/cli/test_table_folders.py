"""The command on folders and patterns: a table in many files, and clear errors about messy ones."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import gameproof as gp
from command import MEANING, audit
from gameproof.cli.main import main
from gameproof.tables.parquet_files import DIGEST, parquet_metadata
from split_files import frame, write_parts

pytestmark = pytest.mark.filterwarnings("ignore::Warning:(dask|distributed|tornado|asyncio).*")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files in folders named by year, and files that are no tables."""
    found = tmp_path_factory.mktemp("folder") / "loans"
    people = frame(900)
    for year, start in ((2023, 0), (2024, 500)):
        own = people.iloc[start : start + 500]
        write_parts_of(found / f"year={year}", own)
    (found / "README.md").write_text("What these files are.")
    (found / "_SUCCESS").touch()
    (found / ".hidden.csv").touch()
    return found


def write_parts_of(folder: Path, people: pd.DataFrame) -> None:
    folder.mkdir(parents=True)
    write_parts(folder, people, [])


@pytest.fixture(scope="module")
def fitted(folder: Path) -> Path:
    """The model of the folder."""
    out = folder.parent / "model.json"
    given = [str(folder), *MEANING, "--drop", "year", "--radius", "0.03"]
    assert (
        main(["fit", *given, "-o", str(out), "--report", str(out.with_suffix(".html")), "--quiet"])
        == 0
    )
    return out


def refused(capsys: Any, *arguments: object, code: int = 1) -> str:
    """The one line that the command prints when it refuses."""
    assert main([str(argument) for argument in arguments]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return str(printed.err)


def test_a_folder_gives_a_model_and_a_page_that_say_which_rows(fitted: Path) -> None:
    model = gp.load_model(fitted)
    assert isinstance(model, gp.TableModel)
    assert model.training["rows"] == 900
    assert model.training["rows_trained"] + model.training["rows_tested"] == 900
    assert model.training["read"] == ["read from 2 files", "ignored README.md"]
    assert "900 rows" in fitted.with_suffix(".html").read_text()


def test_an_audit_of_the_folder_is_that_of_one_table(folder, fitted, tmp_path, capsys) -> None:
    whole = tmp_path / "whole.parquet"
    frame(900).to_parquet(whole)
    found, expected = (audit(capsys, fitted, table) for table in (folder, whole))
    assert found["metrics"] == expected["metrics"]
    assert found["learned_from"] == pytest.approx(0.8, abs=0.05)
    assert "read from 2 files" in found["notes"]


def test_a_comparison_takes_a_pattern(folder, capsys) -> None:
    given = [str(folder / "*" / "*.parquet"), *MEANING, "--drop", "year", "--radius", "0.03"]
    assert main(["compare", *given, "--splits", "2", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["audit"]["splits"] == 2


@pytest.mark.parametrize("engine", [[], ["--engine", "dask"]])
def test_decisions_are_files_of_the_same_names(
    engine, folder, fitted, tmp_path, capsys, cluster_client
) -> None:
    out = tmp_path / "new" / "decisions"
    given = ["predict", str(fitted), str(folder), "-o", str(out), "--keep", "id", *engine]
    assert main([*given, "--json", "--quiet"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["rows"], shown["files"]) == (900, 2)
    names = [f"year={year}/part-0.parquet" for year in (2023, 2024)]
    written = sorted(file for file in out.rglob("*") if file.is_file())
    assert [str(file.relative_to(out)) for file in written] == names
    assert all(DIGEST in pq.read_metadata(file).metadata for file in written)
    assert [parquet_metadata(str(file), file.name)[0] for file in written] == [[500], [400]]
    decided = pd.concat([pd.read_parquet(out / name, partitioning=None) for name in names])
    people = frame(900)
    assert decided["id"].tolist() == people["id"].tolist()
    model = gp.load_model(fitted)
    assert decided["decision"].tolist() == model.predict(people).tolist()
    right = (decided["decision"].to_numpy() == people["repaid"].to_numpy()).mean()
    assert shown["accuracy"] == pytest.approx(right)
    assert "already exists; --force overwrites it" in refused(capsys, *given)
    assert main([*given, "--force", "--quiet"]) == 0


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Three files, of which the last has text in a column of numbers."""
    found = write_parts(tmp_path / "loans", frame(300), [100, 200])
    people = pd.read_parquet(found / "part-2.parquet")
    people["age"] = people["age"].astype(str).where(people.index != 3, "old")
    people.to_parquet(found / "part-2.parquet")
    return found


def test_decisions_that_fail_leave_nothing_behind(broken, fitted, tmp_path, capsys) -> None:
    out = tmp_path / "new" / "decisions"
    said = refused(capsys, "predict", fitted, broken, "-o", out, "--quiet")
    assert "part-2.parquet: the column 'age' has 'old' in row 4" in said
    assert not (tmp_path / "new").exists()


def test_workers_print_nothing_beside_the_one_line(
    broken, fitted, tmp_path, capfd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gameproof.tables.engines._default_client", lambda distributed: None)
    out = tmp_path / "new" / "decisions"
    said = refused(capfd, "predict", fitted, broken, "-o", out, "--engine", "dask", "--quiet")
    assert "part-2.parquet: the column 'age' has 'old' in row 4" in said
    assert not (tmp_path / "new").exists()


def test_text_files_of_a_folder_keep_their_format(fitted, tmp_path, capsys) -> None:
    given, out = tmp_path / "csv", tmp_path / "out"
    given.mkdir()
    people = frame(300)
    people.iloc[:200].to_csv(given / "a.csv", index=False)
    people.iloc[200:].to_csv(given / "b.csv.gz", index=False)
    people.iloc[:0].to_csv(given / "c.csv", index=False)
    assert main(["predict", str(fitted), str(given), "-o", str(out), "--quiet"]) == 0
    found = [pd.read_csv(out / name) for name in ("a.csv", "b.csv.gz")]
    np.testing.assert_array_equal(pd.concat(found)["row"], [*range(1, 201), *range(1, 101)])


def test_folders_without_a_usable_table_are_refused(folder, fitted, tmp_path, capsys) -> None:
    out = ["-o", tmp_path / "m.json"]
    empty = tmp_path / "empty"
    empty.mkdir()
    fit = ["fit", empty, *MEANING, *out]
    assert "it has no files; expected CSV, TSV or Parquet files" in refused(capsys, *fit)
    (empty / "README.md").touch()
    assert "it has only README.md" in refused(capsys, *fit)
    missing = tmp_path / "none*.parquet"
    assert f"no file matches {missing}" in refused(capsys, "fit", missing, *MEANING, *out)
    mixed = write_parts(tmp_path / "mixed", frame(300), [100])
    frame(10).to_csv(mixed / "more.csv")
    said = refused(capsys, "fit", mixed, *MEANING, *out)
    assert "has Parquet files and text files, such as more.csv; say which to read" in said
    (mixed / "more.csv").unlink()
    whole = (mixed / "part-1.parquet").read_bytes()
    (mixed / "part-1.parquet").write_bytes(whole[: len(whole) // 2])
    said = refused(capsys, "fit", mixed, *MEANING, *out)
    assert "part-1.parquet is a broken Parquet file: truncated or altered" in said
    assert not (tmp_path / "m.json").exists()


def test_outputs_that_would_be_read_again_are_refused(folder, fitted, tmp_path, capsys) -> None:
    predict = ["predict", fitted, folder]
    for out in (folder / "decisions", folder, folder.parent):
        assert "must be separate folders" in refused(capsys, *predict, "-o", out, code=2)
    assert "name a folder for the decisions" in refused(capsys, *predict, code=2)
    said = refused(capsys, *predict, "-o", tmp_path / "d.csv", code=2)
    assert "-o must name a folder, got" in said


def test_a_scheduler_that_nobody_runs_writes_nothing(
    folder, tmp_path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gameproof.tables.engines.PATIENCE", 0.3)
    out = tmp_path / "m.json"
    given = ["fit", folder, *MEANING, "-o", out, "--scheduler", "tcp://127.0.0.1:9"]
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in refused(capsys, *given)
    assert not out.exists()
    assert "cannot read standard input" in refused(
        capsys, "fit", "-", *MEANING, "-o", out, "--engine", "dask", code=2
    )
