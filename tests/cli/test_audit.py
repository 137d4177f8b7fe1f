"""``gameproof audit`` of models of ours and of scikit-learn."""

import html
import json
import re
import zipfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import gameproof as gp
from command import fit
from gameproof.cli.cases import steps_in_table
from gameproof.cli.main import main
from gameproof.data.reading import open_table

NUMBERS = ["age", "savings", "utilisation", "late_payments"]
MEANING = ["--target", "repaid", "--favourable", "yes", "--movable", "savings,utilisation"]
MODELS = {
    "logistic": lambda: LogisticRegression(max_iter=1000),
    "svm": lambda: LinearSVC(random_state=0),
    "sgd": lambda: SGDClassifier(random_state=0),
    "sgd, logistic": lambda: SGDClassifier(loss="log_loss", random_state=0),
    "sgd, squares": lambda: SGDClassifier(loss="squared_error", eta0=1e-3, random_state=0),
    "ridge": lambda: RidgeClassifier(),
    "perceptron": lambda: Perceptron(random_state=0),
}


def run(capsys, *arguments: object) -> dict:
    assert main(["audit", *map(str, arguments), "--json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("scaled", [False, True])
def test_scikit_learn_model_is_audited_as_it_predicts(
    name: str, scaled: bool, people, tmp_path, capsys
) -> None:
    """Clean accuracy is scikit-learn's own; gamed accuracy follows from b = x + power sd² theta."""
    table = pd.read_csv(people)
    fitted = MODELS[name]()
    fitted = make_pipeline(StandardScaler(), fitted) if scaled else fitted
    X = table[NUMBERS] / 1000 if not scaled else table[NUMBERS]
    table[NUMBERS] = X
    table.to_csv(tmp_path / "t.csv", index=False)
    fitted.fit(X, table["repaid"])
    skops.io.dump(fitted, tmp_path / "m.skops")
    found = run(capsys, tmp_path / "m.skops", tmp_path / "t.csv", *MEANING, "--power", "0.1")
    clean = fitted.score(X, table["repaid"])
    assert found["quality"][0]["accuracy"] == pytest.approx(clean)

    scores = fitted.decision_function(X)
    origin = fitted.decision_function(X * 0)
    eye = pd.DataFrame(np.eye(4), columns=NUMBERS)
    theta = (fitted.decision_function(eye) - origin[0]) * X.std(ddof=0).to_numpy()
    gain = 0.1 * (theta[1] ** 2 + theta[2] ** 2)
    refusable = (table["repaid"] == "no").to_numpy()
    gamed = np.mean((scores + gain * refusable > 0) == ~refusable)
    (row,) = [row for row in found["gaming"] if row["power"] == 0.1]
    assert row["accuracy"] == pytest.approx(gamed)


def test_model_of_ours_knows_what_its_table_means(model, people, capsys) -> None:
    found = run(capsys, model, people)
    labels = pd.read_csv(people)["repaid"].to_numpy()
    accuracy = float(np.mean(gp.load_model(model).predict(people) == labels))
    assert found["quality"][0]["accuracy"] == pytest.approx(accuracy)
    assert found["movable"] == ["savings", "utilisation"]
    assert found["power"] == 0.05
    assert {row["label"] for row in found["hurt"]} == {1, -1}
    other = run(capsys, model, people, "--movable", "income", "--power", "0.5")
    assert other["movable"] == ["income", "income missing"]
    assert other["power"] == 0.5


def test_one_rule_says_which_gaming_to_expect_and_the_output_why(
    people, tmp_path: Path, capsys
) -> None:
    frame = pd.read_csv(people)
    skops.io.dump(LogisticRegression().fit(frame[["age"]], frame.repaid), tmp_path / "f.skops")
    foreign = [tmp_path / "f.skops", people, *MEANING[:4], "--movable", "age"]
    assert fit(people, tmp_path / "m.json", "--radius", "0.03", "--power", "0.2") == 0
    still = ["-o", str(tmp_path / "still.json"), "--radius", "0.03", "--movable", ""]
    assert main(["fit", str(people), *MEANING[:4], *still]) == 0
    capsys.readouterr()
    for arguments, power, why in (
        (foreign, 0.05, "the default of gameproof fit"),
        ([*foreign, "--power", "0.3"], 0.3, "as given"),
        ([tmp_path / "m.json", people], 0.2, "which the model was fitted for"),
        ([tmp_path / "m.json", people, "--power", "0.05"], 0.05, "as given"),
        # Fitted with nothing to move, so for no power.
        ([still[1], people, "--movable", "age"], 0.05, "the default of gameproof fit"),
    ):
        found = run(capsys, *arguments)
        assert (found["power"], found["why_power"]) == (power, why)
        page = tmp_path / "p.html"
        assert main(["audit", *map(str, arguments), "--report", str(page), "--force"]) == 0
        said = f"{power:g}, {why}"
        assert f"gaming power to expect: {said}" in capsys.readouterr().out
        assert f"<dt>gaming power expected</dt><dd>{said}</dd>" in page.read_text()
    # Python's audit expects the same.
    model = gp.LinearModel([1.0])
    assert gp.audit(model, frame[["age"]], np.where(frame.repaid == "yes", 1, -1)).power == 0.05


def test_one_rule_says_what_a_label_costs_and_the_output_why(
    people, tmp_path: Path, capsys, monkeypatch
) -> None:
    frame = pd.read_csv(people)
    skops.io.dump(LogisticRegression().fit(frame[["age"]], frame.repaid), tmp_path / "f.skops")
    foreign = [tmp_path / "f.skops", people, *MEANING[:4], "--movable", "age"]
    assert fit(people, tmp_path / "m.json", "--radius", "0.03", "--label-cost", "inf") == 0
    capsys.readouterr()
    for arguments, said in (
        (foreign, "0.5, the default of gameproof fit"),
        ([*foreign, "--label-cost", "0.3"], "0.3, as given"),
        ([tmp_path / "m.json", people], "inf, which the model was fitted for"),
    ):
        page = tmp_path / "p.html"
        assert main(["audit", *map(str, arguments), "--report", str(page), "--force"]) == 0
        assert f"\nlabel cost: {said}\n" in capsys.readouterr().out
        assert f"<dt>label cost</dt><dd>{said}</dd>" in page.read_text()
    assert main(["audit", *map(str, foreign), "--label-cost", "0"]) == 0
    free = "label cost: 0, as given; favourable labels turn for nothing, at radius 0 as well"
    assert free in capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    told = " ".join(capsys.readouterr().out.partition("--label-cost K ")[2].split())
    assert "(what the model was fitted for; where that is not known, 0.5)" in told


def test_audit_of_the_table_that_was_learned_from_says_so(
    model, people, tmp_path: Path, capsys
) -> None:
    page = tmp_path / "p.html"
    found = run(capsys, model, people)
    assert found["learned_from"] == pytest.approx(0.8)
    assert any("learned from about 80% of these rows" in note for note in found["notes"])
    assert main(["audit", str(model), str(people), "--report", str(page)]) == 0
    assert "optimistic" in capsys.readouterr().out
    shown = page.read_text()
    assert shown.index("Note: the model learned from") < shown.index("How good is the model?")
    others = tmp_path / "t.csv"
    pd.read_csv(people).tail(100).to_csv(others, index=False)
    assert run(capsys, model, others)["learned_from"] is None
    assert main(["audit", str(model), str(others), "--report", str(page), "--force"]) == 0
    assert "optimistic" not in capsys.readouterr().out
    assert "the model learned from" not in page.read_text()


def test_audit_of_few_rows_says_so_in_the_terminal_and_on_the_page(
    model, people, tmp_path: Path, capsys
) -> None:
    few, page = tmp_path / "few.csv", tmp_path / "p.html"
    frame = pd.read_csv(people)
    frame.groupby("repaid").head(5).to_csv(few, index=False)
    assert main(["audit", str(model), str(few), "--report", str(page)]) == 0
    said = (
        "10 rows to judge by are few: intervals of accuracies on so many are up to 53 points wide"
    )
    assert f"note: {said}" in capsys.readouterr().out
    shown = page.read_text()
    assert shown.count(said) == 1
    assert shown.count("income: 2 missing, taken for the median and marked") == 1
    assert shown.index("income: 2 missing") < shown.index("How good is the model?")
    assert not any("are few" in note for note in run(capsys, model, people)["notes"])


def test_audit_reads_well_and_writes_a_page(model, people, tmp_path: Path, capsys) -> None:
    page = tmp_path / "audit.html"
    assert main(["audit", str(model), str(people), "--report", str(page)]) == 0
    printed = capsys.readouterr().out
    for part in (
        "fitted by gameproof",
        "accuracy where people game it, by their power:",
        "data off by a radius",
        "features worth gaming",
        "burden on those with yes",
        "recourse of the others",
        f"page: {page}",
    ):
        assert part in printed
    assert "Audit of model.json" in page.read_text(encoding="utf-8")
    assert main(["audit", str(model), str(people), "--report", str(page)]) == 1
    assert "is there already" in capsys.readouterr().err


def test_options_are_read_as_fit_reads_them(model, people, tmp_path, capsys) -> None:
    """The favourable value but for capitals, a column named twice, --rest of three values."""
    plain = run(capsys, model, people)
    assert run(capsys, model, people, "--favourable", "YES", "--movable", "savings,savings")
    table = pd.read_csv(people)
    late = table.index[table["repaid"] == "no"][:9]
    table.loc[late, "repaid"] = "late"
    table.to_csv(tmp_path / "t.csv", index=False)
    assert "has late, expected yes or no" in refused(capsys, model, tmp_path / "t.csv")
    found = run(capsys, model, tmp_path / "t.csv", "--rest")
    assert found["quality"] == plain["quality"]
    foreign = tmp_path / "m.skops"
    skops.io.dump(LogisticRegression().fit(table[["age"]], pd.read_csv(people)["repaid"]), foreign)
    meaning = ["--target", "repaid", "--favourable", "yes", "--movable", "age,age"]
    assert run(capsys, foreign, people, *meaning)["movable"] == ["age"]


def test_audit_with_nothing_movable_says_that_nothing_helps(model, people, capsys) -> None:
    assert main(["audit", str(model), str(people), "--movable", ""]) == 0
    printed = capsys.readouterr().out
    ends = [line for line in printed.splitlines() if "% are refused" in line]
    assert [line.split("; ")[1] for line in ends] == ["nothing they can change helps"] * 2


@pytest.mark.parametrize(
    ("given", "there", "gone"),
    [
        (["--movable", ""], ["nothing can be moved, so nobody games it"], ["power", "gaming"]),
        (["--power", "0"], ["where people game it, by their power"], ["gamed with", "costs"]),
    ],
)
def test_audit_where_nobody_games_speaks_of_none(given, there, gone, model, people, capsys) -> None:
    assert main(["audit", str(model), str(people), *given]) == 0
    printed = capsys.readouterr().out
    assert "\nat worst, with data off by a radius" in printed
    assert all(part in printed for part in there)
    assert not any(part in printed for part in gone)


def test_audit_shows_the_model_s_own_radius(model, people, capsys) -> None:
    found = run(capsys, model, people)
    (worst,) = [row["accuracy"] for row in found["shifts"] if row["radius"] == 0.03]
    assert main(["audit", str(model), str(people)]) == 0
    lines = capsys.readouterr().out.splitlines()
    head = next(k for k, line in enumerate(lines) if line.split()[:1] == ["radius"])
    assert lines[head - 1].endswith("data off by a radius (the model's own is 0.03):")
    place = lines[head].split().index("0.03") - 1
    assert lines[head + 1].split()[place] == f"{worst:.3f}"


def test_balanced_draw_does_not_hide_that_the_table_was_learned_from(
    people, tmp_path: Path, capsys
) -> None:
    assert fit(people, tmp_path / "m.json", "--radius", "0.03", "--balanced", "--json") == 0
    fitted = json.loads(capsys.readouterr().out)
    found = run(capsys, tmp_path / "m.json", people)
    assert fitted["rows_trained"] + fitted["rows_tested"] < 400
    assert found["learned_from"] == pytest.approx(fitted["rows_trained"] / 400)


def test_pages_of_fit_and_audit_know_a_table_by_the_same_fingerprint(
    people, tmp_path: Path, capsys
) -> None:
    model, pages = tmp_path / "m.json", [tmp_path / "f.html", tmp_path / "a.html"]
    assert fit(people, model, "--radius", "0.03", "--report", str(pages[0])) == 0
    assert main(["audit", str(model), str(people), "--report", str(pages[1])]) == 0
    digest = sha256(people.read_bytes()).hexdigest()
    for page in pages:
        assert f"<dt>fingerprint of {people}</dt><dd>{digest}</dd>" in page.read_text()
    rows = gp.load_model(model).training["fingerprint"]
    assert f"<dt>fingerprint of the rows</dt><dd>{rows}</dd>" in pages[0].read_text()


def refused(capsys, *arguments: object) -> str:
    assert main(["audit", *map(str, arguments)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err


def test_models_that_are_not_linear_or_not_fitted_are_refused(people, tmp_path, capsys) -> None:
    table = pd.read_csv(people)
    X, y = table[NUMBERS], table["repaid"]
    for fitted, line in (
        (RandomForestClassifier(3).fit(X, y), "an audit opens linear classifiers only"),
        (LogisticRegression(), "was saved before it was fitted"),
        (StandardScaler().fit(X), "holds StandardScaler"),
        (LogisticRegression().fit(X / 1e4, table["home"]), "tells 3 classes apart"),
    ):
        skops.io.dump(fitted, tmp_path / "m.skops")
        assert line in refused(capsys, tmp_path / "m.skops", people, *MEANING)


def test_damaged_file_of_skops_is_told_from_a_foreign_one(people, tmp_path, capsys) -> None:
    model = tmp_path / "m.skops"
    table = pd.read_csv(people)
    skops.io.dump(LogisticRegression().fit(table[["age"]], table["repaid"]), model)
    whole = model.read_bytes()
    at, listed = whole.index(b"schema.json"), whole.rindex(b"schema.json")
    # Cut short, altered in what it says of its types, with a method of packing that is none.
    for damaged in (
        whole[: len(whole) // 2],
        whole[: at + 50] + b"?" + whole[at + 51 :],
        whole[: listed - 36] + b"?" + whole[listed - 35 :],
    ):
        model.write_bytes(damaged)
        assert "is cut short or damaged" in refused(capsys, model, people, *MEANING)
    with zipfile.ZipFile(model, "w") as archive:
        archive.writestr("word/document.xml", "<document/>")
    assert "is no model of gameproof, nor one saved by skops" in refused(capsys, model, people)


class Surprise:
    """What a file from a stranger might hold."""

    def __reduce__(self):
        return print, ("this must never be printed",)


def test_file_that_would_run_something_is_refused_unopened(people, tmp_path, capsys) -> None:
    fitted = LogisticRegression(max_iter=1000).fit(pd.read_csv(people)[NUMBERS], [0, 1] * 200)
    fitted.note = Surprise()
    skops.io.dump(fitted, tmp_path / "m.skops")
    said = refused(capsys, tmp_path / "m.skops", people, *MEANING)
    assert "opens linear classifiers only" in said
    assert "never be printed" not in said


def test_scikit_learn_model_needs_to_be_told_what_the_table_means(people, tmp_path, capsys) -> None:
    table = pd.read_csv(people)
    model = tmp_path / "m.skops"
    skops.io.dump(LogisticRegression().fit(table[["age"]], table["repaid"]), model)
    assert "give --target" in refused(capsys, model, people)
    assert "does not look at" in refused(capsys, model, people, *MEANING)
    skops.io.dump(LogisticRegression().fit(table[["age"]], [3, 4] * 200), model)
    meaning = ["--target", "repaid", "--favourable", "yes", "--movable", "age"]
    assert "the classes of the model are 3 and 4" in refused(capsys, model, people, *meaning)


def test_model_without_names_takes_the_numbers_in_the_order_of_the_table(
    people, tmp_path, capsys
) -> None:
    table = pd.read_csv(people)[[*NUMBERS, "repaid"]]
    table.loc[3, "savings"] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    kept = table.dropna()
    fitted = make_pipeline(StandardScaler(), LogisticRegression())
    fitted.fit(kept[NUMBERS].to_numpy(), (kept["repaid"] == "yes").astype(int))
    skops.io.dump(fitted, tmp_path / "m.skops")
    meaning = ["--target", "repaid", "--favourable", "yes", "--movable", "savings"]
    said = refused(capsys, tmp_path / "m.skops", tmp_path / "t.csv", *meaning)
    assert "the classes of the model are 0 and 1" in said
    table.assign(repaid=(table["repaid"] == "yes").astype(int)).to_csv(
        tmp_path / "t.csv", index=False
    )
    meaning[3] = "1"
    found = run(capsys, tmp_path / "m.skops", tmp_path / "t.csv", *meaning)
    labels = (kept["repaid"] == "yes").astype(int)
    score = fitted.score(kept[NUMBERS].to_numpy(), labels)
    assert found["quality"][0]["accuracy"] == pytest.approx(score)
    assert any("age, savings, utilisation, late_payments" in note for note in found["notes"])
    assert any("left out 1 rows with missing values" in note for note in found["notes"])
    said = refused(capsys, tmp_path / "m.skops", people, *MEANING)
    assert "takes 4 columns and names none" in said or "classes of the model" in said


@pytest.mark.parametrize(("whole", "left"), [(0, "400 of 400"), (4, "396 of 400")])
def test_rows_that_all_have_gaps_are_told_as_such(whole, left, people, tmp_path, capsys) -> None:
    table = pd.read_csv(people)
    model, short = tmp_path / "m.skops", tmp_path / "t.csv"
    skops.io.dump(LogisticRegression(max_iter=1000).fit(table[NUMBERS], table["repaid"]), model)
    table["savings"] = table["savings"].where(table.index < whole)
    table.to_csv(short, index=False)
    said = refused(capsys, model, short, *MEANING)
    assert f"{left} rows are left out for missing values (savings {400 - whole})" in said


def test_page_tells_moves_in_the_units_of_the_table(model, people, tmp_path, capsys) -> None:
    """By what the model decides: at the median of the column, the step told is the score that the
    refused person of median score lacks."""
    page = tmp_path / "page.html"
    assert main(["audit", str(model), str(people), "--report", str(page), "--quiet"]) == 0
    terminal, shown = capsys.readouterr().out, html.unescape(page.read_text(encoding="utf-8"))
    moves = re.findall(r"from the median (\S+) to ([-\d,.e+]*\d)", terminal)
    assert len(moves) == 2
    for start, end in moves:
        assert f"from the median {start} to {end}" in shown
    assert ">one scale<" not in shown
    fitted, table = gp.load_model(model), pd.read_csv(people)
    scores = fitted.decision_function(people)
    short = -float(np.median(scores[scores <= 0]))
    name = re.search(r"weakest spot</dt><dd[^>]*>(\w+)", shown)[1]
    start, end = (float(text.replace(",", "")) for text in moves[0])
    assert start == pytest.approx(table[name].median(), rel=0.05)  # of the rows learned from
    assert name == re.search(r"([\w ]+?) +\d+% .*from the median", terminal)[1].strip()
    table[name] = start
    table[:1].to_csv(tmp_path / "one.csv", index=False)
    before = fitted.decision_function(tmp_path / "one.csv")
    table[name] = end
    table[:1].to_csv(tmp_path / "one.csv", index=False)
    gained = float((fitted.decision_function(tmp_path / "one.csv") - before)[0])
    assert gained == pytest.approx(short, rel=0.05)


def test_moves_out_of_the_range_of_the_table_are_called_so(model, people) -> None:
    """The median of what was seen is in it, a step of 100 deviations is not."""
    fitted = gp.load_model(model)
    Z = fitted.prepared(open_table(people))[0]
    told = steps_in_table(fitted.prepare, Z)
    assert "beyond" not in told("utilisation", 0.0)
    assert told("utilisation", -100.0).endswith(", beyond what was seen")
    assert told("utilisation", 100.0).endswith(", beyond what was seen")
    lowest = float(pd.read_csv(people)["savings"].min())
    steps = np.linspace(-6, 0, 200)
    for line in (told("savings", step) for step in steps):
        reached = float(re.search(r"to ([-\d,.e+]+?)(?:$|, beyond)", line)[1].replace(",", ""))
        if abs(reached - lowest) > 0.01 * abs(lowest) + 1:
            assert ("beyond" in line) == (reached < lowest)


def test_mark_of_gaps_is_told_as_given_or_missing(people, tmp_path, capsys) -> None:
    """Also where the table has a column of the mark's name."""
    table, model = tmp_path / "t.csv", str(tmp_path / "m.json")
    frame = pd.read_csv(people)
    frame.assign(**{"income missing": frame["age"]}).to_csv(table, index=False)
    assert fit(table, Path(model), "--movable", "income", "--radius", "0.03", "--quiet") == 0
    capsys.readouterr()
    assert main(["audit", model, str(table), "--quiet"]) == 0
    said = capsys.readouterr().out
    (line,) = [line for line in said.splitlines() if "income missing (2) " in line]
    assert re.search(r"\d   (farther than )?from (missing to given|given to missing)$", line)
    fitted = gp.load_model(model)
    told = steps_in_table(fitted.prepare, fitted.prepared(open_table(table)).Z)
    assert told("income missing (2)", -0.5) == "from missing to given"
    assert told("income missing (2)", 1.5) == "farther than from given to missing"


@pytest.mark.filterwarnings("error")
def test_model_that_ignores_the_data_is_audited_and_called_so(people, tmp_path, capsys) -> None:
    path, page = tmp_path / "idle.json", tmp_path / "page.html"
    assert fit(people, path, "--radius", "5", "--quiet") == 0
    capsys.readouterr()
    assert main(["audit", str(path), str(people), "--report", str(page), "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "note: this model ignores the data: it decides all alike" in said
    right, alike = re.search(r"right in (\S+) of .*deciding all alike: (\S+)", said).groups()
    assert right == alike
    shown = page.read_text(encoding="utf-8")
    assert "idle.json ignores the data: it decides all alike." in shown
    assert "gaming gains nothing: the model gives no weight to what can be moved" in said
    assert "weakest spot" not in shown
    assert "burden on those with yes: 0.0% are refused\n" in said


def test_page_uses_the_words_of_the_table_and_the_radius_of_the_model(
    model, people, tmp_path, capsys
) -> None:
    page = tmp_path / "page.html"
    assert main(["audit", str(model), str(people), "--report", str(page), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    shown = page.read_text(encoding="utf-8").replace("<wbr>", "")
    assert "label +1" not in shown
    assert "label −1" not in shown
    assert "accepted of repaid = yes" in shown
    assert "accepted of repaid = no" in shown
    assert found["radius"] == 0.03  # as fitted
    (worst,) = [row["accuracy"] for row in found["shifts"] if row["radius"] == 0.03]
    tile = re.search(r"right at worst, the model&#x27;s radius 0.03</dt><dd[^>]*>([\d.]+)", shown)
    assert float(tile[1]) == pytest.approx(100 * worst, abs=0.051)


def test_page_on_a_model_of_unknown_radius_says_which_one_it_shows(people, tmp_path) -> None:
    fitted, page = LogisticRegression(max_iter=1000), tmp_path / "page.html"
    table = pd.read_csv(people)
    fitted.fit(table[NUMBERS] / 1000, table["repaid"])
    skops.io.dump(fitted, tmp_path / "m.skops")
    assert (
        main(["audit", *map(str, (tmp_path / "m.skops", people, *MEANING, "--report", page))]) == 0
    )
    assert "right at worst, radius 0.1<" in page.read_text(encoding="utf-8")
