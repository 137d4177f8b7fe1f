"""Notes of `fit` on gaming that the budgets do not cover."""

from pathlib import Path

import numpy as np
import pytest

from gameproof.cli.main import main
from gameproof.tables.training_table import copies_of


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
