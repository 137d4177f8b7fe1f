"""Shared parts of the experiments, checked by hand: tuning, curves, areas."""

from functools import partial
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from gameproof.paper import experiment_runs
from gameproof.paper.participants import Participants, draw_people


def test_best_setting_has_the_smallest_mean() -> None:
    rows = [
        {"algorithm": name, "step": step, "radius": 1.0, "gamma": None, "score": score}
        for name, step, score in [
            ("OGDA-RR", 0.1, 3.0),
            ("OGDA-RR", 0.1, 1.0),
            ("OGDA-RR", 0.2, 1.5),
            ("OGDA-RR", 0.2, 1.6),
            ("SGDA-RR", 0.1, 0.1),
            ("SGDA-RR", 0.2, float("inf")),
        ]
    ]
    assert experiment_runs.best_settings(rows) == {
        "OGDA-RR": {"step": 0.2, "radius": 1.0, "gamma": None},
        "SGDA-RR": {"step": 0.1, "radius": 1.0, "gamma": None},
    }
    by_last = [{**row, "last": -row["step"]} for row in rows]
    assert experiment_runs.best_settings(by_last, "last")["OGDA-RR"]["step"] == 0.2
    assert experiment_runs.best_settings(by_last, "last")["SGDA-RR"]["step"] == 0.2


def test_every_algorithm_is_tuned_over_the_same_grid_and_on_seeds_not_reported() -> None:
    assert len(experiment_runs.grid(False, False)) == 60
    assert all(row["gamma"] is None for row in experiment_runs.grid(False, True))
    assert min(experiment_runs.TUNING_SEEDS) > 1000


def test_a_lead_is_the_area_between_two_curves() -> None:
    rows = [
        {"classifier": name, "power": power, "accuracy": accuracy}
        for name, values in {"a": [1.0, 0.8, 0.8], "b": [0.8, 0.6, 0.2]}.items()
        for power, accuracy in zip([0.0, 1.0, 3.0], values, strict=True)
    ]
    # Area: 0.2 over the first unit, then 0.2 to 0.6 over two units, so 0.2 + 0.8; the width is 3.
    assert experiment_runs.lead(rows, "a", "b") == pytest.approx(1.0 / 3)
    assert experiment_runs.lead(rows, "b", "a") == pytest.approx(-1.0 / 3)


def test_accuracy_is_the_share_of_correct_signs_after_people_respond() -> None:
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [-0.1, 0.0], [2.0, 0.0]])
    y = np.array([1.0, -1.0, -1.0, 1.0])
    people = Participants(X, y, X, y, [0], None)
    rows = experiment_runs.accuracy_rows(
        {"one": (np.array([1.0, 0.0]), 0.0)}, people, (0.0, 0.5, 2.0)
    )
    # With power 1/2 the third reaches 0.4; with power 2 the second reaches 1 as well.
    assert [row["accuracy"] for row in rows] == [1.0, 0.75, 0.5]
    assert rows[1]["margin"] == pytest.approx((1.0 + 0.5 - 0.4 + 2.0) / 4)
    (nothing,) = experiment_runs.accuracy_rows({"zero": (np.zeros(2), 0.0)}, people, (1.0,))
    assert (nothing["accuracy"], nothing["margin"]) == (0.5, 0.0)


def test_people_depend_on_the_seed_alone() -> None:
    one, same, other = (draw_people("synthetic", 50, 4, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.X, same.X)
    np.testing.assert_array_equal(one.test_y, same.test_y)
    assert not np.array_equal(one.X, other.X)
    assert one.X.shape == (50, 4)
    assert one.test_X.shape == (800, 4)


def test_scored_runs_agree_with_solve() -> None:
    problem = draw_people("synthetic", 60, 5, 0).problem()
    score = partial(gp.gap, problem, saddle=gp.saddle_point(problem))
    chosen = {"step": 0.004, "radius": 2.0, "gamma": 8.0}
    solver = experiment_runs.make_solver("SGDA-WR", 60, chosen)
    rows, x = experiment_runs.scored_run(problem, score, solver, 30, seed=3)
    result = gp.solve(problem, solver, epochs=30, seed=3)
    assert rows[-1]["epoch"] == 30
    assert rows[-1]["score"] == pytest.approx(score(result.x, result.y))
    assert rows[-1]["last"] == pytest.approx(score(result.last_x, result.last_y))
    assert rows[-1]["queries"] == result.n_queries
    np.testing.assert_array_equal(x, result.x)
    assert [row["epoch"] for row in rows] == sorted({row["epoch"] for row in rows})


def test_a_run_that_diverges_has_an_infinite_score() -> None:
    def value(i: int, x: Any, y: Any) -> float:
        return float(x[0] * y[0]) * 1e300

    wide = gp.Ball(np.zeros(1), 1e200)
    problem = gp.SaddleProblem(value, n=2, x_set=wide, y_set=wide)
    solver = gp.ogda_rr(step=1e10, radius=1.0)
    rows, x = experiment_runs.scored_run(problem, lambda x, y: 0.0, solver, 3, seed=0)
    assert {row["score"] for row in rows} <= {float("inf"), 0.0}
    assert {row["last"] for row in rows} <= {float("inf"), 0.0}
    assert np.isfinite(x).all()
