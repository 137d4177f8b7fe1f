"""Classifiers that choose their radius and budgets: the same choice as the functions make."""

import numpy as np
import pytest

import gameproof as gp
from gameproof.estimators import choice_rows as drawing
from gameproof.estimators.choice_rows import MOST, choice_rows
from gameproof.estimators.sample_weight import WeightedRows

X, SIGNS = gp.synthetic_people(n=300, d=3, seed=0)
Y = np.where(SIGNS > 0, "paid", "late")
STATED = {"favourable": "paid", "budgets": {2: (-0.5, 0.5)}}


def test_automatic_radius_is_the_recommended_one() -> None:
    curve = gp.select_radius(X, Y, gp.RobustStrategicClassifier(**STATED))
    model = gp.RobustStrategicClassifier(radius="auto", **STATED).fit(X, Y)
    assert model.radius == "auto"
    assert model.radius_ == model.radius_curve_.recommended == curve.recommended
    stated = gp.RobustStrategicClassifier(radius=curve.recommended, **STATED).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, stated.coef_)
    assert model.worst_case(X, Y).value == stated.worst_case(X, Y).value


@pytest.mark.parametrize("kind", [gp.RobustStrategicClassifier, gp.StrategicLogisticRegression])
def test_automatic_budgets_train_for_the_recommended_multiple(kind, tmp_path) -> None:
    model = kind(budgets="auto", features=[2], favourable="paid").fit(X, Y)
    curve = gp.select_budget(X, Y, kind(budgets=[2], favourable="paid", **_radius(kind)))
    assert model.budget_curve_.recommended == curve.recommended
    # People can do what was stated, whatever the classifier was trained for.
    assert model.budgets_.describe() == curve.budgets.describe()
    stated = kind(budgets=curve.recommended_budgets, favourable="paid").fit(X, Y)
    np.testing.assert_allclose(model.coef_, stated.coef_, rtol=1e-9)
    gamed = gp.gamed_scorer([2], favourable="paid")(stated, X, Y)
    assert model.gamed_score(X, Y) == gamed
    model.save(tmp_path / "model.json")
    again = gp.load_model(tmp_path / "model.json")
    assert again.gamed_score(X, Y) == gamed
    assert again.worst_case(X, Y).value == model.worst_case(X, Y).value


def _radius(kind) -> dict[str, float]:
    """The class chooses budgets at its own radius."""
    return {"radius": 0.05} if kind is gp.RobustStrategicClassifier else {}


def test_failed_choice_leaves_the_model_as_it_was() -> None:
    model = gp.RobustStrategicClassifier(radius="auto", **STATED).fit(X, Y)
    coef = model.coef_
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, np.full(len(X), "paid"))
    assert (model.radius, model.coef_ is coef) == ("auto", True)


def test_a_curve_from_a_part_of_the_rows_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = gp.RobustStrategicClassifier("auto", features=[0]).fit(X, Y)
    monkeypatch.setattr(drawing, "MOST", 200)
    part = gp.RobustStrategicClassifier("auto", budgets="auto").fit(X, Y)
    assert "Chosen on" not in repr(whole.radius_curve_)
    for curve in (part.radius_curve_, part.budget_curve_):
        assert repr(curve).endswith("Chosen on 200 of 300 rows.")


@pytest.mark.parametrize("rare", [False, True])
def test_large_tables_are_subsampled_with_the_shares_of_the_outcomes(rare: bool) -> None:
    n = 3 * MOST
    good = np.arange(n) % (20 if rare else 2) > 0
    found = choice_rows(WeightedRows(np.arange(n)[:, None], good, None), good, 0)
    assert found.y.size == MOST
    if rare:
        assert np.average(found.y, weights=found.weights) == pytest.approx(good.mean())
        assert (~found.y).sum() == (~good).sum()
