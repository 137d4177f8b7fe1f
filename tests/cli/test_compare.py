"""``gameproof compare``: three classifiers on the same rows."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gameproof as gp
from command import MEANING
from gameproof.cli.main import main
from gameproof.tables.fit_notes import FitNotes


def compare(people: Path, *options: str) -> int:
    return main(["compare", str(people), *MEANING, "--radius", "0.05", *options])


def test_table_by_budgets_and_where_robust_is_ahead(people, tmp_path, capsys) -> None:
    page = tmp_path / "c.html"
    assert compare(people, "--report", str(page)) == 0
    printed = capsys.readouterr().out
    assert "bad applicants use their budgets, times" in printed
    said = "robust against logistic, those who should be refused move: accuracy significantly (95%)"
    assert said in printed
    assert page.stat().st_size > 20_000


@pytest.mark.parametrize("splits", ["1", "2"])
def test_accuracies_stand_above_the_intervals_of_the_rows(splits: str, people, capsys) -> None:
    assert compare(people, "--splits", splits, "--quiet", "--full") == 0
    lines = capsys.readouterr().out.splitlines()
    assert compare(people, "--splits", splits, "--quiet", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["audit"]["gaming"]
    head = next(k for k, line in enumerate(lines) if "times the budgets  " in line)
    assert lines[head].split()[3:] == ["0", "0.5", "1", "2", "4"]
    at = head + 1
    for movers in ("bad", "refused"):
        for name in ("logistic", "strategic", "robust"):
            found = [r for r in rows if (r["model"], r["movers"]) == (name, movers)]
            shares, ends = lines[at + 1], lines[at + 2]
            assert shares.split() == [name, "accuracy", *(f"{r['accuracy']:.3f}" for r in found)]
            assert ends.split()[2:] == [f"{row['low']:.3f}-{row['high']:.3f}" for row in found]
            assert len(shares) == len(ends) == len(lines[head])
            at += 5
        at += 1


def test_a_warning_of_several_splits_is_one_note() -> None:
    splits = [FitNotes(), FitNotes()]
    for notes, name, text in (
        (splits[0], "logistic", "steep"),
        (splits[1], "robust", "flat"),
        (splits[1], "logistic", "steep"),
        (splits[1], "strategic", "steep"),
    ):
        with notes.collected(name):
            warnings.warn(text, UserWarning, stacklevel=1)
    assert splits[1].sentences() == ("robust: flat", "logistic and strategic: steep")
    joined = FitNotes.joined(splits)
    assert joined.sentences() == ("logistic and strategic: steep", "robust: flat")


def test_settings_name_their_split_where_there_are_several(people, capsys) -> None:
    """Tables show means over splits, which may differ from the thresholds of the first split."""
    for splits in (1, 3):
        assert compare(people, "--splits", str(splits), "--quiet") == 0
        printed = capsys.readouterr().out
        several = splits > 1
        assert ("\ntrained on 320 rows, tested on 80, in each of 3 splits\n" in printed) == several
        assert ("\nthresholds of the first split, their own: " in printed) == several
        assert ("\nthresholds, their own: " in printed) != several


def test_where_robust_is_ahead_is_what_the_differences_say(people, capsys) -> None:
    assert compare(people, "--quiet", "--full") == 0
    lines = capsys.readouterr().out.splitlines()
    assert compare(people, "--quiet", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["audit"]["differences"]
    told = [line for line in lines if "significantly" in line]
    assert len(told) == 4
    for line in told:
        against = line.split()[2].rstrip(",")
        movers = "bad" if "should be refused" in line else "refused"
        key = ("robust", against, movers)
        own = [r for r in rows if (r["model"], r["against"], r["movers"]) == key]
        for word, chosen in (
            ("ahead", [f"{r['multiple']:g}" for r in own if r["low"] > 0]),
            ("behind", [f"{r['multiple']:g}" for r in own if r["high"] < 0]),
        ):
            at = re.search(rf"{word} at (none|[\d., ]*\d)", line)[1]
            assert at == (", ".join(chosen) or "none")


def test_one_split_is_the_split_of_fit(people, tmp_path, capsys) -> None:
    assert compare(people, "--json", "--quiet", "--seed", "3") == 0
    compared = json.loads(capsys.readouterr().out)
    arguments = ["fit", str(people), *MEANING, "--radius", "0.05", "--seed", "3"]
    assert main([*arguments, "-o", str(tmp_path / "m.json"), "--json", "--quiet"]) == 0
    fitted = json.loads(capsys.readouterr().out)
    for row in compared["audit"]["quality"]:
        assert row["accuracy"] == pytest.approx(fitted["accuracy"][row["model"]]["clean"])


def test_splits_are_averaged(people, capsys) -> None:
    found = []
    for options in (["--seed", "0"], ["--seed", "1"], ["--splits", "2"]):
        assert compare(people, "--json", "--quiet", *options) == 0
        found.append(json.loads(capsys.readouterr().out)["audit"])
    one, two, mean = ([row["accuracy"] for row in record["quality"]] for record in found)
    np.testing.assert_allclose(np.add(one, two) / 2, mean)
    assert found[2]["splits"] == 2


def test_few_test_rows_are_reported(people, tmp_path, capsys) -> None:
    few = tmp_path / "few.csv"
    few.write_text("".join(people.read_text().splitlines(keepends=True)[:101]))
    assert compare(few) == 0
    assert "note: there are only 20 test rows" in capsys.readouterr().out


def test_few_splits_are_reported_by_the_width_of_their_intervals(people, tmp_path, capsys) -> None:
    page = tmp_path / "c.html"
    assert compare(people, "--splits", "2", "--report", str(page), "--full") == 0
    printed = capsys.readouterr().out
    rows = [line for line in printed.splitlines() if "95% interval  " in line]
    ends = re.findall(r"(\d\.\d{3})-(\d\.\d{3})", "\n".join(rows))
    assert len(ends) == 3 * 2 * 5
    widest = max(float(high) - float(low) for low, high in ends)
    (told,) = re.findall(
        r"note: there are only 2 splits of 80 test rows.* up to (\d+) points wide",
        " ".join(printed.split()),
    )
    assert int(told) >= round(100 * widest)
    shown = page.read_text(encoding="utf-8")
    assert shown.index(f"up to {told} points wide") < shown.index("How good is the model?")
    assert "there are only 80 test rows: intervals of accuracies" not in shown


def test_record_keeps_the_table_apart_from_what_models_see(people, tmp_path, capsys) -> None:
    """A column with missing values gets a flag, which is not a column of the table."""
    gaps = tmp_path / "gaps.csv"
    frame = pd.read_csv(people)
    frame.loc[:40, "savings"] = None
    frame.to_csv(gaps, index=False)
    assert compare(gaps, "--json", "--quiet") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["movable"] == ["savings", "utilisation"]
    assert found["audit"]["movable"] == ["savings", "utilisation"]
    named = [row["feature"] for row in found["audit"]["depends_on_scale"]["coefficients"]]
    assert "savings missing" in named
    assert found["audit"]["outcomes"] == ["repaid = yes", "repaid = no"]
    data = gp.read_table(gaps, "repaid", "yes", ["savings", "utilisation"])
    assert found["fingerprint"] == data.fingerprint


def test_radius_is_chosen_once_for_all_splits(people, capsys) -> None:
    arguments = ["compare", str(people), *MEANING, "--splits", "2", "--json", "--quiet"]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert "standard error" in found["why_this_radius"]
    assert found["radius"] in [row["radius"] for row in found["audit"]["shifts"]]


def test_gaming_is_not_shown_where_nothing_can_be_changed(people, tmp_path, capsys) -> None:
    page = tmp_path / "c.html"
    meaning = [*MEANING[:-1], ""]
    arguments = ["compare", str(people), *meaning, "--radius", "0.05", "--report", str(page)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "  movable: nothing\n" in printed
    (line,) = [line for line in printed.splitlines() if re.match("  robust +accuracy", line)]
    assert len(line.split()) == 3
    shown = page.read_text(encoding="utf-8")
    assert "gaming power" not in shown.partition("How was this made?</h2>")[0]
