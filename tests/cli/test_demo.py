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


def test_demo_without_matplotlib_says_how_to_get_the_figure(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    def missing(*arguments):
        raise ImportError("no matplotlib")

    monkeypatch.setattr(demo, "draw", missing)
    assert main(["demo", "--out", str(tmp_path)]) == 0
    assert "pip install gameproof[plot]" in capsys.readouterr().err
