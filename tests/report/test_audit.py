"""Every number of an audit, by brute force in the user's own units."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog, minimize, minimize_scalar
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

import gameproof as gp
from audited import MOVABLE, NAMES, SCALE, people

X, Y, MODEL = people()
POWER, LABEL_COST = 0.4, 0.3
AUDIT = gp.audit(
    MODEL,
    X,
    Y,
    movable=MOVABLE,
    powers=(0.0, 0.2, POWER),
    radii=(0.0, 0.05, 0.2, 0.7),
    label_cost=LABEL_COST,
    power=POWER,
    scale=SCALE,
)
THETA, INTERCEPT = MODEL.coefficients, MODEL.intercept
COLUMNS = [NAMES.index(name) for name in MOVABLE]


def scores(rows):
    return np.array(
        [sum(a * b for a, b in zip(row, THETA, strict=True)) + INTERCEPT for row in rows]
    )


def best_response(x, power, columns=COLUMNS):
    """What maximises score less cost, by a general optimiser; steps in units of scale."""

    def lost(v):
        moved = x.copy()
        moved[columns] += v * SCALE[columns]
        return -float(moved @ THETA) + float(v @ v) / (2 * power)

    moved = x.copy()
    found = minimize(lost, np.zeros(len(columns)), tol=1e-12).x
    moved[columns] += found * SCALE[columns]
    return moved, float(np.linalg.norm(found))


def gamed(power, columns=COLUMNS):
    if power == 0:
        return X
    return np.array(
        [x if y > 0 else best_response(x, power, columns)[0] for x, y in zip(X, Y, strict=True)]
    )


def test_quality_is_what_other_packages_say() -> None:
    (row,) = AUDIT.quality
    z = scores(X)
    assert row.accuracy == pytest.approx(accuracy_score(Y, np.where(z > 0, 1, -1)))
    assert row.auc == pytest.approx(roc_auc_score(Y, z))
    assert row.risk == pytest.approx(log_loss(Y, 1 / (1 + np.exp(-z))))
    assert row.majority == max((Y > 0).mean(), (Y < 0).mean())
    assert (row.n, row.n_positive) == (60, int((Y > 0).sum()))
    assert row.accepted_positive == (z[Y > 0] > 0).mean()
    assert row.accepted_negative == (z[Y < 0] > 0).mean()


def test_auc_counts_ties_half() -> None:
    rounded = np.round(X / SCALE) * SCALE
    model = gp.LinearModel([1 / SCALE[0], 0, 0, 0], feature_names=NAMES)
    (row,) = gp.audit(model, rounded, Y).quality
    assert row.auc == pytest.approx(roc_auc_score(Y, rounded[:, 0]))


@pytest.mark.parametrize("k", range(3))
def test_gaming_is_what_best_responses_do(k: int) -> None:
    row = AUDIT.gaming[k]
    z = scores(gamed(row.power))
    assert row.accuracy == accuracy_score(Y, np.where(z > 0, 1, -1))
    assert row.risk == pytest.approx(log_loss(Y, 1 / (1 + np.exp(-z))), abs=1e-6)
    assert row.accepted_negative == (z[Y < 0] > 0).mean()
    assert row.accepted_positive == AUDIT.quality[0].accepted_positive
    if row.power:
        assert row.moved == pytest.approx(best_response(X[0], row.power)[1], abs=1e-5)


def test_gaming_changes_something_here() -> None:
    accuracies = [row.accuracy for row in AUDIT.gaming]
    assert accuracies[0] > accuracies[-1]


def test_bins_hold_every_person_once() -> None:
    z = scores(X)
    assert sum(row.positive for row in AUDIT.bins) == (Y > 0).sum()
    assert sum(row.negative for row in AUDIT.bins) == (Y < 0).sum()
    middle = AUDIT.bins[12]
    inside = (z >= middle.start) & (z < middle.end)
    assert middle.positive == (inside & (Y > 0)).sum()
    assert middle.negative == (inside & (Y < 0)).sum()


@pytest.mark.parametrize("k", range(4))
def test_worst_accuracy_is_the_linear_program_over_distributions(k: int) -> None:
    # People may go to the border (where a decision is as good as wrong), or to any of many other
    # places, with either label that they may have.
    row = AUDIT.shifts[k]
    Z, t = gamed(POWER) / SCALE, THETA * SCALE
    rng = np.random.default_rng(0)
    wrong, price, agent = [], [], []
    for i, (x, label) in enumerate(zip(Z, Y, strict=True)):
        margin = x @ t + INTERCEPT
        border = x - margin * t / (t @ t)
        places = [(x, margin), (border, 0.0)]
        others = x + rng.standard_normal((30, 4)) * rng.uniform(0, 2, (30, 1))
        places += [(other, other @ t + INTERCEPT) for other in others]
        for place, z in places:
            for new in (1, -1) if label > 0 else (-1,):
                wrong.append(float(place is border or (z > 0) != (new > 0)))
                price.append(np.linalg.norm(place - x) + LABEL_COST * abs(new - label))
                agent.append(i)
    mass = (np.array(agent) == np.arange(Y.size)[:, None]).astype(float)
    share = np.full(Y.size, 1 / Y.size)
    program = linprog(
        -np.array(wrong), A_ub=[price], b_ub=[row.radius], A_eq=mass, b_eq=share, method="highs"
    )
    # The optimiser behind the best responses is exact to about 1e-6.
    assert row.accuracy == pytest.approx(1 + program.fun, abs=1e-5)


@pytest.mark.parametrize("k", range(4))
def test_worst_risk_is_the_minimum_over_alpha(k: int) -> None:
    row = AUDIT.shifts[k]
    z, kappa, n = scores(gamed(POWER)), LABEL_COST, Y.size
    phi = np.logaddexp(0, z) - z / 2

    def bound(alpha):
        kept = (phi + z / 2)[Y < 0].sum()
        turned = (phi + np.abs(z / 2 - alpha * kappa))[Y > 0].sum()
        return alpha * (row.radius - kappa * (Y > 0).mean()) + (kept + turned) / n

    least = np.linalg.norm(THETA * SCALE)
    best = minimize_scalar(bound, bounds=(least, 50), method="bounded", options={"xatol": 1e-9})
    assert row.risk == pytest.approx(min(best.fun, bound(least)), abs=1e-5)


def test_weak_spots_by_moving_one_feature_until_it_is_enough() -> None:
    z = scores(X)
    assert [row.feature for row in AUDIT.weaknesses] == ["income", "debt"]
    median = np.median(z[z <= 0])
    for row in AUDIT.weaknesses:
        j = NAMES.index(row.feature)
        assert row.coefficient == pytest.approx(THETA[j])
        assert median + row.needed * THETA[j] == pytest.approx(0)
        assert row.needed_scaled == pytest.approx(abs(row.needed) / SCALE[j])
        alone = scores(gamed(POWER, [j]))
        assert row.accuracy == accuracy_score(Y, np.where(alone > 0, 1, -1))
        assert row.loss == pytest.approx(AUDIT.quality[0].accuracy - row.accuracy)
        step = best_response(X[0], POWER)[0] - X[0]
        assert row.share == pytest.approx(step[j] * THETA[j] / (step @ THETA), abs=1e-5)


def test_burden_and_recourse_are_shortest_ways_to_acceptance() -> None:
    z = scores(X)

    def distance(x):
        def score(v):
            moved = x.copy()
            moved[COLUMNS] += v * SCALE[COLUMNS]
            return moved @ THETA + INTERCEPT

        limit = {"type": "ineq", "fun": score}
        found = minimize(lambda v: v @ v, np.ones(2), constraints=[limit], tol=1e-12)
        return float(np.sqrt(found.fun))

    for row, label in zip(AUDIT.hurt, (1, -1), strict=True):
        chosen = (label == Y) & (z <= 0)
        far = np.array([distance(x) for x in X[chosen]])
        n = int((label == Y).sum())
        assert (row.group, row.label, row.n) == (None, label, n)
        assert row.refused == chosen.sum() / n
        assert row.mean_distance == pytest.approx(far.sum() / n, abs=1e-5)
        assert row.mean_cost == pytest.approx((far**2).sum() / n / (2 * POWER), abs=1e-5)
        for q, name in ((10, "q10"), (25, "q25"), (50, "q50"), (75, "q75"), (90, "q90")):
            assert getattr(row, name) == pytest.approx(np.percentile(far, q), abs=1e-5)


def test_groups_are_audits_of_their_own_people() -> None:
    groups = np.where(X[:, 2] > 0, "everyone", "young")
    both = gp.audit(MODEL, X, Y, movable=MOVABLE, scale=SCALE, power=POWER, groups=groups)
    for name in ("everyone", "young"):
        alone = gp.audit(
            MODEL, X[groups == name], Y[groups == name], movable=MOVABLE, scale=SCALE, power=POWER
        )
        for row, own in zip([r for r in both.hurt if r.group == name], alone.hurt, strict=True):
            assert row.mean_distance == pytest.approx(own.mean_distance)
            assert (row.n, row.refused, row.q50) == pytest.approx((own.n, own.refused, own.q50))


def test_units_of_the_table_do_not_matter() -> None:
    other = gp.audit(
        gp.LinearModel(THETA * 7, INTERCEPT, NAMES, "mine"), X / 7, Y, movable=MOVABLE, power=POWER
    )
    same = gp.audit(MODEL, X, Y, movable=MOVABLE, power=POWER)
    for one, two in zip(other.gaming + other.shifts, same.gaming + same.shifts, strict=True):
        assert one.accuracy == pytest.approx(two.accuracy, abs=1e-9)
        assert one.risk == pytest.approx(two.risk)


def test_differences_are_counted_person_by_person() -> None:
    other = gp.LinearModel(THETA * [1, 1, 1, 0], 0.4, NAMES, "other")
    found = gp.compare_models(
        [MODEL, other], X, Y, movable=MOVABLE, powers=(0.0, POWER), scale=SCALE, power=POWER
    )
    for row in found.differences:
        assert (row.model, row.against) == ("other", "mine")
        own, second = found.of(found.gaming, "mine"), found.of(found.gaming, "other")
        k = [r.power for r in own].index(row.power)
        assert row.difference == pytest.approx(second[k].accuracy - own[k].accuracy)
        assert row.low < row.difference < row.high
    assert found.of(found.gaming, "mine")[1] == AUDIT.gaming[2]


def test_scikit_learn_model_is_audited_as_it_decides() -> None:
    labels = np.where(Y > 0, "paid", "default")
    estimator = LogisticRegression().fit(X / SCALE, labels)
    found = gp.audit(gp.LinearModel.of(estimator, favourable="paid"), X / SCALE, Y)
    assert found.quality[0].accuracy == estimator.score(X / SCALE, labels)
    turned = gp.LinearModel.of(estimator, favourable="default")
    assert gp.audit(turned, X / SCALE, -Y).quality[0].accuracy == found.quality[0].accuracy
    assert gp.audit(estimator, X / SCALE, Y).models == ("LogisticRegression",)


def test_record_is_json_even_where_nothing_helps() -> None:
    flat = gp.LinearModel([0.0, 0, 1.0, 0], -100.0, NAMES, "flat")
    found = gp.audit(flat, X, Y, movable=MOVABLE, scale=SCALE, label_cost=float("inf"))
    record = json.loads(json.dumps(found.record(), allow_nan=False))
    assert record["label_cost"] is None
    assert record["hurt"][0]["mean_distance"] is None
    assert {row["needed"] for row in record["weaknesses"]} == {None}
    assert record["gaming"][0]["accuracy"] == record["gaming"][-1]["accuracy"]


def test_theta_zero_loses_by_labels_alone() -> None:
    nothing = gp.LinearModel(np.zeros(4), 1.0, NAMES)
    found = gp.audit(nothing, X, Y, radii=(0.0, 0.06, 9.0), label_cost=0.3, scale=1.0)
    positive = (Y > 0).mean()
    least = [row.accuracy for row in found.shifts]
    assert least == pytest.approx([positive, positive - 0.1, 0.0])


def test_labels_that_cost_nothing_turn_all() -> None:
    found = gp.audit(MODEL, X, Y, radii=(0.0,), label_cost=0.0, power=0.0, scale=SCALE)
    z = scores(X)
    assert found.shifts[0].accuracy == pytest.approx(((z <= 0) & (Y < 0)).mean())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"movable": ["salary"]}, "movable names 'salary', which is none of income, rate"),
        ({"movable": "income"}, "movable must be a list"),
        ({"movable": [4]}, "feature 4 cannot move: there are 0 to 3"),
        ({"movable": ["debt", 3]}, "movable names a feature twice"),
        ({"powers": [-1.0]}, "powers must be finite and at least 0"),
        ({"power": 1e308}, r"power must be at most 1e\+100, got 1e\+308"),
        ({"radii": [float("inf")]}, "radii must be finite"),
        ({"power": float("nan")}, "power must be finite"),
        ({"label_cost": -1.0}, "label_cost must be at least 0, got -1"),
        ({"scale": 0.0}, "scale must be positive, got 0"),
        ({"scale": [1.0, 2.0]}, "scale must be a number or 4 of them"),
        ({"groups": ["a"]}, "groups must have one value a person"),
        ({"groups": range(60)}, "groups has 60 different values, more than 50"),
        ({"X": X[:, :3]}, "X has 3 columns, the model 4 coefficients"),
        ({"y": np.ones(60)}, "labels must be of both kinds"),
        ({"model": "mine"}, "an audit takes a LinearModel or a fitted linear classifier"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(change: dict, message: str) -> None:
    given = {"model": MODEL, "X": X, "y": Y} | change
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        gp.audit(**given)
    assert "\n" not in str(caught.value)


def test_frames_are_audited_where_their_columns_are_the_model_s() -> None:
    frame = pd.DataFrame(X, columns=NAMES)
    assert gp.audit(MODEL, frame, Y).gaming == gp.audit(MODEL, X, Y).gaming
    with pytest.raises(ValueError, match="the columns of X are rate, income, age, debt, and"):
        gp.audit(MODEL, frame[["rate", "income", "age", "debt"]], Y)
    unnamed = gp.LinearModel(THETA, INTERCEPT)
    assert gp.audit(unnamed, frame, Y).quality[0].accuracy == AUDIT.quality[0].accuracy


def test_models_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(ValueError, match="different names, got mine, mine"):
        gp.compare_models([MODEL, MODEL], X, Y)
    with pytest.raises(ValueError, match="have different features"):
        gp.compare_models([MODEL, gp.LinearModel(THETA, name="other")], X, Y)
    with pytest.raises(ValueError, match="no model"):
        gp.compare_models([], X, Y)


def test_audit_of_a_classifier_knows_its_own_people() -> None:
    X, y = gp.synthetic_people(n=120, d=2, seed=0)
    model = gp.StrategicLogisticRegression().fit(X[:80], y[:80])
    assert gp.audit(model, X[:80], y[:80]).learned_from == 1.0
    assert gp.audit(model, X[80:], y[80:]).learned_from is None
