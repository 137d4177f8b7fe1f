"""`select_radius`: the curve against manual cross-validation, and the rule on made-up curves."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import gameproof as gp
from gameproof.estimators.radius_curve import recommended_radius

SCALE = np.array([1e3, 1.0, 0.01])
X, Y = gp.synthetic_people(n=240, d=3, seed=4)
X = X * SCALE + 5


def test_curve_is_what_cross_validation_by_hand_gives() -> None:
    model = gp.RobustStrategicClassifier(label_cost=0.7, power=0.4, features=[0, 2])
    radii = [0.0, 0.03, 0.2]
    curve = gp.select_radius(X, Y, model, radii=radii, folds=3, seed=1)
    split = StratifiedKFold(3, shuffle=True, random_state=1)
    assert curve.radii.tolist() == radii
    for k, radius in enumerate(radii):
        model.set_params(radius=radius)
        np.testing.assert_array_equal(curve.clean[k], cross_val_score(model, X, Y, cv=split))
        for f, (train, test) in enumerate(split.split(X, Y)):
            mean, sd = X[train].mean(axis=0), X[train].std(axis=0)
            model.fit(X[train], Y[train])
            Z, theta = (X[test] - mean) / sd, model.coef_[0] * sd
            offset = model.intercept_[0] + mean @ model.coef_[0]
            people = gp.Population(Z, Y[test], gp.QuadraticCost(0.4, features=[0, 2]))
            scores = people.ask(theta, np.arange(test.size)) @ theta + offset
            assert curve.gamed[k, f] == np.mean(np.sign(scores) == Y[test])
            problem = gp.StrategicProblem(people, radius, 0.7)
            risk = gp.worst_case(problem, theta, offset).value
            assert curve.risk[k, f] == pytest.approx(risk, abs=1e-6)
    row = curve.rows()[1]
    assert row["clean"] == curve.clean[1].mean()
    assert row["clean error"] == pytest.approx(np.std(curve.clean[1], ddof=1) / np.sqrt(3))


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_curve_by_weight_is_what_cross_validation_by_hand_gives(class_weight) -> None:
    """Integer weights are equivalent to repeated rows that stay together in one fold."""
    weights = np.random.default_rng(5).integers(0, 4, size=Y.size)
    # Misclassified rows get the largest weights, which changes the largest useful radius.
    weights[gp.StrategicLogisticRegression().fit(X, Y).predict(X) != Y] *= 4
    options = {"power": 0.4, "class_weight": class_weight}
    model = gp.RobustStrategicClassifier(**options)
    curve = gp.select_radius(X, Y, model, radii=[0.03], folds=3, sample_weight=weights)
    persons = np.flatnonzero(weights)
    split = StratifiedKFold(3, shuffle=True, random_state=0).split(persons, Y[persons])
    for f, parts in enumerate(split):
        train, test = (np.repeat(persons[part], weights[persons[part]]) for part in parts)
        judge = gp.RobustStrategicClassifier(0.03, **options).fit(X[train], Y[train])
        assert curve.clean[0, f] == pytest.approx(judge.score(X[test], Y[test]))
        assert curve.gamed[0, f] == pytest.approx(judge.gamed_score(X[test], Y[test]))
        assert curve.risk[0, f] == pytest.approx(judge.worst_case(X[test], Y[test]).value, rel=1e-6)
    rows = np.repeat(np.arange(Y.size), weights)
    written_out = gp.select_radius(X[rows], Y[rows], model, radii=[0.03], folds=2)
    assert curve.largest_useful == pytest.approx(written_out.largest_useful, rel=0.02)
    plain = gp.select_radius(X, Y, model, radii=[0.03], folds=2)
    assert curve.largest_useful != pytest.approx(plain.largest_useful, rel=0.05)


def test_equal_weights_change_nothing_and_frames_take_them() -> None:
    plain = gp.select_radius(X, Y, radii=[0.05], folds=2)
    frame, labels = pd.DataFrame(X, index=range(7, 247)), pd.Series(Y, index=range(9, 249))
    weights = pd.Series(np.full(240, 2.0), index=range(50, 290))
    equal = gp.select_radius(frame, labels, radii=[0.05], folds=2, sample_weight=weights)
    np.testing.assert_array_equal(equal.clean, plain.clean)
    np.testing.assert_array_equal(equal.gamed, plain.gamed)


def test_largest_useful_radius_is_that_of_the_standardised_people() -> None:
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    problem = gp.StrategicProblem(
        gp.Population(Z, Y, gp.QuadraticCost(0.3)), 0.1, 0.5, intercept=9.0
    )
    truth = gp.largest_useful_radius(problem)
    curve = gp.select_radius(X, Y, gp.RobustStrategicClassifier(power=0.3), folds=2)
    assert curve.largest_useful == pytest.approx(truth, rel=0.02)
    assert curve.radii[0] == 0
    assert curve.radii.size == 10
    assert curve.radii[-1] < truth
    assert curve.reason in repr(curve)


def table(means: list[float], error: float) -> np.ndarray:
    """Measures in four folds. Differences of two rows have this standard error.

    The luck of a fold is the same for all rows, and far larger.
    """
    luck = np.array([-1.0, -0.5, 0.5, 1.0])
    return np.array(means)[:, None] + luck + error * np.sqrt(6) * (np.eye(4) - 0.25)


NONE = np.zeros(4, dtype=bool)
RADII = np.array([0.0, 0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("clean", "gamed", "error", "chosen"),
    [
        ([0.9, 0.895, 0.892, 0.88], [0.8, 0.8, 0.8, 0.8], 0.01, 0.2),
        ([0.9, 0.895, 0.892, 0.88], [0.8, 0.8, 0.8, 0.8], 0.001, 0.0),
        ([0.9, 0.895, 0.892, 0.88], [0.8, 0.8, 0.8, 0.8], 0.1, 0.3),
        # the best need not be the first
        ([0.85, 0.9, 0.895, 0.88], [0.8, 0.8, 0.8, 0.8], 0.01, 0.2),
        # gamed accuracy counts first
        ([0.9, 0.895, 0.892, 0.88], [0.8, 0.83, 0.80, 0.9], 0.01, 0.3),
        # among radii that cost no gamed accuracy, 0.2 has a lower clean accuracy
        ([0.9, 0.895, 0.87, 0.87], [0.83, 0.825, 0.825, 0.8], 0.01, 0.1),
        # a dip in between does not end the search
        ([0.9, 0.85, 0.895, 0.8], [0.8, 0.8, 0.8, 0.8], 0.01, 0.2),
    ],
)
def test_recommended_radius_follows_the_rule_of_one_standard_error(
    clean, gamed, error, chosen
) -> None:
    tables = table(clean, error), table(gamed, error)
    found, reason = recommended_radius(RADII, *tables, NONE, 0.5)
    assert found == chosen
    why = (
        "is the largest radius tried" if chosen else "because every larger radius tried costs more"
    )
    assert reason.startswith(f"{chosen:.3g} {why}")
    assert f"{clean[RADII.tolist().index(chosen)]:.3f}" in reason


def test_a_cleaner_radius_that_does_not_hold_up_is_admitted() -> None:
    clean = np.array([[0.8] * 3, [0.8] * 3, [0.9] * 3, [0.9] * 3])
    gamed = np.array([[0.8] * 3, [0.8] * 3, [0.7] * 3, [0.6] * 3])
    found, reason = recommended_radius(RADII, clean, gamed, NONE, 0.5)
    assert found == RADII[1]
    assert "clean accuracy 0.800, at best 0.800 at 0 among radii that hold up" in reason


def test_classifier_that_ignores_the_data_is_never_recommended() -> None:
    """If one class is a large majority, ignoring the data costs little accuracy."""
    even = table([0.9, 0.9, 0.9, 0.9], 0.01)
    found, _ = recommended_radius(RADII, even, even, np.array([0, 0, 1, 1], bool), 0.15)
    assert found == 0.1
    found, reason = recommended_radius(RADII, even, even, ~NONE, 0.0)
    assert found == 0.0
    assert "No radius can be recommended" in reason


def test_frames_keep_their_names_through_the_folds() -> None:
    frame = pd.DataFrame(X, columns=["age", "income", "debt"])
    model = gp.RobustStrategicClassifier(features=["debt"], favourable="no")
    labels = pd.Series(np.where(Y > 0, "no", "yes"), index=range(1000, 1240))
    curve = gp.select_radius(frame, labels, model, radii=[0.0, 0.05], folds=2)
    plain = gp.RobustStrategicClassifier(features=[2])
    np.testing.assert_array_equal(
        curve.clean, gp.select_radius(X, Y, plain, radii=[0.0, 0.05], folds=2).clean
    )


def pipeline(classifier: Any) -> Any:
    """Imputation, categories and scaling before a classifier, which sees three columns or more."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    words = OneHotEncoder(sparse_output=False)
    return make_pipeline(make_column_transformer((numbers, [0, 1]), (words, [2])), classifier)


@pytest.mark.parametrize("fitted", [False, True])
def test_steps_before_a_classifier_are_fitted_inside_each_fold(fitted: bool) -> None:
    """As scikit-learn's cross-validation of the whole pipeline does."""
    filled = np.where(np.arange(240) % 7 == 0, np.nan, X[:, 0])
    rows = np.column_stack([filled, X[:, 1], X[:, 2] > 5])
    labels, budgets = np.where(Y > 0, "paid", "default"), {1: (-1, 1)}
    robust = pipeline(gp.RobustStrategicClassifier(budgets=budgets, favourable="paid"))
    strategic = pipeline(gp.StrategicLogisticRegression(budgets=budgets, favourable="paid"))
    if fitted:
        robust.fit(rows, labels)
        strategic.fit(rows, labels)
    split = StratifiedKFold(3, shuffle=True, random_state=0)
    by_radius = gp.select_radius(rows, labels, robust, radii=[0, 0.1], folds=3, measure="auc")
    by_budget = gp.select_budget(rows, labels, strategic, multiples=[0, 1], folds=3, measure="auc")
    for k, (radius, most) in enumerate([(0.0, 0), (0.1, 1)]):
        one = clone(robust).set_params(robuststrategicclassifier__radius=radius)
        two = clone(strategic).set_params(strategiclogisticregression__budgets={1: (-most, most)})
        for found, model in ((by_radius, one), (by_budget, two)):
            expected = cross_val_score(model, rows, labels, cv=split, scoring="roc_auc")
            assert found.clean[k] == pytest.approx(expected, abs=1e-12)
    for f, (train, test) in enumerate(split.split(rows, labels)):
        model = clone(strategic).fit(rows[train], labels[train])
        seen = model[:-1].transform(rows[test])
        gamed = gp.gamed_scorer(budgets, "roc_auc", favourable="paid")(
            model[-1], seen, labels[test]
        )
        assert by_budget.gamed[1, f] == pytest.approx(gamed, abs=1e-12)
    assert (by_budget.gamed[0] < by_budget.clean[0]).any()
    assert hasattr(robust[-1], "coef_") == fitted


@pytest.mark.parametrize("select", [gp.select_radius, gp.select_budget])
def test_paths_and_other_things_that_are_no_tables_are_refused(select: Any) -> None:
    model = gp.RobustStrategicClassifier(budgets=[0])
    for path in ("loans", Path("loans")):
        with pytest.raises(TypeError, match=r"X is the path 'loans'.*read it first.*gp\.fit_table"):
            select(path, Y, model)
    for other in (None, {"a": X[:, 0]}, iter(X)):
        with pytest.raises(TypeError, match="X must be an array or a data frame, in memory or of"):
            select(other, Y, model)


def test_what_cannot_be_judged_is_refused() -> None:
    with pytest.raises(TypeError, match="alone or at the end of a pipeline, got Pipeline"):
        gp.select_radius(X, Y, pipeline(LogisticRegression()))
    with pytest.raises(TypeError, match="alone or at the end of a pipeline, got Pipeline"):
        gp.select_budget(X, Y, pipeline(LogisticRegression()))
    with pytest.raises(ValueError, match="the rarer class has 1 rows, too few for 5 folds"):
        gp.select_radius(X, np.where(np.arange(240) == 3, 1, -1))
    with pytest.raises(TypeError, match="model must be a RobustStrategicClassifier"):
        gp.select_radius(X, Y, gp.StrategicLogisticRegression())
    with pytest.raises(TypeError, match=r"pipeline, got ndarray of shape \(240,\)"):
        gp.select_radius(gp.RobustStrategicClassifier(), X, Y)
    with pytest.raises(ValueError, match="folds must be at least 2"):
        gp.select_radius(X, Y, folds=1)
    with pytest.raises(ValueError, match="radius must be finite and at least 0"):
        gp.select_radius(X, Y, radii=[-0.1])
    with pytest.raises(ValueError, match="radii is empty, expected at least one number"):
        gp.select_radius(X, Y, radii=[])
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        gp.select_radius(X, Y, sample_weight=-np.ones(240))
    with pytest.raises(ValueError, match="the rarer class has 3 rows, too few for 5 folds"):
        gp.select_radius(X, Y, sample_weight=(Y > 0) | (np.cumsum(Y < 0) <= 3))
    asked = []
    box = gp.BlackBox(lambda theta, agents: asked.append(agents))
    model = gp.RobustStrategicClassifier(response=box, solver=gp.ogda_rr(), queries=100)
    with pytest.raises(TypeError, match="applies the response to held-out people"):
        gp.select_radius(X, Y, model)
    with pytest.raises(ValueError, match="power must be the same for all"):
        gp.select_radius(X, Y, gp.RobustStrategicClassifier(power=np.full(240, 0.1)))
    assert asked == []


@pytest.mark.parametrize("select", [gp.select_radius, gp.select_budget])
def test_the_number_of_threads_changes_no_bit_of_a_curve(select: Any) -> None:
    X, y = gp.synthetic_people(n=300, d=4, seed=0)
    model = gp.RobustStrategicClassifier(budgets={0: (-0.5, 0.5)})
    one, two = (select(X, y, model, folds=3, n_jobs=jobs) for jobs in (None, 2))
    assert (one.clean == two.clean).all()
    assert (one.gamed == two.gamed).all()
    assert one.recommended == two.recommended


def test_threads_leave_the_filters_of_warnings_as_they_were() -> None:
    X, y = gp.synthetic_people(n=200, d=3, seed=0)
    before = list(warnings.filters)
    gp.select_radius(X, y, radii=[0.0, 0.1, 5.0], folds=3, n_jobs=3)
    assert list(warnings.filters) == before
