"""``gameproof demo``, with fewer people."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.linear_model import LogisticRegression

from gameproof.cli import demo_command, demo_people
from gameproof.cli.console import Console
from gameproof.cli.main import main

MODELS = ["logistic", "strategic", "paper's robust", "for the budget"]


@pytest.fixture(autouse=True)
def fewer(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(demo_people, "TRAIN", 300)
    monkeypatch.setattr(demo_people, "TEST", 200)
    monkeypatch.setattr(demo_command, "SPLITS", 4)
    monkeypatch.setenv("GAMEPROOF_DATA", str(tmp_path / "nothing"))


def test_demo_prints_tables_and_draws_a_figure(tmp_path: Path, capsys) -> None:
    assert main(["demo", "--out", str(tmp_path / "some" / "place")]) == 0
    printed = capsys.readouterr()
    for name in ("synthetic applicants", "the paper's synthetic people"):
        block = printed.out.partition(f"{name}: accuracy when")[2].splitlines()
        assert block[1].split() == ["0", "0.5", "1", "2", "4"]
        assert [line[:18].strip() for line in block[2:6]] == MODELS
        assert all(len(line[18:].split()) == 5 for line in block[2:6])
    figure = tmp_path / "some" / "place" / "demo.png"
    assert str(figure) in printed.err
    assert "to include credit and bank: gameproof data get credit bank" in printed.err
    assert figure.stat().st_size > 10_000


def test_demo_as_json_shows_that_training_for_a_budget_pays(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    """At the budget and at twice the budget, the interval over draws is above 0."""
    monkeypatch.setattr(demo_people, "TRAIN", 1000)
    monkeypatch.setattr(demo_people, "TEST", 500)
    monkeypatch.setattr(demo_command, "SPLITS", 6)
    assert main(["demo", "--json", "--quiet", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    shown = json.loads(printed.out)
    assert shown["multiples"] == list(demo_command.MULTIPLES)
    found = shown["data"]["synthetic applicants"]
    assert list(found["accuracy"]) == MODELS
    for other in MODELS[:-1]:
        for k in (2, 3):
            mean, low, _ = found["lead"][other][k]
            own, theirs = (found["accuracy"][name][k][0] for name in (MODELS[-1], other))
            assert mean == pytest.approx(own - theirs)
            assert mean > low > 0
    assert 0 <= shown["duality_gap"] < 1e-6
    assert shown["figure"] == str(tmp_path / "demo.png")
    assert Path(shown["figure"]).is_file()


def test_accuracies_are_those_of_people_who_use_their_budgets() -> None:
    """Each person's best move by a linear program, and scikit-learn's logistic regression."""
    people = demo_people.synthetic_draw(3)
    models, _ = demo_command.classifiers(people)
    theta, offset = models["for the budget"]
    bounds = [(-0.5, 0.5) if j in people.movable else (0, 0) for j in range(10)]
    for multiple, share in zip(
        demo_command.MULTIPLES, demo_command.accuracies(people, theta, offset), strict=True
    ):
        ends = [(multiple * low, multiple * high) for low, high in bounds]
        gain = -linprog(-theta, bounds=ends).fun
        right = [
            (x @ theta + offset + (gain if y < 0 else 0) > 0) == (y > 0)
            for x, y in zip(people.X_test, people.y_test, strict=True)
        ]
        assert share == np.mean(right)
    plain = LogisticRegression(C=1e9, max_iter=10_000).fit(people.X, people.y)
    same = plain.score(people.X_test, people.y_test)
    # One row of 200 may lie on the border for a solver of other precision.
    assert demo_command.accuracies(people, *models["logistic"])[0] == pytest.approx(
        same, abs=1.01 / 200
    )


def test_credit_and_bank_are_shown_where_they_are(published, monkeypatch) -> None:
    monkeypatch.setenv("GAMEPROOF_DATA", str(published))
    names = [name for name, _, _ in demo_people.data_sets(1, Console(quiet=True))]
    assert names[2:] == ["credit", "bank"]


def test_demo_without_matplotlib_says_how_to_get_the_figure(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    def missing(*arguments):
        raise ImportError("no matplotlib")

    monkeypatch.setattr(demo_command, "draw", missing)
    assert main(["demo", "--out", str(tmp_path)]) == 0
    assert "pip install gameproof[plot]" in capsys.readouterr().err


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_demo_refuses_a_file_for_its_folder_before_the_work(
    out: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr(demo_command, "classifiers", None)  # calling it would be another error
    assert main(["demo", "--out", str(tmp_path / out)]) == 1
    said = capsys.readouterr()
    assert said == ("", f"gameproof: {tmp_path / 'file'} is a file, expected a folder\n")
