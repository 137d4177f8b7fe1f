"""The classifiers pass scikit-learn's estimator checks and work with its tools."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import gameproof as gp

BOTH = [gp.RobustStrategicClassifier, gp.StrategicLogisticRegression]


# One check gives a class ten million times the weight of the other: ignoring the data is then best,
# and the robust classifier warns about it. The checks of sample weights use separable classes.
@pytest.mark.filterwarnings("ignore:.*ignores the data:gameproof.core.errors.IgnoresDataWarning")
@pytest.mark.filterwarnings("ignore:only the bound of 20:gameproof.core.errors.CapWarning")
@parametrize_with_checks(
    [
        gp.RobustStrategicClassifier(),
        gp.RobustStrategicClassifier(label_cost=float("inf"), standardise=False),
        gp.StrategicLogisticRegression(),
        gp.StrategicLogisticRegression(power=0.3, standardise=False, class_weight="balanced"),
        gp.RobustStrategicClassifier(budgets=[0]),
        gp.StrategicLogisticRegression(budgets={0: (-0.1, 0.2)}, prepare=StandardScaler()),
        gp.StrategicLogisticRegression(budgets=[0], prepare=gp.Prepare(unit=1.0)),
    ]
)
def test_every_check_of_scikit_learn_passes(estimator, check) -> None:
    check(estimator)


@pytest.mark.parametrize("kind", BOTH)
def test_pipelines_grids_and_calibration_take_the_classifiers(kind) -> None:
    X, y = gp.synthetic_people(n=200, d=4, seed=1)
    assert cross_val_score(kind(), X, y, cv=4).mean() > 0.85
    pipe = make_pipeline(StandardScaler(), kind(standardise=False))
    step = pipe.steps[-1][0]
    grid = GridSearchCV(pipe, {f"{step}__power": [0.01, 0.1], f"{step}__features": [None, [0]]})
    assert grid.fit(X, y).best_score_ > 0.85
    proba = CalibratedClassifierCV(kind(), cv=3).fit(X, y).predict_proba(X)
    assert ((proba[:, 1] > 0.5) == (y > 0)).mean() > 0.85


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_name_the_features_and_arrays_do_not_need_to(kind, frame) -> None:
    X, y = gp.synthetic_people(n=150, d=3, seed=2)
    named = frame({"age": X[:, 0], "income": X[:, 1], "debt": X[:, 2]})
    model = kind(features=["debt", "income"], power=0.2).fit(named, y)
    assert model.feature_names_in_.tolist() == ["age", "income", "debt"]
    assert model.movable_.tolist() == [1, 2]
    np.testing.assert_array_equal(model.coef_, kind(features=[1, 2], power=0.2).fit(X, y).coef_)
    np.testing.assert_array_equal(
        model.predict(named), kind(features=[2, 1], power=0.2).fit(X, y).predict(X)
    )


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["income"], "X has no column names; fit on a data frame"),
        ([3], "X has columns 0 to 2"),
        ([-1], "X has columns 0 to 2"),
        ([0, 0], "names a column twice"),
        ("income", "must be a list of names or positions"),
        ([True], "columns by name or position, got True"),
        ([1.5], "columns by name or position, got 1.5"),
        (1, "must be a list of names or positions"),
    ],
)
def test_wrong_features_are_refused(features, message: str) -> None:
    X, y = gp.synthetic_people(n=50, d=3, seed=0)
    with pytest.raises((ValueError, TypeError), match=message):
        gp.RobustStrategicClassifier(features=features).fit(X, y)


def test_unknown_name_is_refused_and_known_ones_are_listed() -> None:
    X, y = gp.synthetic_people(n=50, d=2, seed=0)
    with pytest.raises(ValueError, match="'debt', which is not among age, income"):
        gp.RobustStrategicClassifier(features=["debt"]).fit(
            pd.DataFrame(X, columns=["age", "income"]), y
        )


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("labels", [("no", "yes"), (3, 7), (False, True), (1.0, 2.0)])
def test_any_two_labels_will_do(kind, labels) -> None:
    X, y = gp.synthetic_people(n=150, d=3, seed=3)
    named = np.array(labels)[(y > 0).astype(int)]
    model, plain = kind(power=0.3).fit(X, named), kind(power=0.3).fit(X, y)
    assert model.classes_.tolist() == list(labels)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.predict(X) == labels[1], plain.predict(X) == 1)
    assert model.score(X, named) == plain.score(X, y)


@pytest.mark.parametrize("kind", BOTH)
def test_favourable_class_is_the_one_people_want(kind) -> None:
    """Naming the other class is equivalent to swapping labels: scores change sign."""
    X, y = gp.synthetic_people(n=150, d=3, seed=4)
    named = np.where(y > 0, "b", "a")
    model = kind(power=0.3, favourable="a").fit(X, named)
    turned = kind(power=0.3).fit(X, -y)
    np.testing.assert_array_equal(model.coef_, -turned.coef_)
    np.testing.assert_array_equal(model.decision_function(X), -turned.decision_function(X))
    np.testing.assert_array_equal(model.theta_, turned.theta_)
    assert model.worst_case_risk_ == turned.worst_case_risk_
    # With one power for all, the intercept compensates for who moves; without it, it matters.
    risks = [
        kind(power=0.3, favourable=wanted, fit_intercept=False).fit(X, named).worst_case_risk_
        for wanted in "ab"
    ]
    assert abs(risks[0] - risks[1]) > 1e-4
    with pytest.raises(ValueError, match="favourable is 'c', and the classes are 'a' and 'b'"):
        kind(favourable="c").fit(X, named)


@pytest.mark.parametrize("kind", BOTH)
def test_probabilities_are_the_logistic_function_of_scores(kind) -> None:
    X, y = gp.synthetic_people(n=100, d=3, seed=5)
    model = kind().fit(X, y)
    scores = model.decision_function(1000 * X)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_allclose(proba[:, 1], 1 / (1 + np.exp(-model.decision_function(X))))
    np.testing.assert_allclose(np.log(proba), model.predict_log_proba(X))
    np.testing.assert_allclose(  # accurate also where a probability rounds to 0
        model.predict_log_proba(1000 * X).min(axis=1), -np.abs(scores), rtol=1e-12, atol=1
    )


@pytest.mark.parametrize("kind", BOTH)
def test_bad_tables_are_refused_in_a_sentence(kind) -> None:
    X, y = gp.synthetic_people(n=20, d=2, seed=0)
    with pytest.raises(ValueError, match="y has one class, 'a'; a classifier needs two"):
        kind().fit(X, np.full(20, "a"))
    with pytest.raises(ValueError, match="y has 3 classes"):
        kind().fit(X, np.arange(20) % 3)
    with pytest.raises(ValueError, match="column 1 has numbers too large to standardise"):
        kind().fit(X * [1, 1e300], y)
    with pytest.raises(ValueError, match="y has 3, and the classes are"):
        kind().fit(X, y).problem(X, np.where(y > 0, 3, -1))
    with pytest.raises(ValueError, match="bound must be positive"):
        kind(bound=-1).fit(X, y)


@pytest.mark.parametrize("kind", BOTH)
def test_clones_fit_the_same(kind) -> None:
    X, y = gp.synthetic_people(n=100, d=3, seed=6)
    model = kind(response=gp.PowerCost(0.1, 1.5, 3.0), features=[0, 2]).fit(X, y)
    np.testing.assert_array_equal(clone(model).fit(X, y).coef_, model.coef_)
