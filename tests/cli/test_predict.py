"""``gameproof predict``: its decisions are those of the model."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gameproof as gp
from command import fit
from gameproof.cli.main import main


def test_decisions_on_standard_output_are_the_model_s(model, people, capsys) -> None:
    assert main(["predict", str(model), str(people), "--keep", "id,age"]) == 0
    printed = capsys.readouterr()
    found = pd.read_csv(io.StringIO(printed.out))
    table = pd.read_csv(people)
    assert list(found) == ["row", "id", "age", "decision", "score", "probability"]
    assert found["row"].tolist() == list(range(1, 401))
    assert found["id"].tolist() == table["id"].tolist()
    loaded = gp.load_model(model)
    assert found["decision"].tolist() == loaded.predict(people).tolist()
    scores = loaded.decision_function(people)
    np.testing.assert_allclose(found["score"], scores, atol=1e-6)
    np.testing.assert_allclose(found["probability"], loaded.probabilities(scores), atol=1e-6)
    right = (found["decision"] == table["repaid"]).mean()
    assert f"accuracy: {right:.3f} on the 400 rows with a known repaid" in printed.err


@pytest.mark.parametrize("name", ["d.csv", "d.tsv.gz", "d.parquet"])
def test_decisions_in_a_file(name: str, model, people, tmp_path: Path, capsys) -> None:
    out = tmp_path / name
    arguments = ["predict", str(model), str(people), "-o", str(out), "--json", "--quiet"]
    assert main(arguments) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["rows"], shown["file"]) == (400, str(out))
    separator = "\t" if "tsv" in name else ","
    found = pd.read_parquet(out) if "parquet" in name else pd.read_csv(out, sep=separator)
    assert found["decision"].tolist() == gp.load_model(model).predict(people).tolist()
    before = out.read_bytes()
    assert main(arguments) == 1
    assert out.read_bytes() == before
    assert main([*arguments, "--force"]) == 0


def test_decisions_as_json(model, people, capsys) -> None:
    assert main(["predict", str(model), str(people), "--json", "--quiet", "--keep", "id"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert len(shown["rows"]) == 400
    assert set(shown["rows"][0]) == {"row", "id", "decision", "score", "probability"}


def test_dates_that_are_kept_are_text_in_json(model, people, tmp_path: Path, capsys) -> None:
    day = pd.Timestamp("2024-02-29").date()
    pd.read_csv(people).assign(applied=day).to_parquet(tmp_path / "t.parquet")
    arguments = ["--keep", "applied", "--json", "--quiet"]
    assert main(["predict", str(model), str(tmp_path / "t.parquet"), *arguments]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["applied"] == "2024-02-29"


def test_table_without_outcomes_with_new_levels_and_columns_in_another_order(
    model, people, tmp_path: Path, capsys
) -> None:
    table = pd.read_csv(people)
    later = table.drop(columns="repaid")[table.columns[:-1][::-1]]
    later.to_csv(tmp_path / "later.csv", index=False)
    assert main(["predict", str(model), str(tmp_path / "later.csv")]) == 0
    found = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert found["decision"].tolist() == gp.load_model(model).predict(people).tolist()
    later.assign(home="castle").to_csv(tmp_path / "later.csv", index=False)
    assert main(["predict", str(model), str(tmp_path / "later.csv")]) == 0
    printed = capsys.readouterr()
    assert "home: 400 cells have levels that the model has not seen; they count as missing" in (
        printed.err
    )
    assert "and are most of the 400 cells; the model knows " in printed.err
    assert len(pd.read_csv(io.StringIO(printed.out))) == 400


def test_target_with_another_value_is_decided_and_noted(model, people, tmp_path, capsys) -> None:
    table = pd.read_csv(people)
    later = table.copy()
    later.loc[:9, "repaid"] = "pending"
    later.to_csv(tmp_path / "t.csv", index=False)
    assert main(["predict", str(model), str(tmp_path / "t.csv")]) == 0
    printed = capsys.readouterr()
    found = pd.read_csv(io.StringIO(printed.out))
    assert found["decision"].tolist() == gp.load_model(model).predict(people).tolist()
    assert "repaid: 10 rows have pending, which is neither yes nor no" in printed.err
    right = (found["decision"] == table["repaid"])[10:].mean()
    assert f"accuracy: {right:.3f} on the 390 rows with a known repaid" in printed.err
    table.assign(repaid="pending").to_csv(tmp_path / "t.csv", index=False)
    assert main(["predict", str(model), str(tmp_path / "t.csv"), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["accuracy"] is None
    assert len(shown["rows"]) == 400


def test_gaps_are_noted_with_what_they_are_taken_for(model, people, tmp_path, capsys) -> None:
    table = pd.read_csv(people)
    was = int(table["income"].isna().sum())
    later = table.assign(age=None)
    later.loc[:285, "savings"] = None
    later.loc[:2, "home"] = None
    later.to_csv(tmp_path / "t.csv", index=False)
    assert main(["predict", str(model), str(tmp_path / "t.csv")]) == 0
    said = capsys.readouterr().err
    assert "savings: 286 missing, replaced by the median; the training rows had no missing" in said
    assert "age: 400 missing, replaced by the median; the training" in said
    assert "home: 3 missing, treated as none of the levels; the training" in said
    assert f"income: {was} missing, replaced by the median and marked\n" in said
    assert "utilisation" not in said


def test_missing_binary_category_counts_as_the_first_level(people, tmp_path, capsys) -> None:
    frame = pd.read_csv(people)
    frame = frame.assign(home=frame["home"].replace("with parents", "rented"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert fit(tmp_path / "t.csv", tmp_path / "m.json", "--radius", "0.03", "--quiet") == 0
    decisions = {}
    for level in (None, "rented"):
        frame.assign(home=level).to_csv(tmp_path / "l.csv", index=False)
        capsys.readouterr()
        assert main(["predict", str(tmp_path / "m.json"), str(tmp_path / "l.csv")]) == 0
        printed = capsys.readouterr()
        assert ("home: 400 missing, treated as 'rented'" in printed.err) == (level is None)
        decisions[level] = printed.out
    assert decisions[None] == decisions["rented"]


def test_name_without_a_format_is_refused_before_the_work(model, people, capsys) -> None:
    assert main(["predict", str(model), str(people), "-o", "decisions.xlsx"]) == 1
    assert "ends in .csv, .tsv or .parquet" in capsys.readouterr().err


def test_column_that_decisions_already_have_is_not_kept(model, people, tmp_path, capsys) -> None:
    frame = pd.read_csv(people).assign(score=1)
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert main(["predict", str(model), str(tmp_path / "t.csv"), "--keep", "score"]) == 1
    assert "the column 'score' cannot be kept (--keep)" in capsys.readouterr().err


def test_rare_and_new_levels_are_noted_as_other(people, tmp_path, capsys) -> None:
    frame = pd.read_csv(people)
    frame.loc[:4, "home"] = ["boat", "boat", "tent", "van", "van"]
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert fit(tmp_path / "t.csv", tmp_path / "m.json", "--radius", "0.03") == 0
    assert "home: the 3 rarest levels pooled into other" in capsys.readouterr().out
    frame.loc[5:6, "home"] = "castle"
    frame.to_csv(tmp_path / "l.csv", index=False)
    assert main(["predict", str(tmp_path / "m.json"), str(tmp_path / "l.csv")]) == 0
    assert (
        "home: 7 cells have levels that are rare or new to the model; they count as other\n"
        in capsys.readouterr().err
    )


FORMULAS = ["=1+1", "＝1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", " =1", "-", "+"]
HARMLESS = ["-5", "+5", "-.5e-3", "a=b", "me@here", "", "'=1", "12-3"]


def kept_cells(
    model, people, tmp_path: Path, *options: str, name: str = "t.csv", kind: Any = str
) -> list[str]:
    """The column that predict --keep copies from a table of this name to a CSV file."""
    cells = [kind(cell) for cell in (*FORMULAS, *HARMLESS)]
    table = pd.read_csv(people).head(len(cells)).assign(**{"=note": cells, "debt": -1.5})
    table.to_parquet(tmp_path / name) if "parquet" in name else table.to_csv(
        tmp_path / name, index=False
    )
    arguments = ["predict", str(model), str(tmp_path / name), "--keep", "=note,debt"]
    assert main([*arguments, *options, "-o", str(tmp_path / "d.csv"), "--force"]) == 0
    with (tmp_path / "d.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header[1] == ("=note" if options else "'=note")
    assert {row[2] for row in rows} == {"-1.5"}
    return [row[1] for row in rows]


def test_kept_text_that_a_spreadsheet_would_run_is_marked_as_text(
    model, people, tmp_path: Path
) -> None:
    cells = kept_cells(model, people, tmp_path)
    assert cells == [*("'" + cell for cell in FORMULAS), *HARMLESS]


def test_kept_bytes_are_marked_as_text_is(model, people, tmp_path: Path) -> None:
    """Parquet files of other programs may hold text as bytes, and CSV shows both alike."""
    cells = kept_cells(model, people, tmp_path, name="t.parquet", kind=str.encode)
    assert cells == [*("'" + cell for cell in FORMULAS), *HARMLESS]


def test_kept_text_stays_raw_on_demand_and_in_parquet(model, people, tmp_path: Path) -> None:
    cells = [*FORMULAS, *HARMLESS]
    assert kept_cells(model, people, tmp_path, "--raw") == cells
    out = tmp_path / "d.parquet"
    given = ["predict", str(model), str(tmp_path / "t.csv"), "--keep", "=note", "-o", str(out)]
    assert main(given) == 0
    assert pd.read_parquet(out)["=note"].fillna("").tolist() == cells
