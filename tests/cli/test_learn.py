"""``gameproof learn``: budgets from two tables."""

import io
import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gameproof as gp
from command import fit
from gameproof.cli.main import main
from gameproof.tables.made_up_people import made_up_people


@pytest.fixture(scope="module")
def tables(model: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Half of the people whom the model refuses raise savings by 5,000 and lower utilisation by
    0.2; everyone is a year older. Some people leave, and rows come in another order."""
    rng = np.random.default_rng(0)
    before = pd.DataFrame(made_up_people(600, seed=1))
    refused = gp.load_model(model).decision_function(before) <= 0
    games = refused & (rng.random(600) < 0.5)
    after = before.assign(
        savings=before["savings"] + 5000 * games,
        utilisation=(before["utilisation"] - 0.2 * games).round(3),
        age=before["age"] + 1,
    )
    folder = tmp_path_factory.mktemp("learn")
    before.to_csv(folder / "before.csv", index=False)
    after.sample(590, random_state=0).to_csv(folder / "after.csv", index=False)
    return folder / "before.csv", folder / "after.csv"


def learn(capsys, *arguments: object) -> str:
    assert main(["learn", *map(str, arguments), "--quiet"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out


def refused(capsys, *arguments: object, code: int = 1) -> str:
    assert main(["learn", *map(str, arguments)]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err


def test_budgets_are_printed_ready_for_fit(tables, model, capsys) -> None:
    out = learn(capsys, *tables, "--key", "id", "--model", model)
    assert out.startswith("verdict: People changed savings, utilisation; the budgets to train for ")
    assert "evidence: paired, 590 people before and after" in out
    assert "note: 10 people are only in" in out
    assert "for gameproof fit: --movable 'savings:0..5000,utilisation:-0.2..0'" in out
    assert re.search(r"^age +drift ", out, re.M)
    assert re.search(r"^savings +moved ", out, re.M)
    assert re.search(r"refused before: .* of \d+ are accepted after; mean change of score: \+", out)
    assert "repaid" not in out  # the outcome is no column that people move


def test_python_gives_what_the_command_prints(tables, model, capsys) -> None:
    found = gp.learn_budgets(*tables, "id", model=model)
    printed = json.loads(learn(capsys, *tables, "--key", "id", "--model", model, "--json"))
    assert printed["budgets"] == {name: list(ends) for name, ends in found.budgets.items()}
    assert printed["movable"] == found.movable
    assert printed["key"] == ["id"]
    assert printed["evidence"] == "paired"
    assert not printed["weaker_evidence"]
    assert [row["verdict"] for row in printed["rows"]] == [row.verdict for row in found.rows]
    assert repr(found) in learn(capsys, *tables, "--key", "id", "--model", model)


def test_decisions_are_those_of_predict(tables, model, capsys) -> None:
    printed = json.loads(learn(capsys, *tables, "--key", "id", "--model", model, "--json"))
    loaded = gp.load_model(model)
    one, two = (pd.read_csv(path).set_index("id") for path in tables)
    one = one.loc[two.index]
    start, end = (loaded.predict(part.reset_index()) for part in (one, two))
    assert printed["acceptance"]["before"]["value"] == np.mean(start == "yes")
    assert printed["acceptance"]["after"]["value"] == np.mean(end == "yes")
    assert printed["acceptance"]["won"]["value"] == np.mean(end[start == "no"] == "yes")


def test_without_a_key_the_evidence_is_marked_as_weaker(tables, model, capsys) -> None:
    out = learn(capsys, *tables, "--model", model)
    assert "evidence: UNPAIRED, which is weaker evidence" in out
    assert "proposed budgets (unpaired: weaker evidence)" in out
    assert "note: values in id are unique in each table" in out
    printed = json.loads(learn(capsys, *tables, "--json"))
    assert printed["evidence"] == "unpaired"
    assert printed["weaker_evidence"]
    assert printed["verdict"].endswith("The evidence is weak: people are not matched.")


def test_movable_text_survives_a_shell(tables, tmp_path, capsys) -> None:
    names = {"savings": "savings, total", "home": "people's home"}
    paths = []
    for path in tables:
        table = pd.read_csv(path).rename(columns=names)
        table.to_csv(tmp_path / path.name, index=False)
        paths.append(tmp_path / path.name)
    out = learn(capsys, *paths, "--key", "id", "--drop", "utilisation,repaid")
    line = out.splitlines()[-1].removeprefix("for gameproof fit: ")
    assert shlex.split(line) == ["--movable", '"savings, total:0..5000"']


def test_page_has_the_same_numbers(tables, model, tmp_path, capsys) -> None:
    page = tmp_path / "page.html"
    out = learn(capsys, *tables, "--key", "id", "--model", model, "--report", page)
    assert out.splitlines()[-1] == f"page: {page}"
    text = page.read_text(encoding="utf-8")
    for part in ("What did people change?", "How far?", "Does it help acceptance?", "0..5000"):
        assert part in text
    assert "weaker evidence" not in text
    assert "already exists" in refused(capsys, *tables, "--report", page)
    learn(capsys, *tables, "--report", page, "--force")
    assert "weaker evidence" in page.read_text(encoding="utf-8")


def test_table_from_standard_input(tables, model, capsys, monkeypatch) -> None:
    class Piped:
        buffer = io.BytesIO(tables[1].read_bytes())

    monkeypatch.setattr(sys, "stdin", Piped)
    out = learn(capsys, tables[0], "-", "--key", "id", "--model", model)
    assert "only in standard input" not in out
    assert "savings:0..5000" in out
    assert "only one of the two tables" in refused(capsys, "-", "-", "--key", "id", code=2)


def test_quantile_decides_the_budget(tables, tmp_path, capsys) -> None:
    before = pd.read_csv(tables[0])
    moves = np.arange(600) % 20
    everyone = before.assign(savings=before["savings"] + moves)
    some = before.assign(savings=before["savings"] + moves * (moves < 10))
    for after, budget in ((everyone, None), (some, "savings:0..5'")):
        after.to_csv(tmp_path / "after.csv", index=False)
        out = learn(capsys, tables[0], tmp_path / "after.csv", "--key", "id", "--quantile", "0.5")
        if budget is None:  # 95 % moved, and there is no model to tell
            assert re.search(r"^savings +drift ", out, re.M)
        else:  # 45 % moved, by 1 to 9
            assert budget in out.splitlines()[-1]


BAD = {
    "key not there": (["--key", "idd"], "has no key column 'idd'; did you mean 'id'?"),
    "no file": (["--model", "nowhere.json"], "nowhere.json: no such file"),
    "drop not there": (["--drop", "saving"], "no column 'saving'; did you mean 'savings'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(case: str, tables, capsys) -> None:
    options, message = BAD[case]
    assert message in refused(capsys, *tables, *options)


def test_invalid_options_end_with_code_2(tables, capsys) -> None:
    assert "--key names no column" in refused(capsys, *tables, "--key", "", code=2)
    with pytest.raises(SystemExit) as ended:
        main(["learn", *map(str, tables), "--quantile", "2"])
    assert ended.value.code == 2
    assert "expected a number between 0 and 1, got '2'" in capsys.readouterr().err


def test_tables_without_common_people_or_columns_are_refused(tables, tmp_path, capsys) -> None:
    other = pd.read_csv(tables[1]).assign(id=range(590))
    other.to_csv(tmp_path / "other.csv", index=False)
    said = refused(capsys, tables[0], tmp_path / "other.csv", "--key", "id")
    assert "no person occurs in both tables" in said
    other[["id"]].assign(x=1.0).to_csv(tmp_path / "other.csv", index=False)
    said = refused(capsys, tables[0], tmp_path / "other.csv")
    assert "no column in common that can be compared" in said


def test_model_that_needs_other_columns_is_one_line(tables, model, tmp_path, capsys) -> None:
    pd.read_csv(tables[1]).drop(columns="income").to_csv(tmp_path / "after.csv", index=False)
    said = refused(capsys, tables[0], tmp_path / "after.csv", "--key", "id", "--model", model)
    assert "lacks 'income'" in said


def test_codes_of_a_model_are_levels_here_too(people, tmp_path, capsys) -> None:
    """A column of numbers that the model takes for a category."""
    before = pd.read_csv(people).assign(code=np.arange(400) % 3)
    before.to_csv(tmp_path / "before.csv", index=False)
    out = tmp_path / "m.json"
    assert fit(tmp_path / "before.csv", out, "--radius", "0.03", "--category", "code") == 0
    capsys.readouterr()
    refuses = gp.load_model(out).decision_function(before) <= 0
    code = np.where(refuses & (np.arange(400) % 2 == 0), 2, before["code"])
    before.assign(code=code).to_csv(tmp_path / "after.csv", index=False)
    paths = [tmp_path / "before.csv", tmp_path / "after.csv"]
    printed = json.loads(learn(capsys, *paths, "--key", "id", "--model", out, "--json"))
    (row,) = [row for row in printed["rows"] if row["column"] == "code"]
    assert row["kind"] == "category"
