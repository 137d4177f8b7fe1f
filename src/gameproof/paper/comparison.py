"""Compares the four algorithms by their gap and the classifiers by their accuracy under gaming."""

from __future__ import annotations

import warnings
from functools import partial

from gameproof.auditing.figures import line_chart, mean_band
from gameproof.auditing.page_model import Chart, Panels
from gameproof.core.errors import CapWarning
from gameproof.minmax.problem import gap
from gameproof.paper.comparison_claims import claim_accuracy, claim_gaps, note_final_gaps
from gameproof.paper.experiment_runs import (
    ALGORITHMS,
    Row,
    accuracy_rows,
    by_seed,
    make_solver,
    scored_run,
    values_per_step,
    where,
)
from gameproof.paper.experiment_study import ExperimentStudy
from gameproof.paper.participants import (
    TEST,
    TRAINED_FOR,
    Classifiers,
    Participants,
    Source,
    draw_people,
)
from gameproof.paper.tuning import BUDGETS, OUTPUTS, epochs_for, tune
from gameproof.strategic.baselines import plain_regression, strategic_regression
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.saddle_point import saddle_point

DIMENSION = 10
POWERS: dict[Source, tuple[float, ...]] = {
    "synthetic": (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    "credit": (0.0, 0.05, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0),
    "bank": (0.0, 0.05, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0),
}


def compare(
    source: Source, n: int, d: int, seed: int, settings: list[Row], epochs: int
) -> dict[str, list[Row]]:
    """Runs the four algorithms on one draw of people and tests the classifiers on others."""
    people = draw_people(source, n, d, seed)
    problem = people.problem()
    saddle = saddle_point(problem)
    score = partial(gap, problem, saddle=saddle)
    gaps: list[Row] = []
    learned = {}
    for setting in settings:
        algorithm, length = setting["algorithm"], setting["epochs"]
        what = {name: setting[name] for name in ("way", "output", "algorithm")}
        solver = make_solver(algorithm, n, setting)
        rows, learned[*what.values(), length] = scored_run(problem, score, solver, length, seed)
        for budget in BUDGETS:
            if epochs_for(algorithm, budget, epochs) == length:
                common = {**what, "budget": budget, "seed": seed}
                gaps += [{**common, **_gap_row(row, what)} for row in rows]
    from_values = learned["tuned", "average", "OGDA-RR", epochs]
    classifiers = {
        "robust": (problem.split(saddle.x)[0], problem.offset(saddle.x)),
        "robust, from values": (problem.split(from_values)[0], problem.offset(from_values)),
        **baselines(people, problem),
    }
    curves = accuracy_rows(classifiers, people, POWERS[source])
    return {"gaps": gaps, "accuracy": [{"seed": seed, **row} for row in curves]}


def _gap_row(row: Row, what: Row) -> Row:
    """Adds the values per person, and keeps the score of the chosen output."""
    kept = {name: row[name] for name in ("epoch", "queries", "seconds")}
    values = row["epoch"] * values_per_step(what["algorithm"])
    return {**kept, "values": values, "score": row[OUTPUTS[what["output"]]]}


def baselines(people: Participants, problem: StrategicProblem) -> Classifiers:
    """Fits strategic and plain logistic regression to the people of a problem."""
    fits = {"strategic": strategic_regression, "logistic": plain_regression}
    with warnings.catch_warnings():
        # If only people of one label have some level, its coefficient is at the bound.
        warnings.simplefilter("ignore", CapWarning)
        return {
            name: fit(problem.population, intercept=people.intercept) for name, fit in fits.items()
        }


def run(study: ExperimentStudy, source: Source, n: int, epochs: int) -> None:
    """Runs the experiment on one source of people."""
    epochs = max(4, epochs // 10 // 2 * 2) if study.quick else epochs
    settings = tune(study, source, n, DIMENSION, epochs)
    common = {"source": source, "n": n, "d": DIMENSION, "settings": settings, "epochs": epochs}
    found = study.map(compare, [{**common, "seed": seed} for seed in range(study.seeds)])
    gaps = [row for part in found for row in part["gaps"]]
    curves = [row for part in found for row in part["accuracy"]]
    study.table("gaps", gaps)
    study.table("accuracy", curves)
    title = f"{source}, n = {n}"
    _draw_gaps(study, title, gaps)
    _draw_accuracy(study, title, curves)
    note_final_gaps(study, gaps)
    if not study.quick:
        _note_edges(study, settings)
    claim_gaps(study, gaps, title)
    claim_accuracy(study, curves, title)


def _note_edges(study: ExperimentStudy, settings: list[Row]) -> None:
    """Notes the settings for which the grid may be too narrow."""
    found = [
        "{algorithm} ({output} iterate, {epochs} epochs: {at the edge})".format(**row)
        for row in where(settings, way="tuned")
        if row["at the edge"]
    ]
    if found:
        study.note(
            "With block steps, the best setting lies at the edge of the grid for "
            f"{', '.join(found)}; a wider grid might change these numbers."
        )


def _draw_gaps(study: ExperimentStudy, title: str, gaps: list[Row]) -> None:
    about = (
        f"{title.capitalize()}, {study.seeds} seeds, each with its own people: mean and two "
        "standard deviations."
    )
    average, last = (where(gaps, output=output) for output in OUTPUTS)
    caption = (
        f"{about} Gap of the averaged iterate. Every algorithm is tuned by the same search for "
        "its number of epochs: the same for all (left and right), or half as many for OGDA, which "
        "asks two values per step (middle)."
    )
    by_epochs, by_values = (where(average, way="tuned", budget=budget) for budget in BUDGETS)
    letter = where(average, way="letter", budget="epochs")
    charts = [
        chart_gaps(by_epochs, "with block steps, same epochs"),
        chart_gaps(by_values, "with block steps, same values", "values"),
        chart_gaps(letter, "to the letter, same epochs"),
    ]
    study.draw("figure", Panels(caption, charts))
    by_epochs, by_values = (where(last, way="tuned", budget=budget) for budget in BUDGETS)
    charts = [
        chart_gaps(by_epochs, "last iterate, same epochs"),
        chart_gaps(by_values, "last iterate, same values", "values"),
    ]
    caption = f"{about} Gap of the last iterate with block steps, tuned for the last iterate."
    study.draw("last", Panels(caption, charts))


def _draw_accuracy(study: ExperimentStudy, title: str, curves: list[Row]) -> None:
    caption = (
        f"{title.capitalize()}, {study.seeds} seeds: the classifiers on {TEST} held-out people by "
        "gaming power; the strategic and the robust classifier are trained for power "
        f"{TRAINED_FOR}. Left: the share of correct decisions. Right: the mean margin y⟨b, θ⟩, "
        "which the paper calls accuracy and which grows with the scale of θ; plain logistic "
        "regression is left out, as in the paper."
    )
    scaled = [row for row in curves if row["classifier"] != "logistic"]
    charts = [chart_curves(curves, "accuracy"), chart_curves(scaled, "margin")]
    study.draw("accuracy", Panels(caption, charts))


def chart_gaps(rows: list[Row], title: str, x: str = "epoch") -> Chart:
    """Returns the chart of each algorithm's gap, with its band, by epochs or by values per
    person."""
    series = [
        mean_band(name, *by_seed(where(rows, algorithm=name), x, "score")) for name in ALGORITHMS
    ]
    named = {"epoch": "epochs", "values": "values per person"}[x]
    return line_chart(title, named, "gap", series, log_x=True, log_y=True)


def chart_curves(rows: list[Row], y: str, title: str = "classifiers") -> Chart:
    """Returns the chart of each classifier's accuracy or margin, with its band, by gaming power."""
    series = [
        mean_band(name, *by_seed(where(rows, classifier=name), "power", y))
        for name in dict.fromkeys(row["classifier"] for row in rows)
    ]
    label = {"accuracy": "accuracy", "margin": "mean margin"}[y]
    upright = [(TRAINED_FOR, "trained for")]
    return line_chart(title, "gaming power", label, series, upright=upright)
