"""How many values OGDA-RR asks to reach a gap of 0.1, by the number of people and of features.

The exponents in values ~ n^a d^b depend on the tuning, so the experiment measures them twice: tuned
for each n and d, and with each setting of the grid for all n and d.

The theorem's exponents come from its corrected bound, E gap <= K T^(-(1/4 - chi)). With
p = 4 / (1 - 4 chi), T = (K / gap)^p epochs and 2 n T values suffice. In the letters of `theory.py`,
with D, G, ell and M fixed and more people than features, the dominating terms are

    K ~ D^2 / (2 n eta_0) + 3 ell D eps_0 + n d eta_0 (c_0 + c_1 / eps_0).

With one setting (eta_0, eps_0) for all n and d, K grows as n d and the values as n^(1 + p) d^p.
With the best step, of order 1 / (n sqrt(d)), the first and the last term are both of order sqrt(d)
and n cancels, for every radius: K grows as sqrt(d) and the values as n d^(p / 2).
"""

from __future__ import annotations

import numpy as np

from gameproof.auditing.figures import line_chart
from gameproof.auditing.page_model import Chart, Panels, Series
from gameproof.minmax.problem import gap
from gameproof.minmax.run import Run
from gameproof.minmax.run_engine import UNLIMITED
from gameproof.paper import paper_claims
from gameproof.paper.experiment_runs import (
    CHI,
    SETTING,
    TUNING_SEEDS,
    Row,
    at_the_edge,
    best_settings,
    grid,
    make_solver,
    where,
)
from gameproof.paper.experiment_study import ExperimentStudy
from gameproof.paper.exponents import draw_exponents, exponents, fixed_exponents
from gameproof.paper.participants import draw_people
from gameproof.strategic.saddle_point import saddle_point

PEOPLE, FEATURES = (500, 1000, 1500, 2000), (10, 15, 20, 25)
TARGET, EPOCHS = 0.1, 60
FIRST_RECORD, RECORDS = 50, 100
P = 4 / (1 - 4 * CHI)
# Exponents of n and d in the theorem's bound of the values.
THEOREM = {"tuned": (1.0, P / 2), "one setting": (1 + P, P)}


def queries_to_target(
    n: int, d: int, seed: int, settings: list[Row], epochs: int, target: float
) -> list[Row]:
    """Returns, for each setting, the values asked until the gap of the averaged iterate stays below
    the target; NaN if it never does."""
    problem = draw_people("synthetic", n, d, seed).problem()
    saddle = saddle_point(problem)
    rows = []
    for setting in settings:
        run = Run(problem, make_solver("OGDA-RR", n, setting), seed=seed)
        path = []
        # The first epoch is often enough, so the gap is recorded between epochs as well.
        for steps in np.unique(np.geomspace(FIRST_RECORD, epochs * n, RECORDS).astype(int)):
            run.advance(int(steps), UNLIMITED, compiled=True)
            path.append((run.state.queries, gap(problem, *run.recommend(), saddle)))
        found = _crossing(path, target)
        rows.append({"n": n, "d": d, "seed": seed, **setting, "queries": found})
    return rows


def _crossing(path: list[tuple[int, float]], target: float) -> float:
    """Returns the number of queries from which on the gap stays below the target, interpolated
    between two records on logarithmic scales; NaN if it does not."""
    queries, gaps = np.log(path).T
    above = np.flatnonzero(gaps > np.log(target))
    last = int(above[-1]) if above.size else 0
    if last + 1 >= gaps.size:
        return float("nan")
    pair = slice(last, last + 2)
    return float(np.exp(np.interp(-np.log(target), -gaps[pair], queries[pair])))


def _tune(study: ExperimentStudy, places: list[tuple[int, int]], epochs: int) -> list[Row]:
    """Returns, for each n and d, the setting with the smallest geometric mean of values. A run that
    never reaches the gap counts as infinitely many."""
    tried = grid(study.quick, to_the_letter=False)
    common = {"settings": tried, "epochs": epochs, "target": TARGET}
    seeds = TUNING_SEEDS[:1] if study.quick else TUNING_SEEDS
    calls = [{"n": n, "d": d, "seed": seed, **common} for n, d in places for seed in seeds]
    rows = [row for part in study.map(queries_to_target, calls) for row in part]
    study.table("tuning", rows)
    chosen: list[Row] = []
    for n, d in places:
        own = [
            {"algorithm": "OGDA-RR", **row, "score": np.log(row["queries"])}
            for row in where(rows, n=n, d=d)
        ]
        reached = [{**row, "score": np.nan_to_num(row["score"], nan=np.inf)} for row in own]
        best = best_settings(reached)["OGDA-RR"]
        chosen.append({"n": n, "d": d, **best, "at the edge": ", ".join(at_the_edge(best, tried))})
    study.table("settings", chosen)
    fixed = fixed_exponents(rows, len(places) * len(seeds))
    if fixed:
        study.table("exponents", fixed)
        draw_exponents(study, fixed, THEOREM)
    return chosen


def run(study: ExperimentStudy) -> None:
    """Runs the experiment."""
    people, features = (PEOPLE[:2], FEATURES[:2]) if study.quick else (PEOPLE, FEATURES)
    epochs = 20 if study.quick else EPOCHS
    places = [(n, d) for n in people for d in features]
    chosen = _tune(study, places, epochs)
    calls = [
        {
            "n": row["n"],
            "d": row["d"],
            "seed": seed,
            "settings": [{name: row[name] for name in SETTING}],
            "epochs": epochs,
            "target": TARGET,
        }
        for row in chosen
        for seed in range(study.seeds)
    ]
    rows = [row for part in study.map(queries_to_target, calls) for row in part]
    study.table("queries", rows)
    missed = sum(np.isnan(row["queries"]) for row in rows)
    if missed:
        study.note(f"{missed} of {len(rows)} runs did not reach the gap within {epochs} epochs.")
    reached = [row for row in rows if not np.isnan(row["queries"])]
    caption = (
        f"Values that OGDA-RR asks until its gap stays below {TARGET:g}, tuned for each n and d: "
        f"median of {study.seeds} seeds, each with its own people."
    )
    charts = [
        _chart(reached, "number of people", "n", "d", features),
        _chart(reached, "number of features", "d", "n", people),
    ]
    study.draw("figure", Panels(caption, charts))
    _claim(study, reached, len(places) / 2)


def _claim(study: ExperimentStudy, reached: list[Row], enough: float) -> None:
    """Claims that the values needed grow with n and d. Seeds with too few runs that reach the
    target are left out, because they give no exponent."""
    by_seed = [where(reached, seed=seed) for seed in range(study.seeds)]
    found = np.array([exponents(own) for own in by_seed if len(own) >= enough])
    if not found.size:
        return
    for k, (name, meaning) in enumerate((("n", "people"), ("d", "features"))):
        study.claims.append(
            paper_claims.mean_above(
                f"The values needed grow with the number of {meaning}",
                f"exponent of {name} in values to gap {TARGET:g}, tuned for each n and d (the "
                f"theorem's exponent: {THEOREM['tuned'][k]:.3g})",
                found[:, k],
            )
        )
    grown = [_law(*found.mean(axis=0)), *(_law(*THEOREM[name]) for name in THEOREM)]
    study.note(
        f"Values to gap {TARGET:g} grow as {grown[0]} when tuned for each n and d. The theorem's "
        f"bound grows as {grown[1]} when tuned, and as {grown[2]} with one setting for all n and "
        "d."
    )


def _law(a: float, b: float) -> str:
    return f"n^{a:.2f} d^{b:.2f}"


def _chart(rows: list[Row], title: str, x: str, other: str, values: tuple[int, ...]) -> Chart:
    """Returns the chart of medians by n or d, with one line per value of the other."""
    series = []
    for value in values:
        own = where(rows, **{other: value})
        places = sorted({row[x] for row in own})
        medians = [float(np.median([r["queries"] for r in where(own, **{x: p})])) for p in places]
        series.append(Series(f"{other} = {value}", medians, places))
    return line_chart(title, x, f"values to gap {TARGET:g}", series, from_zero=True)
