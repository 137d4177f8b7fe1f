"""Rows of metrics, thresholds and calibration, against other packages and brute force."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import ks_2samp
from sklearn.metrics import brier_score_loss, confusion_matrix, log_loss, roc_auc_score

import gameproof as gp
from gameproof.auditing import metric_rows
from gameproof.auditing.accuracy_section import cautions
from gameproof.auditing.decision_counts import Costs
from gameproof.auditing.group_section import audited_groups, group_section
from gameproof.auditing.intervals import paired_interval
from gameproof.auditing.judged_people import JudgedPeople
from gameproof.auditing.people_groups import FEWEST, in_order
from gameproof.auditing.ranking import Ranking
from gameproof.auditing.score_rounding import tie_groups
from gameproof.auditing.threshold_rows import APPROVALS, approving_score
from gameproof.auditing.value_moments import ValueMoments, estimates
from gameproof.estimators.probability_calibration import Calibration

RNG = np.random.default_rng(3)
X = RNG.standard_normal((400, 2))
Y = np.where(RNG.random(400) < expit(X @ [1.5, 1.0] + 1.5), 1.0, -1.0)
GROUPS = RNG.choice(["north", "south"], 400)
ONE = gp.LinearModel([1.5, 1.0], 1.5, name="one")
TWO = gp.LinearModel([1.5, 0.1], 0.2, name="two", calibration=Calibration(1.0, 1.0))
BUDGETS = {1: (0, 0.8)}
FOUND = gp.compare_models([ONE, TWO], X, Y, budgets=BUDGETS, groups=GROUPS, cost_accept_bad=4)


def scored(model: gp.LinearModel, multiple: float) -> np.ndarray:
    """Scores by hand: bad applicants raise the second column by its budget."""
    moved = X + np.outer((Y < 0) * multiple, [0.0, 0.8])
    return moved @ model.coefficients + model.intercept


@pytest.mark.parametrize("group", [None, "north"])
@pytest.mark.parametrize("multiple", [0.0, 1.0])
@pytest.mark.parametrize("model", [ONE, TWO], ids=["one", "two"])
def test_metrics_are_those_of_other_packages(model, multiple, group) -> None:
    own = np.ones(400, dtype=bool) if group is None else group == GROUPS
    z, good = scored(model, multiple)[own], Y[own] > 0
    p = expit(z + model.calibration.intercept)
    rows = {
        row.metric: row
        for row in FOUND.metrics
        if (row.model, row.group, row.multiple) == (model.name, group, multiple)
    }
    area = roc_auc_score(good, z)
    expected = {
        "auc": area,
        "gini": 2 * area - 1,
        "ks": ks_2samp(z[~good], z[good], alternative="greater").statistic,
        "accuracy": np.mean((z > 0) == good),
        "approval": np.mean(z > 0),
        "bad_rate": np.mean(~good[z > 0]),
        "good_refused": np.mean(z[good] <= 0),
        "bad_approved": np.mean(z[~good] > 0),
        "cost": np.mean(np.where(z > 0, 4.0 * ~good, 1.0 * good)),
        "log_loss": log_loss(good, p),
        "brier": brier_score_loss(good, p),
        "mean_probability": p.mean(),
    }
    for metric, value in expected.items():
        assert rows[metric].value == pytest.approx(value, abs=1e-12), metric
        assert rows[metric].low <= value <= rows[metric].high
    (row,) = [
        r
        for r in FOUND.confusions
        if (r.model, r.group, r.multiple) == (model.name, group, multiple)
    ]
    table = confusion_matrix(good, z > 0)
    assert [row.bad_refused, row.bad_accepted, row.good_refused, row.good_accepted] == [*table.flat]


def area(z: np.ndarray, good: np.ndarray) -> tuple[float, float, float]:
    """The area under the ROC curve, with its interval."""
    places = tie_groups(z, np.zeros(z.size))
    people = JudgedPeople(z, good, places, Ranking.of(places, good), None)
    moments = ValueMoments.of(*people.values(Costs())["auc"], good)
    return dict(estimates("auc", moments))["auc"][:3]


def test_interval_of_the_area_covers_it() -> None:
    """In 300 samples, 95 % intervals cover the true area 268 times or more but once in 10,000."""
    rng = np.random.default_rng(0)
    true, hits = 0.7602499389065233, 0  # Phi(1 / sqrt(2))
    for _ in range(300):
        z = np.concatenate([rng.normal(1, 1, 60), rng.normal(0, 1, 40)])
        _, low, high = area(z, np.arange(100) < 60)
        hits += low <= true <= high
    assert hits >= 268


def test_difference_of_areas_is_paired() -> None:
    """Its interval is about that of a paired bootstrap; both ends within a third of its width."""
    rows = [r for r in FOUND.metric_differences if (r.metric, r.group) == ("auc", None)]
    (row,) = [r for r in rows if r.multiple == 1.0]
    one, two, good = scored(ONE, 1.0), scored(TWO, 1.0), Y > 0
    assert row.difference == pytest.approx(roc_auc_score(good, two) - roc_auc_score(good, one))
    rng, found = np.random.default_rng(0), []
    for _ in range(150):
        k = rng.integers(0, 400, 400)
        found.append(roc_auc_score(good[k], two[k]) - roc_auc_score(good[k], one[k]))
    ends = np.quantile(found, (0.025, 0.975))
    assert (row.low, row.high) == pytest.approx(ends, abs=(row.high - row.low) / 3)


def test_interval_of_ks_of_many_people_is_that_of_the_bootstrap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both ends within a third of the width, for KS and for a paired difference."""
    rng = np.random.default_rng(0)
    good = rng.random(4000) < 0.6
    first = good + rng.normal(size=4000)
    scores = np.column_stack([first, first + rng.normal(size=4000)]).round(2)
    models = [gp.LinearModel(theta, name=str(theta)) for theta in ([1.0, 0.0], [0.0, 1.0])]
    found = []
    for many in (0, 4000):
        monkeypatch.setattr(metric_rows, "MANY", many)
        audit = gp.compare_models(models, scores, good, budgets=[], measure="ks")
        rows = [row for row in audit.metrics if row.metric == "ks"]
        (difference,) = [row for row in audit.metric_differences if row.metric == "ks"]
        assert difference.difference == pytest.approx(rows[1].value - rows[0].value)
        found.append([*rows, difference])
    for normal, bootstrap in zip(*found, strict=True):
        assert (normal.interval, bootstrap.interval) == ("normal", "bootstrap")
        ends = bootstrap.low, bootstrap.high
        third = (bootstrap.high - bootstrap.low) / 3
        assert (normal.low, normal.high) == pytest.approx(ends, abs=third)
    for row, z in zip(found[0], scores.T, strict=False):
        assert row.value == pytest.approx(ks_2samp(z[good], z[~good]).statistic)


def test_perfect_ranking_has_an_interval() -> None:
    value, low, high = area(np.arange(20.0), np.arange(20) >= 10)
    assert (value, high) == (1.0, 1.0)
    assert 0.6 < low < 0.8


def test_ks_of_equal_shares_is_0_whatever_the_rounding() -> None:
    """Two thirds of the good and of the bad people have the lowest score, a bad one the highest."""
    z = np.repeat([0.0, 1.0, 2.0], [10, 4, 1])
    y = np.repeat([-1.0, 1.0, -1.0], [2, 12, 1])
    found = gp.audit(gp.LinearModel([1.0]), z[:, None], y, budgets=[])
    (row,) = [row for row in found.metrics if row.metric == "ks"]
    assert row.low == row.value == 0.0


def test_intervals_stay_among_the_values_that_a_metric_can_take() -> None:
    X, y = np.linspace(-2.0, 2.0, 80)[:, None], np.repeat([-1.0, 1.0], 40)
    y[[39, 40]] = y[[40, 39]]  # almost perfect, so that uncut intervals reach beyond 1
    model = gp.LinearModel([3.0], calibration=Calibration(1.0, 1.0, 0.0))
    parts = [gp.audit(model, X[k::4], y[k::4], budgets=[]) for k in range(4)]
    for found in (*parts, gp.average_splits(parts)):
        for row in found.metrics:
            least = -1.0 if row.metric == "gini" else 0.0
            most = np.inf if row.metric in ("cost", "log_loss") else 1.0
            assert least <= row.low <= row.value <= row.high <= most


def test_thresholds_approve_the_stated_share_and_cost_what_they_cost() -> None:
    rows = [row for row in FOUND.thresholds if row.model == "two"]
    assert [row.approve for row in rows] == [None, *APPROVALS]
    for row in rows:
        p, gamed = (expit(scored(TWO, m) + 1.0) for m in (0.0, 1.0))
        for share, rate, cost, q in (
            (row.approved, row.bad_rate, row.cost, p),
            (row.gamed_approved, row.gamed_bad_rate, row.gamed_cost, gamed),
        ):
            let_in = q > row.threshold
            assert share == pytest.approx(let_in.mean(), abs=0.0026)  # one person on the border
            assert rate == pytest.approx((Y[let_in] < 0).mean(), abs=0.01)
            assert cost == pytest.approx(np.where(let_in, 4.0 * (Y < 0), Y > 0).mean(), abs=0.011)
        if row.approve is not None:
            assert row.approved == pytest.approx(row.approve, abs=0.0013)


def test_models_are_compared_at_equal_approval() -> None:
    (row,) = [r for r in FOUND.equal_approvals if (r.approve, r.multiple) == (0.8, 1.0)]
    shares = []
    for model in (ONE, TWO):
        cut = np.quantile(scored(model, 0.0), 0.2)
        shares.append((scored(model, 1.0)[Y < 0] > cut).mean())
    assert row.difference == pytest.approx(shares[1] - shares[0], abs=0.02)
    assert row.low < row.difference < row.high


def test_calibration_compares_predicted_and_observed_shares() -> None:
    rows = [row for row in FOUND.calibration if row.model == "one"]
    assert (len(rows), sum(row.n for row in rows)) == (10, 400)
    p = expit(scored(ONE, 0.0))
    assert sum(row.n * row.predicted for row in rows) == pytest.approx(p.sum())
    assert sum(row.n * row.observed for row in rows) == pytest.approx((Y > 0).sum())
    assert [row.predicted for row in rows] == sorted(row.predicted for row in rows)


def test_model_without_probabilities_has_no_metrics_of_them() -> None:
    bare = gp.LinearModel([1.0, 1.0], calibration=None)
    found = gp.audit(bare, X, Y, budgets=BUDGETS)
    assert not found.calibration
    assert not {"log_loss", "brier"} & {row.metric for row in found.metrics}
    assert {row.threshold for row in found.thresholds} == {None}


def test_verdict_recommends_the_model_that_holds_up() -> None:
    far = gp.compare_models([ONE, TWO], X, Y, budgets={1: (0, 4.0)})
    assert far.verdict.model == "two"
    assert "when bad applicants use them, its AUC is" in far.verdict.sentence
    none = gp.compare_models([ONE, TWO], X, Y, budgets={1: (0, 0.001)})
    assert none.verdict.model == "one"


def test_verdict_refuses_models_that_decide_everyone_the_same_way() -> None:
    flat = gp.LinearModel([1.0, 0.0], 50.0, name="flat")
    found = gp.audit(flat, X, Y, budgets=BUDGETS)
    assert found.verdict.model is None
    assert found.verdict.sentence.startswith("Do not use flat: it approves 100.0")
    assert found.verdict.warnings
    both = gp.compare_models([flat, ONE], X, Y, budgets=BUDGETS)
    assert both.verdict.model == "one"
    lost = gp.audit(gp.LinearModel([0.0, 1.0]), X, Y, budgets={1: (0, 9.0)})
    assert "when bad applicants use their budgets" in lost.verdict.sentence
    assert lost.verdict.model is None


def test_verdict_says_when_gaming_leaves_no_measurable_advantage() -> None:
    """Of 40 people, 20 good, each model is right for 30, gamed for 26: Wilson's interval of 0.65
    reaches 0.5. With ten times as many people it does not."""
    y = np.repeat([1.0, -1.0], 20)
    x = np.where(np.arange(40) % 20 < 5, -y, y) * 3.0  # 5 of each kind are decided wrongly
    x[36:] = -0.5  # refused rightly, but within reach of acceptance
    said = "; gamed, it is not measurably better than the same decision about everyone (0.500)."
    for times, doubtful in ((1, True), (10, False)):
        people, labels = np.tile(np.column_stack([x, 0 * x]), (times, 1)), np.tile(y, times)
        models = [gp.LinearModel([scale, 0.0], name=f"times {scale}") for scale in (1.0, 2.0)]
        for compared in (models[:1], models):
            found = gp.compare_models(compared, people, labels, budgets={0: (0, 1)})
            gamed = {
                row.accuracy for row in found.gaming if (row.movers, row.multiple) == ("bad", 1)
            }
            assert gamed == {0.65}
            assert found.verdict.model == "times 1.0"
            assert found.verdict.sentence.endswith(said) == doubtful


def test_few_people_of_one_outcome_get_a_caution() -> None:
    for bad, warned in ((FEWEST - 1, True), (FEWEST, False)):
        y = np.where(np.arange(400) < bad, -1.0, 1.0)
        found = gp.audit(ONE, X, y, budgets=BUDGETS)
        said = f"only {bad} of 400 test rows have label −1: intervals of AUC"
        assert any(note.startswith(said) for note in cautions(found)) == warned


def test_groups_are_ordered_by_number_with_missing_values_last() -> None:
    kinds = np.array(["10", "(missing)", "2", "1"])[np.arange(400) % 4]
    found = gp.audit(ONE, X, Y, budgets=BUDGETS, groups=kinds)
    for rows in (found.metrics, found.confusions, found.hurt):
        names = [group for group in dict.fromkeys(row.group for row in rows) if group]
        assert names == ["1", "2", "10", "(missing)"]
    assert in_order(["b", "-1.5", "a", "-20", "1e3"]) == ["-20", "-1.5", "1e3", "a", "b"]


SIZES = {"many": 300, "few": 60, "tiny": 25, "one": 1}
SMALL = np.repeat(list(SIZES), list(SIZES.values()))
DECIDED = gp.compare_models([ONE, TWO], X[:386], Y[:386], budgets=BUDGETS, groups=SMALL)


def test_numbers_that_rest_on_few_people_of_a_group_are_left_out() -> None:
    """By the definition of each metric: the people that it is a mean over."""
    for name in SIZES:
        own = name == SMALL
        z, good = scored(ONE, 0.0)[:386][own], Y[:386][own] > 0
        rest_on = {
            "auc": min(good.sum(), (~good).sum()),
            "balanced": min(good.sum(), (~good).sum()),
            "good_refused": good.sum(),
            "bad_approved": (~good).sum(),
            "bad_rate": (z > 0).sum(),
            "accuracy": own.sum(),
            "brier": own.sum(),
        }
        key = ("one", name, 0.0)
        found = {r.metric for r in DECIDED.metrics if (r.model, r.group, r.multiple) == key}
        assert {m for m, n in rest_on.items() if n >= FEWEST} == found & rest_on.keys(), name
        differences = {r.metric for r in DECIDED.metric_differences if r.group == name}
        assert differences == {
            m for m in ("auc", "good_refused", "bad_approved") if rest_on[m] >= FEWEST
        }
    counted = {group.name: group.good + group.bad for group in audited_groups(DECIDED)}
    assert counted == SIZES
    section = group_section(DECIDED)
    assert section.charts[0].labels == ["few", "many"]
    assert section.notes[1].startswith(f"Groups with fewer than {FEWEST} good applicants are not")
    assert "one (" in section.notes[1]
    assert "tiny (" in section.notes[1]


def test_paired_differences_of_decisions_have_the_interval_of_bonett_and_price() -> None:
    """Also where both models decide all people of a group alike, so that it never has no width."""
    good = (Y > 0) & (GROUPS == "north")
    refused = [scored(model, 0.0)[good] <= 0 for model in (ONE, TWO)]
    more, fewer = int((refused[1] & ~refused[0]).sum()), int((refused[0] & ~refused[1]).sum())
    (row,) = [
        r
        for r in FOUND.metric_differences
        if (r.group, r.metric, r.multiple) == ("north", "good_refused", 0.0)
    ]
    assert (row.low, row.high) == pytest.approx(paired_interval(more, fewer, int(good.sum())))
    same = gp.compare_models(
        {"a": ONE, "b": ONE}, X, Y, budgets=BUDGETS, groups=GROUPS, measure="cost"
    )
    decisions = [r for r in same.metric_differences if r.metric != "auc"]
    assert {r.metric for r in decisions} == {"cost", "good_refused", "bad_approved"}
    assert all(r.low < r.difference == 0.0 < r.high for r in decisions)


def test_difference_of_balanced_accuracies_is_the_mean_of_those_by_label() -> None:
    """The variances of the two means are a quarter of those of the labels."""
    found = gp.compare_models([ONE, TWO], X, Y, budgets=BUDGETS, measure="balanced")
    (row,) = [r for r in found.metric_differences if (r.metric, r.multiple) == ("balanced", 1.0)]
    one, two = ((scored(model, 1.0) > 0) == (Y > 0) for model in (ONE, TWO))
    ends, more = [], 0.0
    for own in (Y > 0, Y < 0):
        gained, lost = int((two & ~one)[own].sum()), int((one & ~two)[own].sum())
        ends.append(paired_interval(gained, lost, int(own.sum())))
        more += (gained - lost) / int(own.sum()) / 2
    (a, b), (c, d) = ends
    middle, half = (a + b + c + d) / 4, np.hypot(b - a, d - c) / 4
    assert row.difference == pytest.approx(more)
    assert (row.low, row.high) == pytest.approx((middle - half, middle + half))


def test_finding_on_groups_says_what_is_certain_and_where_most() -> None:
    """A model that uses the second column refuses the good applicants of one group."""
    kinds = np.where(X[:, 1] < 0, "low", "high")
    wide = gp.LinearModel([0.5, 3.0], 1.5, name="wide")
    found = gp.compare_models([ONE, wide], X, Y, budgets=BUDGETS, groups=kinds)
    rows = {
        r.group: r
        for r in found.metric_differences
        if (r.metric, r.multiple) == ("good_refused", 0.0) and r.group
    }
    assert rows["low"].low > 0 > rows["high"].high
    assert found.subject == "one"
    said = group_section(found).finding
    assert "one refuses more good applicants in 1 of 2 groups, most of all for high (+" in said
    assert "fewer good applicants in 1 of 2 groups, most of all for low (−" in said
    assert "not certain" not in said.partition(".")[0]


def test_people_with_the_same_score_are_approved_together_by_the_nearest_share() -> None:
    scores = np.array([0.5] * 90 + [0.7] * 4 + [0.1] * 6)
    for share, approved in ((0.9, 0.94), (0.5, 0.94), (0.45, 0.04), (0.02, 0.04), (0.01, 0.0)):
        cut = approving_score(scores, share)
        assert (scores > cut).mean() == pytest.approx(approved), share
    assert (scores > approving_score(scores, 0.99)).all()
    assert (np.zeros(5) > approving_score(np.zeros(5), 0.9)).all()
