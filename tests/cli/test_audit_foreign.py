"""``gameproof audit`` on models of scikit-learn, and on files that are not models."""

import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from command import MEANING, NUMBERS, audit, audit_refused

MODELS = {
    "logistic": lambda: LogisticRegression(max_iter=1000),
    "svm": lambda: LinearSVC(random_state=0),
    "sgd": lambda: SGDClassifier(random_state=0),
    "sgd, logistic": lambda: SGDClassifier(loss="log_loss", random_state=0),
    "sgd, squares": lambda: SGDClassifier(loss="squared_error", eta0=1e-3, random_state=0),
    "ridge": lambda: RidgeClassifier(),
    "perceptron": lambda: Perceptron(random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("scaled", [False, True])
def test_scikit_learn_model_is_audited_as_it_predicts(
    name: str, scaled: bool, people, tmp_path, capsys
) -> None:
    """Clean accuracy is scikit-learn's own, and so are decisions about what people turn into: by
    b = x + power sd² theta, and within their budgets."""
    table = pd.read_csv(people)
    fitted = MODELS[name]()
    fitted = make_pipeline(StandardScaler(), fitted) if scaled else fitted
    X = table[NUMBERS] / 1000 if not scaled else table[NUMBERS]
    table[NUMBERS] = X
    table.to_csv(tmp_path / "t.csv", index=False)
    fitted.fit(X, table["repaid"])
    skops.io.dump(fitted, tmp_path / "m.skops")
    found = audit(capsys, tmp_path / "m.skops", tmp_path / "t.csv", *MEANING, "--power", "0.1")
    clean = fitted.score(X, table["repaid"])
    assert found["quality"][0]["accuracy"] == pytest.approx(clean)

    scores = fitted.decision_function(X)
    origin = fitted.decision_function(X * 0)
    eye = pd.DataFrame(np.eye(4), columns=NUMBERS)
    theta = (fitted.decision_function(eye) - origin[0]) * X.std(ddof=0).to_numpy()
    gain = 0.1 * (theta[1] ** 2 + theta[2] ** 2)
    refusable = (table["repaid"] == "no").to_numpy()
    gamed = np.mean((scores + gain * refusable > 0) == ~refusable)
    (row,) = [row for row in found["depends_on_scale"]["by_power"] if row["power"] == 0.1]
    assert row["accuracy"] == pytest.approx(gamed)

    # Savings and utilisation by half a standard deviation, in the units of the table.
    half, step = X.std(ddof=0) / 2, np.sign(theta)
    moved = X.assign(savings=X.savings + step[1] * half.savings)
    moved = moved.assign(utilisation=X.utilisation + step[2] * half.utilisation)
    used = np.where(refusable, fitted.decision_function(moved), scores)
    row = next(r for r in found["gaming"] if (r["movers"], r["multiple"]) == ("bad", 1))
    assert row["accuracy"] == pytest.approx(np.mean((used > 0) == ~refusable))


def with_transformers() -> Pipeline:
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    columns = make_column_transformer((numbers, NUMBERS), (OneHotEncoder(), ["home"]))
    return make_pipeline(columns, LogisticRegression(max_iter=1000))


PIPELINES = {
    "imputed and encoded": with_transformers,
    "calibrated": lambda: CalibratedClassifierCV(with_transformers(), cv=2, ensemble=False),
    "calibrated mean": lambda: CalibratedClassifierCV(with_transformers(), cv=2),
    "threshold": lambda: FixedThresholdClassifier(with_transformers(), threshold=0.6),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_pipeline_is_audited_as_it_predicts(name: str, people, tmp_path, capsys) -> None:
    """Decisions are scikit-learn's own, clean and about what people turn into."""
    table = pd.read_csv(people)
    table.loc[:20, "income"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    fitted = PIPELINES[name]().fit(table[[*NUMBERS, "home"]], table["repaid"])
    skops.io.dump(fitted, tmp_path / "m.skops")
    meaning = ["--target", "repaid", "--favourable", "yes", "--movable", "savings:0..2000"]
    found = audit(capsys, tmp_path / "m.skops", tmp_path / "t.csv", *meaning)
    good = (table["repaid"] == "yes").to_numpy()
    clean = fitted.predict(table) == "yes"
    assert found["quality"][0]["accuracy"] == pytest.approx(np.mean(clean == good))
    # More savings only help: the classifier gives them a positive weight.
    moved = fitted.predict(table.assign(savings=table.savings + 2000)) == "yes"
    assert (moved >= clean).all()
    row = next(r for r in found["gaming"] if (r["movers"], r["multiple"]) == ("bad", 1))
    used = np.where(good, clean, moved)
    assert row["accuracy"] == pytest.approx(np.mean(used == good))


def test_models_that_are_not_linear_or_not_fitted_are_refused(people, tmp_path, capsys) -> None:
    table = pd.read_csv(people)
    X, y = table[NUMBERS], table["repaid"]
    for fitted, line in (
        (RandomForestClassifier(3).fit(X, y), "an audit accepts only linear classifiers"),
        (LogisticRegression(), "was saved before it was fitted"),
        (StandardScaler().fit(X), "holds StandardScaler"),
        (LogisticRegression().fit(X / 1e4, table["home"]), "has 3 classes, and an audit needs two"),
    ):
        skops.io.dump(fitted, tmp_path / "m.skops")
        assert line in audit_refused(capsys, tmp_path / "m.skops", people, *MEANING)


def test_damaged_skops_file_is_distinguished_from_another_format(people, tmp_path, capsys) -> None:
    model = tmp_path / "m.skops"
    table = pd.read_csv(people)
    skops.io.dump(LogisticRegression().fit(table[["age"]], table["repaid"]), model)
    whole = model.read_bytes()
    at, listed = whole.index(b"schema.json"), whole.rindex(b"schema.json")
    # Truncated, with altered types, with an invalid method of compression.
    for damaged in (
        whole[: len(whole) // 2],
        whole[: at + 50] + b"?" + whole[at + 51 :],
        whole[: listed - 36] + b"?" + whole[listed - 35 :],
    ):
        model.write_bytes(damaged)
        assert "is truncated or damaged" in audit_refused(capsys, model, people, *MEANING)
    with zipfile.ZipFile(model, "w") as archive:
        archive.writestr("word/document.xml", "<document/>")
    assert "is neither a gameproof model file nor a skops file" in audit_refused(
        capsys, model, people
    )


class Surprise:
    """Something that a malicious file might contain."""

    def __reduce__(self):
        return print, ("this must never be printed",)


def test_file_that_would_run_something_is_refused_unopened(people, tmp_path, capsys) -> None:
    fitted = LogisticRegression(max_iter=1000).fit(pd.read_csv(people)[NUMBERS], [0, 1] * 200)
    fitted.note = Surprise()
    skops.io.dump(fitted, tmp_path / "m.skops")
    said = audit_refused(capsys, tmp_path / "m.skops", people, *MEANING)
    assert "accepts only linear classifiers" in said
    assert "never be printed" not in said


def test_scikit_learn_model_needs_target_and_budgets(people, tmp_path, capsys) -> None:
    table = pd.read_csv(people)
    model = tmp_path / "m.skops"
    skops.io.dump(LogisticRegression().fit(table[["age"]], table["repaid"]), model)
    assert "give the target (--target)" in audit_refused(capsys, model, people)
    assert "does not use" in audit_refused(capsys, model, people, *MEANING)
    skops.io.dump(LogisticRegression().fit(table[["age"]], [3, 4] * 200), model)
    meaning = ["--target", "repaid", "--favourable", "yes", "--movable", "age"]
    assert "the classes of the model are 3 and 4" in audit_refused(capsys, model, people, *meaning)


def test_model_without_names_takes_the_numbers_in_the_order_of_the_table(
    people, tmp_path, capsys
) -> None:
    table = pd.read_csv(people)[[*NUMBERS, "repaid"]]
    table.loc[3, "savings"] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    kept = table.dropna()
    fitted = make_pipeline(StandardScaler(), LogisticRegression())
    fitted.fit(kept[NUMBERS].to_numpy(), (kept["repaid"] == "yes").astype(int))
    skops.io.dump(fitted, tmp_path / "m.skops")
    meaning = ["--target", "repaid", "--favourable", "yes", "--movable", "savings"]
    said = audit_refused(capsys, tmp_path / "m.skops", tmp_path / "t.csv", *meaning)
    assert "the classes of the model are 0 and 1" in said
    table.assign(repaid=(table["repaid"] == "yes").astype(int)).to_csv(
        tmp_path / "t.csv", index=False
    )
    meaning[3] = "1"
    found = audit(capsys, tmp_path / "m.skops", tmp_path / "t.csv", *meaning)
    labels = (kept["repaid"] == "yes").astype(int)
    score = fitted.score(kept[NUMBERS].to_numpy(), labels)
    assert found["quality"][0]["accuracy"] == pytest.approx(score)
    assert any("age, savings, utilisation, late_payments" in note for note in found["notes"])
    assert any("left out 1 row with missing values" in note for note in found["notes"])
    said = audit_refused(capsys, tmp_path / "m.skops", people, *MEANING)
    assert "takes 4 columns and names none" in said or "classes of the model" in said


@pytest.mark.parametrize(("whole", "left"), [(0, "400 of 400"), (4, "396 of 400")])
def test_rows_that_all_have_missing_values_are_reported(
    whole, left, people, tmp_path, capsys
) -> None:
    table = pd.read_csv(people)
    model, short = tmp_path / "m.skops", tmp_path / "t.csv"
    skops.io.dump(LogisticRegression(max_iter=1000).fit(table[NUMBERS], table["repaid"]), model)
    table["savings"] = table["savings"].where(table.index < whole)
    table.to_csv(short, index=False)
    said = audit_refused(capsys, model, short, *MEANING)
    assert f"{left} rows are left out for missing values (savings {400 - whole})" in said
