"""Classifiers for people who move within budgets, against brute force and a conic solver."""

import itertools
import warnings

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)

import gameproof as gp

BOTH = [gp.RobustStrategicClassifier, gp.StrategicLogisticRegression]
COLUMNS = ["savings", "utilisation", "age"]


def table(n: int = 150, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns of very different sizes, two of which people can change, and labels."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 3))
    y = np.sign(Z @ [1.0, -1.0, 0.7] + rng.standard_normal(n))
    X = np.column_stack([3000 * np.exp(Z[:, 0]), 0.4 + 0.1 * Z[:, 1], 45 + 12 * Z[:, 2]])
    return pd.DataFrame(X, columns=COLUMNS), y


RANGES = {"savings": (0, 2000), "utilisation": (-0.1, 0.05)}
PREPARATIONS = {
    "none": None,
    "scaled": StandardScaler(),
    "quantiles": QuantileTransformer(n_quantiles=40),
    "power": PowerTransformer(),
    "logarithm": FunctionTransformer(np.log1p),
    "logarithm, scaled": make_pipeline(FunctionTransformer(np.log1p), StandardScaler()),
    "ours": gp.Prepare(),
}


@pytest.mark.parametrize("name", PREPARATIONS)
def test_gamed_decisions_are_those_of_a_search_over_the_table(name: str) -> None:
    """Every refused person tries all corners of the box in the table's units, and points between:
    a score that rises or falls with each column is largest at a corner."""
    frame, y = table(60)
    model = gp.StrategicLogisticRegression(budgets=RANGES, prepare=PREPARATIONS[name])
    model.fit(frame, y)
    rng = np.random.default_rng(1)
    model.coef_ = rng.standard_normal(3)[
        None, :
    ]  # the fitted coefficients leave no room for gaming
    model.intercept_ = np.zeros(1)
    model.intercept_ -= np.quantile(model.decision_function(frame), 0.7)
    for multiple in (0.5, 1.0, 2.0):
        found = model.gamed_decisions(frame, multiple=multiple)
        accepted = model.predict(frame) > 0
        grids = [np.linspace(*np.array(RANGES[c]) * multiple, 5) for c in COLUMNS[:2]]
        for step in itertools.product(*grids):
            moved = frame.assign(
                savings=frame["savings"] + step[0], utilisation=frame["utilisation"] + step[1]
            )
            accepted |= model.predict(moved) > 0
        np.testing.assert_array_equal(found > 0, accepted)
        assert (found > 0).sum() > (model.predict(frame) > 0).sum()


LEVELS = {"job": ("none", "retired", "student"), "home": ("owned", "rented")}
FEATURES = gp.Features(("savings", "job", "home"), LEVELS)


def people_with_jobs(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    X = np.column_stack(
        [1000 * np.exp(rng.standard_normal(n)), rng.integers(0, 3, n), rng.integers(0, 2, n)]
    ).astype(float)
    score = np.log(X[:, 0] / 1000) + np.array([-1.0, 1.0, 0.0])[X[:, 1].astype(int)] - X[:, 2]
    y = np.where(score + rng.standard_normal(n) > 0, "yes", "no")
    X[rng.random((n, 3)) < 0.05] = np.nan
    return X, y


@pytest.mark.parametrize("favourable", ["yes", "no"])
def test_claimed_levels_and_gaps_are_those_of_a_search_over_the_table(favourable: str) -> None:
    X, y = people_with_jobs()
    budgets = {"savings": (-300, 800), "job": ["retired", "student"], 2: ["rented"]}
    model = gp.StrategicLogisticRegression(
        budgets=budgets, prepare=gp.Prepare(FEATURES), favourable=favourable
    ).fit(X, y)
    rng = np.random.default_rng(3)
    model.coef_ = rng.standard_normal(model.coef_.shape)
    model.intercept_ = np.zeros(1)
    model.intercept_ -= np.median(model.decision_function(X))
    accepted = model.predict(X) == favourable
    for savings, job, home in itertools.product([-300, 0, 800], [None, 1, 2], [None, 1]):
        moved = X.copy()
        moved[:, 0] += savings
        for at, level in ((1, job), (2, home)):
            if level is not None:
                moved[:, at] = level
        accepted |= model.predict(moved) == favourable
    np.testing.assert_array_equal(model.gamed_decisions(X) == favourable, accepted)
    gamed = np.where(y == favourable, model.predict(X), model.gamed_decisions(X))
    assert model.gamed_score(X, y) == np.mean(gamed == y)
    assert (model.gamed_decisions(X, multiple=0) == model.predict(X)).all()


def test_fit_with_claims_is_the_minimum_of_the_loss_at_the_best_claims() -> None:
    """A person at level l who can claim A gains max(0, max over A of theta_k - theta_l)."""
    X, y = people_with_jobs()
    signs = np.where(y == "yes", 1.0, -1.0)
    model = gp.StrategicLogisticRegression(
        budgets={"job": ["student"], "home": ["rented"]}, prepare=gp.Prepare(FEATURES)
    ).fit(X, y)
    names, Z = model.coef_names_, model.prepare_.transform(X)
    theta, offset = cp.Variable(len(names)), cp.Variable()
    jobs = [theta[names.index(f"job={level}")] for level in LEVELS["job"]]
    homes = [cp.Constant(0.0), theta[names.index("home=rented")]]
    gains = 0
    for at, values, claimed in ((1, jobs, 2), (2, homes, 1)):
        levels = [*values, cp.Constant(0.0)]  # the last stands for a missing level
        own = np.where(np.isnan(X[:, at]), len(values), X[:, at]).astype(int)
        rise = cp.hstack([cp.pos(values[claimed] - value) for value in levels])
        gains = gains + (np.arange(len(levels)) == own[:, None]).astype(float) @ rise
    z = Z @ theta + offset
    loss = cp.sum(cp.logistic(-z[signs > 0])) + cp.sum(cp.logistic((z + gains)[signs < 0]))
    best = cp.Problem(cp.Minimize(loss / y.size))
    best.solve(solver=cp.CLARABEL)
    assert model.worst_case_risk_ == pytest.approx(best.value, abs=1e-6)


def loss_at_best(z_bounds: cp.Expression, y: np.ndarray, weights: np.ndarray) -> cp.Expression:
    return weights @ cp.logistic(cp.multiply(-y, z_bounds)) / weights.sum()


@pytest.mark.parametrize("name", ["none", "logarithm", "ours"])
@pytest.mark.parametrize("weighted", [False, True])
def test_fit_is_the_minimum_of_the_loss_at_the_ends_of_each_box(name: str, weighted) -> None:
    """A conic solver with one box per person, made by hand from the transformed table."""
    frame, y = table()
    weights = np.random.default_rng(5).uniform(0.5, 2.0, y.size) if weighted else np.ones(y.size)
    model = gp.StrategicLogisticRegression(budgets=RANGES, prepare=PREPARATIONS[name])
    model.fit(frame, y, sample_weight=weights if weighted else None)

    def transformed(X: pd.DataFrame) -> np.ndarray:
        values = X.to_numpy()
        return values if model.prepare_ is None else model.prepare_.transform(values)

    Z = transformed(frame)
    mean = np.average(Z, axis=0, weights=weights)
    sd = np.sqrt(np.average((Z - mean) ** 2, axis=0, weights=weights))
    lower, upper = np.zeros_like(Z), np.zeros_like(Z)
    for at, column in enumerate(COLUMNS[:2]):
        for bounds, by in zip((lower, upper), RANGES[column], strict=True):
            moved = frame.assign(**{column: frame[column] + by})
            bounds[:, at] = (transformed(moved) - Z)[:, at]
    up, down, offset = cp.Variable(3, nonneg=True), cp.Variable(3, nonneg=True), cp.Variable()
    refused = (y < 0).astype(float)
    z = ((Z - mean) / sd) @ (up - down) + offset
    z = z + cp.multiply(refused, (upper / sd) @ up - (lower / sd) @ down)
    best = cp.Problem(cp.Minimize(loss_at_best(z, y, weights)))
    best.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    assert model.worst_case_risk_ == pytest.approx(best.value, abs=1e-7)
    np.testing.assert_allclose(model.theta_, (up - down).value, atol=2e-3)
    assert model.offset_ == pytest.approx(float(offset.value), abs=2e-3)


def test_robust_fit_is_the_saddle_point_of_a_box_by_hand() -> None:
    frame, y = table()
    X = frame.to_numpy()
    mean, sd = X.mean(axis=0), X.std(axis=0)
    box = gp.BoxBudget(np.array([0, -0.1, 0]) / sd, np.array([2000, 0.05, 0]) / sd)
    people = gp.Population((X - mean) / sd, y, box)
    problem = gp.StrategicProblem(people, 0.03, 0.5, intercept=9.0)
    saddle = gp.saddle_point(problem)
    model = gp.RobustStrategicClassifier(0.03, 0.5, budgets=RANGES).fit(frame, y)
    assert model.result_.value == pytest.approx(saddle.value, abs=1e-8)
    np.testing.assert_allclose(model.theta_, problem.split(saddle.x)[0], atol=1e-4)
    assert model.result_.duality_gap < 1e-8
    same = gp.RobustStrategicClassifier(0.03, 0.5, response=box).fit(frame, y)
    np.testing.assert_allclose(same.coef_, model.coef_, rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("kind", BOTH)
def test_other_units_of_the_table_give_the_same_classifier(kind) -> None:
    frame, y = table()
    model = kind(budgets=RANGES).fit(frame, y)
    other = frame.assign(
        savings=frame["savings"] / 1000 + 7, utilisation=100 * frame["utilisation"]
    )
    ranges = {"savings": (0, 2), "utilisation": (-10, 5)}
    again = kind(budgets=ranges).fit(other, y)
    np.testing.assert_allclose(
        again.decision_function(other), model.decision_function(frame), atol=1e-4
    )
    assert again.gamed_score(other, y) == model.gamed_score(frame, y)


@pytest.fixture(scope="module")
def fitted() -> tuple[gp.RobustStrategicClassifier, pd.DataFrame, np.ndarray]:
    frame, y = table()
    model = gp.RobustStrategicClassifier(0.02, budgets=RANGES, prepare=gp.Prepare())
    return model.fit(frame, y), frame, y


@settings(max_examples=40, deadline=None)
@given(factor=st.floats(1e-6, 1e6), multiple=st.sampled_from([0.5, 1.0, 3.0]))
def test_a_positive_multiple_of_the_classifier_changes_no_gamed_decision(
    fitted, factor: float, multiple: float
) -> None:
    model, frame, y = fitted
    before = model.gamed_decisions(frame, multiple=multiple)
    scores = [model.gamed_score(frame, y, multiple=multiple, who=w) for w in WHO]
    coef, intercept = model.coef_, model.intercept_
    try:
        model.coef_, model.intercept_ = factor * coef, factor * intercept
        np.testing.assert_array_equal(model.gamed_decisions(frame, multiple=multiple), before)
        again = [model.gamed_score(frame, y, multiple=multiple, who=w) for w in WHO]
        assert again == scores
    finally:
        model.coef_, model.intercept_ = coef, intercept


WHO = ("unfavourable", "refused")


def test_gamed_score_counts_who_moves(fitted) -> None:
    model, frame, y = fitted
    now, then = model.predict(frame), model.gamed_decisions(frame)
    weights = np.random.default_rng(0).integers(0, 3, y.size).astype(float)
    for who, gamed in (("unfavourable", np.where(y < 0, then, now)), ("refused", then)):
        right = gamed == y
        assert model.gamed_score(frame, y, who=who) == np.mean(right)
        assert model.gamed_score(frame, y, weights, who=who) == np.average(right, weights=weights)
    assert model.gamed_score(frame, y, multiple=0) == model.score(frame, y)
    with pytest.raises(ValueError, match="who must be one of unfavourable, refused, got 'all'"):
        model.gamed_score(frame, y, who="all")
    with pytest.raises(ValueError, match="a multiple of budgets must be finite and at least 0"):
        model.gamed_score(frame, y, multiple=-1)


@pytest.mark.parametrize("favourable", [0, 1])
def test_a_score_of_0_is_decided_as_predict_decides_it(favourable: int) -> None:
    """Small integers: every score and gain is exact. Class 1 takes a score above 0."""
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (80, 2)).astype(float)
    y = np.where(X[:, 0] + rng.standard_normal(80) > 0, 1, 0)
    model = gp.StrategicLogisticRegression(
        budgets={0: (-1, 1)}, favourable=favourable, standardise=False
    ).fit(X, y)
    model.coef_, model.intercept_ = np.array([[1.0, 1.0]]), np.array([0.0])
    step = np.array([1.0, 0.0]) * (1 if favourable else -1)
    wins = (model.predict(X) == favourable) | (model.predict(X + step) == favourable)
    np.testing.assert_array_equal(model.gamed_decisions(X) == favourable, wins)
    at_zero = (X + step).sum(axis=1) == 0
    assert at_zero.sum() > 3
    assert set(model.gamed_decisions(X)[at_zero]) == {0}


def test_default_budgets_are_half_a_standard_deviation_of_the_training_rows() -> None:
    frame, y = table()
    model = gp.StrategicLogisticRegression(budgets=["age", 0], prepare=gp.Prepare()).fit(frame, y)
    half = frame.to_numpy().std(axis=0) / 2
    assert model.budgets_.ranges[2] == pytest.approx((-half[2], half[2]))
    assert model.budgets_.ranges[0] == pytest.approx((-half[0], half[0]))
    assert "half a standard deviation" in model.training_["budgets"]
    assert (
        model.budgets_
        == gp.StrategicLogisticRegression(budgets={"age": None, "savings": None})
        .fit(frame, y)
        .budgets_
    )
    weights = np.random.default_rng(1).integers(0, 3, y.size)
    rows = np.repeat(np.arange(y.size), weights)
    one = gp.StrategicLogisticRegression(budgets=[0]).fit(frame, y, sample_weight=weights)
    two = gp.StrategicLogisticRegression(budgets=[0]).fit(frame.iloc[rows], y[rows])
    assert one.budgets_.ranges[0] == pytest.approx(two.budgets_.ranges[0])
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-4, atol=1e-8)


def test_budgets_given_after_the_fit_say_what_people_can_do_from_then_on() -> None:
    frame, y = table()
    model = gp.StrategicLogisticRegression(budgets=RANGES).fit(frame, y)
    double = {name: (2 * low, 2 * high) for name, (low, high) in RANGES.items()}
    twice = model.gamed_decisions(frame, multiple=2)
    np.testing.assert_array_equal(model.set_params(budgets=double).gamed_decisions(frame), twice)
    plain = gp.StrategicLogisticRegression(power=0.0).fit(frame, y)
    moved = frame.assign(savings=frame["savings"] + 2000)
    assert plain.coef_[0, 0] > 0
    plain.set_params(power=None, budgets={"savings": (0, 2000)})
    np.testing.assert_array_equal(plain.gamed_decisions(frame), plain.predict(moved))


def test_prepared_columns_have_names_and_the_table_keeps_its_own() -> None:
    X, y = people_with_jobs()
    model = gp.StrategicLogisticRegression(budgets={"job": None}, prepare=gp.Prepare(FEATURES))
    model.fit(X, y)
    assert model.n_features_in_ == 3
    assert model.coef_names_ == model.prepare_.get_feature_names_out().tolist()
    assert model.coef_.shape == (1, len(model.coef_names_))
    assert [model.coef_names_[k] for k in model.movable_] == [
        "job=none",
        "job=retired",
        "job=student",
    ]
    assert model.prepare_ is not model.prepare
    frame, y = table()
    for prepare in PREPARATIONS.values():
        model = gp.StrategicLogisticRegression(budgets=["age"], prepare=prepare)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert model.fit(frame, y).coef_names_ == COLUMNS
        assert model.movable_.tolist() == [2]


def test_power_and_features_go_through_a_preparation_as_well() -> None:
    frame, y = table()
    Z = StandardScaler().fit_transform(np.log1p(frame.to_numpy()))
    inside = gp.RobustStrategicClassifier(
        power=0.3, features=["savings"], prepare=PREPARATIONS["logarithm, scaled"]
    ).fit(frame, y)
    outside = gp.RobustStrategicClassifier(power=0.3, features=[0]).fit(Z, y)
    np.testing.assert_allclose(inside.coef_, outside.coef_, rtol=1e-6)
    assert inside.gamed_score(frame, y) == outside.gamed_score(Z, y)
    assert inside.gamed_score(frame, y, multiple=3) == outside.set_params(power=0.9).gamed_score(
        Z, y
    )
    X, labels = people_with_jobs()
    ours = gp.StrategicLogisticRegression(features=["job"], prepare=gp.Prepare(FEATURES))
    ours.fit(X, labels)
    assert [ours.coef_names_[k] for k in ours.movable_] == [
        f"job={level}" for level in LEVELS["job"]
    ]
