"""Audits and scorers of pipelines: every gain is found by brute force on the fitted model itself.

People try each end of each range, values in between, and every level, in all combinations. What
`predict` says about the best row is the outcome that an audit must report.
"""

from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    StandardScaler,
)

import gameproof as gp

NUMBERS, BUDGETS = ["savings", "use"], {"savings": (0, 900), "use": (-0.2, 0), "job": ["retired"]}


def table(n: int = 60, seed: int = 1):
    rng = np.random.default_rng(seed)
    good = rng.standard_normal(n)
    frame = pd.DataFrame(
        {
            "id": [f"P{k}" for k in range(n)],
            "savings": np.exp(6.5 + good + rng.standard_normal(n)),
            "use": rng.uniform(0, 1, n) - 0.1 * good,
            "job": rng.choice(["office", "retired", "none"], n),
        }
    )
    frame.loc[::7, "savings"] = np.nan
    frame.loc[::11, "job"] = None
    chance = good + (frame["job"] == "retired") + 0.5 * rng.standard_normal(n)
    return frame, pd.Series(np.where(chance > 0.2, "yes", "no"), dtype="category")


X, Y = table()


def columns(numbers=None, levels=None):
    filled = make_pipeline(SimpleImputer(add_indicator=True), numbers or StandardScaler())
    words = make_pipeline(
        SimpleImputer(strategy="most_frequent"), levels or OneHotEncoder(handle_unknown="ignore")
    )
    return ColumnTransformer([("numbers", filled, NUMBERS), ("levels", words, ["job"])])


def logistic(*steps):
    return make_pipeline(*steps, LogisticRegression(C=10.0, max_iter=1000))


MODELS = {
    "scaled and encoded": logistic(columns()),
    "one level dropped": logistic(columns(levels=OneHotEncoder(drop="first"))),
    "numbered levels": logistic(columns(levels=OrdinalEncoder())),
    "logarithm": logistic(columns(make_pipeline(FunctionTransformer(np.cbrt), MinMaxScaler()))),
    "quantiles": logistic(columns(QuantileTransformer(n_quantiles=10))),
    "bins": logistic(
        ColumnTransformer(
            [
                ("cut", KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf"), ["use"]),
                (
                    "job",
                    make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
                    ["job"],
                ),
            ]
        )
    ),
    "two scalers": logistic(
        ColumnTransformer(
            [
                (
                    "n",
                    make_pipeline(SimpleImputer(), make_union(StandardScaler(), MinMaxScaler())),
                    NUMBERS,
                ),
                (
                    "job",
                    make_pipeline(SimpleImputer(strategy="constant"), OneHotEncoder()),
                    ["job"],
                ),
            ]
        )
    ),
    "rotated": logistic(columns(make_pipeline(StandardScaler(), PCA()))),
    "calibrated mean": CalibratedClassifierCV(logistic(columns()), cv=3),
    "calibrated": CalibratedClassifierCV(logistic(columns()), cv=3, ensemble=False),
    "isotonic": CalibratedClassifierCV(
        logistic(columns()), cv=3, ensemble=False, method="isotonic"
    ),
    "searched": GridSearchCV(logistic(columns()), {"logisticregression__C": [0.1, 1.0]}, cv=3),
    "threshold": FixedThresholdClassifier(logistic(columns()), threshold=0.3),
}


def reachable(row, multiple):
    """Every row that a person can try: ends, points in between, levels."""
    own = {name: [row[name]] for name in X.columns}
    for name in NUMBERS:
        low, high = BUDGETS[name]
        if not pd.isna(row[name]):
            own[name] += [row[name] + multiple * end for end in np.linspace(low, high, 9)]
    if multiple:
        own["job"] += ["retired"]
    return pd.DataFrame(list(product(*own.values())), columns=X.columns)


def decisions(model, multiple):
    """Whether each person can be accepted."""
    rows = [reachable(row, multiple) for _, row in X.iterrows()]
    said = model.predict(pd.concat(rows, ignore_index=True)) == "yes"
    ends = np.cumsum([0, *map(len, rows)])
    return np.array([said[a:b].any() for a, b in pairwise(ends)])


@pytest.mark.parametrize("name", MODELS)
def test_audit_of_a_fitted_pipeline_is_what_predict_says_about_the_best_rows(name: str) -> None:
    model = MODELS[name].fit(X, Y)
    found = gp.audit(model, X, Y, budgets=BUDGETS, favourable="yes", multiples=[2], radii=[0.1])
    good = (Y == "yes").to_numpy()
    (audited,) = found.models
    for multiple in (0.0, 1.0, 2.0):
        accepted = decisions(model, multiple)
        clean = model.predict(X) == "yes"
        for who, moving in (("bad", ~good), ("refused", ~clean)):
            row = found.at(audited, multiple, who)
            gamed = np.where(moving, accepted, clean)
            assert row.accuracy == pytest.approx(np.mean(gamed == good)), (multiple, who)
            assert row.accepted_negative == pytest.approx(gamed[~good].mean())
    assert found.at(audited, 2.0).accepted_negative > found.at(audited, 0.0).accepted_negative


def test_needed_multiples_of_a_pipeline_turn_the_decision() -> None:
    model = MODELS["logarithm"].fit(X, Y)
    found = gp.audit(model, X, Y, budgets={"use": (-1, 0)}, favourable="yes")
    (row,) = [each for each in found.hurt if each.label < 0]
    refused = X[(model.predict(X) == "no") & (Y == "no").to_numpy()]
    half = [
        (model.predict(refused.assign(use=refused.use - k * row.q50)) == "yes").mean()
        for k in (1 - 1e-9, 1 + 1e-9)
    ]
    assert half[0] < half[1]
    assert half[1] >= 0.5


@pytest.fixture(scope="module")
def audit_of_text() -> gp.Audit:
    model = MODELS["scaled and encoded"].fit(X, Y)
    return gp.audit(model, X, Y, budgets=BUDGETS, favourable="yes")


@pytest.mark.parametrize(
    "labels",
    [
        Y,
        (Y == "yes").astype(int),
        (Y == "yes").to_numpy(),
        np.where(Y == "yes", 1.0, -1.0),
        (Y == "yes").map({True: 2, False: 1}),
    ],
)
def test_labels_may_be_of_any_type(labels, audit_of_text) -> None:
    model = logistic(columns()).fit(X, labels)
    wanted = {"yes": "yes", "2": 2}.get(str(max(np.unique(labels).tolist(), key=str)))
    found = gp.audit(model, X, labels, budgets=BUDGETS, favourable=wanted)
    assert found.gaming == audit_of_text.gaming


def test_favourable_label_must_be_given_where_it_is_ambiguous() -> None:
    model = logistic(columns()).fit(X, Y)
    with pytest.raises(ValueError, match="say which of them people want, such as favourable='yes'"):
        gp.audit(model, X, Y, budgets=BUDGETS)
    with pytest.raises(ValueError, match="y has the label 0, and the model knows 'no' and 'yes'"):
        gp.audit(model, X, (Y == "yes").astype(int), budgets=BUDGETS)
    turned = gp.audit(model, X, Y, budgets=BUDGETS, favourable="no")
    assert turned.quality[0].accuracy == pytest.approx(model.score(X, Y))


def test_step_that_is_not_affine_is_named_together_with_the_column() -> None:
    steps = make_pipeline(SimpleImputer(), StandardScaler(), PolynomialFeatures(2))
    chosen = ColumnTransformer([("products", steps, NUMBERS)])
    model = logistic(chosen).fit(X, Y)
    line = "changing 'savings' cannot be computed exactly: .*polynomialfeatures.* mixes columns"
    with pytest.raises(TypeError, match=line):
        gp.audit(model, X, Y, budgets={"savings": (0, 900)}, favourable="yes")
    found = gp.audit(model, X, Y, budgets={"id": (0, 1)}, favourable="yes")
    assert found.quality[0].idle == 1


def test_models_with_their_own_preparations_are_compared() -> None:
    robust = gp.RobustStrategicClassifier(
        radius=0.02, budgets=BUDGETS, prepare=columns(), favourable="yes"
    ).fit(X, Y)
    plain = MODELS["logarithm"].fit(X, Y)
    found = gp.compare_models({"in use": plain, "robust": robust}, X, Y)
    assert found.models == ("in use", "robust")
    for name, model in (("in use", plain), ("robust", robust)):
        (row,) = found.of(found.quality, name)
        assert row.accuracy == pytest.approx(model.score(X, Y))
    assert found.at("robust", 1.0).accuracy == pytest.approx(robust.gamed_score(X, Y))


@pytest.mark.parametrize("name", ["scaled and encoded", "calibrated mean", "threshold"])
def test_scorer_takes_the_same_models(name: str) -> None:
    model = MODELS[name].fit(X, Y)
    score = gp.gamed_scorer(BUDGETS, favourable="yes")
    found = gp.audit(model, X, Y, budgets=BUDGETS, favourable="yes")
    (audited,) = found.models
    assert score(model, X, Y) == pytest.approx(found.at(audited, 1.0).accuracy)
    area = gp.gamed_scorer(BUDGETS, "roc_auc", favourable="yes")
    assert area(model, X, Y) == pytest.approx(found.at(audited, 1.0).auc)


def test_sparse_tables_are_rejected_with_a_way_out() -> None:
    from scipy.sparse import csr_array

    numbers = csr_array(np.eye(20))
    labels = [0, 1] * 10
    model = LogisticRegression().fit(numbers, labels)
    with pytest.raises(TypeError, match=r"give X.toarray\(\)"):
        gp.audit(model, numbers, labels, budgets=[0])
    with pytest.raises(TypeError, match="toarray"):
        gp.RobustStrategicClassifier().fit(numbers, labels)


def test_frozen_pipeline_is_calibrated_without_refitting() -> None:
    model = CalibratedClassifierCV(FrozenEstimator(logistic(columns()).fit(X, Y)), cv=3)
    model.fit(X, Y)
    found = gp.audit(model, X, Y, budgets=BUDGETS, favourable="yes")
    assert found.quality[0].accuracy == pytest.approx(model.score(X, Y))
