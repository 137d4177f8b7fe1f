"""The exact form over a range of radii, up to those at which theta = 0 is best."""

from __future__ import annotations

import warnings

import numpy as np

from gameproof.auditing.figures import line_chart, mean_band
from gameproof.auditing.page_model import Panels
from gameproof.core.errors import IgnoresDataWarning
from gameproof.paper.comparison import POWERS
from gameproof.paper.experiment_runs import Row, accuracy_rows, by_seed, where
from gameproof.paper.experiment_study import ExperimentStudy
from gameproof.paper.participants import Source, draw_people
from gameproof.strategic.saddle_point import saddle_point

RADII = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
SHOWN = (0.0, 1.0, 5.0)


def sweep(source: Source, n: int, seed: int, radii: list[float]) -> list[Row]:
    """Fits the robust classifier for each radius on one draw and tests it on held-out people."""
    people = draw_people(source, n, 0, seed)
    rows = []
    for radius in radii:
        problem = people.problem(radius, form="exact")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IgnoresDataWarning)
            saddle = saddle_point(problem)
        theta, _ = problem.split(saddle.x)
        size = float(np.linalg.norm(theta))
        classifier = {"robust": (theta, problem.offset(saddle.x))}
        common = {"seed": seed, "radius": radius, "size": size}
        common["ignores data"] = problem.ignores_data(saddle.x)
        rows += [{**common, **row} for row in accuracy_rows(classifier, people, POWERS[source])]
    return rows


def run(study: ExperimentStudy, source: Source, n: int) -> None:
    """Runs the sweep, draws its figure and notes from which radius on theta = 0 is best."""
    radii = list(RADII[::3] if study.quick else RADII)
    calls = [
        {"source": source, "n": n, "seed": seed, "radii": radii} for seed in range(study.seeds)
    ]
    rows = [row for part in study.map(sweep, calls) for row in part]
    study.table("radii", rows)
    caption = (
        f"{source.capitalize()}, exact form over radii, {study.seeds} seeds. If ‖θ‖ is 0, the best "
        "robust classifier ignores the data, which is not robustness."
    )
    shares = [
        mean_band(
            f"gaming power {power:g}", *by_seed(where(rows, power=power), "radius", "accuracy")
        )
        for power in SHOWN
    ]
    sizes = [mean_band("robust", *by_seed(where(rows, power=0.0), "radius", "size"))]
    charts = [
        line_chart("exact form", "radius", "accuracy", shares, log_x=True),
        line_chart("size of the classifier", "radius", "‖θ‖", sizes, log_x=True),
    ]
    study.draw("radii", Panels(caption, charts))
    ignoring = sorted({row["radius"] for row in rows if row["ignores data"]})
    study.note(
        f"Exact form: from radius {ignoring[0]:g} on, the best robust classifier of some draws is "
        "theta = 0, which ignores the data."
        if ignoring
        else f"Exact form: the best robust classifier uses the data at every radius up to "
        f"{radii[-1]:g}."
    )
