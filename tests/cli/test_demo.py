"""``gameproof demo``, with fewer people."""

import json
from pathlib import Path

import pytest

from gameproof.cli import demo
from gameproof.cli.main import main


@pytest.fixture(autouse=True)
def fewer(monkeypatch) -> None:
    monkeypatch.setattr(demo, "TRAIN", 200)
    monkeypatch.setattr(demo, "TEST", 100)


def test_demo_prints_a_table_and_draws_a_figure(tmp_path: Path, capsys) -> None:
    assert main(["demo", "--out", str(tmp_path / "some" / "place")]) == 0
    printed = capsys.readouterr()
    rows = {line.split()[0]: line.split()[1:] for line in printed.out.splitlines()}
    assert all(len(rows[name]) == len(demo.POWERS) for name in ("logistic", "strategic", "robust"))
    figure = tmp_path / "some" / "place" / "demo.png"
    assert str(figure) in printed.err
    assert figure.stat().st_size > 10_000


def test_demo_as_json_shows_that_robust_holds_up(tmp_path: Path, capsys) -> None:
    assert main(["demo", "--json", "--quiet", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    shown = json.loads(printed.out)
    assert shown["powers"] == demo.POWERS
    assert shown["accuracy"]["robust"][-1] > shown["accuracy"]["logistic"][-1] + 0.1
    assert 0 <= shown["duality_gap"] < 1e-6
    assert shown["figure"] == str(tmp_path / "demo.png")
    assert Path(shown["figure"]).is_file()


def test_demo_without_matplotlib_says_how_to_get_the_figure(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    def missing(*arguments):
        raise ImportError("no matplotlib")

    monkeypatch.setattr(demo, "draw", missing)
    assert main(["demo", "--out", str(tmp_path)]) == 0
    assert "pip install gameproof[plot]" in capsys.readouterr().err


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_demo_refuses_a_file_for_its_folder_before_the_work(
    out: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr(demo, "classifiers", None)  # calling it would be another error
    assert main(["demo", "--out", str(tmp_path / out)]) == 1
    said = capsys.readouterr()
    assert said == ("", f"gameproof: {tmp_path / 'file'} is a file, expected a folder\n")
