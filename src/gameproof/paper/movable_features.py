"""How the robust classifier's lead depends on which features people can move.

The paper does not say which features of its data sets are movable. For each choice, classifiers are
trained for people who move these features and tested on people who do.
"""

from __future__ import annotations

from gameproof.auditing.page_model import Panels
from gameproof.paper.comparison import POWERS, baselines, chart_curves
from gameproof.paper.comparison_claims import claim_lead
from gameproof.paper.experiment_runs import Row, accuracy_rows, lead, where
from gameproof.paper.experiment_study import ExperimentStudy
from gameproof.paper.participants import Source, complete_rows, draw_people
from gameproof.strategic.saddle_point import saddle_point

CHOICES = {
    "as stated": "the features named in the documentation of the data",
    "numbers": "every number, no category",
    "all": "every feature",
}


def columns(source: Source, choice: str) -> tuple[str, ...]:
    """Returns the columns of the data set that are movable under this choice."""
    features = complete_rows(source).features
    if choice == "as stated":
        return tuple(features.movable)
    if choice == "numbers":
        return tuple(name for name in features.names if name not in features.levels)
    return tuple(features.names)


def choices(source: Source) -> list[str]:
    """Returns the choices that differ: if every feature is a number, `numbers` equals `all`."""
    found = {columns(source, choice): choice for choice in CHOICES}
    return list(found.values())


def with_movable(source: Source, n: int, seed: int, choice: str) -> list[Row]:
    """Returns accuracy and margin of each classifier on one draw, with these features movable."""
    people = draw_people(source, n, 0, seed, columns(source, choice))
    problem = people.problem()
    x = saddle_point(problem).x
    classifiers = {
        "robust": (problem.split(x)[0], problem.offset(x)),
        **baselines(people, problem),
    }
    curves = accuracy_rows(classifiers, people, POWERS[source])
    return [{"movable": choice, "seed": seed, **row} for row in curves]


def run(study: ExperimentStudy, source: Source, n: int) -> None:
    """Runs the experiment and draws its figure."""
    named = choices(source)
    calls = [
        {"source": source, "n": n, "seed": seed, "choice": choice}
        for choice in named
        for seed in range(study.seeds)
    ]
    rows = [row for part in study.map(with_movable, calls) for row in part]
    study.table("movable", rows)
    described = "; ".join(f"{choice}: {CHOICES[choice]}" for choice in named)
    caption = (
        f"{source.capitalize()}, n = {n}, {study.seeds} seeds: accuracy by gaming power, for "
        f"different choices of the features that people can move ({described})."
    )
    charts = [chart_curves(where(rows, movable=choice), "accuracy", choice) for choice in named]
    study.draw("movable", Panels(caption, charts))
    leads = []
    for choice in named:
        own = where(rows, movable=choice)
        seeds = range(study.seeds)
        mean = sum(lead(where(own, seed=s), "robust", "strategic") for s in seeds) / study.seeds
        leads.append(f"{mean:+.3f} ({choice})")
        if choice != "as stated":  # the comparison already claims this one
            claim_lead(study, own, "robust", f"{source}, n = {n}, robust, movable: {choice}")
    study.note(
        "Mean lead in accuracy of the robust classifier over the strategic one, by movable "
        f"features: {', '.join(leads)}."
    )
