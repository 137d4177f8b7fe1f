"""The smooth min-max form against the non-smooth form, in which every gamma is maximised out.

Both estimate only the gradient in theta from values, use the same draws and are tuned by the same
search. In the smooth form gamma takes steps, with a multiplier of its own or, to the letter, with
the step size of all other coordinates. In the non-smooth form gamma is always optimal. The score is
the robust risk less its minimum.
"""

from __future__ import annotations

import numpy as np

from gameproof.auditing.figures import line_chart, mean_band
from gameproof.auditing.page_model import Chart, Panels
from gameproof.core.arguments import Vector
from gameproof.paper import paper_claims
from gameproof.paper.experiment_runs import (
    TUNING_SEEDS,
    Row,
    best_settings,
    by_seed,
    grid,
    make_solver,
    scored_run,
    where,
)
from gameproof.paper.experiment_study import ExperimentStudy
from gameproof.paper.participants import draw_people
from gameproof.strategic.saddle_point import saddle_point

N, DIMENSION, EPOCHS = 500, 10, 100
BLOCKS, LETTER, ROUGH = "min-max", "min-max, to the letter", "non-smooth"
FORMS = (BLOCKS, LETTER, ROUGH)
METHODS = ("OGDA-RR", "SGDA-RR")


def solve_form(
    form: str, algorithm: str, seed: int, settings: list[Row], epochs: int, only_last: bool = False
) -> list[Row]:
    """Solves one form by one algorithm on one draw of people, with each of the settings."""
    people = draw_people("synthetic", N, DIMENSION, seed)
    smooth = people.problem()
    least = saddle_point(smooth).value
    problem = people.problem(smooth=form != ROUGH)

    def score(x: Vector, y: Vector) -> float:
        return smooth.robust_value(x) - least

    common = {"form": form, "algorithm": algorithm, "seed": seed}
    rows = []
    for setting in settings:
        solver = make_solver(algorithm, N, setting)
        run, _ = scored_run(problem, score, solver, epochs, seed, only_last=only_last)
        rows += [{**common, **setting, **row} for row in run]
    return rows


def _tune(study: ExperimentStudy, epochs: int) -> dict[tuple[str, str], Row]:
    """Returns the best setting of each form and algorithm. Only block steps have a multiplier."""
    chosen, rows = {}, []
    for form in FORMS:
        calls = [
            {
                "form": form,
                "algorithm": algorithm,
                "seed": seed,
                "settings": grid(study.quick, to_the_letter=form != BLOCKS),
                "epochs": epochs,
                "only_last": True,
            }
            for algorithm in METHODS
            for seed in (TUNING_SEEDS[:1] if study.quick else TUNING_SEEDS)
        ]
        found = [row for part in study.map(solve_form, calls) for row in part]
        rows += found
        chosen.update({(form, name): best for name, best in best_settings(found).items()})
    study.table("tuning", rows)
    return chosen


def run(study: ExperimentStudy) -> None:
    """Runs the experiment."""
    epochs = 10 if study.quick else EPOCHS
    settings = _tune(study, epochs)
    calls = [
        {"form": form, "algorithm": name, "seed": seed, "settings": [setting], "epochs": epochs}
        for (form, name), setting in settings.items()
        for seed in range(study.seeds)
    ]
    rows = [row for part in study.map(solve_form, calls) for row in part]
    study.table("risks", rows)
    caption = (
        f"The smooth min-max form, with block steps and to the letter, against the non-smooth "
        f"form, n = {N}, {study.seeds} seeds: mean and two standard deviations."
    )
    charts = [_chart(where(rows, algorithm=name), name) for name in METHODS]
    study.draw("figure", Panels(caption, charts))
    for algorithm in METHODS:
        _claim(study, where(rows, algorithm=algorithm), algorithm)


def _chart(rows: list[Row], algorithm: str) -> Chart:
    series = [mean_band(form, *by_seed(where(rows, form=form), "epoch", "score")) for form in FORMS]
    y = "robust risk less its minimum"
    return line_chart(algorithm, "epochs", y, series, log_x=True, log_y=True)


def _claim(study: ExperimentStudy, rows: list[Row], algorithm: str) -> None:
    text = f"The smooth form is faster than the non-smooth one ({algorithm})"
    last = {
        form: [run[-1] for run in by_seed(where(rows, form=form), "epoch", "score")[1]]
        for form in FORMS
    }
    for form, way in ((BLOCKS, "with block steps"), (LETTER, "to the letter")):
        study.claims.append(
            paper_claims.ratio_below_one(
                text,
                "robust risk less its minimum, min-max / non-smooth, after the same values; "
                f"min-max {way}",
                last[form],
                last[ROUGH],
            )
        )
        pair = [row for row in rows if row["form"] in (form, ROUGH)]
        study.claims.append(
            paper_claims.ratio_below_one(
                text,
                "robust risk less its minimum, min-max / non-smooth, after the same time (by the "
                f"clock, so it differs between runs); min-max {way}",
                *(_after_same_time(pair, name) for name in (form, ROUGH)),
            )
        )


def _after_same_time(rows: list[Row], form: str) -> list[float]:
    """Returns the score of each seed at the time when the faster of the two forms finished."""
    found = []
    forms = {row["form"] for row in rows}
    for seed in sorted({row["seed"] for row in rows}):
        own = where(rows, seed=seed)
        until = min(max(row["seconds"] for row in where(own, form=name)) for name in forms)
        path = where(own, form=form)
        found.append(
            float(np.interp(until, [r["seconds"] for r in path], [r["score"] for r in path]))
        )
    return found
