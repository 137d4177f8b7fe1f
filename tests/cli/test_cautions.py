"""Notes of `fit` on gaming that the budgets do not cover, and on columns that look wrong."""

from pathlib import Path

import numpy as np
import pytest

from gameproof.cli.main import main
from gameproof.tables.made_up_people import made_up_people
from gameproof.tables.meaning import Meaning
from gameproof.tables.table import as_table
from gameproof.tables.training_table import copies_of, training_table


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Income with missing values, the same in another unit, and an unrelated column."""
    rng, lines = np.random.default_rng(0), ["income,yearly,other,out"]
    for i in range(120):
        income, other = rng.lognormal(7, 1), rng.normal()
        out = "yes" if np.log(income) - 7 + other > 0 else "no"
        shown = "" if i % 10 == 0 else f"{income:.2f}"
        lines.append(f"{shown},{12 * income + 5:.2f},{other:.4f},{out}")
    file = tmp_path / "table.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def told(table: Path, movable: str, tmp_path: Path, capsys) -> list[str]:
    model = str(tmp_path / "model.json")
    options = ["--target", "out", "--favourable", "yes", "--movable", movable, "--radius", "0.01"]
    assert main(["fit", str(table), *options, "-o", model, "--force"]) == 0
    return [line.strip() for line in capsys.readouterr().out.splitlines() if "  note: " in line]


def test_copies_of_a_movable_column_and_missing_cells_are_noted(table, tmp_path, capsys) -> None:
    missing = "note: 12 rows have no income; these people are assumed unable to change it"
    copied = (
        "note: yearly ranks people as income does, which they can change; give both a budget "
        "(--movable), or drop one (--drop)"
    )
    assert told(table, "income:0..500", tmp_path, capsys) == [missing, copied]
    assert told(table, "income:0..500,yearly:0..6000", tmp_path, capsys) == [missing]
    assert told(table, "other:0..1", tmp_path, capsys) == []


def test_a_copy_has_the_same_order_or_the_reverse() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=500)
    X = np.column_stack([x, np.exp(x), -x, x + rng.normal(size=500), np.ones(500)])
    assert copies_of(X, 0) == [1, 2]
    X[:497, 1] = np.nan  # three rows left: too few to compare their order
    X[497:, 1] = 1.0
    assert copies_of(X, 0) == [2]


def paid_back(**more: list) -> dict[str, list]:
    """People, of whom 60 repaid and 40 did not, with more columns."""
    return {"x": [k % 7 for k in range(100)], "repaid": ["yes"] * 60 + ["no"] * 40, **more}


@pytest.mark.parametrize(
    ("cells", "leak"),
    [
        (["a"] * 60 + ["b"] * 40, True),  # a copy of the outcome
        (["a", "b"] * 30 + ["c", "d"] * 20, True),
        ([5.0] * 60 + [0.0, 1.0] * 20, True),
        ([None] * 60 + list(range(40)), True),  # filled in for one outcome only
        ([5.0] * 58 + [0.5] * 2 + [0.0, 1.0] * 20, False),  # AUC 59 / 60
        (["a", "b"] * 50, False),
    ],
)
def test_column_that_gives_the_outcome_away_is_a_warning(cells: list, leak: bool) -> None:
    found = training_table(as_table(paid_back(late=cells)), Meaning("repaid", "yes", {})).leaks
    assert [text.startswith("late alone tells the outcome") for text in found] == [True] * leak


def test_few_rows_can_be_told_apart_by_chance_without_a_warning() -> None:
    few = {name: cells[41:79] for name, cells in paid_back(late=[1] * 60 + [0] * 40).items()}
    assert training_table(as_table(few), Meaning("repaid", "yes", {})).leaks == []


def test_warning_about_the_data_stands_below_the_verdict(tmp_path: Path, capsys) -> None:
    people = made_up_people(200, seed=0)
    lines = [",".join([*people, "late"])]
    lines += [",".join(map(str, (*row, row[-1]))) for row in zip(*people.values(), strict=True)]
    table, page = tmp_path / "t.csv", tmp_path / "page.html"
    table.write_text("\n".join(lines) + "\n")
    options = ["--target", "repaid", "--favourable", "yes", "--movable", "savings:0..500"]
    files = ["-o", str(tmp_path / "m.json"), "--report", str(page), "--radius", "0.01"]
    assert main(["fit", str(table), *options, *files]) == 0
    printed = capsys.readouterr().out
    assert printed.index("verdict:") < printed.index("WARNING: late alone") < printed.index("rows,")
    assert "Warning: late alone tells the outcome" in page.read_text(encoding="utf-8")


def test_numbers_with_a_letter_behind_are_named() -> None:
    cells = [f"{k % 60}.5k" for k in range(100)]
    found = training_table(as_table(paid_back(income=cells)), Meaning("repaid", "yes", {})).cautions
    assert found == ["income: numbers followed by 'k'; write plain numbers to use them as numbers"]
