"""``gameproof data`` on small made-up data sets, and once on the published ones."""

import json
import shlex
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gameproof as gp
from gameproof.cli import data_command
from gameproof.cli.main import main
from gameproof.tables.catalog import CATALOG
from tables import BANK_TEXT, CREDIT_TEXT, SMALL


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """A data folder, with small data sets in the catalogue."""
    path = tmp_path / "folder"
    monkeypatch.setenv("GAMEPROOF_DATA", str(path))
    monkeypatch.setattr(
        data_command, "CATALOG", {name: about for name, (about, _) in SMALL.items()}
    )
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "given.csv"
    path.write_text(CREDIT_TEXT)
    return path


def test_get_says_what_is_where(folder: Path, file: Path, capsys) -> None:
    assert main(["data", "get", "credit", "--from", str(file)]) == 0
    kept = folder / "credit.npz"
    assert capsys.readouterr().out.splitlines() == [
        f"credit is there now: 4 rows in {kept}, from the file given.csv",
        "licence: rules of the Kaggle competition; redistribution rights are unclear",
    ]
    assert main(["data", "get", "credit"]) == 0
    assert capsys.readouterr().out.startswith(f"credit was there already: 4 rows in {kept}, from")


def test_get_as_json(folder: Path, file: Path, capsys) -> None:
    assert main(["data", "get", "credit", "--from", str(file), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["path"] == str(folder / "credit.npz")
    assert (record["name"], record["rows"], record["new"]) == ("credit", 4, True)
    assert record["source"] == "the file given.csv"


def test_wrong_file_fails_in_one_line_and_leaves_nothing(folder: Path, file: Path, capsys) -> None:
    file.write_text("<html>log in</html>")
    assert main(["data", "get", "credit", "--from", str(file)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"gameproof: {file} is a web page")
    assert printed.err.count("\n") == 1
    assert not folder.exists()


def test_several_data_sets_come_with_one_command(folder: Path, monkeypatch, capsys) -> None:
    asked = []

    def got(about, file, say):
        asked.append(about.name)
        return SimpleNamespace(path=folder / about.name, source="a friend", before=False)

    monkeypatch.setattr("gameproof.tables.download.get", got)
    assert main(["data", "get", "credit", "bank", "credit"]) == 0
    assert asked == ["credit", "bank"]
    printed = capsys.readouterr().out
    assert "credit is there now: " in printed
    assert "bank is there now: " in printed
    assert main(["data", "get", "credit", "bank", "--from", "some.csv"]) == 1
    assert "--from names the file of one data set, got 2" in capsys.readouterr().err


@pytest.mark.parametrize("quiet", [False, True])
def test_quiet_is_about_progress(quiet: bool, folder: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("gameproof.tables.download.from_openml", lambda about: pytest.fail("asked"))

    def progress(about, file, say):
        say("asking")
        raise gp.DataError("no")

    monkeypatch.setattr("gameproof.tables.download.get", progress)
    assert main(["data", "get", "bank", *(["--quiet"] if quiet else [])]) == 1
    assert capsys.readouterr().err == ("" if quiet else "asking\n") + "gameproof: no\n"


def test_list_says_what_is_here_what_is_not_and_what_is_broken(
    folder: Path, file: Path, capsys
) -> None:
    assert main(["data", "list"]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[0] == f"data folder: {folder}"
    assert "not here; get it with: gameproof data get credit" in printed
    assert "CC BY 4.0, doi 10.24432/C5K306" in printed
    assert not folder.exists()

    main(["data", "get", "credit", "--from", str(file), "--quiet"])
    (folder / "bank-full.csv").write_text(BANK_TEXT[:-10])
    capsys.readouterr()
    assert main(["--json", "data", "list"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["folder"] == str(folder)
    credit, bank = listed["datasets"]
    assert credit["path"] == str(folder / "credit.npz")
    assert credit["problem"] is None
    assert bank["path"] is None
    assert "line 4" in bank["problem"]


def test_write_makes_a_table_that_reads_back(tmp_path: Path, capsys) -> None:
    path = tmp_path / "people.csv"
    assert main(["data", "write", "people", str(path), "--rows", "50", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["rows"] == 50
    made = gp.read_table(path, about["target"], about["favourable"], about["movable"])
    assert len(made) == 50
    before = path.read_bytes()
    assert main(["data", "write", "people", str(path), "--rows", "60"]) == 1
    assert path.read_bytes() == before
    assert main(["data", "write", "people", str(path), "--rows", "60", "--force"]) == 0
    assert "gameproof fit" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["people", "t.xlsx"], "ends in .csv"),
        (["people", "t.csv", "--balanced"], "people are synthetic"),
        (["credit", "t.csv"], "gameproof data get credit"),
        (["people", "nowhere/t.csv"], "there is no folder nowhere"),
    ],
)
def test_write_that_cannot_be_done_leaves_nothing(
    arguments, line, tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GAMEPROOF_DATA", str(tmp_path))
    assert main(["data", "write", *arguments]) == 1
    printed = capsys.readouterr()
    assert line in printed.err
    assert printed.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_example_of_a_name_with_a_space_can_be_typed(tmp_path: Path, capsys) -> None:
    path = str(tmp_path / "my people.csv")
    assert main(["data", "write", "people", path]) == 0
    example = capsys.readouterr().out.split("for example: ")[1]
    assert shlex.split(example)[:3] == ["gameproof", "fit", path]


def test_source_is_not_written_over(folder: Path, capsys) -> None:
    folder.mkdir()
    source = folder / SMALL["credit"][0].files[1]
    source.write_text(CREDIT_TEXT)
    assert main(["data", "write", "credit", str(source), "--force"]) == 2
    assert "is an input of this command and would be overwritten" in capsys.readouterr().err
    assert source.read_text() == CREDIT_TEXT


@pytest.mark.parametrize("option", [["--rows", "1"], ["--seed", "-1"]])
def test_write_with_an_invalid_number_ends_with_2(option, tmp_path: Path, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["data", "write", "people", str(tmp_path / "t.csv"), *option])
    assert ended.value.code == 2
    assert f"argument {option[0]}: expected an integer" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["credit", "bank"])
def test_published_data_is_written_as_it_is_loaded(
    name: str, published: Path, tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.setenv("GAMEPROOF_DATA", str(published))
    path = tmp_path / "t.csv.gz"
    arguments = ["data", "write", name, str(path), "--rows", "400", "--seed", "3", "--json"]
    assert main([*arguments, "--balanced"]) == 0
    about = json.loads(capsys.readouterr().out)
    found = gp.read_table(path, about["target"], about["favourable"], about["movable"])
    data = (gp.load_credit if name == "credit" else gp.load_bank)()
    expected = data.balanced(400, seed=3)
    np.testing.assert_array_equal(found.y, expected.y)
    for column in about["movable"]:
        np.testing.assert_array_equal(found.column(column), expected.column(column))
    assert main([*arguments, "--force"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 400
    assert main([*arguments, "--force", "--rows", "401", "--balanced"]) == 1
    assert "a balanced draw needs an even number of rows, got 401" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "load"), [("credit", gp.load_credit), ("bank", gp.load_bank)])
def test_published_data_goes_in_by_the_command_and_comes_out_by_the_loader(
    name: str, load, published: Path, tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.setenv("GAMEPROOF_DATA", str(tmp_path))
    expected = load(published).fingerprint
    file = published / CATALOG[name].files[0]
    if file.is_file():
        arguments = ["data", "get", name, "--from", str(file)]
    else:
        shutil.copy(published / f"{name}.npz", tmp_path)
        arguments = ["data", "get", name]
    assert main(arguments) == 0
    assert str(tmp_path / f"{name}.npz") in capsys.readouterr().out
    assert load().fingerprint == expected
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.npz"]
