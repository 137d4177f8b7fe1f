"""``fit_table``: the same numbers as the command, from any kind of table, and clear errors."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from threadpoolctl import threadpool_info

import gameproof as gp
from gameproof.cli.main import main
from gameproof.core import progress
from gameproof.tables.made_up_people import made_up_people
from gameproof.tables.meaning import Meaning
from gameproof.tables.open_training import open_training
from gameproof.tables.write_table import write_table

BUDGETS = {"savings": (0, 5000), "utilisation": (-0.2, 0), "job": ["retired"], "credit_lines": None}
MOVABLE = "savings:0..5000,utilisation:-0.2..0,job:=retired,credit_lines"
MEANING = {"target": "repaid", "favourable": "yes", "budgets": BUDGETS}


@pytest.fixture(scope="module")
def columns() -> dict:
    return dict(made_up_people(300, seed=0))


@pytest.fixture(scope="module")
def csv(columns: dict, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fit_table") / "people.csv"
    write_table(path, columns)
    return path


@pytest.fixture(scope="module")
def fit(columns: dict) -> gp.TableFit:
    return gp.fit_table(columns, **MEANING, radius=0.05)


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (["--radius", "0.05", "--seed", "3", "--test", "0.4"], {"radius": 0.05, "seed": 3}),
        (["--test", "0.4", "--balanced", "--drop", "age,home", "--cost-accept-bad", "5"], {}),
    ],
    ids=["given radius", "chosen radius"],
)
def test_numbers_are_those_of_the_command(options, settings, csv, tmp_path, capsys) -> None:
    out = tmp_path / "model.json"
    meaning = ["--target", "repaid", "--favourable", "yes", "--movable", MOVABLE]
    assert main(["fit", str(csv), *meaning, *options, "-o", str(out), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    if "--balanced" in options:
        settings = {"balanced": True, "drop": ["age", "home"], "cost_accept_bad": 5}
    found = gp.fit_table(csv, **MEANING, **settings, test_share=0.4)
    record = json.loads(json.dumps({**found.record(), "audit": found.audit.record()}))
    assert record == {name: printed[name] for name in record}
    assert set(printed) - set(record) == {"model", "report"}
    assert found.model.predict(csv).tolist() == gp.load_model(out).predict(csv).tolist()


def test_printed_summary_is_that_of_the_command(csv, tmp_path, capsys) -> None:
    out = tmp_path / "model.json"
    meaning = ["--target", "repaid", "--favourable", "yes", "--movable", MOVABLE]
    assert main(["fit", str(csv), *meaning, "--radius", "0.05", "-o", str(out)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"{gp.fit_table(csv, **MEANING, radius=0.05)}\nmodel: {out}\nmore: ")


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, str])
def test_every_kind_of_table_gives_the_same_numbers(kind, columns, csv, fit) -> None:
    table = str(csv) if kind is str else kind(columns)
    found = gp.fit_table(table, **MEANING, radius=0.05)
    assert found.accuracy == fit.accuracy
    assert found.training.fingerprint == fit.training.fingerprint


def test_favourable_may_be_a_number_or_a_bool(columns, fit) -> None:
    for value in (1, True):
        other = {**columns, "repaid": [type(value)(cell == "yes") for cell in columns["repaid"]]}
        found = gp.fit_table(other, **{**MEANING, "favourable": value}, radius=0.05)
        assert found.accuracy == fit.accuracy


def test_accuracies_follow_from_the_models(columns, fit) -> None:
    """Clean and gamed accuracy again, from the decisions of each model on the test rows."""
    data = fit.training.data
    _, test = data.split(240, seed=0)
    order = {row.tobytes(): k for k, row in enumerate(np.nan_to_num(data.X, nan=-1.0))}
    rows = [order[row.tobytes()] for row in np.nan_to_num(test.X, nan=-1.0)]
    frame = pd.DataFrame(columns).iloc[rows]
    good = (frame["repaid"] == "yes").to_numpy()
    for name, model in fit.models.items():
        clean, gamed = model.predict(frame) == "yes", model.gamed_decisions(frame) == "yes"
        assert fit.accuracy[name]["clean"] == np.mean(clean == good)
        assert fit.accuracy[name]["gamed"] == np.mean(np.where(good, clean, gamed) == good)
        low, high = fit.intervals[name]["clean"]
        assert low <= fit.accuracy[name]["clean"] <= high


def test_radius_is_chosen_from_the_curve(columns) -> None:
    found = gp.fit_table(columns, **MEANING)
    assert isinstance(found.radius_curve, gp.RadiusCurve)
    assert found.radius == found.radius_curve.recommended
    assert found.radius_curve.reason in found.radius_reason


def test_given_radius_has_no_curve(fit) -> None:
    assert (fit.radius, fit.radius_reason, fit.radius_curve) == (0.05, "as given", None)


def test_model_and_page_are_written(columns, fit, tmp_path) -> None:
    fit.save(tmp_path / "model.json", command="my own script")
    fit.write_page(tmp_path / "page.html")
    loaded = gp.load_model(tmp_path / "model.json")
    assert loaded.training["command"] == "my own script"
    assert loaded.training["accuracy"] == fit.accuracy
    assert loaded.predict(columns).tolist() == fit.model.predict(columns).tolist()
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "repaid = yes: three classifiers, gamed" in text
    assert "https://" not in text


def test_few_test_rows_get_a_note(fit) -> None:
    assert any("there are only 60 test rows" in note for note in fit.notes)


def test_progress_is_reported_only_where_it_is_wanted(columns, monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.001)
    gp.fit_table(columns, **MEANING, radius=0.05)
    assert capsys.readouterr().err == ""
    gp.fit_table(columns, **MEANING, radius=0.05, progress=True)
    assert "fitting the robust classifier to 240 rows, 0 s …" in capsys.readouterr().err


BAD = {
    "no file": ({"table": "nowhere.csv"}, gp.DataError, "there is no file nowhere.csv"),
    "no table": ({"table": 3}, TypeError, "file name, a data frame or a mapping .* got int"),
    "no rows": ({"table": {"repaid": []}}, gp.DataError, "the table has no rows"),
    "unequal lengths": ({"table": {"a": [1, 2], "b": [1]}}, gp.DataError, "the table cannot be"),
    "mixed types": ({"table": pd.DataFrame({"a": [1, "x"]})}, gp.DataError, "column a .*one type"),
    "no favourable": ({"favourable": None}, gp.DataError, "say which value of 'repaid'.*no or yes"),
    "unknown target": (
        {"target": "repayd"},
        gp.DataError,
        "no target column 'repayd'; did you mean",
    ),
    "unknown value": ({"favourable": "maybe"}, gp.DataError, "the favourable value 'maybe'"),
    "unknown budget": ({"budgets": ["saving"]}, gp.DataError, "no movable column 'saving'; did"),
    "budget is text": ({"budgets": "savings"}, TypeError, r"such as \{'savings': \(0, 5000\)\}"),
    "budget by position": ({"budgets": {0: (0, 1)}}, TypeError, "keyed by column names, got 0"),
    "range for a category": ({"budgets": {"job": (0, 1)}}, ValueError, "is a category, but its"),
    "levels for a number": ({"budgets": {"age": ["old"]}}, ValueError, "is numeric, but its"),
    "unknown level": ({"budgets": {"job": ["pilot"]}}, ValueError, "the level 'pilot'"),
    "budget without 0": ({"budgets": {"age": (1, 2)}}, ValueError, "must include 0"),
    "dropped budget": ({"drop": ["savings"]}, gp.DataError, "'savings' cannot be dropped"),
    "radius": ({"radius": -1}, ValueError, "radius must be finite and at least 0, got -1"),
    "radius in words": ({"radius": "best"}, ValueError, "\"auto\" or a number .* got 'best'"),
    "share": ({"test_share": 1.5}, ValueError, "test_share must lie between 0 and 1, got 1.5"),
    "label cost": ({"label_cost": float("nan")}, ValueError, "label_cost must be finite .* nan"),
    "power": ({"power": "much"}, TypeError, "power must be a number, got 'much'"),
    "seed": ({"seed": 0.5}, TypeError, "seed must be an integer, got 0.5"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_clear_error(case: str, columns) -> None:
    given, error, message = BAD[case]
    arguments = {"table": columns, **MEANING, **given}
    with pytest.raises(error, match=message):
        gp.fit_table(arguments.pop("table"), **arguments)


def test_rare_outcome_is_refused(columns) -> None:
    repaid = ["no"] * 3 + ["yes"] * 297
    with pytest.raises(gp.DataError, match="too few rows have the outcome 'no': 3, and at least 5"):
        gp.fit_table({**columns, "repaid": repaid}, **MEANING)


def test_blas_has_one_thread_while_a_table_is_open(columns: dict) -> None:
    with open_training(columns, Meaning(**MEANING)):
        libraries = threadpool_info()
    assert {found["num_threads"] for found in libraries if found["user_api"] == "blas"} == {1}
