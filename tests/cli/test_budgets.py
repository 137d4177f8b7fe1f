"""``--movable``: how budgets are written, what they mean, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gameproof as gp
from command import fit
from gameproof.cli.main import main
from gameproof.cli.movable_option import parse_movable
from gameproof.cli.options import UsageError
from gameproof.tables.budget_learning.proposed_budgets import movable_text
from gameproof.tables.table import table_of

HARD = 'savings,"a, b",a: b,a,rate:x,"5"" pipe"\n' + "1,1,1,1,1,1\n2,2,2,2,2,2\n"


def read(*given: str):
    return dict(parse_movable(list(given), table_of(HARD.encode(), "hard.csv")))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("savings", {"savings": None}),
        ("savings:0..5000", {"savings": (0, 5000)}),
        (" savings : -0.5 .. 1e3 ,a", {"savings": (-500e-3, 1000), "a": None}),
        ('"a, b":-1..0', {"a, b": (-1, 0)}),
        ("a, b", {"a, b": None}),
        ("a: b", {"a: b": None}),
        ("a: b:-1..1", {"a: b": (-1, 1)}),
        ("rate:x:0..1,a:0..2", {"rate:x": (0, 1), "a": (0, 2)}),
        ("a:=x|y z | w", {"a": ["x", "y z", "w"]}),
        ('a:="x, y|z",savings', {"a": ["x, y", "z"], "savings": None}),
        ('"5"" pipe":0..1', {'5" pipe': (0, 1)}),
        ('5" pipe', {'5" pipe': None}),
        ("savings,savings", {"savings": None}),
        ("", {}),
    ],
)
def test_budgets_are_written_with_colons_dots_and_bars(given: str, found: dict) -> None:
    assert read(given) == found


def test_budgets_that_were_learned_are_read_as_they_were_written() -> None:
    learned = {"savings": (0.0, 5140.0), "a, b": (-0.2, 0.0), "a": ("x", "y, z"), '5" pipe': (0, 1)}
    found = read(movable_text(learned))
    assert found == {**learned, "a": ["x", "y, z"]}


def test_options_that_are_repeated_add_up() -> None:
    assert read("savings:0..5", "a,a: b") == {"savings": (0, 5), "a": None, "a: b": None}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("savings:5000", "gives the budget '5000' for 'savings'; expected the smallest and"),
        ("savings:", "gives the budget '' for 'savings'"),
        ("savings:low..high", "gives the budget 'low..high' for 'savings'"),
        ("savings:0..1,savings:0..2", "gives two budgets for 'savings'"),
        ("savings:0..1,savings", "gives two budgets for 'savings'"),
        ("a:=", "gives no level for 'a'"),
        ("a:=|", "gives no level for 'a'"),
        ('"savings', "is not a list of columns"),
        (" , ", "names no column"),
    ],
)
def test_invalid_budget_is_refused(given: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(given)


def test_unknown_columns_are_named_without_their_budgets() -> None:
    for given in ("saving:0..5", "saving:=a|b", "saving"):
        with pytest.raises(gp.DataError, match="'saving'; did you mean 'savings'"):
            read(given)


BAD = {
    "inverted": ("savings:5..0", "the budget of 'savings' is empty: it goes from 5 to 0"),
    "without 0": ("savings:1..5", "the budget of 'savings' goes from 1 to 5, and must include 0"),
    "nan": ("savings:0..nan", "the budget of 'savings' must be finite, got 0 to nan"),
    "infinite": ("savings:-inf..0", "the budget of 'savings' must be finite"),
    "range for a category": ("job:0..5", "'job' is a category, but its budget is a range"),
    "levels for numbers": (
        "savings:=a",
        "is numeric, but its budget is a list of levels",
    ),
    "unknown level": ("job:=pirate", "the budget of 'job' has the level 'pirate', which is not"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("word", ["fit", "audit"])
def test_budgets_that_do_not_fit_get_one_line(
    name: str, word: str, people, model, tmp_path: Path, capsys
) -> None:
    given, message = BAD[name]
    meaning = ["--target", "repaid", "--favourable", "yes", "--movable", given]
    arguments = {
        "fit": ["fit", str(people), *meaning, "-o", str(tmp_path / "m.json")],
        "audit": ["audit", str(model), str(people), *meaning],
    }
    assert main(arguments[word]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("gameproof: ")
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert not (tmp_path / "m.json").exists()


def test_budget_beyond_the_range_of_its_column_gets_a_note(people, tmp_path, capsys) -> None:
    assert fit(people, tmp_path / "m.json", "--radius", "0.03", "--json") == 0
    assert not any("whole range" in n for n in json.loads(capsys.readouterr().out)["notes"])
    wide = ["--target", "repaid", "--favourable", "yes", "--movable", "savings:0..1e9"]
    out = ["-o", str(tmp_path / "w.json"), "--radius", "0.03"]
    assert main(["fit", str(people), *wide, *out]) == 0
    said = capsys.readouterr().out
    assert "note: the budget of 'savings', 0 to +1e+09, exceeds the column's whole range" in said


def test_fit_audit_and_compare_state_the_same_budgets_in_the_table_s_units(
    people, tmp_path, capsys
) -> None:
    """Half a standard deviation of the table, the ranges and levels as given; the model keeps
    them, so that an audit later is about the same."""
    given = "savings:0..5000,utilisation,job:=retired|care"
    meaning = ["--target", "repaid", "--favourable", "yes", "--movable", given]
    out = ["-o", str(tmp_path / "m.json"), "--radius", "0.03"]
    half = pd.read_csv(people)["utilisation"].std(ddof=0) / 2
    budgets = {
        "savings": "0 to +5,000",
        "utilisation": f"{-half:+.3g} to {half:+.3g} (half a standard deviation)",
        "job": "can claim care, retired",
    }
    assert main(["fit", str(people), *meaning, *out]) == 0
    printed = capsys.readouterr().out
    assert all(f"  movable {name}: {text}\n" in printed for name, text in budgets.items())
    assert main(["audit", str(tmp_path / "m.json"), str(people)]) == 0
    printed = capsys.readouterr().out
    said = [f"  {name}: {text}" for name, text in budgets.items()]
    assert "\n".join(["\nmovable, which the model was fitted for:", *said, ""]) in printed
    described = "; ".join(f"{name}: {text}" for name, text in budgets.items())
    for arguments in (
        ["audit", str(tmp_path / "m.json"), str(people)],
        ["compare", str(people), *meaning, "--radius", "0.03"],
    ):
        assert main([*arguments, "--json", "--quiet"]) == 0
        found = json.loads(capsys.readouterr().out)
        found = found.get("audit", found)
        assert found["budgets"]["description"] == described
        assert found["budgets"]["columns"]["savings"] == [0, 5000]
        assert found["budgets"]["half_a_standard_deviation"] == ["utilisation"]
        assert found["movable"] == ["savings", "utilisation", "job"]


def test_categories_may_be_named_alone_or_be_numbers(people, tmp_path, capsys) -> None:
    """Text alone can be claimed in every level; codes are categories where --category says so."""
    frame = pd.read_csv(people)
    frame["region"] = np.arange(len(frame)) % 3 + 7
    frame.to_csv(tmp_path / "t.csv", index=False)
    meaning = ["--target", "repaid", "--favourable", "yes", "--movable", "home,region:=8"]
    out = ["-o", str(tmp_path / "m.json"), "--radius", "0.03", "--category", "region"]
    assert main(["fit", str(tmp_path / "t.csv"), *meaning, *out]) == 0
    printed = capsys.readouterr().out
    levels = ", ".join(frame["home"].value_counts().index)
    assert f"  movable home: can claim {levels}\n" in printed
    assert "  movable region: can claim 8\n" in printed
