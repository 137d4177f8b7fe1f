"""`TableModel`: its predictions, and that its file restores the same model."""

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gameproof as gp
from gameproof.estimators.model_io import model_files
from gameproof.estimators.model_io.model_files import write_model_file
from gameproof.tables.column_plan import ColumnPlan
from gameproof.tables.load_model import load_table_model
from gameproof.tables.made_up_people import FAVOURABLE, MOVABLE, TARGET, made_up_people
from gameproof.tables.table import as_table
from gameproof.tables.table_model import TableModel, table_record
from gameproof.tables.target import Target


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return pd.DataFrame(made_up_people(300, seed=1))


@pytest.fixture(scope="module")
def model(frame: pd.DataFrame) -> TableModel:
    table = as_table(frame)
    target = Target.of(table, TARGET, FAVOURABLE)
    plan = ColumnPlan.of(table, target, MOVABLE)
    prepare = gp.Prepare(plan.features).fit(plan.encoded(table).X)
    Z = prepare.transform(plan.encoded(table).X)
    classifier = gp.RobustStrategicClassifier(0.03, features=prepare.movable_.tolist())
    classifier.fit(Z, target.labels(table)[1])
    return TableModel(plan, prepare, classifier, {"note": "a < b", "cost": float("inf")})


@pytest.fixture(scope="module")
def budgeted(frame: pd.DataFrame) -> TableModel:
    """A model whose classifier takes encoded rows and knows the budgets."""
    table = as_table(frame)
    target = Target.of(table, TARGET, FAVOURABLE)
    plan = ColumnPlan.of(table, target, MOVABLE)
    classifier = gp.RobustStrategicClassifier(
        0.01,
        budgets={"savings": (0, 3000), "utilisation": (-0.2, 0), "home": None},
        prepare=gp.Prepare(plan.features),
    ).fit(plan.encoded(table).X, target.labels(table)[1])
    # Random coefficients: on the trained classifier, moves would gain nothing.
    classifier.coef_ = np.random.default_rng(0).standard_normal(classifier.coef_.shape)
    classifier.intercept_ = np.zeros(1)
    return TableModel(plan, classifier.prepare_, classifier)


def test_gamed_decisions_of_a_raw_table_are_those_of_people_moved_by_hand(
    budgeted: TableModel, frame, tmp_path: Path
) -> None:
    wins = budgeted.predict(frame) == "yes"
    for savings, utilisation in itertools.product((0, 3000), (-0.2, 0)):
        for home in (None, *budgeted.plan.features.levels["home"]):
            moved = frame.assign(
                savings=frame["savings"] + savings, utilisation=frame["utilisation"] + utilisation
            )
            if home is not None:
                moved["home"] = home
            wins |= budgeted.predict(moved) == "yes"
    found = budgeted.gamed_decisions(frame)
    assert (found == "yes").tolist() == wins.tolist()
    assert (found != budgeted.predict(frame)).sum() > 5
    budgeted.save(tmp_path / "m.json")
    loaded = gp.load_model(tmp_path / "m.json")
    assert loaded.budgets == budgeted.budgets
    np.testing.assert_array_equal(
        loaded.decision_function(frame), budgeted.decision_function(frame)
    )
    assert loaded.gamed_decisions(frame).tolist() == found.tolist()
    twice = budgeted.gamed_decisions(frame, multiple=2).tolist()
    assert loaded.gamed_decisions(frame, multiple=2).tolist() == twice != found.tolist()
    assert (budgeted.gamed_decisions(frame, multiple=0) == budgeted.predict(frame)).all()


def test_budgets_can_be_given_for_a_classifier_that_knows_none(model, budgeted, frame) -> None:
    with pytest.raises(ValueError, match="has no budgets; give them"):
        model.gamed_decisions(frame)
    parts = (model.plan, model.prepare, model.classifier)
    told = TableModel(*parts, budgets=budgeted.budgets)
    moved = frame.assign(savings=frame["savings"] + 3000)
    more_savings = gp.Budgets.of(
        {"savings": (0, 3000)}, model.plan.features, model.plan.encoded(as_table(frame)).X
    )
    wins = (model.predict(frame) == "yes") | (model.predict(moved) == "yes")
    found = TableModel(*parts, budgets=more_savings).gamed_decisions(frame)
    assert (found == "yes").tolist() == wins.tolist()
    assert told.budgets is budgeted.budgets
    other = gp.Budgets.of([0], gp.Features(("a",)), np.zeros((2, 1)))
    with pytest.raises(ValueError, match="these budgets are for the columns a"):
        TableModel(*parts, budgets=other)
    with pytest.raises(
        ValueError, match=r"contains another preparation; give classifier\.prepare_"
    ):
        TableModel(model.plan, model.prepare, budgeted.classifier)


def test_predictions_are_those_of_the_parts_by_hand(model: TableModel, frame) -> None:
    X, y, features = made_by_hand(frame, model)
    scores = model.prepare.transform(X) @ model.classifier.coef_[0] + model.classifier.intercept_[0]
    np.testing.assert_allclose(model.decision_function(frame), scores, rtol=1e-12)
    assert model.predict(frame).tolist() == np.where(scores > 0, "yes", "no").tolist()
    assert features == model.plan.features.names
    assert np.mean((scores > 0) == (y > 0)) > 0.7


def made_by_hand(frame: pd.DataFrame, model: TableModel):
    """The matrix by pandas alone."""
    names = ["age", "income", "savings", "credit_lines", "utilisation", "late_payments"]
    columns = [frame[name].to_numpy(dtype=float) for name in names]
    for name in ("home", "job"):
        levels = model.plan.features.levels[name]
        known = frame[name].where(frame[name].isin(levels), "other")
        columns.append(known.map({level: k for k, level in enumerate(levels)}).to_numpy(float))
    y = np.where(frame["repaid"] == "yes", 1.0, -1.0)
    return np.column_stack(columns), y, (*names, "home", "job")


def test_files_and_frames_of_pandas_and_polars_give_the_same(model, frame, tmp_path: Path) -> None:
    expected = model.decision_function(frame)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    for table in (pl.from_pandas(frame), tmp_path / "t.csv", str(tmp_path / "t.parquet")):
        np.testing.assert_array_equal(model.decision_function(table), expected)
    with pytest.raises(TypeError, match=r"a file name, a data frame or a mapping .* got int"):
        model.predict(3)


def test_loaded_model_is_the_same_to_the_last_bit(model, frame, tmp_path: Path) -> None:
    model.save(tmp_path / "m.json")
    loaded = gp.load_model(tmp_path / "m.json")
    assert repr(loaded) == repr(model)
    assert loaded.plan == model.plan
    assert loaded.names == model.names
    assert loaded.training == model.training
    np.testing.assert_array_equal(loaded.prepare.movable_, model.prepare.movable_)
    np.testing.assert_array_equal(loaded.decision_function(frame), model.decision_function(frame))


def test_gaps_and_levels_of_a_later_table_are_encoded_as_before(
    model, frame, tmp_path: Path
) -> None:
    model.save(tmp_path / "m.json")
    loaded = load_table_model(tmp_path / "m.json")
    later = frame.assign(savings=None, home="castle", extra=1)
    scores, notes = loaded.scored(as_table(later))
    assert "home: 300 cells have levels that the model has not seen" in notes[0]
    # Savings at the median and no home at all: the other columns decide as before.
    at = loaded.names.index("savings")
    Z = model.prepare.transform(made_by_hand(frame, model)[0])
    Z[:, [k for k, name in enumerate(loaded.names) if name.startswith("home=")]] = 0.0
    median = loaded.prepare.encoders_[loaded.plan.features.names.index("savings")]
    Z[:, at] = (median.median - median.mean) / median.deviation
    np.testing.assert_allclose(
        scores, Z @ model.classifier.coef_[0] + model.classifier.intercept_[0], rtol=1e-12
    )


def test_bare_classifier_is_not_a_table_model(model, tmp_path: Path) -> None:
    model.classifier.save(tmp_path / "c.json")
    with pytest.raises(gp.ModelFileError, match="without its table's columns"):
        load_table_model(tmp_path / "c.json")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda record: record["plan"].pop("names"),
        lambda record: record["plan"].update(names=["age"]),
        lambda record: record["plan"].update(favourable=3),
        lambda record: record["encoders"].pop(),
        lambda record: record["encoders"][0].__setitem__(0, 0.0),
        lambda record: record["encoders"][0].__setitem__(3, {"number": "inf"}),
        lambda record: record["encoders"][0].__setitem__(3, 0.0),
        lambda record: record["classifier"].update(kind="Pickle"),
        lambda record: record["classifier"]["fitted"].update(coef=[1.0]),
        lambda record: record.update(classifier=[]),
        lambda record: record.update(budgets={"ranges": []}),
        lambda record: record.update(budgets={"columns": ["age"]}),
    ],
)
def test_crafted_file_is_refused(spoil, model, tmp_path: Path) -> None:
    record = json.loads(json.dumps(table_record(model)))
    spoil(record)
    write_model_file(tmp_path / "m.json", record)
    with pytest.raises(gp.ModelFileError, match="does not describe a model"):
        gp.load_model(tmp_path / "m.json")


def test_table_model_has_the_attributes_of_a_classifier() -> None:
    people = made_up_people(300)
    budgets = {"savings": (0, 5000)}
    fit = gp.fit_table(people, target="repaid", favourable="yes", budgets=budgets, radius=0.05)
    model = fit.model
    assert model.classes_.tolist() == ["no", "yes"]
    chances = model.predict_proba(people)
    assert chances.sum(axis=1) == pytest.approx(1)
    assert (
        model.classes_[(model.decision_function(people) > 0).astype(int)] == (model.predict(people))
    ).all()
    Z = model.prepared(as_table(people)).Z
    scores = Z @ model.coef_[0] + model.intercept_[0]
    assert scores == pytest.approx(model.decision_function(people))
    assert ((chances[:, 1] > model.threshold) == (scores > 0)).all()


def test_file_of_version_2_still_opens(budgeted: TableModel, frame, tmp_path, monkeypatch) -> None:
    """Such files have no calibration, cut, dates, units, spelling or multiple of the budgets."""
    record = table_record(budgeted)
    for name in ("calibration", "cut"):
        del record[name]
    for name in ("ignored", "rest", "dates", "units", "spelling"):
        del record["plan"][name]
    del record["classifier"]["fitted"]["trained_for"]
    monkeypatch.setattr(model_files, "VERSION", 2)
    model_files.write_model_file(tmp_path / "m.json", record)
    monkeypatch.undo()
    assert '"version": 2' in (tmp_path / "m.json").read_text()
    found = gp.load_model(tmp_path / "m.json")
    np.testing.assert_array_equal(found.predict(frame), budgeted.predict(frame))
    np.testing.assert_array_equal(found.predict_proba(frame), budgeted.predict_proba(frame))
