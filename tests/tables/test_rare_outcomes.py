"""`fit_table` where bad outcomes are rare, with thresholds, groups and later test rows."""

import numpy as np
import pytest
from scipy.special import expit

import gameproof as gp
from gameproof.tables.decision_reasons import contributions
from gameproof.tables.model_summary import ModelSummary
from gameproof.tables.table import as_table

RNG = np.random.default_rng(5)
N = 3000
USE, DEBT = RNG.random(N), RNG.normal(0, 1, N)
BAD = RNG.random(N) < expit(3 * USE + 1.2 * DEBT - 5)
PEOPLE = {
    "use": USE,
    "debt": DEBT,
    "year": RNG.integers(2015, 2021, N),
    "region": RNG.choice(["north", "south"], N),
    "default": np.where(BAD, "yes", "no"),
}
MEANING = {"target": "default", "favourable": "no", "budgets": {"use": (-0.3, 0)}, "radius": 0.02}


@pytest.fixture(scope="module")
def fit() -> gp.TableFit:
    return gp.fit_table(PEOPLE, **MEANING, groups="region", drop=["year"])


def test_rare_outcome_is_judged_by_auc_with_class_weights(fit) -> None:
    record = fit.record()
    assert BAD.mean() < 0.1
    assert (record["measure"], record["balanced"]) == ("auc", True)
    assert fit.model.classifier.class_weight == "balanced"
    assert fit.audit.verdict.model is not None
    # The mean over 3,000 people has a standard error below 0.005.
    assert fit.model.probability(PEOPLE).mean() == pytest.approx(1 - BAD.mean(), abs=0.01)


def test_model_chosen_by_accuracy_is_not_recommended() -> None:
    found = gp.fit_table(PEOPLE, **MEANING, drop=["year"], measure="accuracy", balanced=False)
    assert found.audit.verdict.model is None
    assert found.recommended is None
    assert found.lines()[0].startswith("verdict: Do not use any of these models")
    assert any("WARNING: robust approves" in line for line in found.lines())


def test_approve_and_threshold_move_the_decisions(fit, tmp_path) -> None:
    found = gp.fit_table(PEOPLE, **MEANING, drop=["year"], approve=0.6)
    for model in found.models.values():
        # The share of the training rows is exact; four fifths of these rows are training rows.
        assert (model.predict(PEOPLE) == "no").mean() == pytest.approx(0.6, abs=0.02)
    given = gp.fit_table(PEOPLE, **MEANING, drop=["year"], threshold=0.9)
    model = given.model
    assert model.threshold == pytest.approx(0.9)
    approved = model.predict(PEOPLE) == "no"
    np.testing.assert_array_equal(approved, model.probability(PEOPLE) > 0.9)
    given.save(tmp_path / "model.json")
    loaded = gp.load_model(tmp_path / "model.json")
    assert (loaded.calibration, loaded.cut) == (model.calibration, model.cut)
    np.testing.assert_array_equal(loaded.probability(PEOPLE), model.probability(PEOPLE))
    with pytest.raises(ValueError, match="both say whom to approve"):
        gp.fit_table(PEOPLE, **MEANING, threshold=0.9, approve=0.5)


def test_costs_move_the_boundary_of_the_cost_measure() -> None:
    strict, lax = (
        gp.fit_table(PEOPLE, **MEANING, drop=["year"], measure="cost", cost_accept_bad=cost)
        for cost in (30.0, 3.0)
    )
    assert strict.model.threshold > lax.model.threshold
    assert strict.model.classifier.class_weight == {1.0: 1.0, -1.0: 30.0}


def test_large_costs_are_printed_as_people_say_them() -> None:
    """A cost of 146.123 is 146, one of 96.502 is 96.5, and columns stay apart."""
    costs = {"cost_accept_bad": 5000, "cost_refuse_good": 300}
    found = gp.fit_table(PEOPLE, **MEANING, drop=["year"], **costs)
    clean, gamed = (
        next(r for r in found.audit.metrics if (r.model, r.metric, r.multiple) == key)
        for key in (("logistic", "cost", 0.0), ("logistic", "cost", 1.0))
    )
    assert clean.value > 100
    lines = found.lines(full=True)
    (line, *_) = [line for line in lines if line.strip().startswith("cost per applicant ")]
    ends = [(row.value, row.low, row.high) for row in (clean, gamed)]
    texts = [tuple(f"{v:.0f}" if v > 99.95 else f"{v:.1f}" for v in three) for three in ends]
    shown = " ".join("{} ({} to {})".format(*three) for three in texts)
    assert line.split("applicant")[1].split() == shown.split()
    (own,) = [each for each in lines if each.split()[:2] == ["logistic", "own"]]
    assert own.split()[5::3] == [f"{row.value:.0f}" for row in (clean, gamed)]


def test_later_rows_are_the_test_rows() -> None:
    found = gp.fit_table(PEOPLE, **MEANING, split_by="year", test_after=2019)
    assert found.record()["rows_tested"] == int((PEOPLE["year"] > 2019).sum())
    assert "year" not in found.training.plan.features.names
    assert "(year after 2019)" in str(found)
    with pytest.raises(gp.DataError, match=r"up to '2030' .* from 2015"):
        gp.fit_table(PEOPLE, **MEANING, split_by="year", test_after=2030)
    with pytest.raises(ValueError, match="needs both the column"):
        gp.fit_table(PEOPLE, **MEANING, split_by="year")


def test_groups_are_reported_with_who_bears_the_cost(fit) -> None:
    assert {row.group for row in fit.audit.metrics} == {None, "north", "south"}
    printed = str(fit)
    assert "by group, robust:" in "\n".join(fit.lines(full=True))
    assert "by group, robust:" not in printed
    assert "who bears the cost of robustness" in printed
    (line,) = [line for line in printed.splitlines() if line.startswith("  north ")]
    (row,) = [
        r
        for r in fit.audit.metric_differences
        if (r.model, r.against, r.group, r.metric, r.multiple)
        == ("robust", "logistic", "north", "good_refused", 0.0)
    ]
    assert line.endswith(f"{row.difference:+.3f} ({row.low:+.3f} to {row.high:+.3f})")
    with pytest.raises(gp.DataError, match="'debt', has 3,000 different values"):
        gp.fit_table(PEOPLE, **MEANING, groups="debt")


def test_reasons_add_up_to_the_score(fit) -> None:
    model, table = fit.model, as_table(PEOPLE)
    added = contributions(model, table).sum(axis=1)
    probability = model.probability(PEOPLE)
    odds = np.log(probability / (1 - probability))
    np.testing.assert_allclose(np.ptp(odds - added), 0.0, atol=1e-9)


def test_summary_gives_effects_in_the_units_of_the_table(fit) -> None:
    summary = ModelSummary(fit.model)
    effects = {effect.column: effect for effect in summary.effects()}
    assert effects["use"].movable == "-0.3 to 0"
    assert effects["debt"].movable == ""
    low, _, high = effects["debt"].quartiles
    rows = {name: column[:1] for name, column in PEOPLE.items()}
    ends = [fit.model.decision_function({**rows, "debt": [v]})[0] for v in (low, high)]
    near = fit.model.probabilities(np.array([-1e-6, 1e-6]))
    slope = float(np.diff(np.log(near / (1 - near)))[0]) / 2e-6
    assert effects["debt"].between_quartiles == pytest.approx(slope * (ends[1] - ends[0]), rel=1e-6)
    assert "approves from a probability of" in str(summary)
    assert summary.record()["threshold"] == fit.model.threshold


def test_multiple_of_the_budgets_can_be_chosen() -> None:
    found = gp.fit_table(PEOPLE, **MEANING, drop=["year"], train_for="auto")
    curve = found.classifiers.budget_curve
    assert found.classifiers.train_for == curve.recommended
    assert curve.measure.name == "auc"
    assert found.audit.budgets.factor == 1
