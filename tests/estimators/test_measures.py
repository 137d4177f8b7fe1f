"""Measures and calibration, against scikit-learn, scipy and their definitions."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import ks_2samp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

import gameproof as gp
from gameproof.estimators.calibration_fit import LEAST_BEND, fitted_calibration
from gameproof.estimators.measures import Measure, as_measure
from gameproof.estimators.probability_calibration import Calibration

RNG = np.random.default_rng(0)
SCORES = RNG.normal(0.3, 1.0, 300).round(1)
GOOD = RNG.random(300) < expit(SCORES)


def test_measures_are_those_of_other_packages() -> None:
    approved = SCORES > 0
    assert Measure("auc").value(SCORES, GOOD) == pytest.approx(roc_auc_score(GOOD, SCORES))
    ks = ks_2samp(SCORES[~GOOD], SCORES[GOOD], alternative="greater").statistic
    assert Measure("ks").value(SCORES, GOOD) == pytest.approx(ks)
    balanced = balanced_accuracy_score(GOOD, approved)
    assert Measure("balanced").value(SCORES, GOOD) == pytest.approx(balanced)
    cost = (5 * (approved & ~GOOD).sum() + 2 * (~approved & GOOD).sum()) / 300
    assert Measure("cost", 5, 2).value(SCORES, GOOD) == pytest.approx(-cost)
    assert Measure().value(SCORES, GOOD) == np.mean(approved == GOOD)


@pytest.mark.parametrize("name", ["accuracy", "balanced", "auc", "ks", "cost"])
def test_constant_decisions_measure_what_they_are_said_to(name: str) -> None:
    measure = Measure(name, 3.0, 1.0)
    found = [measure.value(np.full(300, sign), GOOD) for sign in (1.0, -1.0)]
    assert measure.of_constant(GOOD.mean()) == pytest.approx(max(found))


def test_measure_follows_from_the_rarer_outcome() -> None:
    assert as_measure(None, np.arange(100) < 29).name == "auc"
    assert as_measure(None, np.arange(100) < 30).name == "accuracy"
    assert as_measure(None, np.arange(100) < 71).name == "auc"
    with pytest.raises(ValueError, match=r"measure must be one of accuracy, .* got 'f1'"):
        as_measure("f1", GOOD)
    with pytest.raises(ValueError, match="needs positive costs of both wrong decisions, got 0"):
        as_measure("cost", GOOD, 0.0, 1.0)


def test_class_weights_follow_from_the_measure() -> None:
    rare = np.arange(100) < 90
    assert Measure("auc").class_weight(rare) == Measure("balanced").class_weight(GOOD) == "balanced"
    assert Measure("accuracy").class_weight(rare) is Measure("auc").class_weight(GOOD) is None
    assert Measure("auc").class_weight(rare, balanced=False) is None
    assert Measure("cost", 5.0, 1.0).class_weight(rare) == {1.0: 1.0, -1.0: 5.0}


def test_calibrated_probabilities_have_the_mean_of_the_outcomes() -> None:
    """Also for scores that separate the outcomes, are constant, or rank them backwards."""
    for scores in (SCORES, np.where(GOOD, 1.0, -1.0), np.zeros(300), -SCORES, 1e6 * SCORES + 5e6):
        found = fitted_calibration(scores, GOOD)
        assert found.slope > 0
        assert found.probability(scores).mean() == pytest.approx(GOOD.mean(), abs=1e-4)


def test_calibration_undoes_class_weights() -> None:
    """A weighted fit to 20,000 rows; three standard errors of 0.0015 and of the fit itself."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20_000, 2))
    true = expit(X @ [1.0, -0.5] + 3)
    y = np.where(rng.random(20_000) < true, 1.0, -1.0)
    model = gp.StrategicLogisticRegression(power=0.0, class_weight="balanced").fit(X, y)
    scores = model.decision_function(X)
    assert expit(scores).mean() < 0.7
    found = fitted_calibration(scores, y > 0).probability(scores)
    assert np.abs(found - true).mean() < 0.01


@pytest.mark.parametrize("found", [Calibration(2.0, -1.0), Calibration(2.0, -1.0, 0.3, 1.7, 0.4)])
def test_calibration_can_be_moved_and_inverted(found: Calibration) -> None:
    np.testing.assert_allclose(
        found.moved(0.7).probability(SCORES - 0.7), found.probability(SCORES), rtol=1e-12
    )
    for probability in (1e-6, 0.1, 0.9, 1 - 1e-6):
        at = np.array([found.score_at(probability)])
        assert found.probability(at)[0] == pytest.approx(probability)
    ends = found.log_odds(np.array([0.3 - 1e-6, 0.3 + 1e-6]))
    assert found.slope_at(0.3) == pytest.approx(float(np.diff(ends)[0]) / 2e-6)
    slopes = found.mean_slopes(SCORES, 0.3)
    way = found.log_odds(SCORES) - found.log_odds(np.array([0.3]))
    np.testing.assert_allclose(slopes * (SCORES - 0.3), way, atol=1e-12)
    np.testing.assert_allclose(slopes[SCORES == 0.3], found.slope_at(0.3))


def test_calibration_is_the_logistic_regression_on_the_bends_of_the_score() -> None:
    """Beta calibration: scikit-learn's unpenalised fit to log p and log (1 - p) of Platt's p."""
    rng = np.random.default_rng(4)
    scores = rng.normal(0.0, 2.0, 4000)
    good = rng.random(4000) < expit(0.6 * scores + 0.6 * np.maximum(scores, 0) + 1)
    line = LogisticRegression(C=np.inf, tol=1e-10).fit(scores[:, None], good)
    p = line.predict_proba(scores[:, None])[:, 1]
    features = np.column_stack([np.log(p), -np.log(1 - p)])
    curve = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(features, good)
    found = fitted_calibration(scores, good)
    expected = curve.predict_proba(features)[:, 1]
    np.testing.assert_allclose(found.probability(scores), expected, atol=1e-6)
    assert found.high > 2 * found.low


def test_calibration_always_rises() -> None:
    """Where outcomes get worse again at high scores, the curve is nearly flat and still rises."""
    rng = np.random.default_rng(5)
    scores = rng.normal(0.0, 2.0, 4000)
    good = rng.random(4000) < expit(1 - np.abs(scores - 1))
    found = fitted_calibration(scores, good)
    assert found.high == LEAST_BEND
    assert (np.diff(found.log_odds(np.linspace(-20, 20, 100))) > 0).all()
    assert found.probability(scores).mean() == pytest.approx(good.mean(), abs=1e-6)


def test_radius_and_budget_are_chosen_by_the_stated_measure() -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((400, 3))
    y = np.where(rng.random(400) < expit(2 * X[:, 0] + 2.5), 1, -1)
    model = gp.RobustStrategicClassifier(budgets={1: (-0.5, 0.5)}, class_weight="balanced")
    curve = gp.select_radius(X, y, model, radii=[0, 0.05], folds=3)
    assert curve.measure.name == "auc"
    assert "AUC" in curve.reason
    assert gp.select_budget(X, y, model, multiples=[0, 1], folds=3).measure.name == "auc"
    given = gp.select_radius(X, y, model, radii=[0, 0.05], folds=3, measure="ks")
    assert (given.measure.name, "KS" in given.reason) == ("ks", True)
    assert not np.allclose(given.clean, curve.clean)
