"""What changes when a model is multiplied by a positive number, and what does not."""

import html
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss

import gameproof as gp
from audited import BUDGETS, MOVABLE, NAMES, SCALE, people
from gameproof.auditing.audit_page import audit_sections, audit_tiles
from gameproof.auditing.page import page
from gameproof.auditing.scale_rows import WHY_SCALE_MATTERS
from gameproof.auditing.score_rounding import area_under_curve
from gameproof.estimators.probability_calibration import Calibration

X, Y, MODEL = people()
CONSTANTS = (0.25, 1 / 3, 1e-6, 7.3, 1e5)


def compared(constant: float, seed: int = 0) -> gp.Audit:
    """Three models times a constant; one of them has no coefficients, only an intercept."""
    rng = np.random.default_rng(seed)
    models = [
        gp.LinearModel(
            constant * theta / SCALE, constant * offset, NAMES, name, Calibration(1 / constant)
        )
        for name, theta, offset in (
            ("one", rng.standard_normal(4), 0.1),
            ("none", np.zeros(4), -0.2),
            ("two", rng.integers(-2, 3, 4).astype(float), 0.0),
        )
    ]
    whole = np.round(X / SCALE) * SCALE  # many people have equal scores, or a score of 0
    few = {"radii": (0.1,), "powers": (0.5,)}
    return gp.compare_models(models, whole, Y, budgets=BUDGETS, scale=SCALE, **few)


def primary(audit: gp.Audit) -> list[tuple[str, object]]:
    """Every number and text of an audit with its place, except what depends on scale."""
    record = audit.record()
    del record["depends_on_scale"]
    found: list[tuple[str, object]] = []

    def walk(place: str, value: object) -> None:
        if isinstance(value, dict):
            for key, part in value.items():
                walk(f"{place}.{key}", part)
        elif isinstance(value, list):
            for k, part in enumerate(value):
                walk(f"{place}[{k}]", part)
        else:
            found.append((place, value))

    walk("", record)
    return found


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(CONSTANTS), st.integers(0, 10**6))
@example(1 / 3, 169128)  # scores on the edges of bins
@example(7.3, 2345)  # a multiple of the budgets that lifts a score to exactly 0
def test_positive_constant_changes_no_primary_number(constant: float, seed: int) -> None:
    for (place, one), (same, two) in zip(
        primary(compared(1.0, seed)), primary(compared(constant, seed)), strict=True
    ):
        assert place == same
        if isinstance(one, float):
            assert two == pytest.approx(one, rel=1e-9, abs=1e-9), place
        else:
            assert two == one, place


@pytest.mark.parametrize("constant", [*CONSTANTS, 0.7, 3.3])
def test_columns_that_gain_the_same_keep_the_order_of_the_table(constant: float) -> None:
    """Each budget is inverse to its coefficient, so gains are equal up to rounding."""
    rng = np.random.default_rng(0)
    table = rng.integers(-3, 4, (60, 3)).astype(float)
    y = np.where(table[:, 0] + table[:, 1] + rng.standard_normal(60) > 0, 1, -1)
    for _ in range(5):
        theta = rng.choice([0.1, 0.2, 0.3, 0.6, 0.7, 1.1, 3.3], 3)
        budgets = {k: (0.0, 0.3 * theta.prod() / theta[k]) for k in range(3)}
        model = gp.LinearModel(constant * theta, 0.0)
        found = gp.audit(model, table, y, budgets=budgets, powers=(), radii=())
        assert [row.feature for row in found.weaknesses] == ["x0", "x1", "x2"]


@pytest.mark.parametrize("constant", CONSTANTS)
def test_positive_constant_changes_nothing_on_the_page_before_the_closed_part(
    constant: float,
) -> None:
    def shown(audit: gp.Audit) -> tuple[str, str]:
        text = page("t", audit_sections(audit), {}, tiles=audit_tiles(audit))
        first, last = re.split(r'<details class="more">', text)
        return re.sub(r'<script type="application/json">.*?</script>', "", first, flags=re.S), last

    (first, last), (same, other) = shown(compared(1.0)), shown(compared(constant))
    assert first == same
    assert last != other
    assert WHY_SCALE_MATTERS in html.unescape(last)


def test_dividing_a_classifier_by_four_makes_it_look_robust_by_power_alone() -> None:
    quarter = gp.LinearModel(MODEL.coefficients / 4, MODEL.intercept / 4, NAMES, "quarter")
    found = gp.compare_models([MODEL, quarter], X, Y, budgets=BUDGETS, power=2.0)
    mine, other = (found.of(found.by_power, name) for name in ("mine", "quarter"))
    assert other[-1].accuracy > mine[-1].accuracy + 0.1
    assert other[-1].moved == pytest.approx(mine[-1].moved / 4)
    assert {row.difference for row in found.differences} == {0.0}
    assert {round(row.difference, 12) for row in found.shift_differences} == {0.0}


def test_audit_of_scikit_learn_does_not_depend_on_the_scale_of_scores() -> None:
    labels = np.where(Y > 0, 1, -1)
    one = LogisticRegression().fit(X / SCALE, labels)
    two = LogisticRegression().fit(X / SCALE, labels)
    two.coef_, two.intercept_ = one.coef_ / 4, one.intercept_ / 4
    np.testing.assert_array_equal(one.predict(X / SCALE), two.predict(X / SCALE))
    models = [
        replace(gp.LinearModel.of(model), calibration=Calibration(slope))
        for model, slope in ((one, 1.0), (two, 4.0))  # the probabilities stay the same
    ]
    first, second = (gp.audit(model, X / SCALE, Y, budgets=[0, 3]) for model in models)
    assert primary(first) == primary(second)  # a power of two is exact


def test_scores_that_differ_by_rounding_only_are_ties() -> None:
    """0.3 + 1e-17 x rounds to 0.3 or to a neighbouring number."""
    theta = np.array([1e-17, 0, 0, 0]) / SCALE
    found = gp.audit(gp.LinearModel(theta, 0.3, NAMES), X, Y, budgets=BUDGETS)
    assert found.quality[0].auc == 0.5
    assert {row.auc for row in found.gaming} == {0.5}
    noisy = np.full(60, 0.3) + np.random.default_rng(0).choice([0, 5.6e-17], 60)
    assert len(set(noisy)) == 2
    assert area_under_curve(noisy, Y > 0, np.full(60, 1e-15)) == 0.5
    assert area_under_curve(noisy, Y > 0, np.zeros(60)) != 0.5


def test_person_on_the_border_is_refused_whatever_the_rounding() -> None:
    """0.1 + 0.2 - 0.3 is not 0 in floating point, and 0 is not accepted."""
    table = np.array([[0.1, 0.2], [0.1, 0.4], [0.1, 0.1], [0.1, 0.2]])
    y = np.array([1, 1, -1, -1])
    for constant in (1.0, *CONSTANTS):
        model = gp.LinearModel([constant, constant], -0.3 * constant)
        assert gp.audit(model, table, y).quality[0].accuracy == 0.75


@pytest.mark.parametrize("power", [0.0, 0.2, 0.4])
def test_gaming_by_power_is_what_best_responses_do(power: float) -> None:
    """Steps in units of scale; a general optimiser maximises score minus cost."""
    columns = [NAMES.index(name) for name in MOVABLE]
    theta = MODEL.coefficients

    def best_response(x):
        def lost(v):
            moved = x.copy()
            moved[columns] += v * SCALE[columns]
            return -float(moved @ theta) + float(v @ v) / (2 * power)

        found = minimize(lost, np.zeros(2), tol=1e-12).x
        moved = x.copy()
        moved[columns] += found * SCALE[columns]
        return moved, float(np.linalg.norm(found))

    found = gp.audit(MODEL, X, Y, budgets=BUDGETS, scale=SCALE, powers=(0.2, 0.4), power=0.4)
    row = next(row for row in found.by_power if row.power == power)
    moved = [best_response(x)[0] if y < 0 and power else x for x, y in zip(X, Y, strict=True)]
    z = np.array(moved) @ theta + MODEL.intercept
    assert row.accuracy == accuracy_score(Y, np.where(z > 0, 1, -1))
    assert row.risk == pytest.approx(log_loss(Y, 1 / (1 + np.exp(-z))), abs=1e-6)
    assert row.accepted_negative == (z[Y < 0] > 0).mean()
    assert row.accepted_positive == found.quality[0].accepted_positive
    if power:
        assert row.moved == pytest.approx(best_response(X[0])[1], abs=1e-5)


def test_coefficients_are_listed_and_those_of_0_print_as_0() -> None:
    model = gp.LinearModel([-0.0, -1.5, 0.25, 0.0], 0.1, NAMES)
    found = gp.audit(model, X, Y, budgets=BUDGETS, scale=SCALE)
    assert [row.coefficient for row in found.coefficients] == [0.0, -1.5, 0.25, 0.0]
    assert [row.scaled for row in found.coefficients] == pytest.approx([0, -0.15, 0.25, 0])
    text = page("t", audit_sections(found), {})
    assert '<th scope="row">income</th><td>model</td><td class="number">0</td>' in text
