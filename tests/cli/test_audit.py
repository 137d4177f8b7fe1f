"""``gameproof audit``: its findings, and how it prints them."""

import html
import json
import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import (
    LogisticRegression,
)

import gameproof as gp
from command import MEANING, NUMBERS, audit, audit_refused, fit
from gameproof.cli.main import main


def test_model_of_gameproof_knows_the_meaning_of_its_table(model, people, capsys) -> None:
    found = audit(capsys, model, people)
    labels = pd.read_csv(people)["repaid"].to_numpy()
    accuracy = float(np.mean(gp.load_model(model).predict(people) == labels))
    assert found["quality"][0]["accuracy"] == pytest.approx(accuracy)
    assert found["movable"] == ["savings", "utilisation"]
    assert found["depends_on_scale"]["power"] == 0.05
    assert {row["label"] for row in found["hurt"]} == {1, -1}
    other = audit(capsys, model, people, "--movable", "income", "--power", "0.5")
    assert other["movable"] == ["income"]
    assert other["depends_on_scale"]["power"] == 0.5


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
        ([tmp_path / "m.json", people], 0.2, "as when it was fitted"),
        ([tmp_path / "m.json", people, "--power", "0.05"], 0.05, "as given"),
        # Fitted without movable columns, hence for no power.
        ([still[1], people, "--movable", "age"], 0.05, "the default of gameproof fit"),
    ):
        found = audit(capsys, *arguments)["depends_on_scale"]
        assert (found["power"], found["why_power"]) == (power, why)
        page = tmp_path / "p.html"
        assert (
            main(["audit", *map(str, arguments), "--report", str(page), "--force", "--full"]) == 0
        )
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
    free = "label cost: 0, as given; favourable labels flip for free, at radius 0 too"
    assert free in capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    told = " ".join(capsys.readouterr().out.partition("--label-cost K ")[2].split())
    assert "(by default what the model was fitted for, or else 0.5)" in told


def test_audit_on_training_rows_says_so(model, people, tmp_path: Path, capsys) -> None:
    page = tmp_path / "p.html"
    found = audit(capsys, model, people)
    assert found["learned_from"] == pytest.approx(0.8)
    assert any("trained on about 80% of these rows" in note for note in found["notes"])
    assert main(["audit", str(model), str(people), "--report", str(page)]) == 0
    assert "optimistic" in capsys.readouterr().out
    shown = page.read_text()
    assert shown.index("Note: the model was trained on") < shown.index("How good is the model?")
    others = tmp_path / "t.csv"
    pd.read_csv(people).tail(100).to_csv(others, index=False)
    assert audit(capsys, model, others)["learned_from"] is None
    assert main(["audit", str(model), str(others), "--report", str(page), "--force"]) == 0
    assert "optimistic" not in capsys.readouterr().out
    assert "the model was trained on" not in page.read_text()


def test_audit_of_few_rows_says_so_in_the_terminal_and_on_the_page(
    model, people, tmp_path: Path, capsys
) -> None:
    few, page = tmp_path / "few.csv", tmp_path / "p.html"
    frame = pd.read_csv(people)
    frame.groupby("repaid").head(5).to_csv(few, index=False)
    assert main(["audit", str(model), str(few), "--report", str(page)]) == 0
    said = "there are only 10 test rows: intervals of accuracies are up to 53 points wide"
    assert f"note: {said}" in capsys.readouterr().out
    shown = page.read_text()
    assert shown.count(said) == 1
    assert shown.count("income: 2 missing, replaced by the median and marked") == 1
    assert shown.index("income: 2 missing") < shown.index("How good is the model?")
    assert not any("are few" in note for note in audit(capsys, model, people)["notes"])


def test_audit_reads_well_and_writes_a_page(model, people, tmp_path: Path, capsys) -> None:
    page = tmp_path / "audit.html"
    assert main(["audit", str(model), str(people), "--report", str(page)]) == 0
    printed = capsys.readouterr().out
    for part in (
        "fitted by gameproof",
        "\nmovable, which the model was fitted for:\n  savings: -",
        "quality on 400 rows, with 95% intervals",
        "(repaid = yes): 0.",
        "majority baseline of accuracy: 0.",
        "bad applicants use their budgets, times",
        "everyone who is refused uses them",
        "worst-case accuracy by radius",
        "weak spots, the budget of each column alone",
        "good applicants (yes) refused: ",
        "bad applicants refused: ",
        f"page: {page}",
    ):
        assert part in printed
    assert "Audit of model.json" in page.read_text(encoding="utf-8")
    assert main(["audit", str(model), str(people), "--report", str(page)]) == 1
    assert "already exists" in capsys.readouterr().err


def test_options_are_read_as_fit_reads_them(model, people, tmp_path, capsys) -> None:
    """The favourable value in other capitals, a column named twice, --rest with three values."""
    plain = audit(capsys, model, people)
    assert audit(capsys, model, people, "--favourable", "YES", "--movable", "savings,savings")
    table = pd.read_csv(people)
    late = table.index[table["repaid"] == "no"][:9]
    table.loc[late, "repaid"] = "late"
    table.to_csv(tmp_path / "t.csv", index=False)
    assert "has late, expected yes or no" in audit_refused(capsys, model, tmp_path / "t.csv")
    found = audit(capsys, model, tmp_path / "t.csv", "--rest")
    assert found["quality"] == plain["quality"]
    foreign = tmp_path / "m.skops"
    skops.io.dump(LogisticRegression().fit(table[["age"]], pd.read_csv(people)["repaid"]), foreign)
    meaning = ["--target", "repaid", "--favourable", "yes", "--movable", "age,age"]
    assert audit(capsys, foreign, people, *meaning)["movable"] == ["age"]


def test_audit_where_nothing_can_be_changed_speaks_of_no_gaming(model, people, capsys) -> None:
    assert main(["audit", str(model), str(people), "--movable", ""]) == 0
    printed = capsys.readouterr().out
    assert "nothing can be changed, so nobody games it" in printed
    assert "\nworst-case accuracy by radius (the model's own is 0.03):\n" in printed
    assert not any(part in printed for part in ("power", "their budgets", "weak spots"))
    refused = [line for line in printed.splitlines() if " refused: " in line]
    assert [line[-1] for line in refused] == ["%", "%"]


def test_table_of_the_terminal_holds_the_numbers_of_the_rows(model, people, capsys) -> None:
    costs = ["--cost-accept-bad", "5", "--cost-refuse-good", "2"]
    found = audit(capsys, model, people, *costs)
    assert main(["audit", str(model), str(people), *costs, "--full"]) == 0
    lines = capsys.readouterr().out.splitlines()
    head = next(k for k, line in enumerate(lines) if line.strip().startswith("times the budgets"))
    assert lines[head].split()[3:] == ["0", "0.5", "1", "2", "4"]
    for k, (movers, title) in enumerate(
        {
            "bad": "those who should be refused move",
            "refused": "everyone who is refused moves",
        }.items()
    ):
        block = lines[head + 1 + 6 * k : head + 7 + 6 * k]
        rows = [row for row in found["gaming"] if row["movers"] == movers]
        assert block[0].strip() == title
        assert block[1].split() == [
            "model.json",
            "accuracy",
            *(f"{r['accuracy']:.3f}" for r in rows),
        ]
        assert block[2].split()[2:] == [f"{r['low']:.3f}-{r['high']:.3f}" for r in rows]
        for line, what in zip(
            block[3:], ("accepted_positive", "accepted_negative", "cost"), strict=True
        ):
            assert line.split()[-5:] == [f"{row[what]:.3f}" for row in rows]
        assert len({len(line) for line in [lines[head], *block[1:]]}) == 1


def test_multiplied_model_is_audited_the_same_but_for_the_secondary_lines(
    model, people, tmp_path: Path, capsys
) -> None:
    """A model file whose coefficients and intercept are a quarter decides the same."""
    quarter = gp.load_model(model)
    quarter.classifier.coef_ = quarter.classifier.coef_ / 4
    quarter.classifier.intercept_ = quarter.classifier.intercept_ / 4
    slope = quarter.calibration.slope  # the probabilities stay the same
    quarter = replace(quarter, calibration=quarter.calibration._replace(slope=4 * slope))
    (tmp_path / "q").mkdir()
    quarter.save(tmp_path / "q" / model.name)
    printed = []
    for path in (model, tmp_path / "q" / model.name):
        assert main(["audit", str(path), str(people), "--full"]) == 0
        lines = capsys.readouterr().out.splitlines()
        printed.append([line for line in lines if not line.startswith(str(path))])
    first, last = ([line.startswith("secondary: ") for line in p].index(True) for p in printed)
    assert printed[0][:first] == printed[1][:last]
    assert printed[0][first:] != printed[1][last:]


def test_audit_shows_the_model_s_own_radius(model, people, capsys) -> None:
    found = audit(capsys, model, people)
    (worst,) = [row["accuracy"] for row in found["shifts"] if row["radius"] == 0.03]
    assert main(["audit", str(model), str(people)]) == 0
    lines = capsys.readouterr().out.splitlines()
    head = next(k for k, line in enumerate(lines) if line.split()[:1] == ["radius"])
    said = (
        "worst-case accuracy by radius (the model's own is 0.03) after people used their budgets:"
    )
    assert lines[head - 1] == said
    place = lines[head].split().index("0.03") - 1
    assert lines[head + 1].split()[place] == f"{worst:.3f}"


def test_training_rows_of_a_weighted_fit_are_recognised_by_the_audit(
    people, tmp_path: Path, capsys
) -> None:
    assert fit(people, tmp_path / "m.json", "--radius", "0.03", "--balanced", "--json") == 0
    fitted = json.loads(capsys.readouterr().out)
    found = audit(capsys, tmp_path / "m.json", people)
    assert fitted["rows_trained"] + fitted["rows_tested"] == 400
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


def test_weak_spots_are_columns_of_the_table_with_their_budgets(
    model, people, tmp_path, capsys
) -> None:
    """By what the model decides: those who should be refused, with less utilisation in the table,
    and what the terminal and the page say about them."""
    page, budget = tmp_path / "page.html", "utilisation:-0.15..0"
    arguments = ["audit", str(model), str(people), "--movable", budget, "--report", str(page)]
    assert main([*arguments, "--quiet"]) == 0
    terminal, shown = capsys.readouterr().out, html.unescape(page.read_text(encoding="utf-8"))
    frame = pd.read_csv(people)
    bad = frame["repaid"] == "no"
    before = np.mean(gp.load_model(model).predict(people)[bad] == "yes")
    frame.loc[bad, "utilisation"] -= 0.15
    frame.to_csv(tmp_path / "moved.csv", index=False)
    after = np.mean(gp.load_model(model).predict(tmp_path / "moved.csv")[bad] == "yes")
    assert after > before
    line = next(line for line in terminal.splitlines() if line.startswith("  utilisation "))
    assert line.split()[1] == "100%"
    assert line.endswith(f"from {before:.3f} to {after:.3f}")
    assert "utilisation is the weak spot of model.json: 100.0\u00a0% of what gaming gains" in shown
    assert "use its budget alone (-0.15 to 0), accuracy falls by " in shown


@pytest.mark.filterwarnings("error")
def test_model_that_ignores_the_data_is_audited_and_called_so(people, tmp_path, capsys) -> None:
    path, page = tmp_path / "idle.json", tmp_path / "page.html"
    assert fit(people, path, "--radius", "5", "--quiet") == 0
    capsys.readouterr()
    assert main(["audit", str(path), str(people), "--report", str(page), "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "note: this model ignores the data: it makes the same decision about everyone" in said
    right, auc = (re.search(rf"  {name} +(\S+)", said)[1] for name in ("accuracy", "AUC"))
    assert (right, auc) == (re.search(r"majority baseline of accuracy: ([\d.]+)", said)[1], "0.500")
    shown = page.read_text(encoding="utf-8")
    assert "idle.json ignores the data: it makes the same decision about everyone." in shown
    assert "gaming gains nothing: no change within the budgets raises a score" in said
    assert "weakest spot" not in shown
    assert "good applicants (yes) refused: 0.0%\n" in said


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
