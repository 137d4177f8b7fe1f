"""The gap by epochs with the theorem's schedule, on a game that meets its assumptions and on the
paper's problem."""

from __future__ import annotations

from functools import partial

import numpy as np

from gameproof.auditing.figures import line_chart, mean_band
from gameproof.auditing.page_model import Chart, Panels, Series
from gameproof.minmax.estimates.one_point import OnePoint
from gameproof.minmax.games.quadratic_game import QuadraticGame
from gameproof.minmax.paper_methods import ogda_rr
from gameproof.minmax.problem import Problem, gap
from gameproof.minmax.saddle import Saddle
from gameproof.minmax.schedules import Power
from gameproof.paper import paper_claims
from gameproof.paper.experiment_runs import CHI, Row, by_seed, scored_run, where
from gameproof.paper.experiment_study import ExperimentStudy
from gameproof.paper.participants import draw_people
from gameproof.strategic.saddle_point import saddle_point

EPOCHS = 10_000
SLOPE = -(0.25 - CHI)
# On the game, x and y are both estimated from one value, as in the theorem.
CASES: dict[str, Row] = {
    "quadratic game": {"step": 0.02, "radius": 1.0, "scale": None},
    "strategic problem": {"step": 0.003, "radius": 4.0, "scale": "auto"},
}


def long_run(case: str, seed: int, epochs: int) -> list[Row]:
    """Runs OGDA-RR once."""
    problem, saddle = _problem(case, seed)
    parts = CASES[case]
    solver = ogda_rr(
        gradient=OnePoint(blocks="all") if case == "quadratic game" else OnePoint(),
        step=Power(parts["step"], 0.75 + CHI),
        radius=Power(parts["radius"], 0.25),
        scale=parts["scale"],
    )
    rows, _ = scored_run(problem, partial(gap, problem, saddle=saddle), solver, epochs, seed)
    return [{"case": case, "seed": seed, **row} for row in rows]


def _problem(case: str, seed: int) -> tuple[Problem, Saddle]:
    if case == "quadratic game":
        game = QuadraticGame.random(n=100, seed=seed)
        return game, game.saddle
    problem = draw_people("synthetic", 100, 5, seed).problem()
    return problem, saddle_point(problem)


def run(study: ExperimentStudy) -> None:
    """Runs the experiment."""
    epochs = 300 if study.quick else EPOCHS
    calls = [
        {"case": case, "seed": seed, "epochs": epochs}
        for case in CASES
        for seed in range(study.seeds)
    ]
    rows = [row for part in study.map(long_run, calls) for row in part]
    study.table("gaps", rows)
    caption = (
        f"The gap under the theorem's schedule, {study.seeds} seeds: mean and two standard "
        f"deviations, and the theorem's rate, epochs^({SLOPE:g})."
    )
    study.draw("figure", Panels(caption, [_chart(where(rows, case=c), c) for c in CASES]))
    for case in CASES:
        places, runs = by_seed(where(rows, case=case), "epoch", "score")
        late = np.array(places) >= epochs / 100
        slopes = [
            float(np.polyfit(np.log(np.array(places)[late]), np.log(np.array(run)[late]), 1)[0])
            for run in runs
        ]
        study.claims.append(
            paper_claims.mean_below(
                "The gap falls at least as fast as the theorem says",
                f"slope of log gap on log epochs over the last two decades; {case}",
                slopes,
                SLOPE,
            )
        )


def _chart(rows: list[Row], case: str) -> Chart:
    """Returns the chart of the gap by epoch, with a line of the theorem's slope."""
    places, runs = by_seed(rows, "epoch", "score")
    start = float(np.mean([run[0] for run in runs]))
    guide = Series("theorem", [start * place**SLOPE for place in places], places, guide=True)
    series = [mean_band("OGDA-RR", places, runs), guide]
    return line_chart(case, "epochs", "gap", series, log_x=True, log_y=True)
