"""OGDA-RR against Algorithm 2 of Yu et al. 2021, with the same number of exact gradients.

Algorithm 2 approximates a proximal point step on sample sigma by an inner loop:

    w <- u;   M times   w <- P(u - eta F_sigma(w));   u <- w,

with M about log n, reshuffled samples, and the step-weighted average of the iterates as output. A
step computes M gradients. OGDA-RR computes two, of the new and of the previous sample at u, and
keeps the third. The paper remarks that OGDA-RR is therefore cheaper. The game is bilinear, so
plain descent-ascent circles. The score is the duality gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import ceil, log

import numpy as np

from gameproof.auditing.figures import line_chart, mean_band
from gameproof.auditing.page_model import Panels
from gameproof.core.arguments import Matrix
from gameproof.minmax.estimates.exact import Exact
from gameproof.minmax.games.bilinear_game import BilinearGame
from gameproof.minmax.paper_methods import ogda_rr
from gameproof.minmax.schedules import Power
from gameproof.paper import paper_claims
from gameproof.paper.experiment_runs import CHI, TUNING_SEEDS, Row, by_seed, scored_run, where
from gameproof.paper.experiment_study import ExperimentStudy

N, DIMENSION = 1000, 3
# Epochs of OGDA-RR; the other methods get the same number of gradients: 2 x 35 = 7 x 10.
EPOCHS, QUICK_EPOCHS = 35, 7
OGDA = "OGDA-RR"
ROUNDS = {f"Algorithm 2, M = {rounds}": rounds for rounds in (ceil(log(N)), 2)}
METHODS = (OGDA, *ROUNDS)
# The start is away from the saddle point, which is near 0.
START = (np.full(DIMENSION, DIMENSION**-0.5), np.full(DIMENSION, DIMENSION**-0.5))
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)
DECAYS = (0.0, 0.5, 0.75 + CHI)


def gradients_per_step(method: str) -> int:
    """Returns the number of sample gradients that one step computes."""
    return ROUNDS.get(method, 2)


def algorithm_2(game: BilinearGame, steps: Matrix, rounds: int, seed: int) -> list[Matrix]:
    """Runs Algorithm 2 once per column of `steps`, which has one row per epoch.

    Returns the averaged iterates by epoch, with x and y of each run in one row.
    """
    matrices, p, q = game.data
    reach = game.x_set.diameter / 2
    order = np.random.default_rng(seed)
    x, y = (np.tile(block, (steps.shape[1], 1)) for block in START)
    total = np.zeros((steps.shape[1], 2 * DIMENSION))
    path: list[Matrix] = []
    for eta in steps[:, :, None]:
        for i in order.permutation(game.n):
            at_x, at_y = x, y
            for _ in range(rounds):
                slope_x, slope_y = at_y @ matrices[i].T + p[i], at_x @ matrices[i] + q[i]
                at_x = _into_ball(x - eta * slope_x, reach)
                at_y = _into_ball(y + eta * slope_y, reach)
            x, y = at_x, at_y
            total += eta * np.hstack([x, y])
        path.append(total / (game.n * steps[: len(path) + 1].sum(axis=0)[:, None]))
    return path


def _into_ball(points: Matrix, reach: float) -> Matrix:
    sizes = np.linalg.norm(points, axis=1, keepdims=True)
    inside: Matrix = points * np.minimum(1.0, reach / np.maximum(sizes, 1e-300))
    return inside


def solve_game(
    method: str, seed: int, settings: list[Row], epochs: int, only_last: bool = False
) -> list[Row]:
    """Returns the duality gap of the averaged iterate by gradients per sample, for each setting.

    `epochs` is the number of epochs of OGDA-RR.
    """
    game = BilinearGame.random(N, DIMENSION, seed=seed)
    length = 2 * epochs // gradients_per_step(method)
    if method == OGDA:
        found = _by_ogda(game, settings, length, seed, only_last)
    else:
        found = _by_algorithm_2(game, settings, length, seed, ROUNDS[method])
    work = gradients_per_step(method)
    return [
        {"method": method, "seed": seed, **setting, "gradients": work * epoch, "score": score}
        for setting, epoch, score in found
        if epoch == length or not only_last
    ]


def _by_ogda(
    game: BilinearGame, settings: list[Row], epochs: int, seed: int, only_last: bool
) -> Iterator[tuple[Row, int, float]]:
    for setting in settings:
        step = Power(setting["step"], setting["decay"])
        solver = ogda_rr(gradient=Exact(), step=step, scale=None, start=START)
        rows, _ = scored_run(game, game.duality_gap, solver, epochs, seed, only_last=only_last)
        yield from ((setting, row["epoch"], row["score"]) for row in rows)


def _by_algorithm_2(
    game: BilinearGame, settings: list[Row], epochs: int, seed: int, rounds: int
) -> Iterator[tuple[Row, int, float]]:
    first, decay = (np.array([row[name] for row in settings]) for name in ("step", "decay"))
    steps = first * np.arange(1, epochs + 1)[:, None] ** -decay
    for epoch, points in enumerate(algorithm_2(game, steps, rounds, seed), start=1):
        for setting, point in zip(settings, points, strict=True):
            yield setting, epoch, game.duality_gap(*np.split(point, 2))


def _tune(study: ExperimentStudy, epochs: int) -> dict[str, Row]:
    """Returns the best setting of each method, found by the same search."""
    steps = STEPS[3:6] if study.quick else STEPS
    tried = [{"step": step, "decay": decay} for step, decay in product(steps, DECAYS)]
    calls = [
        {"method": method, "seed": seed, "settings": tried, "epochs": epochs, "only_last": True}
        for method in METHODS
        for seed in (TUNING_SEEDS[:1] if study.quick else TUNING_SEEDS)
    ]
    rows = [row for part in study.map(solve_game, calls) for row in part]
    study.table("tuning", rows)
    chosen = {}
    for method in METHODS:
        own = where(rows, method=method)
        chosen[method] = min(
            tried, key=lambda setting: sum(row["score"] for row in where(own, **setting))
        )
    study.table("settings", [{"method": name, **row} for name, row in chosen.items()])
    return chosen


def run(study: ExperimentStudy) -> None:
    """Runs the experiment."""
    epochs = QUICK_EPOCHS if study.quick else EPOCHS
    settings = _tune(study, epochs)
    calls = [
        {"method": method, "seed": seed, "settings": [setting], "epochs": epochs}
        for method, setting in settings.items()
        for seed in range(study.seeds)
    ]
    rows = [row for part in study.map(solve_game, calls) for row in part]
    study.table("gaps", rows)
    caption = (
        f"A bilinear game of {N} samples with exact gradients, {study.seeds} seeds, each with its "
        "own game: duality gap of the averaged iterate by gradients computed, mean and two "
        f"standard deviations. M = {ceil(log(N))} is the inner loop of log n rounds."
    )
    curves = {
        method: by_seed(where(rows, method=method), "gradients", "score") for method in METHODS
    }
    series = [mean_band(method, *curve) for method, curve in curves.items()]
    x, y = "gradients per sample", "duality gap"
    chart = line_chart("bilinear game", x, y, series, log_y=True)
    study.draw("figure", Panels(caption, [chart]))
    last = {method: [run[-1] for run in runs] for method, (_, runs) in curves.items()}
    listed = "; ".join(f"{np.mean(found):.3g} by {method}" for method, found in last.items())
    study.note(f"Mean duality gap after {2 * epochs} gradients per sample: {listed}.")
    inner = next(iter(ROUNDS))
    study.claims.append(
        paper_claims.ratio_below_one(
            "OGDA-RR is cheaper than an inner loop of log n gradients per step",
            f"duality gap, OGDA-RR / {inner}, after the same gradients; bilinear game",
            last[OGDA],
            last[inner],
        )
    )
