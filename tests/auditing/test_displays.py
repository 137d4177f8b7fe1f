"""Displays draw the numbers of the audit or curve that they are made from."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import gameproof as gp

mpl.use("Agg")
X, Y = gp.synthetic_people(n=300, d=4, seed=0)
LABELS = np.where(Y > 0, "paid", "default")
MODEL = LogisticRegression().fit(X, LABELS)
OPTIONS = {"budgets": {2: (-0.5, 0.5)}, "favourable": "paid"}


@pytest.fixture(autouse=True)
def closed_figures():
    from matplotlib import pyplot

    yield
    pyplot.close("all")


@pytest.mark.parametrize("measure", ["accuracy", "auc", "accepted_negative"])
def test_gaming_curve_draws_the_rows_of_the_audit(measure: str) -> None:
    drawn = gp.GamingCurveDisplay.from_estimator(MODEL, X, LABELS, measure=measure, **OPTIONS)
    rows = [row for row in gp.audit(MODEL, X, LABELS, **OPTIONS).gaming if row.movers == "bad"]
    (line,) = drawn.ax_.get_lines()
    assert drawn.figure_ is drawn.ax_.figure
    assert line.get_xdata().tolist() == [row.multiple for row in rows]
    assert line.get_ydata().tolist() == [getattr(row, measure) for row in rows]


def test_radius_curve_marks_the_recommended_radius() -> None:
    curve = gp.select_radius(X, LABELS, radii=[0, 0.05], folds=3)
    drawn = gp.RadiusCurveDisplay.from_curve(curve)
    assert drawn.ax_.get_lines()[-1].get_xdata()[0] == curve.recommended
    assert drawn.ax_.get_ylabel() == curve.measure.label


def test_threshold_display_draws_approval_and_bad_rates() -> None:
    found = gp.audit(MODEL, X, LABELS, **OPTIONS)
    clean, gamed = gp.ThresholdDisplay.from_audit(found).ax_.get_lines()
    rows = sorted((row.approved, row.bad_rate) for row in found.thresholds if row.approved)
    assert clean.get_xydata() == pytest.approx(np.array(rows))
    assert gamed.get_ydata().max() > clean.get_ydata().max()


def test_displays_on_the_same_axes_can_be_told_apart() -> None:
    lasso = LogisticRegression(C=0.05).fit(X[:, :3], LABELS)
    audits = [
        gp.compare_models({name: model}, X[:, : model.n_features_in_], LABELS, **OPTIONS)
        for name, model in (("ours", MODEL), ("theirs", lasso))
    ]
    for display, number in ((gp.GamingCurveDisplay, 1), (gp.ThresholdDisplay, 2)):
        first = display.from_audit(audits[0])
        second = display.from_audit(audits[1], ax=first.ax_)
        lines = second.ax_.get_lines()
        assert len({line.get_color() for line in lines}) == len(lines) == 2 * number
        said = [text.get_text() for text in second.ax_.get_legend().get_texts()]
        assert len(set(said)) == len(lines)
        assert all(text.startswith("theirs") for text in said[number:])


def test_unknown_measures_are_refused() -> None:
    found = gp.audit(MODEL, X, LABELS, **OPTIONS)
    with pytest.raises(ValueError, match="measure must be one of accuracy, auc"):
        gp.GamingCurveDisplay.from_audit(found, measure="f1")
    with pytest.raises(ValueError, match="measure must be bad_rate or cost"):
        gp.ThresholdDisplay.from_audit(found, measure="f1")
