"""Repeated runs on the same 500 people: how much the algorithms vary from run to run."""

from __future__ import annotations

from functools import partial

from gameproof.exact.reference import saddle_point
from gameproof.paper import claims
from gameproof.paper.comparison import WAYS, chart_gaps
from gameproof.paper.people import draw
from gameproof.paper.setting import ALGORITHMS, Row, by_seed, scored_run, solver_of, where
from gameproof.paper.study import Study
from gameproof.problem.problem import gap
from gameproof.report.parts import Panels

N, DIMENSION, EPOCHS = 500, 10, 100
# Spreads take more runs than means, and runs on the same people cost little.
RUNS_A_SEED = 5
# One setting for all four, so that nothing but the algorithm differs.
SETTINGS: dict[str, Row] = {
    "tuned": {"step": 0.003, "radius": 4.0, "gamma": 2.0},
    "letter": {"step": 0.003, "radius": 4.0, "gamma": None},
}


def repeat(way: str, algorithm: str, seeds: int, epochs: int) -> list[Row]:
    """Runs of one algorithm from many seeds."""
    problem = draw("synthetic", N, DIMENSION, 0).problem()
    score = partial(gap, problem, saddle=saddle_point(problem))
    solver = solver_of(algorithm, N, SETTINGS[way])
    return [
        {"way": way, "algorithm": algorithm, "seed": seed, **row}
        for seed in range(seeds)
        for row in scored_run(problem, score, solver, epochs, seed)[0]
    ]


def run(study: Study) -> None:
    """The experiment."""
    epochs = 10 if study.quick else EPOCHS
    calls = [
        {"way": way, "algorithm": algorithm, "seeds": RUNS_A_SEED * study.seeds, "epochs": epochs}
        for way in WAYS
        for algorithm in ALGORITHMS
    ]
    rows = [row for part in study.map(repeat, calls) for row in part]
    study.table("gaps", rows)
    caption = (
        f"The same {N} synthetic people, {RUNS_A_SEED * study.seeds} runs of each algorithm "
        "with one setting: mean and two standard deviations of the gap."
    )
    charts = [chart_gaps(where(rows, way=way), title) for way, title in WAYS.items()]
    study.draw("figure", Panels(caption, charts))
    for way, title in WAYS.items():
        last = {
            name: [
                r[-1] for r in by_seed(where(rows, way=way, algorithm=name), "epoch", "score")[1]
            ]
            for name in ALGORITHMS
        }
        for update in ("OGDA", "SGDA"):
            study.claims.append(
                claims.less_spread(
                    f"Reshuffling fluctuates less from run to run ({update})",
                    f"standard deviation of the final gap, {update}-RR / {update}-WR; {title}",
                    last[f"{update}-RR"],
                    last[f"{update}-WR"],
                )
            )
