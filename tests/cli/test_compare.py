"""``gameproof compare``: three classifiers on the same rows."""

import json
from pathlib import Path

import numpy as np
import pytest

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
    rows = json.loads(capsys.readouterr().out)["gaming"]
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
    for row in compared["quality"]:
        assert row["accuracy"] == pytest.approx(fitted["accuracy"][row["model"]]["clean"])


def test_splits_are_averaged(people, capsys) -> None:
    found = []
    for options in (["--seed", "0"], ["--seed", "1"], ["--splits", "2"]):
        assert compare(people, "--json", "--quiet", *options) == 0
        found.append(json.loads(capsys.readouterr().out))
    one, two, mean = ([row["accuracy"] for row in record["quality"]] for record in found)
    np.testing.assert_allclose(np.add(one, two) / 2, mean)
    assert found[2]["splits"] == 2


def test_few_test_rows_are_told(people, tmp_path, capsys) -> None:
    few = tmp_path / "few.csv"
    few.write_text("".join(people.read_text().splitlines(keepends=True)[:101]))
    assert compare(few) == 0
    assert "note: 20 rows to judge by are few" in capsys.readouterr().out
