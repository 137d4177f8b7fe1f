"""A result overwrites no input of the command, and no other file without --force."""

import os
from pathlib import Path

import pytest

from command import MEANING, fit
from gameproof import load_model
from gameproof.cli import outputs
from gameproof.cli.main import main


@pytest.mark.parametrize("word", ["fit", "predict", "audit", "compare"])
@pytest.mark.parametrize("named", ["itself", "by another path", "soft link", "hard link"])
def test_result_in_place_of_an_input_ends_with_2_before_anything_is_read(
    word: str, named: str, tmp_path: Path, capsys, monkeypatch
) -> None:
    """Neither file is what its name says: if it were read, the message would say so."""
    monkeypatch.chdir(tmp_path)
    for name in ("table.html", "model.html"):
        Path(name).write_text("nothing of the kind")

    def other(name: str) -> str:
        if named == "itself":
            return name
        if named == "by another path":
            return str(tmp_path / "." / name)
        link = f"{named[:4]}-{name}"
        (os.symlink if named == "soft link" else os.link)(name, link)
        return link

    models = ["model.html"] if word in ("predict", "audit") else []
    meaning = [] if models else MEANING
    option = "-o" if word == "predict" else "--report"
    for taken in ["table.html", *models]:
        rest = ["-o", "new.json"] if word == "fit" else []
        given = [word, *models, "table.html", *meaning, *rest, option, other(taken), "--force"]
        assert main(given) == 2
        printed = capsys.readouterr()
        assert "is an input of this command" in printed.err
        assert printed.err.count("\n") == 1
        assert printed.out == ""
    if word == "fit":
        assert main(["fit", "table.html", *MEANING, "-o", "table.html", "--force"]) == 2
    assert all(Path(n).read_text() == "nothing of the kind" for n in ("table.html", "model.html"))


def test_model_does_not_go_to_standard_output(people: Path, capsys) -> None:
    assert main(["fit", str(people), *MEANING, "-o", "-"]) == 2
    assert "name a file" in capsys.readouterr().err
    assert not Path("-").exists()


@pytest.mark.skipif(os.name == "nt", reason="no such pipes on Windows")
def test_pipe_in_place_of_a_result_is_refused_before_anything_is_read(
    tmp_path: Path, capsys
) -> None:
    os.mkfifo(tmp_path / "pipe")
    given = ["-o", str(tmp_path / "pipe"), "--force"]
    assert main(["fit", str(tmp_path / "no.csv"), *MEANING, *given]) == 1
    assert "is a device or a pipe, expected the name of a file" in capsys.readouterr().err


def test_name_too_long_is_refused_before_anything_is_read(tmp_path: Path, capsys) -> None:
    name = str(tmp_path / ("m" * 300))
    assert main(["fit", str(tmp_path / "no.csv"), *MEANING, "-o", name]) == 1
    assert "file name too long" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_link_that_leads_to_itself_is_refused_before_anything_is_read(
    tmp_path: Path, capsys
) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert main(["fit", str(tmp_path / "no.csv"), *MEANING, "-o", str(loop)]) == 1
    assert "too many levels of symbolic links" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["predict", "fit", "audit"])
def test_result_that_appeared_while_the_command_ran_is_kept_without_force(
    word: str, people: Path, model: Path, tmp_path: Path, capsys, monkeypatch
) -> None:
    out = tmp_path / ("late.csv" if word == "predict" else "late.html")
    option = {"predict": "-o", "fit": "--report", "audit": "--report"}[word]
    given = {
        "predict": ["predict", str(model), str(people)],
        "fit": ["fit", str(people), *MEANING, "--radius", "0.05", "-o", str(tmp_path / "m.json")],
        "audit": ["audit", str(model), str(people)],
    }[word]
    checked = outputs.try_to_write

    def appears(folder: Path, path: Path) -> None:
        checked(folder, path)
        if path == out:
            out.write_text("of somebody else")

    monkeypatch.setattr(outputs, "try_to_write", appears)
    assert main([*given, option, str(out)]) == 1
    printed = capsys.readouterr()
    assert "late" in printed.err
    assert "already exists" in printed.err
    assert "--force overwrites it" in printed.err
    assert out.read_text() == "of somebody else"
    if word == "fit":  # the model and the result are not lost with the page
        assert load_model(tmp_path / "m.json").predict(people).size == 400
        assert f"model: {tmp_path / 'm.json'}" in printed.out
        assert "the page could not be written" in printed.err
    if word == "audit":
        assert "accuracy" in printed.out
        assert "page:" not in printed.out


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_output_does_not_follow_a_link_out_of_its_folder(
    people: Path, model: Path, tmp_path: Path, capsys
) -> None:
    folder, target = tmp_path / "out", tmp_path / "precious"
    folder.mkdir()
    target.write_text("old")
    (folder / "d.csv").symlink_to(target)
    given = ["predict", str(model), str(people), "-o", str(folder / "d.csv"), "--force"]
    assert main(given) == 1
    assert f"leads to {target} through a link" in capsys.readouterr().err
    assert target.read_text() == "old"


def test_fit_writes_the_model_and_prints_the_result_even_if_the_page_fails(
    people: Path, tmp_path: Path, capsys, monkeypatch
) -> None:
    def fails(*_args: object, **_options: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("gameproof.tables.classifiers_page.write_audit", fails)
    out, page = tmp_path / "m.json", tmp_path / "p.html"
    assert fit(people, out, "--radius", "0.05", "--report", str(page)) == 1
    printed = capsys.readouterr()
    assert load_model(out).predict(people).size == 400
    assert printed.out.startswith("verdict: ")
    assert f"model: {out}" in printed.out
    assert "page:" not in printed.out
    assert "the page could not be written: no space left on device" in printed.err
    assert not page.exists()
