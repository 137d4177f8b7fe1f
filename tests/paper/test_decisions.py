"""Gaming decisions: agents moved by a general optimiser, scale, and the output of a smoke run."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog, minimize

from gameproof.paper import decisions
from gameproof.paper.experiment_study import ExperimentStudy
from gameproof.paper.participants import Participants, draw_people
from gameproof.paper.reproduce import reproduce

BUDGETS = (0.25, 0.5, 1.0)


def small_case(seed: int) -> tuple[Participants, tuple[np.ndarray, float]]:
    """Returns 60 people with four features, three of them movable, and a classifier."""
    rng = np.random.default_rng(seed)
    X, theta = rng.normal(size=(60, 4)), rng.normal(size=4)
    y = np.where(X @ theta + rng.normal(size=60) > 0, 1.0, -1.0)
    return Participants(X, y, X, y, [0, 1, 3], 5.0), (theta, 0.2)


def least_move(x: np.ndarray, theta: np.ndarray, offset: float, gaming: str) -> float:
    """Returns the shortest move to acceptance, found by a general optimiser."""
    missing = -(float(x @ theta) + offset)
    if gaming == "box":
        # Minimise t subject to <s, theta> >= missing and |s_j| <= t.
        d = theta.size
        rows = np.vstack([np.hstack([sign * np.eye(d), -np.ones((d, 1))]) for sign in (1, -1)])
        rows = np.vstack([rows, [*-theta, 0.0]])
        bounds = [(None, None)] * d + [(0, None)]
        found = linprog([0.0] * d + [1.0], rows, [0.0] * (2 * d) + [-missing], bounds=bounds)
        return float(found.fun)
    reached = {"type": "ineq", "fun": lambda s: s @ theta - missing}
    start = np.full(theta.size, 0.1)
    found = minimize(lambda s: s @ s, start, constraints=[reached], tol=1e-14)
    return float(np.sqrt(found.fun))


@pytest.mark.parametrize("gaming", ["ball", "box"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_decisions_equal_those_on_agents_who_move_just_far_enough(gaming: str, seed: int) -> None:
    people, (theta, offset) = small_case(seed)
    movable = people.movable
    accepted = people.test_X @ theta + offset > 0
    needed = np.array(
        [
            0.0 if yes else least_move(x[movable], theta[movable], offset + x[2] * theta[2], gaming)
            for x, yes in zip(people.test_X, accepted, strict=True)
        ]
    )
    good = people.test_y > 0
    for budget in (0.3, 0.8):
        assert np.abs(needed - budget).min() > 1e-4, "nobody is on the edge"
        moved = accepted | (needed < budget)
        found = decisions.evaluate((theta, offset), people, gaming, budget)
        assert (moved & ~accepted).any()
        assert (~moved).any()
        right = np.where(good, accepted, moved) == good
        assert found["accuracy"] == pytest.approx(right.mean())
        assert found["accuracy, all game"] == pytest.approx((moved == good).mean())
        assert found["good approved"] == pytest.approx(accepted[good].mean())
        assert found["bad approved"] == pytest.approx(moved[~good].mean())


@pytest.mark.parametrize("factor", [1 / 64, 0.3, 7.0])
def test_a_constant_changes_nothing_where_people_game_decisions(factor: float) -> None:
    people, classifier = small_case(0)
    times = decisions.scaled(classifier, factor)
    for gaming in ("ball", "box"):
        for budget in (0.0, 0.25, 1.0, 2.0):
            before = decisions.evaluate(classifier, people, gaming, budget)
            assert decisions.evaluate(times, people, gaming, budget) == before
    by_power = [decisions.evaluate(one, people, "power", 1.0) for one in (classifier, times)]
    assert by_power[0]["accuracy"] != by_power[1]["accuracy"]


def test_divided_classifier_decides_like_logistic_regression_on_the_robust_scale() -> None:
    people = draw_people("synthetic", 300, 10, 0)
    found = decisions.train_classifiers(people, (0.5,))
    sizes = {name: np.linalg.norm(theta[people.movable]) for name, (theta, _) in found.items()}
    assert sizes["logistic, divided"] == pytest.approx(sizes["robust"])
    assert sizes["logistic"] > 4 * sizes["robust"]
    plain, divided = (found[name][0] for name in ("logistic", "logistic, divided"))
    np.testing.assert_array_equal(people.test_X @ plain > 0, people.test_X @ divided > 0)


@pytest.mark.parametrize(("gaming", "name"), [("ball", "for budget 0.5"), ("box", "for box 0.5")])
def test_classifier_for_a_budget_minimises_the_loss_on_reported_features(
    gaming: str, name: str
) -> None:
    """A general minimiser of the mean loss, written out here, finds nothing better."""
    people = draw_people("synthetic", 200, 10, 1)
    theta, _ = decisions.train_classifiers(people, (0.5,))[name]
    norm = 2 if gaming == "ball" else 1

    def loss(at: np.ndarray) -> float:
        rise = 0.5 * np.linalg.norm(at[people.movable], norm)
        scores = people.X @ at + np.where(people.y < 0, rise, 0.0)
        return float(np.logaddexp(0, -people.y * scores).mean())

    best = minimize(loss, theta + 0.05, method="SLSQP", options={"maxiter": 1000, "ftol": 1e-12})
    assert loss(theta) <= best.fun + 1e-7
    assert best.fun < loss(0.9 * theta) - 1e-4


@pytest.mark.parametrize("source", ["credit", "bank"])
def test_columns_of_data_are_in_standard_deviations(
    source: str, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAMEPROOF_DATA", str(published))
    people = decisions.draw_standardised(source, 400, 0)  # type: ignore[arg-type]
    assert len(people.movable) == {"credit": 3, "bank": 4}[source]
    np.testing.assert_allclose(people.X.mean(axis=0), 0.0, atol=1e-9)
    spread = people.X.std(axis=0)
    np.testing.assert_allclose(spread[spread > 0], 1.0)
    assert (spread[people.movable] > 0).all()
    assert people.test_X.shape[0] == 800
    assert (people.y > 0).mean() == pytest.approx(0.5, abs=0.05)


@pytest.fixture(scope="module")
def smoke(published: Path, tmp_path_factory: pytest.TempPathFactory) -> ExperimentStudy:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAMEPROOF_DATA", str(published))
        out = tmp_path_factory.mktemp("out")
        (study,) = reproduce(["decisions"], out, quick=True, seeds=2, jobs=1, progress=False)
    return study


def test_smoke_run_writes_tables_of_every_classifier_gaming_and_scale(
    smoke: ExperimentStudy,
) -> None:
    accuracy, scale, sizes = (
        pd.read_parquet(smoke.folder / f"{name}.parquet") for name in ("accuracy", "scale", "sizes")
    )
    classifiers = {"logistic", "strategic", "robust", "logistic, divided"}
    classifiers |= {f"for {shape} {b:g}" for shape in ("budget", "box") for b in BUDGETS}
    assert set(accuracy["classifier"]) == set(sizes["classifier"]) == classifiers
    assert len(accuracy) == 3 * 2 * len(classifiers) * (7 + 5 + 5)
    assert set(accuracy["source"]) == {"synthetic", "credit", "bank"}
    by_budget = scale[scale["gaming"] == "ball"].groupby(["source", "seed"])["accuracy"]
    assert (by_budget.nunique() == 1).all()
    by_power = scale[scale["gaming"] == "power"].groupby(["source", "seed"])["accuracy"]
    assert (by_power.max() - by_power.min() > 0.05).all()


def test_figures_show_the_table(smoke: ExperimentStudy) -> None:
    names = ["figure", "boxes", "powers", "scale"]
    assert [name for name, _ in smoke.figures] == names
    assert all((smoke.folder / f"{name}.png").exists() for name in names)
    accuracy = pd.read_parquet(smoke.folder / "accuracy.parquet")
    for (_, panels), gaming in zip(smoke.figures, ("ball", "box", "power"), strict=False):
        for chart in panels.charts:
            own = accuracy[(accuracy["gaming"] == gaming) & (accuracy["source"] == chart.title)]
            for series in chart.series:
                found = own[own["classifier"] == series.name].groupby("amount")["accuracy"]
                assert list(series.x) == found.mean().index.tolist()
                np.testing.assert_allclose(series.y, found.mean(), rtol=1e-12)
                np.testing.assert_allclose(series.low, found.mean() - 2 * found.std(), atol=1e-12)


def test_classifier_for_a_budget_is_judged_by_its_strongest_opponent(
    smoke: ExperimentStudy,
) -> None:
    accuracy = pd.read_parquet(smoke.folder / "accuracy.parquet")
    own = accuracy[(accuracy["source"] == "bank") & (accuracy["gaming"] == "ball")]
    table = own.pivot_table("accuracy", "seed", ["classifier", "amount"])
    leads = {
        other: table["for budget 0.5", 1.0] - table[other, 1.0]
        for other in ("logistic", "strategic", "robust")
    }
    # Student's 97.5 % quantile with one degree of freedom.
    lows = {o: lead.mean() - 12.7062 * lead.std() / np.sqrt(2) for o, lead in leads.items()}
    closest = min(lows, key=lambda other: lows[other])
    (claim,) = [
        claim
        for claim in smoke.claims
        if claim.text == "A classifier trained for a budget beats all others at twice that budget"
        and claim.measure.endswith("bank, trained for 0.5")
    ]
    assert f"over {closest}," in claim.measure
    assert claim.effect == pytest.approx(leads[closest].mean())
    assert claim.low == pytest.approx(lows[closest], rel=1e-4)
