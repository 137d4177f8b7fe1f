"""Model files: loading restores the model exactly, and invalid files are rejected."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

import gameproof as gp
from gameproof.estimators.model_io import model_files

X, Y = gp.synthetic_people(n=120, d=3, seed=0)
METHOD = gp.ogda_rr(gradient=gp.TwoPoint(), step=0.02, radius=0.3)


def survey(theta: np.ndarray, agents: np.ndarray) -> np.ndarray:
    return X[agents] + 0.1 * theta


MODELS = {
    "robust": lambda: gp.RobustStrategicClassifier(0.03, features=[0, 2], power=0.1),
    "labels stay": lambda: gp.RobustStrategicClassifier(0.03, np.inf, fit_intercept=False),
    "regression": lambda: gp.StrategicLogisticRegression(standardise=False, favourable=-1.0),
    "a cost": lambda: gp.RobustStrategicClassifier(
        response=gp.PowerCost(np.linspace(0, 0.2, 120), 1.5, np.inf, features=np.array([1]))
    ),
    "weights": lambda: gp.RobustStrategicClassifier(0.02, class_weight={1.0: 3.0, -1: 0.1}),
    "balanced": lambda: gp.RobustStrategicClassifier(0.02, class_weight="balanced"),
    "a ball": lambda: gp.RobustStrategicClassifier(response=gp.BallBudget(0.3, features=[1])),
    "prices": lambda: gp.StrategicLogisticRegression(gp.PriceBudget(0.3, [1.0, np.inf, 2.0])),
    "a box": lambda: gp.StrategicLogisticRegression(
        gp.BoxBudget(-np.ones((120, 3)) * np.linspace(0, 1, 120)[:, None], np.ones(3))
    ),
    "budgets": lambda: gp.RobustStrategicClassifier(budgets={0: (-0.1, 0.5), 2: None}),
    "prepared": lambda: gp.RobustStrategicClassifier(budgets=[1], prepare=gp.Prepare(unit=2.0)),
    "asked": lambda: gp.RobustStrategicClassifier(
        response=gp.BlackBox(survey), solver=METHOD, queries=200, random_state=0
    ),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("labels", [np.array([-1.0, 1.0]), np.array([0, 1], np.uint8)])
def test_loaded_model_is_the_saved_one_to_the_last_bit(name, labels, tmp_path: Path) -> None:
    model, y = MODELS[name](), labels[(Y > 0).astype(int)]
    if isinstance(model.class_weight, dict):
        model.set_params(class_weight={labels[0]: 0.1, labels[1]: 3.0})
    if model.favourable is not None:
        model.set_params(favourable=labels[0])
    model.fit(X, y).save(tmp_path / "model.json", command="fit table.csv")
    loaded = gp.load_model(str(tmp_path / "model.json"))
    assert type(loaded) is type(model)
    for attribute in ("coef_", "intercept_", "classes_", "theta_", "movable_"):
        np.testing.assert_array_equal(getattr(loaded, attribute), getattr(model, attribute))
        assert getattr(loaded, attribute).dtype == getattr(model, attribute).dtype
    assert loaded.offset_ == model.offset_
    assert loaded.n_features_in_ == 3
    assert loaded.n_queries_ == model.n_queries_
    assert loaded.training_ == {**model.training_, "command": "fit table.csv"} or name == "asked"
    np.testing.assert_array_equal(loaded.worst_case_risk_, model.worst_case_risk_)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.budgets_ == model.budgets_
    if name != "asked":
        for multiple in (0.5, 1.0, 3.0):
            np.testing.assert_array_equal(
                loaded.gamed_decisions(X, multiple=multiple),
                model.gamed_decisions(X, multiple=multiple),
            )
        again = loaded.fit(X, y)
        np.testing.assert_array_equal(again.coef_, model.coef_)
        assert again.budgets_ == model.budgets_
    if name != "asked":
        assert loaded.worst_case(X, y).value == model.worst_case(X, y).value
        np.testing.assert_array_equal(loaded.fit(X, y).coef_, model.coef_)


def test_black_box_and_solver_are_not_saved_and_the_model_says_so(tmp_path: Path) -> None:
    model = MODELS["asked"]().fit(X, Y)
    model.save(tmp_path / "m")
    loaded = gp.load_model(tmp_path / "m")
    assert str(loaded.response) == "not saved: BlackBox"
    assert loaded.solver == "not saved: " + METHOD.signature
    with pytest.raises(TypeError, match=re.escape("model.set_params(response=")):
        loaded.fit(X, Y)
    with pytest.raises(TypeError, match="solver must be a Solver"):
        loaded.set_params(response=model.response).fit(X, Y)
    loaded.set_params(solver=METHOD).fit(X, Y)
    np.testing.assert_array_equal(loaded.coef_, model.coef_)


FEATURES = gp.Features(("savings", "job"), {"job": ("none", "retired", "student")}, ("savings",))


def test_budgets_and_preparation_of_a_table_with_categories_are_kept(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    people = np.column_stack([1000 * np.exp(rng.standard_normal(150)), rng.integers(0, 3, 150)])
    y = np.where(people[:, 1] + np.log(people[:, 0]) + rng.standard_normal(150) > 8, "a", "b")
    people[:5, 0] = np.nan
    model = gp.StrategicLogisticRegression(
        budgets={"savings": (0, 300), "job": {"student", "retired"}},
        prepare=gp.Prepare(FEATURES),
        favourable="a",
    ).fit(people, y)
    model.save(tmp_path / "m")
    loaded = gp.load_model(tmp_path / "m")
    assert loaded.budgets_ == model.budgets_
    assert loaded.prepare_.features == FEATURES
    assert loaded.coef_names_ == model.coef_names_
    assert loaded.n_features_in_ == 2
    np.testing.assert_array_equal(loaded.predict_proba(people), model.predict_proba(people))
    for multiple in (0.0, 1.0, 2.0):
        found = loaded.gamed_decisions(people, multiple=multiple)
        np.testing.assert_array_equal(found, model.gamed_decisions(people, multiple=multiple))
    assert (found != model.predict(people)).any()
    np.testing.assert_allclose(loaded.fit(people, y).coef_, model.coef_)
    half = gp.StrategicLogisticRegression(
        budgets=model.budgets_.times(0.5), prepare=gp.Prepare(FEATURES)
    )
    half.fit(people, y).save(tmp_path / "half")
    assert gp.load_model(tmp_path / "half").budgets == model.budgets_.times(0.5)


def test_preparation_of_another_package_is_not_saved_and_the_error_says_so(tmp_path) -> None:
    model = gp.RobustStrategicClassifier(budgets=[0], prepare=StandardScaler()).fit(X, Y)
    with pytest.raises(TypeError, match="only hold gameproof's Prepare, got StandardScaler; use"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_file_from_before_there_were_budgets_is_read(tmp_path: Path, monkeypatch) -> None:
    """Version 1 had no budgets, no preparation, and costs without their kind."""
    model = gp.RobustStrategicClassifier(0.03, response=gp.PowerCost(0.1, 1.5)).fit(X, Y)
    model.save(tmp_path / "m")
    content = json.loads((tmp_path / "m").read_text())
    for added in ("format", "version", "digest"):
        del content[added]
    del content["parameters"]["budgets"], content["parameters"]["response"]["kind"]
    for added in ("budgets", "prepare", "n_features"):
        del content["fitted"][added]
    monkeypatch.setattr(model_files, "VERSION", 1)
    model_files.write_model_file(tmp_path / "old", content)
    monkeypatch.undo()
    loaded = gp.load_model(tmp_path / "old")
    np.testing.assert_array_equal(loaded.gamed_decisions(X), model.gamed_decisions(X))
    assert loaded.budgets_ is None
    assert loaded.prepare_ is None


@pytest.mark.parametrize("kind", [str, object])
def test_names_and_text_labels_are_kept(kind, tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=["age", "income", "dé\u0000bt"])
    y = np.where(Y > 0, "granted", "no").astype(kind)
    model = gp.RobustStrategicClassifier(features=frame.columns[1:]).fit(frame, y)
    model.save(tmp_path / "m")
    loaded = gp.load_model(tmp_path / "m")
    assert loaded.feature_names_in_.tolist() == frame.columns.tolist()
    assert loaded.features == frame.columns[1:].tolist()
    assert loaded.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"age": "years"}))


def test_training_summary_says_what_the_model_was_made_of() -> None:
    model = gp.RobustStrategicClassifier(0.03, 0.7).fit(X, Y)
    told = model.training_
    assert (told["rows"], told["favourable_rows"]) == (120, int((Y > 0).sum()))
    assert (told["radius"], told["label_cost"], told["method"]) == (0.03, 0.7, "exact")
    assert told["worst_case_risk"] == model.worst_case_risk_
    assert told["versions"]["gameproof"] == gp.__version__
    assert float(told["status"].removeprefix("certified to ")) < 1e-6
    prints = [
        gp.RobustStrategicClassifier().fit(a, b).training_["fingerprint"]
        for a, b in ((X, Y), (X + 1e-12, Y), (X, np.where(np.arange(120) == 5, -Y, Y)))
    ]
    assert told["fingerprint"] == prints[0]
    assert len(set(prints)) == 3


def saved(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    model = gp.RobustStrategicClassifier(budgets={0: (-1.0, 1.0)}, prepare=gp.Prepare())
    model.fit(X, Y).save(path)
    return path


def test_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path)
    whole = path.read_bytes()
    for length in (0, 1, 30, 200, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(
            gp.ModelFileError, match=r"truncated or damaged|not a gameproof model file"
        ):
            gp.load_model(path)


def test_file_changed_anywhere_is_refused(tmp_path: Path) -> None:
    """A digit, a letter or a brace: whatever it was, the digest or the parser tells; only the last
    digit of a number can change and leave the number as it was."""
    path, rng = saved(tmp_path), np.random.default_rng(0)
    whole = path.read_bytes()
    solid = [k for k, byte in enumerate(whole) if not chr(byte).isspace()]
    for at in rng.choice(solid, 60, replace=False):
        other = b"7" if whole[at : at + 1] != b"7" else b"8"
        changed = whole[:at] + other + whole[at + 1 :]
        if same_content(changed, whole):
            continue
        path.write_bytes(changed)
        with pytest.raises(gp.ModelFileError):
            gp.load_model(path)


def same_content(one: bytes, other: bytes) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x80\x04\x95pickle", "is not a gameproof model file"),
        (b'{"weights": [1, 2]}', "from another program"),
        (b"[]", "from another program"),
        (b"age,income\n1,2\n", "is not a gameproof model file"),
        (b"[" * 100_000, "is not a gameproof model file"),
        (b'{"format": "gameproof-model", "version": 5}', "newer gameproof .file version 5"),
        (b'{"format": "gameproof-model", "version": "x"}', "invalid file version 'x'"),
        (b'{"format": "gameproof-model", "version": 1}', "altered"),
    ],
)
def test_other_files_are_refused_in_a_sentence(content, message, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(gp.ModelFileError, match=message):
        gp.load_model(path)


def test_folders_and_missing_files_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(gp.ModelFileError, match="is a folder"):
        gp.load_model(tmp_path)
    with pytest.raises(FileNotFoundError):
        gp.load_model(tmp_path / "nothing")


CRAFTED = {
    "kind": ("kind", "os.system"),
    "no kind": ("kind", None),
    "parameter": (("parameters", "unheard"), 1),
    "response": (("parameters", "response"), {"power": "rm"}),
    "kind of response": (("parameters", "response"), {"kind": "os.system", "command": "rm"}),
    "coefficients": (("fitted", "coef"), [1.0, 2.0]),
    "text": (("fitted", "coef"), ["a", "b", "c"]),
    "infinite": (("fitted", "coef"), [1.0, 2.0, {"number": "inf"}]),
    "scale": (("fitted", "scale"), [1.0, 0.0, 1.0]),
    "classes": (("fitted", "classes"), [1.0, 1.0]),
    "three classes": (("fitted", "classes"), [1.0, 2.0, 3.0]),
    "huge type": (("fitted", "classes_dtype"), "<U2000000000"),
    "odd type": (("fitted", "classes_dtype"), "V8"),
    "favourable": (("fitted", "favourable"), "neither"),
    "names": (("fitted", "names"), ["a"]),
    "fitted": ("fitted", []),
    "movable": (("fitted", "movable"), [-1]),
    "no such movable": (("fitted", "movable"), [3]),
    "movable twice": (("fitted", "movable"), [0, 0]),
    "risk": (("fitted", "worst_case_risk"), "low"),
    "range": (("fitted", "budgets", "ranges"), [[0, 1.0, 2.0]]),
    "column": (("fitted", "budgets", "ranges"), [[7, 0.0, 2.0]]),
    "other columns": (("fitted", "budgets", "features", "names"), ["a", "b", "c"]),
    "stated": (("parameters", "budgets"), {"nothing": 1}),
    "encoders": (("fitted", "prepare", "encoders"), [[1.0, 0.0, 0.0, 1.0, False]]),
    "no columns": (("fitted", "n_features"), 0),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_file_with_a_valid_digest_is_refused_if_it_is_not_a_model(name, tmp_path) -> None:
    path = saved(tmp_path)
    content = json.loads(path.read_text())
    for added in ("format", "version", "digest"):
        del content[added]
    place, value = CRAFTED[name]
    *outer, last = [place] if isinstance(place, str) else place
    part = content
    for key in outer:
        part = part[key]
    part[last] = value
    model_files.write_model_file(path, content)
    with pytest.raises(
        gp.ModelFileError, match=r"does not describe a model|expected one of Robust"
    ):
        gp.load_model(path)


def test_saving_is_whole_or_nothing(tmp_path: Path, monkeypatch) -> None:
    path = saved(tmp_path)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="no space left"):
        gp.StrategicLogisticRegression().fit(X, Y).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_unfitted_model_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        gp.RobustStrategicClassifier().save(tmp_path / "m")


def test_loading_imports_no_pickle_reader(tmp_path: Path) -> None:
    """Nothing in the file's way to a model reads pickles: loading works where they cannot load."""
    path = saved(tmp_path)
    code = (
        "import pickle, sys, gameproof as gp; gp.load_model;"
        "pickle.loads = pickle.load = pickle.Unpickler = None;"
        f"print(gp.load_model({str(path)!r}).n_features_in_)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "3\n"
