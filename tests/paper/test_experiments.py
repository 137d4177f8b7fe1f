"""Every experiment of the paper, at the scale of a smoke run.

The experiments with n = 1000 and 4000 differ from n = 500 only in n.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gameproof.auditing import figures
from gameproof.auditing.page_model import Chart
from gameproof.paper import complexity
from gameproof.paper.experiment_study import ExperimentStudy
from gameproof.paper.experiments import EXPERIMENTS
from gameproof.paper.reproduce import reproduce
from gameproof.tables.catalog import CATALOG

COMPARED = ["tuning", "settings", "gaps", "final", "accuracy"]
TABLES = {
    "synthetic-500": COMPARED,
    "error-bars": ["gaps", "final"],
    "credit": [*COMPARED, "radii", "movable"],
    "bank": [*COMPARED, "radii", "movable"],
    "complexity": ["tuning", "settings", "exponents", "queries"],
    "smooth-or-not": ["tuning", "risks"],
    "inner-loop": ["tuning", "settings", "gaps"],
    "rate": ["gaps"],
}
# What each chart of an experiment must show: the table, the rows to select, the column that names
# the lines, the format of their names, x, and y.
ShownRows = tuple[str, dict[str, Any], str, str, str, str]


def gaps(way: str, budget: str, output: str) -> ShownRows:
    rows = {"way": way, "budget": budget, "output": output}
    x = "values" if budget == "values" else "epoch"
    return ("gaps", rows, "algorithm", "{}", x, "score")


def curves(table: str, rows: dict[str, Any], y: str) -> ShownRows:
    return (table, rows, "classifier", "{}", "power", y)


GAPS = [
    gaps("tuned", "epochs", "average"),
    gaps("tuned", "values", "average"),
    gaps("letter", "epochs", "average"),
]
COMPARISON = [
    *GAPS,
    gaps("tuned", "epochs", "last"),
    gaps("tuned", "values", "last"),
    curves("accuracy", {}, "accuracy"),
    curves("accuracy", {}, "margin"),
]
RADII: list[ShownRows] = [
    ("radii", {}, "power", "gaming power {:g}", "radius", "accuracy"),
    ("radii", {"power": 0.0}, "classifier", "{}", "radius", "size"),
]
MOVED = [curves("movable", {"movable": choice}, "accuracy") for choice in ("as stated", "all")]
NUMBERS = curves("movable", {"movable": "numbers"}, "accuracy")
CHARTS: dict[str, list[ShownRows]] = {
    "synthetic-500": COMPARISON,
    "error-bars": GAPS,
    "credit": [*COMPARISON, *RADII, *MOVED],
    "bank": [*COMPARISON, *RADII, MOVED[0], NUMBERS, MOVED[1]],
    "complexity": [
        *(
            ("exponents", {"radius": 4.0}, "gamma", "multiplier {:g} n", "step", name)
            for name in "nd"
        ),
        ("queries", {}, "d", "d = {}", "n", "queries"),
        ("queries", {}, "n", "n = {}", "d", "queries"),
    ],
    "smooth-or-not": [
        ("risks", {"algorithm": name}, "form", "{}", "epoch", "score")
        for name in ("OGDA-RR", "SGDA-RR")
    ],
    "inner-loop": [("gaps", {}, "method", "{}", "gradients", "score")],
    "rate": [
        ("gaps", {"case": name}, "case", "OGDA-RR", "epoch", "score")
        for name in ("quadratic game", "strategic problem")
    ],
}


# Rendering takes longer than the runs. These experiments draw every kind of chart.
RENDERED = ("credit", "complexity")
NOT_RENDERED = {"svg": b"<svg", "png": b"\x89PNG"}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all tests, so that nothing is computed twice."""
    return tmp_path_factory.mktemp("out")


@cache
def smoke(name: str, out: Path) -> ExperimentStudy:
    with pytest.MonkeyPatch.context() as patch:
        if name not in RENDERED:
            patch.setattr(figures, "as_files", lambda figure: NOT_RENDERED)
        (study,) = reproduce([name], out, quick=True, seeds=2, jobs=1, progress=False)
    return study


def chart_shows_the_table(
    study: ExperimentStudy,
    chart: Chart,
    table: str,
    rows: dict[str, Any],
    by: str,
    name: str,
    x: str,
    y: str,
) -> None:
    """Compares lines with means and two standard deviations, or with medians without a band."""
    frame = pd.read_parquet(study.folder / f"{table}.parquet")
    for column, value in rows.items():
        frame = frame[frame[column] == value]
    of = {name.format(value): own.groupby(x)[y] for value, own in frame.groupby(by)}
    lines = [series for series in chart.series if not series.guide]
    assert lines
    for series in lines:
        found = of[series.name]
        middle = found.mean() if series.low else found.median()
        assert list(series.x) == middle.index.tolist()
        assert len(middle) > 1
        np.testing.assert_allclose(series.y, middle, rtol=1e-12)
        if series.low:
            np.testing.assert_allclose(series.low, middle - 2 * found.std(), atol=1e-12)
            np.testing.assert_allclose(series.high, middle + 2 * found.std(), atol=1e-12)


@pytest.mark.parametrize("name", TABLES)
def test_experiment_writes_tables_figures_and_verdicts(
    name: str, out: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in CATALOG:
        monkeypatch.setenv("GAMEPROOF_DATA", str(request.getfixturevalue("published")))
    study = smoke(name, out)
    for table in [*TABLES[name], "claims"]:
        frame = pd.read_parquet(study.folder / f"{table}.parquet")
        assert len(frame) > 0
        assert len(pd.read_csv(study.folder / f"{table}.csv")) == len(frame)
        assert (frame["experiment"] == name).all()
    for figure, panels in study.figures:
        assert panels.caption
        assert (study.folder / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (study.folder / f"{figure}.svg").read_bytes()
    charts = [chart for _, panels in study.figures for chart in panels.charts]
    for chart, meant in zip(charts, CHARTS[name], strict=True):
        chart_shows_the_table(study, chart, *meant)
    assert [judged.claim for judged in study.judged] == study.claims
    for claim in study.claims:
        assert 0 <= claim.p <= 1
        assert np.isfinite(claim.effect)
        assert claim.low <= claim.effect <= claim.high
        assert claim.verdict in ("holds", "does not hold", "undecided")
    assert EXPERIMENTS[name] in (out / "summary.md").read_text(encoding="utf-8")


def test_gaps_fall_and_the_robust_classifier_leads(out: Path) -> None:
    """Checks what every draw of people shows."""
    study = smoke("synthetic-500", out)
    gaps = pd.read_parquet(study.folder / "gaps.parquet")
    shown = (gaps["way"] == "tuned") & (gaps["budget"] == "epochs")
    tuned = gaps[shown & (gaps["output"] == "average")]
    first = tuned[tuned["epoch"] == 1].set_index(["algorithm", "seed"])["score"]
    last = tuned[tuned["epoch"] == 10].set_index(["algorithm", "seed"])["score"]
    assert (last > 0).all()
    assert (last < 0.7 * first).all()
    curves = pd.read_parquet(study.folder / "accuracy.parquet")
    gamed = curves[curves["power"] == 1.0].groupby("classifier")["accuracy"].mean()
    clean = curves[curves["power"] == 0.0].groupby("classifier")["accuracy"].mean()
    assert gamed["robust"] > gamed["strategic"] + 0.1
    assert clean["logistic"] > 0.9


def test_unreached_target_is_noted_and_gives_no_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(complexity, "TARGET", 1e-9)
    monkeypatch.setattr(figures, "as_files", lambda figure: NOT_RENDERED)
    study = smoke("complexity", tmp_path)
    assert study.notes == ["8 of 8 runs did not reach the gap within 20 epochs."]
    assert study.claims == []


def test_claims_compare_both_budgets_and_both_iterates(out: Path) -> None:
    study = smoke("synthetic-500", out)
    gaps = pd.read_parquet(study.folder / "gaps.parquet")
    key = ["way", "output", "budget", "algorithm", "seed"]
    final = gaps.loc[gaps.groupby(key)["epoch"].idxmax()].set_index(key)["score"]
    for budget, words in (("epochs", "after the same epochs"), ("values", "after the same values")):
        for output, ending in (("average", "with block steps"), ("last", "last iterate")):
            (claim,) = [
                found
                for found in study.claims
                if found.text == "OGDA-RR beats SGDA-WR"
                and words in found.measure
                and found.measure.endswith(ending)
            ]
            first, second = (
                np.log(final["tuned", output, budget, name]) for name in ("OGDA-RR", "SGDA-WR")
            )
            assert claim.effect == pytest.approx(np.exp((first - second).mean()))


@pytest.mark.parametrize("form", ["with block steps", "to the letter"])
def test_smooth_form_is_judged_with_block_steps_and_to_the_letter(form: str, out: Path) -> None:
    study = smoke("smooth-or-not", out)
    risks = pd.read_parquet(study.folder / "risks.parquet")
    name = "min-max" if form == "with block steps" else "min-max, to the letter"
    last = risks[(risks["algorithm"] == "SGDA-RR") & (risks["epoch"] == risks["epoch"].max())]
    last = np.log(last.set_index(["form", "seed"])["score"])
    (claim,) = [
        found
        for found in study.claims
        if found.text.endswith("(SGDA-RR)")
        and found.measure.endswith(f"after the same values; min-max {form}")
    ]
    assert claim.effect == pytest.approx(np.exp((last[name] - last["non-smooth"]).mean()))
