"""How many values OGDA-RR asks to reach a gap of 0.1, by the number of people and of features."""

from __future__ import annotations

import numpy as np

from gameproof.exact.reference import saddle_point
from gameproof.paper import claims
from gameproof.paper.people import draw
from gameproof.paper.setting import Row, solver_of, where
from gameproof.paper.study import Study
from gameproof.problem.problem import gap
from gameproof.report.figures import lines
from gameproof.report.parts import Chart, Panels, Series
from gameproof.solver.run import UNLIMITED, Run

PEOPLE, FEATURES = (500, 1000, 1500, 2000), (10, 15, 20, 25)
TARGET, EPOCHS = 0.1, 60
FIRST_LOOK, LOOKS = 50, 100
SETTING: Row = {"step": 0.003, "radius": 4.0, "gamma": 2.0}


def queries_to_target(n: int, d: int, seed: int, epochs: int) -> list[Row]:
    """Values asked until the gap of the averaged iterate stays below the target; NaN if never.
    Between two looks, both on a logarithmic scale."""
    problem = draw("synthetic", n, d, seed).problem()
    saddle = saddle_point(problem)
    run = Run(problem, solver_of("OGDA-RR", n, SETTING), seed=seed)
    path = []
    # The first epoch is often enough, so looks are not bound to epochs.
    for steps in np.unique(np.geomspace(FIRST_LOOK, epochs * n, LOOKS).astype(int)):
        run.advance(int(steps), UNLIMITED, compiled=True)
        path.append((run.state.queries, gap(problem, *run.recommend(), saddle)))
    queries, gaps = np.log(path).T
    above = np.flatnonzero(gaps > np.log(TARGET))
    last = int(above[-1]) if above.size else 0
    found = float("nan")
    if last + 1 < gaps.size:
        pair = slice(last, last + 2)
        found = float(np.exp(np.interp(-np.log(TARGET), -gaps[pair], queries[pair])))
    return [{"n": n, "d": d, "seed": seed, "queries": found}]


def run(study: Study) -> None:
    """The grid."""
    people, features = (PEOPLE[:2], FEATURES[:2]) if study.quick else (PEOPLE, FEATURES)
    epochs = 20 if study.quick else EPOCHS
    calls = [
        {"n": n, "d": d, "seed": seed, "epochs": epochs}
        for n in people
        for d in features
        for seed in range(study.seeds)
    ]
    rows = [row for part in study.map(queries_to_target, calls) for row in part]
    study.table("queries", rows)
    missed = sum(np.isnan(row["queries"]) for row in rows)
    if missed:
        study.note(f"{missed} of {len(rows)} runs did not reach the gap within {epochs} epochs.")
    reached = [row for row in rows if not np.isnan(row["queries"])]
    caption = (
        f"Values that OGDA-RR asks until its gap stays below {TARGET:g}: median of "
        f"{study.seeds} seeds, each with people of its own."
    )
    charts = [
        _chart(reached, "number of people", "n", "d", features),
        _chart(reached, "number of features", "d", "n", people),
    ]
    study.draw("figure", Panels(caption, charts))
    for name, meaning in (("n", "people"), ("d", "features")):
        by_seed = [where(reached, seed=seed) for seed in range(study.seeds)]
        # Seeds that reached the target too seldom say nothing of an exponent.
        enough = len(people) * len(features) / 2
        slopes = [_exponent(own, name) for own in by_seed if len(own) >= enough]
        if not slopes:
            continue
        study.claims.append(
            claims.larger(
                f"The values needed grow with the number of {meaning}",
                f"exponent of {name} in values to gap {TARGET:g}",
                slopes,
            )
        )


def _chart(rows: list[Row], title: str, x: str, other: str, values: tuple[int, ...]) -> Chart:
    """Medians by one of n and d, a line for each value of the other."""
    series = []
    for value in values:
        own = where(rows, **{other: value})
        places = sorted({row[x] for row in own})
        medians = [float(np.median([r["queries"] for r in where(own, **{x: p})])) for p in places]
        series.append(Series(f"{other} = {value}", medians, places))
    return lines(title, x, f"values to gap {TARGET:g}", series, from_zero=True)


def _exponent(rows: list[Row], name: str) -> float:
    """b in queries ~ n^a d^b, or a, by least squares on logarithms."""
    logs = np.log([[row["n"], row["d"], row["queries"]] for row in rows])
    design = np.column_stack([logs[:, :2], np.ones(len(logs))])
    found = np.linalg.lstsq(design, logs[:, 2], rcond=None)[0]
    return float(found[0 if name == "n" else 1])
