"""Audits of a table as it is, through `Prepare`: budgets in the table's units, by brute force.

Every number within its budget, at its ends or as it is, every level that can be claimed, each put
into the table and prepared anew: what raises the score most is what people do. A prepared number
rises with the number itself, so nothing between the ends does better.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from sklearn.preprocessing import StandardScaler

import gameproof as gp
from gameproof.estimators.table_budgets import Budgets

LEVELS = ("none", "retired", "student")
FEATURES = gp.Features(("savings", "use", "job", "home"), {"job": LEVELS, "home": ("own", "rent")})
STATED = {"savings": (0, 4000), "use": (-0.2, 0.1), "job": ["retired", "student"]}


def table(n: int = 50, seed: int = 3):
    rng = np.random.default_rng(seed)
    savings = np.exp(rng.normal(7, 1.3, n))
    savings[::9] = np.nan
    columns = [savings, rng.uniform(0, 1, n), rng.integers(0, 3, n), rng.integers(0, 2, n)]
    X = np.column_stack([column.astype(float) for column in columns])
    X[4, 2] = np.nan
    y = np.where(np.nan_to_num(np.log(savings) - 7) - X[:, 1] + rng.normal(0, 1, n) > -0.4, 1.0, -1)
    return X, y


X, Y = table()
PREPARE = gp.Prepare(FEATURES).fit(X)
NAMES = tuple(map(str, PREPARE.get_feature_names_out()))
RNG = np.random.default_rng(8)
MODEL = gp.LinearModel([0.8, 0.3, -0.9, 0.2, 0.6, 0.4, -0.3], -0.2, NAMES, "mine")
AUDIT = gp.audit(MODEL, X, Y, budgets=STATED, prepare=PREPARE, multiples=(0.5, 2.0))


def score(row):
    return float(MODEL.scores(PREPARE.transform([row]))[0])


def choices(row, multiple, columns):
    """Every row that a person can reach."""
    savings, use, job = row[0], row[1], row[2]
    own = {0: [savings], 1: [use], 2: [job]}
    if "savings" in columns and not np.isnan(savings):
        own[0] += [savings + multiple * 4000]
    if "use" in columns:
        own[1] += [use - multiple * 0.2, use + multiple * 0.1]
    if "job" in columns and multiple > 0:
        own[2] += [1.0, 2.0]
    return [[*chosen, row[3]] for chosen in product(*own.values())]


def best(row, multiple, columns=tuple(STATED)):
    return max(score(other) for other in choices(row, multiple, columns))


@pytest.mark.parametrize("movers", ["bad", "refused"])
@pytest.mark.parametrize("multiple", [0.0, 0.5, 1.0, 2.0])
def test_gaming_is_the_best_row_that_people_can_reach(movers: str, multiple: float) -> None:
    z = np.array([score(row) for row in X])
    moves = Y < 0 if movers == "bad" else z <= 0
    gamed = np.array(
        [best(x, multiple) if m else own for x, own, m in zip(X, z, moves, strict=True)]
    )
    row = AUDIT.at("mine", multiple, movers)
    assert row.accuracy == np.mean((gamed > 0) == (Y > 0))
    assert row.accepted_negative == (gamed[Y < 0] > 0).mean()
    assert row.accepted_positive == (gamed[Y > 0] > 0).mean()


def test_budgets_change_decisions_here() -> None:
    found = [row.accepted_negative for row in AUDIT.gaming if row.movers == "bad"]
    assert found[0] < found[1] < found[3]


def test_weak_spots_are_columns_of_the_table_in_its_units() -> None:
    z = np.array([score(row) for row in X])
    assert {row.feature for row in AUDIT.weaknesses} == set(STATED)
    for row in AUDIT.weaknesses:
        alone = np.where(Y < 0, [best(x, 1.0, [row.feature]) for x in X], z)
        assert row.accuracy == np.mean((alone > 0) == (Y > 0))
        assert row.accepted_negative == (alone[Y < 0] > 0).mean()
    texts = {row.feature: row.budget for row in AUDIT.weaknesses}
    assert texts == {
        "savings": "0 to +4,000",
        "use": "-0.2 to +0.1",
        "job": "can claim retired, student",
    }


def test_recourse_is_the_least_multiple_that_is_enough() -> None:
    """The root of the best score over multiples; 0 if a claim alone is enough, None beyond 100."""
    for row in AUDIT.hurt:
        far = []
        for x in X[row.label == Y]:
            if score(x) > 0:
                continue
            if best(x, 100.0) <= 0:
                far.append(np.inf)
            elif best(x, 1e-12) > 0:
                far.append(0.0)
            else:
                far.append(brentq(lambda m, x=x: best(x, m), 1e-12, 100.0, xtol=1e-9))
        far.sort()
        assert row.refused == len(far) / (row.label == Y).sum()
        for q, name in ((10, "q10"), (50, "q50"), (90, "q90")):
            at = far[int(np.ceil(q / 100 * len(far))) - 1]
            found = getattr(row, name)
            assert (np.inf if found is None else found) == pytest.approx(at, abs=2e-6)


def test_missing_numbers_stay_missing() -> None:
    """People whose savings are missing cannot add to them."""
    only = gp.audit(MODEL, X, Y, budgets={"savings": (0, 1e6)}, prepare=PREPARE)
    lacking = np.isnan(X[:, 0])
    z = np.array([score(row) for row in X])
    gained = only.at("mine", 1.0, "refused")
    moved = np.where(lacking, z, [best(x, 1e6 / 4000, ["savings"]) for x in X])
    assert gained.accuracy == np.mean((np.where(z > 0, z, moved) > 0) == (Y > 0))


def test_frames_are_prepared_and_audited_by_their_names() -> None:
    frame = pd.DataFrame(X, columns=FEATURES.names)
    prepare = gp.Prepare(FEATURES).fit(frame)
    found = gp.audit(MODEL, frame, Y, budgets=STATED, prepare=prepare, multiples=(0.5, 2.0))
    assert found.gaming == AUDIT.gaming
    assert found.hurt == AUDIT.hurt


def test_constant_changes_no_primary_number_through_a_preparation() -> None:
    larger = gp.LinearModel(3.7 * MODEL.coefficients, 3.7 * MODEL.intercept, NAMES, "mine")
    found = gp.audit(larger, X, Y, budgets=STATED, prepare=PREPARE, multiples=(0.5, 2.0))
    assert found.gaming == AUDIT.gaming
    for one, two in zip(found.weaknesses + found.hurt, AUDIT.weaknesses + AUDIT.hurt, strict=True):
        assert one.__dict__ == pytest.approx(two.__dict__)


def test_classifier_that_holds_its_preparation_is_audited_with_its_own_budgets() -> None:
    """Against the classifier's own decisions about people who use their budgets."""
    frame = pd.DataFrame(X, columns=FEATURES.names)
    model = gp.RobustStrategicClassifier(0.02, budgets=STATED, prepare=gp.Prepare(FEATURES))
    model.fit(frame, Y)
    for table in (X, frame):
        found = gp.audit(model, table, Y)
        assert found.budgets == model.budgets_
        (name,) = found.models
        for multiple in (0.0, 1.0, 2.0):
            used = model.gamed_decisions(frame, multiple=multiple)
            row = found.at(name, multiple)
            assert row.accepted_negative == (used[Y < 0] > 0).mean()
            assert found.at(name, multiple, "refused").accuracy == np.mean(used == Y)
    assert found.learned_from == 1.0
    stated = gp.audit(model, X, Y, budgets={"use": (-0.1, 0)})
    assert stated.movable == ("use",)
    scaled = gp.RobustStrategicClassifier(0.02, budgets=[0], prepare=StandardScaler())
    two = X[:, [1, 3]]
    row = gp.audit(scaled.fit(two, Y), two, Y).at("RobustStrategicClassifier", 1.0)
    assert row.accuracy == scaled.gamed_score(two, Y)


def test_classifier_of_a_frame_is_audited_by_the_names_of_the_frame() -> None:
    """`Prepare()` inside a classifier sees numbers without names."""
    frame = pd.DataFrame(X[:, :2], columns=["savings", "use"])
    budgets = {"use": (-0.5, 0.2)}
    model = gp.RobustStrategicClassifier(radius=0.01, budgets=budgets, prepare=gp.Prepare())
    plain = gp.StrategicLogisticRegression(power=0.0, prepare=gp.Prepare())
    for each in (model, plain):
        each.fit(frame, Y)
    audit = gp.compare_models([plain, model], frame, Y, budgets=budgets)
    for name, each in zip(audit.models, (plain, model), strict=True):
        assert audit.at(name, 0.0).accuracy == pytest.approx(each.score(frame, Y))
        expected = gp.gamed_scorer(budgets)(each, frame, Y)
        assert audit.at(name, 1.0).accuracy == pytest.approx(expected)
    own = gp.audit(model, frame, Y)
    assert own.at(own.models[0], 1.0).accuracy == pytest.approx(model.gamed_score(frame, Y))
    assert own.movable == ("use",)
    line = gp.LinearModel(model.coef_[0], model.intercept_[0], name="line")
    beside = gp.compare_models([line, model], frame, Y)
    same = {(row.movers, row.multiple, row.accuracy) for row in beside.gaming}
    assert len(same) == len(own.gaming)


def test_table_model_is_refused_and_pointed_to_its_own_audit() -> None:
    """Its coefficients are of prepared columns, and its table may have text."""
    table = {"savings": X[:, 0], "use": X[:, 1], "paid": np.where(Y > 0, "yes", "no")}
    options = {"target": "paid", "favourable": "yes", "budgets": {"use": (-0.5, 0.2)}}
    model = gp.fit_table(table, **options, radius=0.01).model
    with pytest.raises(TypeError, match=r"call gp\.audit_table"):
        gp.audit(model, X[:, :2], table["paid"], favourable="yes")
    assert gp.audit_table(model, table).audit.quality[0].n == len(Y)


def test_budgets_for_another_table_are_refused() -> None:
    other = Budgets.of(["a"], gp.Features(("a", "b")), np.ones((2, 2)))
    with pytest.raises(ValueError, match="the budgets are for a table with the columns a, b, and"):
        gp.audit(MODEL, X, Y, budgets=other, prepare=PREPARE)
    unlike = gp.LinearModel(MODEL.coefficients, 0.0, [f"c{k}" for k in range(7)])
    with pytest.raises(ValueError, match="the columns of the prepared table are savings, "):
        gp.audit(unlike, X, Y, budgets=STATED, prepare=PREPARE)


def test_budgets_are_recorded_and_cut_down_to_one_column() -> None:
    budgets = Budgets.of({"use": None, "job": ["student"], "savings": (0, 4000)}, FEATURES, X)
    record = budgets.record()
    half = X[:, 1].std() / 2
    assert record["columns"]["use"] == pytest.approx([-half, half])
    assert (record["columns"]["savings"], record["columns"]["job"]) == ([0, 4000], ["student"])
    assert record["half_a_standard_deviation"] == ["use"]
    assert budgets.only("job").columns == ("job",)
    assert budgets.only("use").describe() == f"use: {budgets.by_column()['use']}"


def test_levels_that_differ_by_rounding_alone_gain_nothing() -> None:
    """0.1 + 0.2 is larger than 0.3 by 6e-17, and no reason to claim another job."""
    rows = X[X[:, 2] > 0]
    theta = MODEL.coefficients.copy()
    retired, student = (NAMES.index(f"job={level}") for level in ("retired", "student"))
    theta[retired], theta[student] = 0.3, 0.1 + 0.2
    assert theta[retired] < theta[student]
    model = gp.LinearModel(theta, -0.2, NAMES)
    claims = {"job": ["retired", "student"]}
    found = gp.audit(model, rows, Y[X[:, 2] > 0], budgets=claims, prepare=PREPARE)
    assert found.quality[0].idle == 1
    assert [row.share for row in found.weaknesses] == [None]
