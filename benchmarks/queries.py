"""How many queries a certified gap takes: hand-tuned contenders against `Solver.auto`.

Every contender is tuned over its grid (`query_runs.Contender.settings`) for each average, on people
that are not reported, and then run on the people of ten seeds. Tables show medians over the seeds.
If a contender does not reach a target, they show the number of queries after which it was stopped.
Only agents with label -1 are asked, and `Solver.auto` pays for its pilot.

    python benchmarks/queries.py [--quick] [--sizes] [--figures DIR] [NAME …]

Finished parts are kept, so an interrupted benchmark resumes where it stopped.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from harness import Table, results_folder, save
from query_runs import (
    AVERAGES,
    CONTENDERS,
    PROBLEMS,
    SIZES,
    TARGETS,
    Row,
    automatic,
    certified_problem,
    tune,
)

import gameproof as gp
from gameproof.paper.experiment_study import ExperimentStudy

TUNING = (1001,)
CAP, LETTER_CAP, LETTER_TUNING = 30_000, 1_000_000, 300_000
LETTER = "paper to the letter"
# Solver.auto by what it may see. "own start" ignores the learned start.
AUTO: dict[str, Row] = {
    "auto, scores": {"estimate": "baseline"},
    "auto, answers": {"estimate": None},
    "auto, baseline, own start": {"estimate": "baseline", "start": False},
    "auto, two points, own start": {"estimate": "two", "start": False},
    "auto, envelope, own start": {"estimate": "envelope", "start": False},
}
ESTIMATES = {
    None: None,
    "baseline": gp.OnePoint(baseline=True),
    "two": gp.TwoPoint(),
    "envelope": gp.Envelope(),
}
RIVALS = {
    "auto, baseline, own start": "SGDA-RR, baseline",
    "auto, two points, own start": "SGDA-RR, two points",
    "auto, envelope, own start": "SGDA-RR, envelope",
}
BATCHES = (1, 10, 100, None)
BATCHED = ("auto, baseline, own start", "auto, envelope, own start")


def auto_run(problem: str, way: str, batch: int | None, seed: int, cap: int) -> list[Row]:
    """Runs `Solver.auto` once. A batch of None asks everybody."""
    parts = dict(AUTO[way])
    parts["estimate"] = ESTIMATES[parts["estimate"]]
    parts["batch"] = (PROBLEMS | SIZES)[problem]["n"] if batch is None else batch
    rows = automatic(problem, seed, cap, parts, curve_too=True)
    return [{"problem": problem, "way": way, "batch": batch, "seed": seed, **row} for row in rows]


def hand_tuned(
    study: ExperimentStudy, names: list[str], seeds: int
) -> dict[tuple[Any, ...], list[float]]:
    """Returns queries by seed, keyed by (problem, contender, average, target)."""
    calls = [
        {
            "problem": name,
            "contender": contender,
            "setting": setting,
            "seed": seed,
            "cap": LETTER_TUNING if contender == LETTER else CAP,
        }
        for name in names
        for contender, way in CONTENDERS.items()
        for setting in way.settings(study.quick)
        for seed in TUNING
    ]
    found = [row for part in study.map(tune, calls) for row in part]
    chosen = _chosen(found)
    unique = {(key[0], key[1], tuple(setting.items())) for key, setting in chosen.items()}
    calls = [
        {
            "problem": name,
            "contender": contender,
            "setting": dict(setting),
            "seed": seed,
            "cap": (LETTER_CAP if contender == LETTER else CAP) // (10 if study.quick else 1),
        }
        for name, contender, setting in sorted(unique, key=repr)
        for seed in range(seeds)
    ]
    reported = [row for part in study.map(tune, calls) for row in part]
    queries: dict[tuple[Any, ...], list[float]] = {}
    for row in reported:
        key = (row["problem"], row["contender"], row["average"])
        if chosen[key] == row["setting"]:
            queries.setdefault((*key, row["target"]), []).append(row["queries"])
    return queries


def _chosen(found: list[Row]) -> dict[tuple[Any, ...], Row]:
    """Returns, for each contender and average, the setting with the fewest queries to all targets.

    The measure is the mean of logarithms; a target that is not reached counts as three times the
    cap. The paper's method may reach none, and then the final gap decides.
    """
    costs: dict[tuple[Any, ...], list[tuple[float, Row]]] = {}
    for row in found:
        key = (row["problem"], row["contender"], row["average"])
        cost = float(np.log(min(max(row["queries"], 1.0), 3.0 * row["cap"])))
        if row["contender"] == LETTER:
            cost += 1e-3 * float(np.log(np.clip(row["final"], 1e-6, 1e6)))
        costs.setdefault(key, []).append((cost, row["setting"]))
    best: dict[tuple[Any, ...], Row] = {}
    for key, tried in costs.items():
        totals: dict[tuple[Any, ...], float] = {}
        for cost, setting in tried:
            totals[tuple(setting.items())] = totals.get(tuple(setting.items()), 0.0) + cost
        best[key] = dict(min(totals, key=lambda s: totals[s]))
    return best


def shown(values: list[float], cap: int) -> str:
    """Formats the median, or the cap if the median lies beyond it."""
    middle = statistics.median(values)
    return f"> {cap:.0e}" if not np.isfinite(middle) else f"{middle:.0f}"


def tables(
    names: list[str], hand: dict[tuple[Any, ...], list[float]], auto: list[Row], quick: bool
) -> list[Table]:
    """Returns one table per problem, the ratios and the deployments."""
    made = []
    for name in names:
        table = Table(
            f"{name}: median queries until the gap stays below", ["contender", *map(str, TARGETS)]
        )
        for contender in CONTENDERS:
            cap = (LETTER_CAP if contender == LETTER else CAP) // (10 if quick else 1)
            for average in AVERAGES:
                cells = [shown(hand[name, contender, average, t], cap) for t in TARGETS]
                table.row(f"{contender}, {average}", *cells)
        for way in AUTO:
            cells = [shown(_of(auto, name, way, 1, t, "queries"), CAP) for t in TARGETS]
            table.row(way, *cells)
        made.append(table)
    return [*made, _ratios(names, hand, auto, quick), _deployments(names, auto)]


def _of(
    auto: list[Row], name: str, way: str, batch: int | None, t: float, what: str
) -> list[float]:
    return [
        row[what]
        for row in auto
        if (row["problem"], row["way"], row["batch"], row.get("target")) == (name, way, batch, t)
    ]


def _ratios(
    names: list[str], hand: dict[tuple[Any, ...], list[float]], auto: list[Row], quick: bool
) -> Table:
    """Returns the ratios of the paper's queries to auto's, and of auto's to hand-tuned ones."""
    table = Table(
        "Ratios of queries: the paper's to auto's (at least), by the paper's average and by the "
        "best of the three outputs, and auto's run to the best hand-tuned setting of the same "
        "estimate with any output",
        ["problem", "ratio", *map(str, TARGETS)],
    )
    cap = LETTER_CAP // (10 if quick else 1)
    for name in names:
        for way in ("auto, scores", "auto, answers"):
            for what, read in (("paper", ["average"]), ("best of paper", list(AVERAGES))):
                cells: list[float | None] = []
                for t in TARGETS:
                    paper = min(statistics.median(hand[name, LETTER, a, t]) for a in read)
                    own = statistics.median(_of(auto, name, way, 1, t, "queries"))
                    cells.append(min(paper, float(cap)) / own)
                table.row(name, f"{what} / {way}", *cells)
        for way, rival in RIVALS.items():
            cells = []
            for t in TARGETS:
                best = min(statistics.median(hand[name, rival, a, t]) for a in AVERAGES)
                ours = statistics.median(_of(auto, name, way, 1, t, "run"))
                cells.append(ours / best if np.isfinite(best) and np.isfinite(ours) else None)
            table.row(name, f"{way} / hand-tuned", *cells)
    return table


def _deployments(names: list[str], auto: list[Row]) -> Table:
    """Returns the table of deployments and answers by batch."""
    table = Table(
        "Deployments / answers until the gap stays below, by batch, including the pilot",
        ["problem", "way", "batch", *map(str, TARGETS)],
    )
    for name in names:
        for way in (*BATCHED, "auto, scores", "auto, answers"):
            for batch in BATCHES if way in BATCHED else (1,):
                cells = []
                for t in TARGETS:
                    deployed = shown(_of(auto, name, way, batch, t, "deployments"), CAP)
                    asked = shown(_of(auto, name, way, batch, t, "queries"), CAP)
                    cells.append(f"{deployed} / {asked}")
                table.row(name, way, "n" if batch is None else batch, *cells)
    return table


def by_size(study: ExperimentStudy, seeds: int) -> Table:
    """Returns the table of answers and deployments of Solver.auto by size."""
    ways = [way for way in AUTO if way != "auto, two points, own start"]
    calls = [
        {"problem": name, "way": way, "batch": 1, "seed": seed, "cap": CAP}
        for name in SIZES
        for way in ways
        for seed in range(seeds)
    ]
    auto = [row for part in study.map(auto_run, calls) for row in part]
    table = Table(
        f"Solver.auto by size: median answers (deployments), {seeds} seeds, including the pilot",
        ["problem", "way", *map(str, TARGETS)],
    )
    for name in SIZES:
        for way in ways:
            cells = []
            for t in TARGETS:
                asked = shown(_of(auto, name, way, 1, t, "queries"), CAP)
                deployed = shown(_of(auto, name, way, 1, t, "deployments"), CAP)
                cells.append(f"{asked} ({deployed})")
            table.row(name, way, *cells)
    return table


def main() -> None:
    """Prints and keeps the tables; draws figures if a folder is given."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", choices=[[], *PROBLEMS], metavar="NAME")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sizes", action="store_true", help="only as n and d grow")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--figures", type=Path)
    options = parser.parse_args()
    names = options.names or list(PROBLEMS)[: 1 if options.quick else None]
    names = [name for name in names if _available(name)]
    seeds = 2 if options.quick else 10
    study = ExperimentStudy(
        "queries", results_folder() / "queries", seeds, options.quick, options.jobs
    )
    if options.sizes:
        save("queries-sizes", [by_size(study, 1 if options.quick else 3)])
        return
    hand = hand_tuned(study, names, seeds)
    calls = [
        {"problem": name, "way": way, "batch": batch, "seed": seed, "cap": CAP}
        for name in names
        for way in AUTO
        for batch in (BATCHES if way in BATCHED else (1,))
        for seed in range(seeds if batch == 1 else min(seeds, 3))
    ]
    auto = [row for part in study.map(auto_run, calls) for row in part]
    save("queries", tables(names, hand, auto, options.quick))
    if options.figures:
        from query_figures import draw

        draw(options.figures, names, hand, auto)


def _available(name: str) -> bool:
    """True if the data is there. This benchmark does not download it."""
    try:
        certified_problem(name, 0)
    except gp.DataNotFound as error:
        print(f"{name} is left out: {error}", file=sys.stderr)
        return False
    return True


if __name__ == "__main__":
    warnings.simplefilter("ignore", gp.CapWarning)
    main()
