"""Shared by the experiments: the four algorithms, the tuning grid, scored runs, accuracy curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np

from gameproof.auditing.gaming_rows import is_right
from gameproof.core.arguments import Vector
from gameproof.core.errors import DivergedError
from gameproof.minmax.paper_methods import ogda_rr, ogda_wr, sgda_rr, sgda_wr
from gameproof.minmax.problem import Problem
from gameproof.minmax.result import Snapshot
from gameproof.minmax.schedules import Power
from gameproof.minmax.solve import solve
from gameproof.minmax.solver import Solver
from gameproof.paper.participants import Participants
from gameproof.strategic.population import Population
from gameproof.strategic.power_costs import QuadraticCost

Row = dict[str, Any]
Score = Callable[[Vector, Vector], float]
ALGORITHMS: dict[str, Callable[..., Solver]] = {
    "OGDA-RR": ogda_rr,
    "OGDA-WR": ogda_wr,
    "SGDA-RR": sgda_rr,
    "SGDA-WR": sgda_wr,
}
CHI = 0.01
# Every algorithm is tuned over this grid, by the mean score after the last epoch. `gamma`, in units
# of n, multiplies the steps of the adversary's block; None is the paper to the letter.
STEPS = (0.0005, 0.001, 0.002, 0.004, 0.008)
RADII = (1.0, 2.0, 4.0, 8.0)
GAMMAS = (2.0, 8.0, 32.0)
SETTING = ("step", "radius", "gamma")
# These seeds are not among those reported.
TUNING_SEEDS = (1001, 1002, 1003)


def grid(quick: bool, to_the_letter: bool) -> list[Row]:
    """Returns the settings that the tuning tries."""
    steps, radii = (STEPS[1:4], RADII[1:3]) if quick else (STEPS, RADII)
    gammas: tuple[float | None, ...] = (None,) if to_the_letter else GAMMAS
    if quick:
        gammas = gammas[:2]
    return [
        {"step": step, "radius": radius, "gamma": gamma}
        for step, radius, gamma in product(steps, radii, gammas)
    ]


def make_solver(algorithm: str, n: int, setting: Mapping[str, Any], **more: Any) -> Solver:
    """Returns an algorithm with a setting and the theorem's exponents."""
    gamma = setting["gamma"]
    return ALGORITHMS[algorithm](
        step=Power(setting["step"], 0.75 + CHI),
        radius=Power(setting["radius"], 0.25),
        scale=None if gamma is None else (1.0, gamma * n),
        **more,
    )


def values_per_step(algorithm: str) -> int:
    """Returns how many values one step asks: two for OGDA, one for SGDA."""
    return 2 if algorithm.startswith("OGDA") else 1


def scored_run(
    problem: Problem,
    score: Score,
    solver: Solver,
    epochs: int,
    seed: int,
    *,
    only_last: bool = False,
) -> tuple[list[Row], Vector]:
    """Runs a solver and scores its iterates.

    Returns rows by epoch (or only for the last epoch) and the final averaged x. A row has the
    `score` of the averaged iterate and, as `last`, that of the last iterate. If a run diverges, its
    scores are infinite and its x is the start.
    """
    recorded = [epochs] if only_last else _recorded_epochs(epochs)
    rows: list[Row] = []

    def record(at: Snapshot) -> None:
        if at.epoch in recorded:
            spent = {"epoch": int(at.epoch), "queries": at.queries, "seconds": at.seconds}
            found = {"score": score(at.x, at.y), "last": score(at.last_x, at.last_y)}
            rows.append({**spent, **{name: float(value) for name, value in found.items()}})

    recording: Row = {"record_every": epochs if only_last else None, "callback": record}
    try:
        result = solve(problem, solver, epochs=epochs, seed=seed, progress=False, **recording)
    except DivergedError:
        nothing = {"queries": 0, "seconds": 0.0, "score": float("inf"), "last": float("inf")}
        return [{"epoch": epoch, **nothing} for epoch in recorded], problem.start[0]
    return rows, result.x


def _recorded_epochs(epochs: int) -> list[int]:
    """Returns about twenty epochs per decade, rounded to two digits, which `solve` records."""
    spaced = np.geomspace(1, epochs, 1 + int(20 * np.log10(max(epochs, 2))))
    return sorted({int(float(f"{e:.1e}")) for e in spaced} | {epochs})


def best_settings(found: list[Row], by: str = "score") -> dict[str, Row]:
    """Returns the setting of each algorithm with the best mean score over the tuning seeds."""
    chosen: dict[str, Row] = {}
    for algorithm in dict.fromkeys(row["algorithm"] for row in found):
        scores: dict[tuple[Any, ...], list[float]] = {}
        for row in where(found, algorithm=algorithm):
            setting = tuple(row[name] for name in SETTING)
            scores.setdefault(setting, []).append(row[by])
        best = min(scores, key=lambda setting: float(np.mean(scores[setting])))
        chosen[algorithm] = dict(zip(SETTING, best, strict=True))
    return chosen


def at_the_edge(setting: Mapping[str, Any], tried: list[Row]) -> list[str]:
    """Returns the parts of a setting that are the smallest or largest value tried."""
    found = []
    for name in SETTING:
        values = sorted({row[name] for row in tried} - {None})
        if len(values) > 1 and setting[name] in (values[0], values[-1]):
            found.append(name)
    return found


def accuracy_rows(
    classifiers: Mapping[str, tuple[Vector, float]], people: Participants, powers: tuple[float, ...]
) -> list[Row]:
    """Returns the accuracy and the mean margin y z of each classifier on the test people, who
    respond with each of these powers.

    A classifier is a pair (theta, intercept). The paper calls the margin accuracy. A score of 0 is
    a refusal, so theta = 0 is right about everyone who should be refused.
    """
    rows = []
    y = people.test_y
    for power in powers:
        asked = Population(people.test_X, y, QuadraticCost(power, features=people.movable))
        for name, (theta, intercept) in classifiers.items():
            scores = asked.scores(theta, np.arange(asked.n)) + intercept
            accuracy, margin = is_right(scores, y).mean(), (y * scores).mean()
            found = {"accuracy": float(accuracy), "margin": float(margin)}
            rows.append({"classifier": name, "power": power, **found})
    return rows


def lead(rows: list[Row], first: str, second: str) -> float:
    """Returns the mean lead in accuracy of one classifier over another: the area between their
    curves divided by the range of powers."""
    by = {(row["classifier"], row["power"]): row["accuracy"] for row in rows}
    powers = sorted({row["power"] for row in rows})
    ahead = [by[first, power] - by[second, power] for power in powers]
    return float(np.trapezoid(ahead, powers) / (powers[-1] - powers[0]))


def by_seed(rows: list[Row], x: str, y: str) -> tuple[list[float], list[list[float]]]:
    """Returns the values of x, and the values of y with one row per seed."""
    seeds = sorted({row["seed"] for row in rows})
    places = sorted({row[x] for row in rows})
    table = {(row["seed"], row[x]): row[y] for row in rows}
    return places, [[table[seed, place] for place in places] for seed in seeds]


def where(rows: list[Row], **wanted: Any) -> list[Row]:
    """Returns the rows with these values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]
