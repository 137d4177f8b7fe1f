"""``gameproof compare``: three classifiers on the same rows."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gameproof as gp
from command import MEANING
from gameproof.cli.main import main


def compare(people: Path, *options: str) -> int:
    return main(["compare", str(people), *MEANING, "--radius", "0.05", *options])


def test_table_of_accuracies_and_where_robust_is_ahead(people, tmp_path, capsys) -> None:
    page = tmp_path / "c.html"
    assert compare(people, "--report", str(page)) == 0
    printed = capsys.readouterr().out
    assert "accuracy on the test rows, by the power of those who game" in printed
    assert "robust against logistic, beyond doubt (95%): ahead at" in printed
    assert page.stat().st_size > 20_000


@pytest.mark.parametrize("splits", ["1", "2"])
def test_accuracies_stand_above_the_intervals_of_the_rows(splits: str, people, capsys) -> None:
    assert compare(people, "--splits", splits, "--power", "0.3", "--quiet") == 0
    lines = capsys.readouterr().out.splitlines()
    assert compare(people, "--splits", splits, "--power", "0.3", "--quiet", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["audit"]["gaming"]
    powers = ["0", "0.05", "0.1", "0.2", "0.3", "0.5", "1"]
    head = next(k for k, line in enumerate(lines) if line.split() == powers)
    assert lines[head - 1].endswith("each above its 95% interval")
    for k, name in enumerate(("logistic", "strategic", "robust")):
        found = [r for r in rows if r["model"] == name and f"{r['power']:g}" in powers]
        shares, ends = lines[head + 1 + 2 * k], lines[head + 2 + 2 * k]
        assert shares.split() == [name, *(f"{row['accuracy']:.3f}" for row in found)]
        assert ends.split() == [f"{row['low']:.3f}-{row['high']:.3f}" for row in found]
        assert len(shares) == len(ends) == len(lines[head])


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


def test_few_test_rows_are_told(people, tmp_path, capsys) -> None:
    few = tmp_path / "few.csv"
    few.write_text("".join(people.read_text().splitlines(keepends=True)[:101]))
    assert compare(few) == 0
    assert "note: 20 rows to judge by are few" in capsys.readouterr().out


def test_few_splits_are_told_by_the_intervals_that_are_shown(people, tmp_path, capsys) -> None:
    page = tmp_path / "c.html"
    assert compare(people, "--splits", "2", "--report", str(page)) == 0
    printed = capsys.readouterr().out
    ends = [float(end) for end in re.findall(r"\b\d\.\d{3}(?=-)|(?<=-)\d\.\d{3}", printed)]
    widest = max(high - low for low, high in zip(ends[::2], ends[1::2], strict=True))
    (told,) = re.findall(r"note: 2 splits of 80 rows .* up to (\d+) points wide", printed)
    assert int(told) >= round(100 * widest)
    shown = page.read_text(encoding="utf-8")
    assert shown.index(f"up to {told} points wide") < shown.index("How good is the model?")
    assert "80 rows to judge by are few: intervals of accuracies on so many" not in shown


def test_record_keeps_the_table_s_words_apart_from_the_audit_s(people, tmp_path, capsys) -> None:
    """A column with a gap has a mark of its own, which the audit calls movable and no table has."""
    gaps = tmp_path / "gaps.csv"
    frame = pd.read_csv(people)
    frame.loc[:40, "savings"] = None
    frame.to_csv(gaps, index=False)
    assert compare(gaps, "--json", "--quiet") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["movable"] == ["savings", "utilisation"]
    assert found["audit"]["movable"] == ["savings", "savings missing", "utilisation"]
    assert found["audit"]["outcomes"] == ["repaid = yes", "repaid = no"]
    data = gp.read_table(gaps, "repaid", "yes", ["savings", "utilisation"])
    assert found["fingerprint"] == data.fingerprint


def test_radius_is_chosen_once_for_all_splits(people, capsys) -> None:
    arguments = ["compare", str(people), *MEANING, "--splits", "2", "--json", "--quiet"]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert "standard error" in found["why_this_radius"]
    assert found["radius"] in [row["radius"] for row in found["audit"]["shifts"]]


def test_powers_are_not_told_where_nothing_can_be_moved(people, tmp_path, capsys) -> None:
    page = tmp_path / "c.html"
    meaning = [*MEANING[:-1], ""]
    arguments = ["compare", str(people), *meaning, "--radius", "0.05", "--report", str(page)]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    head = next(k for k, line in enumerate(lines) if "each above its 95% interval" in line)
    assert lines[head + 1].split() == ["0"]
    shown = page.read_text(encoding="utf-8")
    assert "gaming power" not in shown.partition("How was this made?</h2>")[0]
