"""The search for the settings of the four algorithms: the same for all of them.

An algorithm is tuned for what it is compared by: the epochs that it gets, and whether its averaged
or its last iterate counts. OGDA asks two values a step where SGDA asks one, so that after half the
epochs it has asked as many.
"""

from __future__ import annotations

from functools import partial

from gameproof.minmax.problem import gap
from gameproof.paper.participants import Source, draw
from gameproof.paper.setting import (
    ALGORITHMS,
    TUNING_SEEDS,
    Row,
    at_the_edge,
    best_settings,
    grid,
    scored_run,
    solver_of,
    values_a_step,
    where,
)
from gameproof.paper.study import Study
from gameproof.strategic.saddle_point import saddle_point

WAYS = {"tuned": "with block steps", "letter": "to the letter"}
BUDGETS = {"epochs": "after the same epochs", "values": "after the same values"}
# The iterate that counts, and the column that has its score.
OUTPUTS = {"average": "score", "last": "last"}


def epochs_of(algorithm: str, budget: str, epochs: int) -> int:
    """How many epochs an algorithm gets where SGDA gets `epochs`."""
    return epochs // values_a_step(algorithm) if budget == "values" else epochs


def tune_algorithm(
    source: Source, n: int, d: int, seed: int, algorithm: str, settings: list[Row], epochs: int
) -> list[Row]:
    """The gap in the end, of the averaged and of the last iterate, for each of the settings."""
    problem = draw(source, n, d, seed).problem()
    score = partial(gap, problem, saddle=saddle_point(problem))
    rows = []
    for setting in settings:
        solver = solver_of(algorithm, n, setting)
        ((end,), _) = scored_run(problem, score, solver, epochs, seed, only_last=True)
        common = {"algorithm": algorithm, "epochs": epochs, "seed": seed}
        rows.append({**common, **setting, "score": end["score"], "last": end["last"]})
    return rows


def tuned(study: Study, source: Source, n: int, d: int, epochs: int) -> list[Row]:
    """The setting of each algorithm, for either way, output and number of epochs; the search goes
    to a table."""
    seeds = TUNING_SEEDS[:1] if study.quick else TUNING_SEEDS
    plans = [
        (algorithm, length)
        for algorithm in ALGORITHMS
        for length in dict.fromkeys(epochs_of(algorithm, budget, epochs) for budget in BUDGETS)
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
