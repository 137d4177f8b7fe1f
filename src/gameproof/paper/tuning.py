"""The search for the settings of the four algorithms, which is the same for all of them.

An algorithm is tuned for its number of epochs and for its output, the averaged or the last iterate.
OGDA asks two values per step and SGDA one, so OGDA asks as many values in half the epochs.
"""

from __future__ import annotations

from functools import partial

from gameproof.minmax.problem import gap
from gameproof.paper.experiment_runs import (
    ALGORITHMS,
    TUNING_SEEDS,
    Row,
    at_the_edge,
    best_settings,
    grid,
    make_solver,
    scored_run,
    values_per_step,
    where,
)
from gameproof.paper.experiment_study import ExperimentStudy
from gameproof.paper.participants import Source, draw_people
from gameproof.strategic.saddle_point import saddle_point

WAYS = {"tuned": "with block steps", "letter": "to the letter"}
BUDGETS = {"epochs": "after the same epochs", "values": "after the same values"}
# Each output, and the column with its score.
OUTPUTS = {"average": "score", "last": "last"}


def epochs_for(algorithm: str, budget: str, epochs: int) -> int:
    """Returns the number of epochs of an algorithm if SGDA gets `epochs`."""
    return epochs // values_per_step(algorithm) if budget == "values" else epochs


def tune_algorithm(
    source: Source, n: int, d: int, seed: int, algorithm: str, settings: list[Row], epochs: int
) -> list[Row]:
    """Returns the final gaps of the averaged and of the last iterate for each setting."""
    problem = draw_people(source, n, d, seed).problem()
    score = partial(gap, problem, saddle=saddle_point(problem))
    rows = []
    for setting in settings:
        solver = make_solver(algorithm, n, setting)
        ((end,), _) = scored_run(problem, score, solver, epochs, seed, only_last=True)
        common = {"algorithm": algorithm, "epochs": epochs, "seed": seed}
        rows.append({**common, **setting, "score": end["score"], "last": end["last"]})
    return rows


def tune(study: ExperimentStudy, source: Source, n: int, d: int, epochs: int) -> list[Row]:
    """Returns the best setting of each algorithm for each kind of steps, output and number of
    epochs, and writes the search to a table."""
    seeds = TUNING_SEEDS[:1] if study.quick else TUNING_SEEDS
    plans = [
        (algorithm, length)
        for algorithm in ALGORITHMS
        for length in dict.fromkeys(epochs_for(algorithm, budget, epochs) for budget in BUDGETS)
    ]
    chosen: list[Row] = []
    rows: list[Row] = []
    for way in WAYS:
        tried = grid(study.quick, way == "letter")
        calls = [
            {
                "source": source,
                "n": n,
                "d": d,
                "seed": seed,
                "algorithm": algorithm,
                "settings": tried,
                "epochs": length,
            }
            for algorithm, length in plans
            for seed in seeds
        ]
        found = [row for part in study.map(tune_algorithm, calls) for row in part]
        rows += [{"way": way, **row} for row in found]
        for algorithm, length in plans:
            for output, column in OUTPUTS.items():
                own = where(found, algorithm=algorithm, epochs=length)
                best = best_settings(own, column)[algorithm]
                what = {"way": way, "output": output, "algorithm": algorithm, "epochs": length}
                edge = ", ".join(at_the_edge(best, tried))
                chosen.append({**what, **best, "at the edge": edge})
    study.table("tuning", rows)
    study.table("settings", chosen)
    return chosen
