"""Tests `Solver.auto` on thirty varied problems.

Features have sizes from 1e-3 to 1e3, n is 50 to 10,000, d is 2 to 200, 5 to 95 % of the labels are
+1, powers are 0 to 2, and both forms occur. People can only be asked. The final gap must be finite
and no larger than at the problem's own start.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
from harness import Table, save
from query_runs import as_black_box

import gameproof as gp

NUMBER = 30
# Tolerance for a run that stays at its start, relative to the gap there.
ROUNDING = 1e-6
WAYS: dict[str, dict[str, Any]] = {
    "answers": {},
    "scores": {"estimate": gp.OnePoint(baseline=True)},
    "scores, own start": {"estimate": gp.OnePoint(baseline=True), "start": False},
}


def varied(k: int) -> tuple[str, gp.StrategicProblem]:
    """Returns a description of the k-th problem, and the problem."""
    rng = np.random.default_rng([30, k])
    n = round(10 ** rng.uniform(np.log10(50), 4))
    d = round(10 ** rng.uniform(np.log10(2), np.log10(200)))
    scale = 10 ** rng.uniform(-3, 3)
    X = rng.standard_normal((n, d))
    scores = X @ rng.standard_normal(d) / np.sqrt(d) + 0.3 * rng.standard_normal(n)
    share = rng.choice([0.05, 0.2, 0.5, 0.8, 0.95])
    y = np.where(scores > np.quantile(scores, 1 - share), 1.0, -1.0)
    power = float(rng.choice([0.0, 0.05, 0.5, 2.0]))
    features = sorted(rng.choice(d, max(1, d // 2), replace=False).tolist())
    people = gp.Population(scale * X, y, gp.QuadraticCost(power, features=features))
    printed = bool(rng.random() < 0.5)
    least = 0.5 * (1 - people.n_positive / n) if printed else 0.0
    radius = least + float(10 ** rng.uniform(-3, -0.5)) * min(1.0, scale)
    problem = gp.StrategicProblem(
        people,
        radius,
        0.5,
        form="printed" if printed else "exact",
        intercept=5.0 if rng.random() < 0.3 else None,
    )
    form = "printed" if printed else "exact"
    return f"n {n}, d {d}, size {scale:.0e}, +1 {share:.0%}, power {power:g}, {form}", problem


def finish(problem: gp.StrategicProblem, queries: int, **parts: Any) -> tuple[float, int, float]:
    """Returns the final gap, the number of answers and the seconds that Solver.auto took."""
    own = as_black_box(problem)
    began = time.perf_counter()
    solver = gp.Solver.auto(own, queries=queries, **parts)
    took = time.perf_counter() - began
    epochs = max(1, -(-queries // int((own.population.y < 0).sum())))
    result = gp.solve(own, solver, queries=queries, epochs=epochs, seed=0, progress=False)
    return problem.duality_gap(result.x, result.y), own.population.n_answers, took


def varied_problems(quick: bool) -> Table:
    """Returns the table of gaps."""
    table = Table(
        "Solver.auto, then 2,000 queries: the duality gap at the start and at the end",
        ["problem", "own start", *WAYS, "worse", "slowest choice, s"],
    )
    for k in range(0, NUMBER, 5 if quick else 1):
        what, problem = varied(k)
        before = problem.duality_gap(*problem.start)
        found = [finish(problem, 2000, **parts) for parts in WAYS.values()]
        gaps = [gap for gap, _, _ in found]
        worse = sum(not gap <= before * (1 + ROUNDING) for gap in gaps)
        table.row(what, before, *gaps, worse, max(took for _, _, took in found))
        print(table.rows[-1], file=sys.stderr, flush=True)
    return table


def main() -> None:
    """Prints and keeps the tables."""
    quick = "--quick" in sys.argv
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gp.CapWarning)
        save("varied", [varied_problems(quick)])


if __name__ == "__main__":
    main()
