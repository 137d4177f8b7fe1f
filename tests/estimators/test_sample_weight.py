"""Sample weights against scikit-learn's logistic regression and against repeated rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import gameproof as gp
from gameproof.estimators.model_io.model_record import trained_on

BOTH = [gp.RobustStrategicClassifier, gp.StrategicLogisticRegression]


def people(n: int = 200, d: int = 3):
    """People who are not separable, and integer weights that include 0."""
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((n, d)) * [1, 10, 0.1][:d], np.sign(rng.standard_normal(n))
    X[:, 0] += y
    return X, y, rng.integers(0, 4, size=n).astype(float)


@pytest.mark.parametrize("class_weight", [None, "balanced", {-1: 1.0, 1: 3.0}])
def test_where_nobody_answers_it_is_scikit_learn_s_logistic_regression(class_weight) -> None:
    X, y, weights = people()
    options = {"power": 0.0, "class_weight": class_weight}
    model = gp.StrategicLogisticRegression(**options).fit(X, y, sample_weight=weights)
    # "balanced" counts rows in some versions of scikit-learn and weights in others; ours: weights.
    if class_weight == "balanced":
        sums = {label: weights[y == label].sum() for label in (-1, 1)}
        class_weight = {label: weights.sum() / (2 * sums[label]) for label in sums}
    plain = LogisticRegression(C=1e10, tol=1e-10, max_iter=10_000, class_weight=class_weight)
    plain.fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-4)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, rtol=1e-4)
    assert model.score(X, y, weights) == plain.score(X, y, weights)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("by_person", [False, True])
def test_weights_are_equivalent_to_repeated_rows(kind, class_weight, by_person: bool) -> None:
    X, y, weights = people()
    rows = np.repeat(np.arange(y.size), weights.astype(int))
    power = np.random.default_rng(8).random(y.size) if by_person else 0.2

    def fitted(X, y, power, sample_weight=None):
        model = kind(power=power, features=[0, 1], class_weight=class_weight)
        return model.fit(X, y, sample_weight)

    one = fitted(X, y, power, weights)
    two = fitted(X[rows], y[rows], power[rows] if by_person else power)
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-6)
    np.testing.assert_allclose(one.intercept_, two.intercept_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(one.units_.scale, two.units_.scale, rtol=1e-12)
    assert one.worst_case_risk_ == pytest.approx(two.worst_case_risk_, rel=1e-9)
    assert one.worst_case(X, y, weights).value == pytest.approx(one.worst_case_risk_, rel=1e-12)
    if not by_person:
        gamed = one.gamed_score(X[rows], y[rows])
        assert one.gamed_score(X, y, weights) == pytest.approx(gamed)
    assert one.score(X, y, weights) == pytest.approx(one.score(X[rows], y[rows]))
    assert one.training_["fingerprint"] != two.training_["fingerprint"]


@pytest.mark.parametrize("labels", [int, float, str])
def test_fingerprint_ignores_weights_and_data_types(labels) -> None:
    X, y, weights = people()
    count = weights > 0
    model = gp.StrategicLogisticRegression().fit(X, y.astype(labels), weights)
    assert trained_on(model, X[count], y[count].astype(labels))
    assert trained_on(model, pd.DataFrame(X[count]), pd.Series(y[count].astype(labels)))
    assert not trained_on(model, X, y.astype(labels))
    assert not trained_on(model, X[count], -y[count])
    assert not trained_on(model, X[count], np.full(count.sum(), "neither"))
    if labels in (int, float):
        assert trained_on(model, X[count].tolist(), y[count].tolist())


@pytest.mark.parametrize("kind", BOTH)
def test_equal_weights_change_nothing(kind) -> None:
    X, y, weights = people()
    plain = kind().fit(X, y)
    np.testing.assert_allclose(kind().fit(X, y, np.full(y.size, 7.0)).coef_, plain.coef_, rtol=1e-9)
    one, two = (kind().fit(X, y, size * weights) for size in (1.0, 1e200))
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-9)


def test_black_box_is_asked_for_people_by_their_own_numbers() -> None:
    X, y, weights = people(60)
    asked: set[int] = set()

    def survey(theta, rows):
        asked.update(rows.tolist())
        return X[rows]

    solver = gp.ogda_rr(gradient=gp.TwoPoint())
    model = gp.RobustStrategicClassifier(response=gp.BlackBox(survey), solver=solver, epochs=2)
    model.fit(X, y, weights)
    assert asked == set(np.flatnonzero((weights > 0) & (y < 0)).tolist())
    asked.clear()
    model.gamed_score(X, y, weights)
    assert asked == set(np.flatnonzero((weights > 0) & (y < 0)).tolist())


BASE = gp.QuadraticCost(0.3)
IMPERFECT = [
    gp.Noisy(BASE, 0.1),
    gp.Limited(BASE, 0.2),
    gp.Boxed(BASE, -1.0, 1.0),
    gp.Rounded(BASE, 0.1),
    gp.Reluctant(BASE, 0.4),
    gp.Stale(gp.Noisy(BASE, 0.1)),
]


@pytest.mark.parametrize("response", IMPERFECT, ids=lambda response: type(response).__name__)
def test_rows_of_weight_0_are_left_out_of_imperfect_people_too(response) -> None:
    X, y, weights = people(60)
    count = weights > 0
    solver = gp.ogda_rr(gradient=gp.TwoPoint(), step=0.05)
    model = gp.StrategicLogisticRegression(response, solver=solver, epochs=3, random_state=0)
    one = model.fit(X, y, weights).coef_
    two = model.fit(X[count], y[count], weights[count]).coef_
    assert np.abs(one).max() > 0
    np.testing.assert_array_equal(one, two)


class Own(gp.Response):
    """A response class of a user."""

    sight = gp.Sight.ANSWERS

    def answers(self, theta, features, agents):
        return features + 0.1 * theta

    def fit(self, n, d) -> None:
        pass


@pytest.mark.parametrize("kind", BOTH)
def test_invalid_weights_are_refused(kind) -> None:
    X, y, weights = people(40)
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        kind().fit(X, y, weights - 1)
    with pytest.raises(ValueError, match="at least one non-zero"):
        kind().fit(X, y, 0 * weights)
    with pytest.raises(ValueError, match=r"y has one class, 1\.0"):
        kind().fit(X, y, (y > 0).astype(float))
    with pytest.raises(ValueError, match="may be keyed by row position"):
        kind(response=gp.Noisy(Own(), 0.1)).fit(X, y, weights)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (np.full(30, np.nan), "NaN"),
        (-np.ones(30), "Negative"),
        (np.zeros(30), "non-zero"),
        (np.ones(3), "shape"),
    ],
)
def test_scores_refuse_the_weights_that_fits_refuse(wrong: np.ndarray, said: str) -> None:
    X, y = gp.synthetic_people(n=30, d=2, seed=0)
    model = gp.StrategicLogisticRegression().fit(X, y)
    for use in (model.gamed_score, model.fit):
        with pytest.raises(ValueError, match=said):
            use(X, y, wrong)
