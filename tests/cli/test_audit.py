"""``gameproof audit``: what it finds, and how it says so."""

import html
import json
import re
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
from gameproof.cli.cases import steps_in_table
from gameproof.cli.main import main
from gameproof.data.reading import open_table


def test_model_of_ours_knows_what_its_table_means(model, people, capsys) -> None:
    found = audit(capsys, model, people)
    labels = pd.read_csv(people)["repaid"].to_numpy()
    accuracy = float(np.mean(gp.load_model(model).predict(people) == labels))
    assert found["quality"][0]["accuracy"] == pytest.approx(accuracy)
    assert found["movable"] == ["savings", "utilisation"]
    assert found["power"] == 0.05
    assert {row["label"] for row in found["hurt"]} == {1, -1}
    other = audit(capsys, model, people, "--movable", "income", "--power", "0.5")
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
        found = audit(capsys, *arguments)
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
    found = audit(capsys, model, people)
    assert found["learned_from"] == pytest.approx(0.8)
    assert any("learned from about 80% of these rows" in note for note in found["notes"])
    assert main(["audit", str(model), str(people), "--report", str(page)]) == 0
    assert "optimistic" in capsys.readouterr().out
    shown = page.read_text()
    assert shown.index("Note: the model learned from") < shown.index("How good is the model?")
    others = tmp_path / "t.csv"
    pd.read_csv(people).tail(100).to_csv(others, index=False)
    assert audit(capsys, model, others)["learned_from"] is None
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
    assert not any("are few" in note for note in audit(capsys, model, people)["notes"])


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
    found = audit(capsys, model, people)
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
    found = audit(capsys, tmp_path / "m.json", people)
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
