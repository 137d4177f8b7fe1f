"""`select_budget`: the curve against manual cross-validation, and the rule on made-up curves."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

import gameproof as gp
from gameproof.estimators.select_budget import recommended_multiple

BUDGETS = {"income": (-400.0, 400.0), "debt": None}


def people(n: int = 240, seed: int = 3) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 4))
    y = np.sign(Z @ [1.0, -1.0, 0.8, 0.4] + rng.standard_normal(n))
    X = np.exp(Z) * [1000.0, 1.0, 10.0, 1.0]
    return pd.DataFrame(X, columns=["income", "debt", "age", "years"]), y


@pytest.mark.parametrize("weighted", [False, True])
def test_curve_is_what_cross_validation_by_hand_gives(weighted: bool) -> None:
    frame, y = people()
    weights = np.random.default_rng(0).uniform(0.5, 2, y.size) if weighted else None
    model = gp.StrategicLogisticRegression(budgets=BUDGETS, prepare=gp.Prepare())
    curve = gp.select_budget(
        frame, y, model, multiples=[0, 0.5, 2], folds=3, seed=1, sample_weight=weights
    )
    split = StratifiedKFold(3, shuffle=True, random_state=1)
    assert curve.multiples.tolist() == [0, 0.5, 2]
    for f, (train, test) in enumerate(split.split(frame, y)):
        known, others = frame.iloc[train], frame.iloc[test]
        own, own_test = (None, None) if weights is None else (weights[train], weights[test])
        half = 0.5 * np.sqrt(np.cov(known["debt"], aweights=own, ddof=0))
        for k, multiple in enumerate([0, 0.5, 2]):
            ranges = {"income": (-400 * multiple, 400 * multiple)}
            ranges["debt"] = (-half * multiple, half * multiple)
            trained = gp.StrategicLogisticRegression(budgets=ranges, prepare=gp.Prepare())
            trained.fit(known, y[train], own)
            clean = trained.score(others, y[test], own_test)
            assert curve.clean[k, f] == pytest.approx(clean, abs=1e-12)
            for table, times in ((curve.gamed, 1), (curve.twice, 2)):
                score = gp.gamed_scorer(
                    {"income": (-400 * times, 400 * times), "debt": (-half * times, half * times)}
                )
                truth = score(trained, others, y[test], own_test)
                assert table[k, f] == pytest.approx(truth, abs=1e-12)
        kept = ["age", "years"]
        prepare = gp.Prepare().fit(known[kept])
        plain = LogisticRegression(C=np.inf, tol=1e-8).fit(
            prepare.transform(known[kept]), y[train], own
        )
        right = plain.score(prepare.transform(others[kept]), y[test], own_test)
        assert curve.dropped[f] == pytest.approx(
            right, abs=0.02
        )  # one person near the decision boundary
    rows = curve.rows()
    assert rows[1]["gamed"] == curve.gamed[1].mean()
    assert rows[1]["gamed twice"] == curve.twice[1].mean()
    assert curve.reason in repr(curve)
    assert "debt: " in repr(curve)
    assert "half a standard deviation" in repr(curve)


def test_training_for_the_budget_pays_at_the_budget() -> None:
    """Means over 5 folds of 600 people differ by far more than their standard errors."""
    frame, y = people(600)
    model = gp.StrategicLogisticRegression(
        budgets={"income": (-2000, 2000), "debt": (-2, 2)}, prepare=gp.Prepare()
    )
    curve = gp.select_budget(frame, y, model)
    at_0, *_, at_1, _ = curve.gamed.mean(axis=1)
    assert at_1 > at_0 + 0.1
    assert curve.recommended > 0
    assert curve.recommended_budgets.ranges[0] == (
        -2000 * curve.recommended,
        2000 * curve.recommended,
    )
    again = gp.StrategicLogisticRegression(
        budgets=curve.recommended_budgets, prepare=gp.Prepare()
    ).fit(frame, y)
    assert again.budgets_ == curve.recommended_budgets


def test_curve_says_where_dropping_what_people_can_change_works_just_as_well() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    # The first two columns carry no information, so the best classifier does without them.
    y = np.sign(X[:, 2] + 0.5 * rng.standard_normal(300))
    model = gp.RobustStrategicClassifier(0.01, budgets={0: (-1, 1), 1: (-2, 2)})
    assert (model.fit(X, y).coef_[0, :2] == 0).all()
    curve = gp.select_budget(X, y, model, folds=3, multiples=[1, 2])
    assert curve.note.startswith("Dropping what people can change (x0, x1) works just as well")
    assert curve.note in repr(curve)
    radii = gp.select_radius(X, y, model, folds=3, radii=[0.0, 0.02])
    assert radii.note.startswith("Dropping what people can change (x0, x1) works just as well")
    assert radii.note in repr(radii)
    y = np.sign(X[:, 0] + 0.5 * rng.standard_normal(300))  # only the first column is informative
    small = model.set_params(budgets={0: (-0.1, 0.1)})
    assert not gp.select_budget(X, y, small, folds=3, multiples=[0, 1]).note
    assert not gp.select_radius(X, y, small, folds=3, radii=[0.0, 0.02]).note
    everything = model.set_params(budgets=[0, 1, 2])
    alone = gp.select_budget(X, y, everything, folds=3, multiples=[1])
    assert alone.dropped is None
    assert not alone.note


def test_radius_curve_with_budgets_is_what_cross_validation_by_hand_gives() -> None:
    frame, y = people()
    model = gp.RobustStrategicClassifier(
        budgets={"income": (0, 500)}, prepare=gp.Prepare(), label_cost=np.inf
    )
    curve = gp.select_radius(frame, y, model, radii=[0.0, 0.05], folds=3, seed=2)
    split = StratifiedKFold(3, shuffle=True, random_state=2)
    for f, (train, test) in enumerate(split.split(frame, y)):
        for k, radius in enumerate([0.0, 0.05]):
            prepare = gp.Prepare().fit(frame.iloc[train])
            Z, Z_test = (prepare.transform(frame.iloc[rows]) for rows in (train, test))
            judge = gp.RobustStrategicClassifier(
                radius, np.inf, gp.BoxBudget(*bounds(prepare, frame.iloc[train])), standardise=False
            )
            judge.fit(Z, y[train])
            scores = judge.decision_function(Z_test)
            gains = np.maximum(0, bounds(prepare, frame.iloc[test])[1] * judge.coef_[0]).sum(axis=1)
            gamed = np.where(y[test] < 0, scores + gains, scores)
            assert curve.clean[k, f] == pytest.approx(np.mean(np.sign(scores) == y[test]))
            assert curve.gamed[k, f] == pytest.approx(np.mean(np.sign(gamed) == y[test]))


def bounds(prepare: gp.Prepare, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The box of each person whose income may rise by 500."""
    rise = prepare.transform(frame.assign(income=frame["income"] + 500)) - prepare.transform(frame)
    return np.zeros_like(rise), rise


def table(means: list[float], error: float) -> np.ndarray:
    """Measures in four folds. Differences of two rows have this standard error.

    The luck of a fold is the same for all rows, and far larger.
    """
    luck = np.array([-1.0, -0.5, 0.5, 1.0])
    return np.array(means)[:, None] + luck + error * np.sqrt(6) * (np.eye(4) - 0.25)


@pytest.mark.parametrize(
    ("clean", "gamed", "error", "chosen"),
    [
        ([0.76, 0.75, 0.74, 0.74], [0.65, 0.72, 0.745, 0.745], 0.01, 2),
        ([0.76, 0.75, 0.74, 0.74], [0.65, 0.72, 0.745, 0.745], 0.03, 1),
        ([0.76, 0.75, 0.74, 0.74], [0.76, 0.75, 0.74, 0.74], 0.001, 0),
        # among the best at the budget, the second has a lower clean accuracy
        ([0.76, 0.70, 0.74, 0.74], [0.65, 0.745, 0.745, 0.745], 0.01, 2),
        ([0.76, 0.75, 0.74, 0.74], [0.65, 0.70, 0.72, 0.76], 0.01, 3),
    ],
)
def test_recommended_multiple_is_the_smallest_within_one_standard_error(
    clean, gamed, error, chosen
) -> None:
    multiples = np.array([0.0, 0.25, 0.5, 1.0])
    k, reason = recommended_multiple(multiples, table(clean, error), table(gamed, error))
    assert k == chosen
    named = {0.0: "as if nobody games", 1.0: "for the stated budgets"}
    times = named.get(multiples[k], f"for {multiples[k]:g} times the budgets")
    assert reason.startswith(f"Train {times}: the accuracy at the stated budgets is ")
    assert f"{gamed[k]:.3f}" in reason


def test_what_cannot_be_judged_is_refused() -> None:
    frame, y = people(60)
    with pytest.raises(ValueError, match="needs a model with budgets"):
        gp.select_budget(frame, y, gp.StrategicLogisticRegression(power=0.1))
    with pytest.raises(TypeError, match="model must be a RobustStrategicClassifier or"):
        gp.select_budget(frame, y, LogisticRegression())
    model = gp.StrategicLogisticRegression(budgets=BUDGETS)
    with pytest.raises(ValueError, match="a multiple of budgets must be finite and at least 0"):
        gp.select_budget(frame, y, model, multiples=[-1], folds=2)
    with pytest.raises(ValueError, match="multiples is empty"):
        gp.select_budget(frame, y, model, multiples=[])
    with pytest.raises(ValueError, match="folds must be at least 2"):
        gp.select_budget(frame, y, model, folds=1)
    by_agent = gp.BoxBudget(np.zeros((60, 4)), np.ones((60, 4)))
    with pytest.raises(ValueError, match="holds people out, so upper must be the same for all"):
        gp.select_radius(frame, y, gp.RobustStrategicClassifier(response=by_agent))
