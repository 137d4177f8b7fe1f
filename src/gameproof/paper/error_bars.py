"""Repeated runs on the same 500 people: how well the algorithms do, and how much they vary."""

from __future__ import annotations

from functools import partial

from gameproof.auditing.page_model import Panels
from gameproof.minmax.problem import gap
from gameproof.paper import paper_claims
from gameproof.paper.comparison import chart_gaps
from gameproof.paper.comparison_claims import COMPARED, final, note_final_gaps
from gameproof.paper.experiment_runs import (
    ALGORITHMS,
    Row,
    make_solver,
    scored_run,
    values_per_step,
    where,
)
from gameproof.paper.experiment_study import ExperimentStudy
from gameproof.paper.participants import draw_people
from gameproof.paper.tuning import BUDGETS, OUTPUTS, WAYS, epochs_for
from gameproof.strategic.saddle_point import saddle_point

N, DIMENSION, EPOCHS = 500, 10, 100
# Estimating a spread takes more runs than estimating a mean.
RUNS_PER_SEED = 5
# One setting for all four, so that nothing but the algorithm differs.
SETTINGS: dict[str, Row] = {
    "tuned": {"step": 0.003, "radius": 4.0, "gamma": 2.0},
    "letter": {"step": 0.003, "radius": 4.0, "gamma": None},
}


def repeat(way: str, algorithm: str, seeds: int, epochs: int) -> list[Row]:
    """Runs one algorithm from many seeds and returns the gap of both outputs by epoch, for each
    budget."""
    problem = draw_people("synthetic", N, DIMENSION, 0).problem()
    score = partial(gap, problem, saddle=saddle_point(problem))
    solver = make_solver(algorithm, N, SETTINGS[way])
    rows = []
    for budget in BUDGETS:
        length = epochs_for(algorithm, budget, epochs)
        for seed in range(seeds):
            common = {"way": way, "algorithm": algorithm, "budget": budget, "seed": seed}
            for row in scored_run(problem, score, solver, length, seed)[0]:
                values = row["epoch"] * values_per_step(algorithm)
                own = {"epoch": row["epoch"], "values": values}
                rows += [
                    {**common, "output": output, **own, "score": row[column]}
                    for output, column in OUTPUTS.items()
                ]
    return rows


def run(study: ExperimentStudy) -> None:
    """Runs the experiment."""
    epochs = 10 if study.quick else EPOCHS
    runs = RUNS_PER_SEED * study.seeds
    calls = [
        {"way": way, "algorithm": algorithm, "seeds": runs, "epochs": epochs}
        for way in WAYS
        for algorithm in ALGORITHMS
    ]
    rows = [row for part in study.map(repeat, calls) for row in part]
    study.table("gaps", rows)
    caption = (
        f"The same {N} synthetic people, {runs} runs of each algorithm with one setting: mean and "
        "two standard deviations of the gap of the averaged iterate."
    )
    average = where(rows, output="average")
    by_epochs, by_values = (where(average, way="tuned", budget=budget) for budget in BUDGETS)
    charts = [
        chart_gaps(by_epochs, "with block steps, same epochs"),
        chart_gaps(by_values, "with block steps, same values", "values"),
        chart_gaps(where(average, way="letter", budget="epochs"), "to the letter, same epochs"),
    ]
    study.draw("figure", Panels(caption, charts))
    note_final_gaps(study, rows)
    for way, title in WAYS.items():
        _claim_means(study, average, way, title)
        _claim_spreads(study, average, way, title)


def _claim_means(study: ExperimentStudy, rows: list[Row], way: str, title: str) -> None:
    """The paper says that OGDA-RR is best on average and that reshuffling beats replacement."""
    for text, first, second, budgets in COMPARED:
        for budget in budgets:
            study.claims.append(
                paper_claims.ratio_below_one(
                    text,
                    f"final gap, {first} / {second}, {BUDGETS[budget]}; the same {N} people, one "
                    f"setting for all, {title}",
                    final(rows, way=way, budget=budget, algorithm=first),
                    final(rows, way=way, budget=budget, algorithm=second),
                )
            )


def _claim_spreads(study: ExperimentStudy, rows: list[Row], way: str, title: str) -> None:
    for update in ("OGDA", "SGDA"):
        first, second = (
            final(rows, way=way, budget="epochs", algorithm=f"{update}-{order}")
            for order in ("RR", "WR")
        )
        study.claims.append(
            paper_claims.less_spread(
                f"Reshuffling fluctuates less from run to run ({update})",
                f"standard deviation of the final gap, {update}-RR / {update}-WR; {title}",
                first,
                second,
            )
        )
