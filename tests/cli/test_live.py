"""``gameproof live``: a study from a table, from its first question to its export."""

import csv
import json
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gameproof as gp
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
        assert opened.answer_names[3] == "x3: savings"
        assert "theta3: savings" in opened.deployments()


def test_bad_answers_are_named_and_good_ones_stored(capsys, people, study, tmp_path) -> None:
    [question] = live(capsys, "ask", study)["questions"]
    wrong = {**question, "question": 999}
    answers = reports(people, [wrong, question], tmp_path / "answers.csv")
    assert "row 1: this study has no question 999" in failed(capsys, "tell", study, answers)
    assert live(capsys, "status", study)["n_answers"] == 1
    short = tmp_path / "short.csv"
    short.write_text(f"question,savings\n{question['question']},100\n")
    assert "short.csv lacks 'age'" in failed(capsys, "tell", study, short)
    typo = tmp_path / "typo.csv"
    typo.write_text(answers.read_text().replace("savings", "saving"))
    assert "did you mean 'saving'?" in failed(capsys, "tell", study, typo)
    text = reports(people, [question], tmp_path / "text.csv", savings="much")
    assert "savings" in failed(capsys, "tell", study, text)
    assert live(capsys, "status", study)["n_conflicts"] == 0


def test_the_row_whose_question_is_text_is_named(capsys, people, study, tmp_path) -> None:
    asked = live(capsys, "ask", study, "--limit", 3)["questions"]
    answers = reports(people, asked, tmp_path / "answers.csv")
    first, *rows = answers.read_text().splitlines(keepends=True)
    answers.write_text("".join([first, *rows[:2], "foo" + rows[2][rows[2].index(",") :]]))
    assert "row 3 has no number in the column 'question'" in failed(capsys, "tell", study, answers)


def test_true_is_no_number_in_an_answer(people, study) -> None:
    with gp.live.open(study) as found:
        [question] = found.ask()
        row = pd.read_csv(people).iloc[int(question.agent)].to_dict()
        with pytest.raises(gp.AnswerError, match="'savings' of the answer is True, not a number"):
            found.tell(question.id, {**row, "savings": True})


def test_a_row_without_an_answer_is_refused_and_the_others_are_stored(
    capsys, people, study, tmp_path
) -> None:
    questions = live(capsys, "ask", study, "--limit", 3)["questions"]
    answers = reports(people, questions, tmp_path / "answers.csv")
    first, *rows = answers.read_text().splitlines()
    names, cells = first.split(","), rows[1].split(",")
    cells[names.index("savings")] = ""
    answers.write_text("\n".join([first, rows[0], ",".join(cells), rows[2]]) + "\n")
    said = failed(capsys, "tell", study, answers)
    assert "row 2: the answer has no usable value in the column 'savings'" in said
    assert "1 of 3 answers were refused, the others are stored" in said
    assert live(capsys, "status", study)["n_answers"] == 2


def test_an_answer_of_somebody_else_is_refused(capsys, people, study, tmp_path) -> None:
    asked = live(capsys, "ask", study, "--limit", 3)["questions"]
    shifted = [
        {"question": each["question"], "person": other["person"]}
        for each, other in zip(asked, asked[1:] + asked[:1], strict=True)
    ]
    said = failed(capsys, "tell", study, reports(people, shifted, tmp_path / "shifted.csv"))
    first, second = asked[0]["person"], asked[1]["person"]
    assert f"row 1: the question is for {first!r}, but the column 'id' has {second!r}" in said
    assert "all 3 answers were refused; first: row 1" in said
    assert live(capsys, "status", study)["n_answers"] == 0
    answers = pd.read_csv(reports(people, asked, tmp_path / "answers.csv"), dtype=str)
    answers = answers.drop(columns="id").assign(person=[first, first, ""])
    answers.to_csv(tmp_path / "persons.csv", index=False)
    said = failed(capsys, "tell", study, tmp_path / "persons.csv")
    assert f"row 2: the question is for {second!r}, but the column 'person'" in said
    assert live(capsys, "status", study)["n_answers"] == 2


@pytest.mark.parametrize("cell", ["{}.0", " {} ", "NaN", "0{}"])
def test_a_number_of_a_person_may_be_written_as_data_frames_do(
    capsys, people, tmp_path, cell
) -> None:
    path = tmp_path / "rows.db"
    options = ["--method", "ogda-rr", "--batch", "20", "--max-answers", "60"]
    assert main(["live", "create", str(path), str(people), *MEANING, *options]) == 0
    [question] = live(capsys, "ask", path)["questions"]
    row = pd.read_csv(people, dtype=str).iloc[[int(question["person"])]]
    answers = row.assign(question=question["question"], person=cell.format(question["person"]))
    answers.to_csv(tmp_path / "answers.csv", index=False)
    assert live(capsys, "tell", path, tmp_path / "answers.csv")["answers"] == {"counted": 1}


def test_a_cell_that_cannot_be_used_is_shown(capsys, people, tmp_path) -> None:
    path = tmp_path / "job.db"
    options = ["--target", "repaid", "--favourable", "yes", "--movable", "savings,job"]
    limits = ["--key", "id", "--method", "ogda-rr", "--batch", "20", "--max-answers", "60"]
    assert main(["live", "create", str(path), str(people), *options, *limits]) == 0
    [question] = live(capsys, "ask", path)["questions"]
    for change, expected in (
        ({"job": "pilot"}, "'job', which people can change; got 'pilot', expected"),
        ({"savings": " "}, "'savings', which people can change; the cell is empty"),
    ):
        answers = reports(people, [question], tmp_path / "answers.csv", **change)
        capsys.readouterr()
        assert main(["live", "tell", str(path), str(answers)]) == 1
        said = capsys.readouterr().err
        assert "count as missing" not in said  # what is refused is not filled in
        assert "the answer was refused: row 1: the answer has no usable value" in said
        assert expected in said
    answers = reports(people, [question], tmp_path / "answers.csv", home="castle")
    capsys.readouterr()
    assert main(["live", "tell", str(path), str(answers)]) == 0
    assert "home: 1 without a usable value, taken from the study's table" in capsys.readouterr().err


def test_gaps_in_columns_that_nobody_can_change_are_no_moves(
    capsys, people, study, tmp_path
) -> None:
    """The answers are the rows of the table, but for empty cells: nobody has moved."""
    asked = live(capsys, "ask", study, "--limit", 4)["questions"]
    answers = reports(people, asked, tmp_path / "answers.csv", age="", home="igloo")
    live(capsys, "tell", study, answers)
    with gp.live.open(study) as found:
        X = found.problem.population.X
        told = found.history()
        names = found.answer_names
        np.testing.assert_array_equal(told[names].to_numpy(), X[told["agent"].to_numpy()])
        [question] = found.ask()
        row = pd.read_csv(people).iloc[int(question.agent)].to_dict() | {"age": None}
        found.tell(question.id, row)
        np.testing.assert_array_equal(found.history()[names].to_numpy()[-1], X[int(question.agent)])


def test_somebody_without_a_question_is_told_that_others_hold_them(capsys, study) -> None:
    count = len(live(capsys, "ask", study, "--limit", 100, "--holder", "north")["questions"])
    assert main(["live", "ask", str(study), "--holder", "south"]) == 0
    said = capsys.readouterr().err
    assert f"no question is free for 'south': others hold the {count} open questions" in said


def test_a_recommendation_as_json_is_that_of_the_study(capsys, study) -> None:
    live(capsys, "simulate", study, "--answers", 40)
    printed = live(capsys, "recommend", study)
    from gameproof.live.open_study import open as open_study

    with open_study(study) as opened:
        found = opened.recommend()
    assert set(printed) == {field.name for field in fields(found)}
    assert printed["learnt"].startswith("The answers fit")
    for name in ("ground", "why", "learnt", "sentence", "final", "n_answers"):
        assert printed[name] == getattr(found, name)
    assert printed["risk"] == asdict(found.risk)


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


def test_the_target_does_not_identify_people(capsys, people, tmp_path) -> None:
    capsys.readouterr()
    options = [str(people), *MEANING, "--key", MEANING[1]]
    assert main(["live", "create", str(tmp_path / "key.db"), *options]) == 1
    assert "does not identify people" in capsys.readouterr().err


def test_a_key_must_identify_people(capsys, people, tmp_path) -> None:
    arguments = [str(people), *MEANING, "--key", "job"]
    if "job" not in people.read_text().splitlines()[0]:
        arguments[-1] = "late_payments"
    assert "identif" in failed(capsys, "create", tmp_path / "study.db", *arguments)
    assert not (tmp_path / "study.db").exists()


BAD_CELLS = {
    "question": {
        "999": "no question 999",
        "-3": "no question -3",
        "1.5": "no number",
        "": "number",
    },
    "savings": {"": "savings", "nan": "savings", "1e400": "infinite"},
    "key": {"k" * 501: "500 characters"},
}


@pytest.mark.parametrize(
    ("column", "cell"), [(column, cell) for column in BAD_CELLS for cell in BAD_CELLS[column]]
)
def test_a_bad_cell_is_one_line_and_stores_nothing(
    capsys, people, study, tmp_path, column, cell
) -> None:
    [question] = live(capsys, "ask", study)["questions"]
    good = reports(people, [question], tmp_path / "good.csv")
    [row] = csv.DictReader(good.read_text().splitlines())
    row |= {column: cell}
    bad = tmp_path / "bad.csv"
    with open(bad, "w", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)
    said = failed(capsys, "tell", study, bad)
    assert BAD_CELLS[column][cell] in said
    assert said.count("\n") == 1
    assert live(capsys, "status", study)["n_answers"] == 0


def test_a_row_that_stands_twice_is_one_answer(capsys, people, study, tmp_path) -> None:
    questions = live(capsys, "ask", study, "--limit", 2)["questions"]
    answers = reports(people, questions * 3, tmp_path / "answers.csv")
    assert live(capsys, "tell", study, answers)["answers"] == {"counted": 2}
    half = tmp_path / "half.csv"
    half.write_text(answers.read_text()[:-20])
    assert "cells" in failed(capsys, "tell", study, half)


def test_names_with_quotes_and_line_breaks(capsys, people, tmp_path) -> None:
    path, name = tmp_path / 'o\'clock "x".db', 'it\'s "a"\nstudy; --'
    options = ["--method", "ogda-rr", "--max-answers", "60", "--study", name]
    assert main(["live", "create", str(path), str(people), *MEANING, *options]) == 0
    assert live(capsys, "status", path, "--study", name)["name"] == name
    capsys.readouterr()
    assert main(["live", "create", str(path), str(people), *MEANING, *options[:-1], "2. x"]) == 0
    assert "--study='2. x' --limit 10" in capsys.readouterr().out
    assert failed(capsys, "status", path, "--study", "other").count("\n") == 1
