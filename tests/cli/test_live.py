"""``gameproof live``: a study from a table, from its first question to its export."""

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

from command import MEANING
from gameproof.cli.main import main
from gameproof.tables.load_model import load_model


@pytest.fixture
def study(people: Path, tmp_path: Path) -> Path:
    path = tmp_path / "study.db"
    options = ["--key", "id", "--method", "ogda-rr", "--batch", "20", "--max-answers", "60"]
    assert main(["live", "create", str(path), str(people), *MEANING, *options]) == 0
    return path


def live(capsys, action: str, study: Path, *options: object) -> dict:
    capsys.readouterr()
    assert main(["live", action, str(study), *map(str, options), "--json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


def failed(capsys, action: str, study: Path, *options: object) -> str:
    capsys.readouterr()
    assert main(["live", action, str(study), *map(str, options), "--quiet"]) == 1
    return capsys.readouterr().err


def reports(people: Path, questions: list[dict], out: Path, **changes: str) -> Path:
    """The rows of these people, as answers."""
    with open(people, newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    with open(out, "w", newline="") as file:
        writer = csv.DictWriter(file, ["question", *next(iter(rows.values()))])
        writer.writeheader()
        for each in questions:
            writer.writerow({"question": each["question"], **rows[each["person"]], **changes})
    return out


def test_answers_are_rows_in_the_columns_of_the_table(capsys, people, study, tmp_path) -> None:
    questions = live(capsys, "ask", study, "--limit", 3)["questions"]
    answers = reports(people, questions, tmp_path / "answers.csv")
    told = live(capsys, "tell", study, answers, "-o", tmp_path / "receipts.csv")
    assert told["answers"] == {"counted": 3}
    assert live(capsys, "tell", study, answers)["status"]["n_answers"] == 3
    number = pd.read_csv(tmp_path / "receipts.csv")["answer"][0]
    after = live(capsys, "withdraw", study, number, "--reason", "wrong person")
    assert (after["n_answers"], after["n_withdrawn"]) == (2, 1)


def test_an_unchanged_row_is_the_person_as_the_study_knows_it(capsys, people, study, tmp_path):
    questions = live(capsys, "ask", study, "--limit", 2)["questions"]
    live(capsys, "tell", study, reports(people, questions, tmp_path / "answers.csv"))
    from gameproof.live.open_study import open as open_study

    with open_study(study) as opened:
        history = opened.history()
        known = opened.problem.population.X[history["agent"]]
        assert (history[opened.answer_names].to_numpy() == known).all()


def test_bad_answers_are_named_and_good_ones_stored(capsys, people, study, tmp_path) -> None:
    [question] = live(capsys, "ask", study)["questions"]
    wrong = {**question, "question": 999}
    answers = reports(people, [wrong, question], tmp_path / "answers.csv")
    assert "row 1: this study has no question 999" in failed(capsys, "tell", study, answers)
    assert live(capsys, "status", study)["n_answers"] == 1
    short = tmp_path / "short.csv"
    short.write_text(f"question,savings\n{question['question']},100\n")
    assert "lacks the column" in failed(capsys, "tell", study, short)
    text = reports(people, [question], tmp_path / "text.csv", savings="much")
    assert "savings" in failed(capsys, "tell", study, text)
    assert live(capsys, "status", study)["n_conflicts"] == 0


def test_simulated_people_finish_a_study(capsys, people, study, tmp_path) -> None:
    found = live(capsys, "simulate", study, "--silent", 0.2, "--noise", 0.1, "--reluctant", 0.1)
    assert found["status"]["state"] == "finished"
    assert found["status"]["n_answers"] <= 60
    assert found["status"]["n_silent"] > 0
    model = tmp_path / "model.json"
    assert live(capsys, "recommend", study, "-o", model)["final"]
    assert set(load_model(model).predict(pd.read_csv(people))) <= {"yes", "no"}
    assert live(capsys, "status", study, "--verify")["changed"] == []
    for form, read in (("csv", pd.read_csv), ("parquet", pd.read_parquet)):
        rows = live(capsys, "export", study, "--out", tmp_path / form, "--format", form)["rows"]
        for name, count in rows.items():
            assert len(read(tmp_path / form / f"{name}.{form}")) == count
    assert rows["answers"] == found["told"]


def test_a_simulation_can_stop_and_go_on(capsys, study) -> None:
    assert live(capsys, "simulate", study, "--answers", 5, "--budget", 0.5)["told"] == 5
    assert live(capsys, "status", study)["n_answers"] == 5


def test_a_study_that_is_missing_is_not_created(capsys, tmp_path) -> None:
    assert "live create" in failed(capsys, "status", tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


def test_a_key_must_identify_people(capsys, people, tmp_path) -> None:
    arguments = [str(people), *MEANING, "--key", "job"]
    if "job" not in people.read_text().splitlines()[0]:
        arguments[-1] = "late_payments"
    assert "identif" in failed(capsys, "create", tmp_path / "study.db", *arguments)
    assert not (tmp_path / "study.db").exists()
