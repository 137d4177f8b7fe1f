"""Every number of an audit against brute force in the user's units."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog, minimize_scalar
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score

import gameproof as gp
from audited import BUDGETS, MOVABLE, NAMES, SCALE, people

X, Y, MODEL = people()
LABEL_COST, BAD_COST, GOOD_COST = 0.3, 5.0, 2.0
AUDIT = gp.audit(
    MODEL,
    X,
    Y,
    budgets=BUDGETS,
    multiples=(0.5, 3.0),
    cost_accept_bad=BAD_COST,
    cost_refuse_good=GOOD_COST,
    radii=(0.0, 0.05, 0.2, 0.7),
    label_cost=LABEL_COST,
    scale=SCALE,
)
THETA, INTERCEPT = MODEL.coefficients, MODEL.intercept


def scores(rows):
    return np.array(
        [sum(a * b for a, b in zip(row, THETA, strict=True)) + INTERCEPT for row in rows]
    )


def best_score(x, multiple, columns=MOVABLE):
    """The largest score within the budgets, by a linear program over the moves."""
    ends = [
        (multiple * BUDGETS[name][0], multiple * BUDGETS[name][1]) if name in columns else (0, 0)
        for name in NAMES
    ]
    return float(x @ THETA) + INTERCEPT - linprog(-THETA, bounds=ends).fun


def gamed(multiple, movers="bad", columns=MOVABLE):
    z = scores(X)
    moves = Y < 0 if movers == "bad" else z <= 0
    return np.array(
        [
            best_score(x, multiple, columns) if m else own
            for x, own, m in zip(X, z, moves, strict=True)
        ]
    )


def test_quality_is_what_other_packages_say() -> None:
    (row,) = AUDIT.quality
    z = scores(X)
    assert row.accuracy == pytest.approx(accuracy_score(Y, np.where(z > 0, 1, -1)))
    assert row.auc == pytest.approx(roc_auc_score(Y, z))
    assert row.majority == max((Y > 0).mean(), (Y < 0).mean())
    assert (row.n, row.n_positive) == (60, int((Y > 0).sum()))
    assert row.accepted_positive == (z[Y > 0] > 0).mean()
    assert row.accepted_negative == (z[Y < 0] > 0).mean()


def test_auc_counts_ties_half() -> None:
    rounded = np.round(X / SCALE) * SCALE
    model = gp.LinearModel([1 / SCALE[0], 0, 0, 0], feature_names=NAMES)
    (row,) = gp.audit(model, rounded, Y).quality
    assert row.auc == pytest.approx(roc_auc_score(Y, rounded[:, 0]))


@pytest.mark.parametrize("movers", ["bad", "refused"])
@pytest.mark.parametrize("multiple", [0.0, 0.5, 1.0, 3.0])
def test_gaming_is_what_people_within_their_budgets_can_do(movers: str, multiple: float) -> None:
    row = AUDIT.at("mine", multiple, movers)
    z = gamed(multiple, movers)
    good, bad = Y > 0, Y < 0
    assert row.accuracy == accuracy_score(Y, np.where(z > 0, 1, -1))
    assert row.auc == pytest.approx(roc_auc_score(Y, z))
    assert row.accepted_positive == (z[good] > 0).mean()
    assert row.accepted_negative == (z[bad] > 0).mean()
    lost = BAD_COST * (z[bad] > 0).sum() + GOOD_COST * (z[good] <= 0).sum()
    assert row.cost == pytest.approx(lost / Y.size)


@pytest.mark.parametrize("movers", ["bad", "refused"])
def test_people_who_move_only_as_far_as_they_must_are_decided_the_same(movers: str) -> None:
    """Threshold agents: the shortest move, in scales, that gets a refused person accepted, found
    by a linear program, if there is one within the budgets."""
    row, right = AUDIT.at("mine", 1.0, movers), 0
    lower, upper = ([BUDGETS.get(name, (0, 0))[k] for name in NAMES] for k in (0, 1))
    for x, y in zip(X, Y, strict=True):
        z = float(x @ THETA) + INTERCEPT
        accepted = z > 0
        if not accepted and (y < 0 or movers == "refused"):
            # v = p - m with p, m >= 0; to be accepted takes <v, theta> >= -z.
            found = linprog(
                np.tile(1 / SCALE, 2),
                A_ub=[np.concatenate([-THETA, THETA])],
                b_ub=[z],
                bounds=[*((0, high) for high in upper), *((0, -low) for low in lower)],
            )
            accepted = found.status == 0
        right += accepted == (y > 0)
    assert row.accuracy == right / Y.size


def test_gaming_changes_something_here() -> None:
    found = [row for row in AUDIT.gaming if row.movers == "bad"]
    assert [row.multiple for row in found] == [0.0, 0.5, 1.0, 3.0]
    assert found[0].accuracy > found[2].accuracy > found[3].accuracy
    assert AUDIT.at("mine", 1.0, "refused").accepted_positive > found[0].accepted_positive


def test_bins_hold_every_person_once() -> None:
    z = scores(X)
    z /= z.std()
    assert sum(row.positive for row in AUDIT.bins) == (Y > 0).sum()
    assert sum(row.negative for row in AUDIT.bins) == (Y < 0).sum()
    middle = AUDIT.bins[12]
    inside = (z >= middle.start) & (z < middle.end)
    assert middle.positive == (inside & (Y > 0)).sum()
    assert middle.negative == (inside & (Y < 0)).sum()


@pytest.mark.parametrize("k", range(4))
def test_worst_accuracy_is_the_linear_program_over_distributions(k: int) -> None:
    # The adversary may move people to the decision boundary, where a decision counts as wrong, or
    # to one of many other places, with either label.
    row = AUDIT.shifts[k]
    t, rng = THETA * SCALE, np.random.default_rng(0)
    wrong, price, agent = [], [], []
    for i, (margin, x, label) in enumerate(zip(gamed(1.0), X / SCALE, Y, strict=True)):
        x = x + (margin - x @ t - INTERCEPT) * t / (t @ t)  # a point with this score
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
    assert row.accuracy == pytest.approx(1 + program.fun, abs=1e-6)


@pytest.mark.parametrize("k", range(4))
def test_worst_loss_is_the_minimum_over_alpha(k: int) -> None:
    row = AUDIT.losses[k]
    z, kappa, n = gamed(1.0), LABEL_COST, Y.size
    phi = np.logaddexp(0, z) - z / 2

    def bound(alpha):
        kept = (phi + z / 2)[Y < 0].sum()
        turned = (phi + np.abs(z / 2 - alpha * kappa))[Y > 0].sum()
        return alpha * (row.radius - kappa * (Y > 0).mean()) + (kept + turned) / n

    least = np.linalg.norm(THETA * SCALE)
    best = minimize_scalar(bound, bounds=(least, 50), method="bounded", options={"xatol": 1e-9})
    assert row.risk == pytest.approx(min(best.fun, bound(least)), abs=1e-6)


def test_weak_spots_by_the_budget_of_one_column_alone() -> None:
    z = scores(X)
    before = (z[Y < 0] > 0).mean()
    assert {row.feature for row in AUDIT.weaknesses} == set(MOVABLE)
    assert [row.share for row in AUDIT.weaknesses] == sorted(
        (row.share for row in AUDIT.weaknesses), reverse=True
    )
    for row in AUDIT.weaknesses:
        alone = gamed(1.0, columns=[row.feature])
        assert row.accuracy == accuracy_score(Y, np.where(alone > 0, 1, -1))
        assert row.loss == pytest.approx(AUDIT.quality[0].accuracy - row.accuracy)
        assert row.accepted_negative == (alone[Y < 0] > 0).mean()
        assert row.gained == pytest.approx(row.accepted_negative - before)
        gain = (alone - z)[Y < 0].sum() / (gamed(1.0) - z)[Y < 0].sum()
        assert row.share == pytest.approx(gain)
    texts = {row.feature: row.budget for row in AUDIT.weaknesses}
    assert texts == {"income": "0 to +60", "debt": "-1.5 to +0.5"}


def test_burden_and_recourse_are_the_least_multiples_of_the_budgets() -> None:
    z = scores(X)
    ends = [BUDGETS.get(name, (0, 0)) for name in NAMES]

    def least(x):
        """Over moves v and the multiple m: m low <= v <= m high, and the score reaches 0."""
        limits = [[-float(i == j) for i in range(4)] + [ends[j][0]] for j in range(4)]
        limits += [[float(i == j) for i in range(4)] + [-ends[j][1]] for j in range(4)]
        limits.append([*-THETA, 0.0])
        margin = float(x @ THETA) + INTERCEPT
        found = linprog(
            [0, 0, 0, 0, 1],
            A_ub=limits,
            b_ub=[0.0] * 8 + [margin],
            bounds=[(None, None)] * 4 + [(0, None)],
        )
        return found.fun

    for row, label in zip(AUDIT.hurt, (1, -1), strict=True):
        chosen = (label == Y) & (z <= 0)
        far = np.sort([least(x) for x in X[chosen]])
        n = int((label == Y).sum())
        assert (row.group, row.label, row.n) == (None, label, n)
        assert row.refused == chosen.sum() / n
        assert row.within == pytest.approx(np.mean(far < 1))
        for q, name in ((10, "q10"), (25, "q25"), (50, "q50"), (75, "q75"), (90, "q90")):
            # The smallest multiple that is enough for at least q percent.
            at = far[int(np.ceil(q / 100 * far.size)) - 1]
            assert getattr(row, name) == pytest.approx(at, abs=1e-5)


def test_nobody_is_said_to_need_more_than_a_hundred_times_the_budgets() -> None:
    table, y = np.array([[1.0], [-70.0], [-1.0], [-150.0]]), np.array([1, 1, -1, -1])
    found = gp.audit(gp.LinearModel([1.0]), table, y, budgets={0: (0, 1)})
    good, bad = found.hurt
    assert (good.q50, good.q90) == (pytest.approx(70, abs=1e-5), pytest.approx(70, abs=1e-5))
    assert (bad.q50, bad.q90) == (pytest.approx(1, abs=1e-5), None)


def test_groups_are_audits_of_their_own_people() -> None:
    """What rests on fewer than 20 people of a group is left out."""
    groups = np.where(X[:, 2] > 0, "everyone", "young")
    both = gp.audit(MODEL, X, Y, budgets=BUDGETS, groups=groups)
    for name in ("everyone", "young"):
        alone = gp.audit(MODEL, X[groups == name], Y[groups == name], budgets=BUDGETS)
        for row, own in zip([r for r in both.hurt if r.group == name], alone.hurt, strict=True):
            assert row.n == own.n
            assert row.refused == (pytest.approx(own.refused) if own.n >= 20 else None)
            enough = own.n * own.refused >= 20
            fields = ("within", "low", "high", "q50")
            expected = [getattr(own, name) if enough else None for name in fields]
            assert [getattr(row, name) for name in fields] == pytest.approx(expected)


def test_units_of_the_table_do_not_matter() -> None:
    turned = {name: (low / 7, high / 7) for name, (low, high) in BUDGETS.items()}
    other = gp.audit(gp.LinearModel(THETA * 7, INTERCEPT, NAMES, "mine"), X / 7, Y, budgets=turned)
    same = gp.audit(MODEL, X, Y, budgets=BUDGETS)
    for one, two in zip(other.gaming + other.shifts, same.gaming + same.shifts, strict=True):
        assert one.accuracy == pytest.approx(two.accuracy, abs=1e-9)
    for one, two in zip(other.losses, same.losses, strict=True):
        assert one.risk == pytest.approx(two.risk)


def test_columns_without_a_stated_budget_get_half_a_standard_deviation() -> None:
    listed = gp.audit(MODEL, X, Y, budgets=["debt", "income"])
    half = X.std(axis=0) / 2
    stated = {name: (-half[k], half[k]) for k, name in enumerate(NAMES) if name in MOVABLE}
    assert listed.gaming == gp.audit(MODEL, X, Y, budgets=stated).gaming
    assert listed.gaming == gp.audit(MODEL, X, Y, movable=[0, 3]).gaming
    assert listed.budgets.describe().count("(half a standard deviation)") == 2
    assert f"debt: {-half[3]:+,.3g} to {half[3]:+,.3g}" in listed.budgets.describe()
    assert gp.audit(MODEL, X, Y).movable == NAMES


def test_differences_are_counted_person_by_person() -> None:
    other = gp.LinearModel(THETA * [1, 1, 1, 0], 0.4, NAMES, "other")
    found = gp.compare_models([MODEL, other], X, Y, budgets=BUDGETS, scale=SCALE)
    assert len(found.differences) == 10
    for row in found.differences:
        assert (row.model, row.against) == ("other", "mine")
        one, two = (found.at(name, row.multiple, row.movers) for name in ("mine", "other"))
        assert row.difference == pytest.approx(two.accuracy - one.accuracy)
        assert row.low < row.difference < row.high
    assert found.at("mine", 1.0).accuracy == AUDIT.at("mine", 1.0).accuracy
    for row in found.shift_differences:
        one, two = (
            next(r for r in found.of(found.shifts, name) if r.radius == row.radius)
            for name in ("mine", "other")
        )
        assert row.difference == pytest.approx(two.accuracy - one.accuracy)
        assert row.low < row.difference < row.high


def test_paired_intervals_at_radius_0_are_those_of_the_decisions() -> None:
    other = gp.LinearModel(THETA * [1, 1, 1, 0], 0.4, NAMES, "other")
    options = {"budgets": BUDGETS, "label_cost": float("inf"), "radii": ()}
    found = gp.compare_models([MODEL, other], X, Y, **options)
    (worst,) = found.shift_differences
    used = next(r for r in found.differences if (r.movers, r.multiple) == ("bad", 1.0))
    same = (used.difference, used.low, used.high)
    assert (worst.difference, worst.low, worst.high) == pytest.approx(same)


def test_scikit_learn_model_is_audited_as_it_decides() -> None:
    labels = np.where(Y > 0, "paid", "default")
    estimator = LogisticRegression().fit(X / SCALE, labels)
    found = gp.audit(gp.LinearModel.of(estimator, favourable="paid"), X / SCALE, Y)
    assert found.quality[0].accuracy == estimator.score(X / SCALE, labels)
    turned = gp.LinearModel.of(estimator, favourable="default")
    assert gp.audit(turned, X / SCALE, -Y).quality[0].accuracy == found.quality[0].accuracy
    whole = gp.audit(estimator, X / SCALE, labels, favourable="paid")
    assert whole.models == ("LogisticRegression",)
    assert (whole.quality[0].accuracy, whole.outcomes) == (
        found.quality[0].accuracy,
        ("paid", "default"),
    )


def test_column_that_gains_nothing_is_the_last_weak_spot() -> None:
    blind = gp.LinearModel([0.0, 0, 1.0, -1.0], 0.0, NAMES, "no income")
    found = gp.audit(blind, X, Y, budgets=BUDGETS)
    assert [(row.feature, row.share) for row in found.weaknesses] == [
        ("debt", 1.0),
        ("income", 0.0),
    ]


def test_record_is_json_even_where_nothing_helps() -> None:
    flat = gp.LinearModel([0.0, 0, 1.0, 0], -100.0, NAMES, "flat")
    found = gp.audit(flat, X, Y, budgets=BUDGETS, label_cost=float("inf"))
    record = json.loads(json.dumps(found.record(), allow_nan=False))
    assert record["label_cost"] is None
    assert record["hurt"][0]["q50"] is None
    assert record["hurt"][0]["within"] == 0
    assert {row["share"] for row in record["weaknesses"]} == {None}
    assert {row["accuracy"] for row in record["gaming"]} == {record["quality"][0]["accuracy"]}
    assert record["budgets"]["columns"] == {"income": [0.0, 60.0], "debt": [-1.5, 0.5]}
    assert record["budgets"]["description"] == "income: 0 to +60; debt: -1.5 to +0.5"
    assert record["costs"] == {"accept_bad": 1.0, "refuse_good": 1.0}


def test_theta_zero_loses_by_flipped_labels_only() -> None:
    nothing = gp.LinearModel(np.zeros(4), 1.0, NAMES)
    found = gp.audit(nothing, X, Y, radii=(0.0, 0.06, 9.0), label_cost=0.3, scale=1.0)
    positive = (Y > 0).mean()
    least = [row.accuracy for row in found.shifts]
    assert least == pytest.approx([positive, positive - 0.1, 0.0])


def test_labels_that_cost_nothing_are_all_flipped() -> None:
    found = gp.audit(MODEL, X, Y, budgets={}, radii=(0.0,), label_cost=0.0, scale=SCALE)
    z = scores(X)
    assert found.shifts[0].accuracy == pytest.approx(((z <= 0) & (Y < 0)).mean())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"budgets": {"salary": (0, 1)}},
            "budgets has the column 'salary', which is not among inc",
        ),
        ({"budgets": "income"}, "budgets must map columns to ranges or levels"),
        ({"budgets": [4]}, "budgets has the column 4, and X has columns 0 to 3"),
        ({"budgets": ["debt", 3]}, "budgets names the column 'debt' twice"),
        ({"budgets": {"debt": (1, -1)}}, "the budget of 'debt' is empty: it goes from 1 to -1"),
        ({"budgets": {"debt": (1, 2)}}, "the budget of 'debt' goes from 1 to 2, and must include"),
        ({"budgets": {"debt": (0, float("nan"))}}, "the budget of 'debt' must be finite"),
        ({"budgets": {"debt": ["low"]}}, "the budget of 'debt' must be a pair such as"),
        ({"budgets": {}, "movable": []}, "both say what people can change; give one"),
        ({"multiples": [-1.0]}, "multiples must be finite and at least 0"),
        ({"cost_accept_bad": -1.0}, "cost_accept_bad must be finite and at least 0"),
        ({"powers": [-1.0]}, "powers must be finite and at least 0"),
        ({"power": 1e308}, r"power must be at most 1e\+100, got 1e\+308"),
        ({"radii": [float("inf")]}, "radii must be finite"),
        ({"power": float("nan")}, "power must be finite"),
        ({"label_cost": -1.0}, "label_cost must be at least 0, got -1"),
        ({"scale": 0.0}, "scale must be positive, got 0"),
        ({"scale": [1.0, 2.0]}, "scale must be a number or 4 numbers"),
        ({"groups": ["a"]}, "groups must have one value per person"),
        ({"groups": range(60)}, "groups has 60 different values, more than 50"),
        ({"X": X[:, :3]}, "X has 3 columns, and the model has 4 coefficients"),
        ({"y": np.ones(60)}, "y must have two different labels"),
        ({"model": "mine"}, "expected a fitted linear classifier"),
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
    assert gp.audit(unnamed, frame, Y, budgets=BUDGETS).movable == MOVABLE


def test_models_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(ValueError, match="different names, got mine, mine"):
        gp.compare_models([MODEL, MODEL], X, Y)
    with pytest.raises(ValueError, match="have different features"):
        gp.compare_models([MODEL, gp.LinearModel(THETA, name="other")], X, Y)
    with pytest.raises(ValueError, match="models is empty"):
        gp.compare_models([], X, Y)


def test_audit_of_a_classifier_knows_its_own_people() -> None:
    X, y = gp.synthetic_people(n=120, d=2, seed=0)
    model = gp.StrategicLogisticRegression().fit(X[:80], y[:80])
    assert gp.audit(model, X[:80], y[:80]).learned_from == 1.0
    assert gp.audit(model, X[80:], y[80:]).learned_from is None


def test_budget_beyond_the_whole_range_of_a_column_gets_a_note() -> None:
    found = gp.audit(MODEL, X, Y, budgets={"debt": (0, 1e6)})
    assert any("exceeds the column's whole range" in note for note in found.budgets.notes)


def test_print_and_html_start_with_the_verdict_and_escape_names() -> None:
    X, y = gp.synthetic_people(n=200, d=3, seed=0)
    models = {"<b>": gp.LinearModel([1.0, 1, 1]), "first": gp.LinearModel([1.0, 0, 0])}
    found = gp.compare_models(models, X, y, budgets=[1])
    assert repr(found).splitlines()[0] == found.verdict.sentence
    assert f"{found.at('first', 1.0).accuracy:.3f}" in repr(found)
    html = found._repr_html_()
    assert "<b>" not in html
    assert "<td>&lt;b&gt;</td>" in html
    robust = gp.RobustStrategicClassifier(budgets=[1])
    for curve in (
        gp.select_radius(X, y, robust, radii=[0, 0.1], folds=2),
        gp.select_budget(X, y, robust, multiples=[0, 1], folds=2),
    ):
        assert curve._repr_html_().count("<tr>") == 3
        assert curve.reason in curve._repr_html_()
