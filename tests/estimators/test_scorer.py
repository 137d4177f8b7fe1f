"""`gamed_scorer`: scores of linear scikit-learn classifiers after people have moved."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

import gameproof as gp

RANGES = {0: (-0.5, 1.0), 2: (0.0, 0.7)}
MODELS = [LogisticRegression(), LinearSVC(), RidgeClassifier(), Perceptron()]


def people(n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 4, (n, 4))
    y = np.sign(X @ [1.0, -0.5, 0.5, 0.0] - 2.5 + rng.standard_normal(n))
    return X, y


def moved(X: np.ndarray, coef: np.ndarray, who: np.ndarray) -> np.ndarray:
    """The table after the people in `who` have moved to the best corner of their box."""
    found = X.copy()
    for at, (low, high) in RANGES.items():
        found[who, at] += high if coef[at] > 0 else low
    return found


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("who", ["unfavourable", "refused"])
def test_scores_are_those_of_people_moved_by_hand(model, who: str) -> None:
    X, y = people()
    labels = np.where(y > 0, "yes", "no")
    model.fit(X, labels)
    group = y < 0 if who == "unfavourable" else model.predict(X) == "no"
    after = moved(X, np.ravel(model.coef_), group)
    weights = np.random.default_rng(1).uniform(0.5, 2, y.size)
    truths = {
        "accuracy": model.score(after, labels, weights),
        "balanced_accuracy": balanced_accuracy_score(
            labels, model.predict(after), sample_weight=weights
        ),
        "roc_auc": roc_auc_score(y > 0, model.decision_function(after), sample_weight=weights),
    }
    for metric, truth in truths.items():
        score = gp.gamed_scorer(RANGES, metric, who=who)
        assert score(model, X, labels, weights) == pytest.approx(truth, abs=1e-12)


def test_people_may_want_the_first_class() -> None:
    X, y = people()
    model = LogisticRegression().fit(X, y)
    after = moved(X, -model.coef_[0], y > 0)
    score = gp.gamed_scorer(RANGES, favourable=-1.0)
    assert score(model, X, y) == model.score(after, y)


def test_pipelines_and_searches_are_scored_in_the_units_of_the_table() -> None:
    X, y = people()
    frame = pd.DataFrame(X, columns=list("abcd"))
    pipe = make_pipeline(FunctionTransformer(np.log1p), StandardScaler(), LogisticRegression())
    pipe.fit(frame, y)
    after = pd.DataFrame(moved(X, pipe[-1].coef_[0], y < 0), columns=list("abcd"))
    named = {"a": RANGES[0], "c": RANGES[2]}
    score = gp.gamed_scorer(named)
    assert score(pipe, frame, y) == pipe.score(after, y)
    grid = GridSearchCV(pipe, {"logisticregression__C": [0.01, 1.0]}, scoring=score, cv=3)
    grid.fit(frame, y)
    best = grid.best_estimator_
    after = pd.DataFrame(moved(X, best[-1].coef_[0], y < 0), columns=list("abcd"))
    assert score(grid, frame, y) == best.score(after, y)
    inside = gp.StrategicLogisticRegression(budgets=named, prepare=StandardScaler())
    for model in (pipe, inside):
        clean = cross_val_score(model, frame, y, cv=3)
        gamed = cross_val_score(model, frame, y, cv=3, scoring=score)
        assert (gamed <= clean).all()
        assert (gamed < clean).any() or model is inside


def test_own_classifier_is_scored_with_its_own_budgets_unless_others_are_given() -> None:
    X, y = people()
    model = gp.StrategicLogisticRegression(
        budgets={0: (0, 1)}, prepare=FunctionTransformer(np.log1p)
    ).fit(X, y)
    for multiple in (0.0, 1.0, 2.0):
        own = model.gamed_score(X, y, multiple=multiple)
        for budgets in (None, {0: (0, 1)}):
            assert gp.gamed_scorer(budgets, multiple=multiple)(model, X, y) == own
    moving = gp.StrategicLogisticRegression(power=0.4).fit(X, y)
    assert gp.gamed_scorer()(moving, X, y) == moving.gamed_score(X, y)
    # A pipeline chains the preparation before the classifier and the one inside it.
    whole = make_pipeline(StandardScaler(), gp.StrategicLogisticRegression(power=0.0)).fit(X, y)
    after = moved(X, whole[-1].coef_[0], y < 0)
    assert gp.gamed_scorer(RANGES)(whole, X, y) == whole.score(after, y)


def test_multiplying_a_classifier_changes_no_score() -> None:
    X, y = people()
    model = LogisticRegression().fit(X, y)
    scorers = [
        gp.gamed_scorer(RANGES, metric, who=who)
        for metric in ("accuracy", "balanced_accuracy", "roc_auc")
        for who in ("unfavourable", "refused")
    ]
    before = [score(model, X, y) for score in scorers]
    model.coef_, model.intercept_ = model.coef_ / 4, model.intercept_ / 4
    assert [score(model, X, y) for score in scorers] == before


def test_scorer_can_be_pickled() -> None:
    X, y = people()
    model, score = LogisticRegression().fit(X, y), gp.gamed_scorer(RANGES, "roc_auc")
    assert pickle.loads(pickle.dumps(score))(model, X, y) == score(model, X, y)


def test_what_cannot_be_scored_is_refused() -> None:
    X, y = people()
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"metric must be one of accuracy, .* got 'f1'"):
        gp.gamed_scorer(RANGES, "f1")
    with pytest.raises(ValueError, match="who must be one of"):
        gp.gamed_scorer(RANGES, who="all")
    with pytest.raises(ValueError, match="multiple must be finite and at least 0"):
        gp.gamed_scorer(RANGES, multiple=np.inf)
    with pytest.raises(ValueError, match="needs budgets for a LogisticRegression"):
        gp.gamed_scorer()(model, X, y)
    with pytest.raises(TypeError, match="a fitted linear classifier with coef_"):
        gp.gamed_scorer(RANGES)(RandomForestClassifier(3).fit(X, y), X, y)
    with pytest.raises(ValueError, match="the column 9, and X has columns 0 to 3"):
        gp.gamed_scorer({9: (0, 1)})(model, X, y)
    with pytest.raises(ValueError, match="AUC needs both classes"):
        gp.gamed_scorer(RANGES, "roc_auc")(model, X[y > 0], y[y > 0])
    three = LogisticRegression().fit(X, np.arange(150) % 3)
    with pytest.raises((TypeError, ValueError), match=r"binary|two classes"):
        gp.gamed_scorer(RANGES)(three, X, np.arange(150) % 3)
