"""Every experiment of the paper, at the scale of a smoke run.

n = 1000 and 4000 differ from n = 500 in nothing but n.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gameproof.data.catalog import CATALOG
from gameproof.paper import complexity
from gameproof.paper.catalog import EXPERIMENTS
from gameproof.paper.reproduce import reproduce
from gameproof.paper.study import Study

TABLES = {
    "synthetic-500": ["tuning", "settings", "gaps", "accuracy"],
    "error-bars": ["gaps"],
    "credit": ["tuning", "settings", "gaps", "accuracy", "radii"],
    "bank": ["tuning", "settings", "gaps", "accuracy", "radii"],
    "complexity": ["queries"],
    "smooth-or-not": ["tuning", "risks"],
    "rate": ["gaps"],
}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all, so that no part is computed twice."""
    return tmp_path_factory.mktemp("out")


def smoke(name: str, out: Path) -> list[Study]:
    return reproduce([name], out, quick=True, seeds=2, jobs=1, progress=False)


@pytest.mark.parametrize("name", TABLES)
def test_experiment_leaves_tables_figures_and_verdicts(
    name: str, out: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in CATALOG:
        monkeypatch.setenv("GAMEPROOF_DATA", str(request.getfixturevalue("published")))
    (study,) = smoke(name, out)
    for table in [*TABLES[name], "claims"]:
        frame = pd.read_parquet(study.folder / f"{table}.parquet")
        assert len(frame) > 0
        assert len(pd.read_csv(study.folder / f"{table}.csv")) == len(frame)
        assert (frame["experiment"] == name).all()
    for figure, caption in study.figures:
        assert caption
        assert (study.folder / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (study.folder / f"{figure}.svg").read_bytes()
    for claim in study.claims:
        assert np.isfinite(claim.effect)
        assert claim.low <= claim.effect <= claim.high
        assert claim.verdict in ("holds", "does not hold", "undecided")
    assert EXPERIMENTS[name] in (out / "summary.md").read_text(encoding="utf-8")


def test_gaps_fall_and_the_robust_classifier_leads(out: Path) -> None:
    """What any draw of people shows, whatever the verdicts."""
    (study,) = smoke("synthetic-500", out)
    gaps = pd.read_parquet(study.folder / "gaps.parquet")
    tuned = gaps[gaps["way"] == "tuned"]
    first = tuned[tuned["epoch"] == 1].set_index(["algorithm", "seed"])["score"]
    last = tuned[tuned["epoch"] == 10].set_index(["algorithm", "seed"])["score"]
    assert (last > 0).all()
    assert (last < 0.7 * first).all()
    curves = pd.read_parquet(study.folder / "accuracy.parquet")
    gamed = curves[curves["power"] == 1.0].groupby("classifier")["accuracy"].mean()
    clean = curves[curves["power"] == 0.0].groupby("classifier")["accuracy"].mean()
    assert gamed["robust"] > gamed["strategic"] + 0.1
    assert clean["logistic"] > 0.9


def test_a_target_that_is_never_reached_is_noted_and_nothing_is_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(complexity, "TARGET", 1e-9)
    (study,) = smoke("complexity", tmp_path)
    assert study.notes == ["8 of 8 runs did not reach the gap within 20 epochs."]
    assert study.claims == []
