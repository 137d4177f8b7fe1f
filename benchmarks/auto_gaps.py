"""`Solver.auto` on eight problems that it was not designed for: the table of docs/choosing.md.

Each problem of examples/saddle_problems is solved with 20,000 values, pilot included. The table
shows duality gaps:

- at the start;
- of `auto`, the median and the worst over the seeds;
- of steps by a formula with two-point estimates (`auto` with ``estimate=TwoPoint()``), the median;
- of extragradient steps with forward differences of all samples along every coordinate, for the
  best of five constant steps, chosen in hindsight.

"target" is twice the better of the two rivals, and at least 1e-6: differences of a bilinear game
are exact, so a rival may reach 0. A dash means that a rival cannot run: it asks values outside the
sets, and they are not defined there.
"""

from __future__ import annotations

import argparse
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from harness import Table, save

import gameproof as gp

BUDGET, PILOT = 20_000, 4_000
STEPS = (0.03, 0.1, 0.3, 1.0, 3.0)
EXACT = 1e-6
FOLDER = Path(__file__).parents[1] / "examples" / "saddle_problems"
PROBLEMS = (
    "matrix_game",
    "robust_portfolio",
    "group_dro",
    "quadratic_program",
    "linear_wgan",
    "kuhn_poker",
    "chi2_dro",
    "kl_dro",
)
Gap = Callable[[Any, Any], float]


def counted(problem: gp.Problem) -> tuple[gp.SaddleProblem, list[int]]:
    """Returns the same problem, and a list whose one number is how many values were asked."""
    asked = [0]

    def value(indices: Any, x: Any, y: Any) -> Any:
        asked[0] += len(indices)
        return problem.values(indices, x, y)

    sets = {"x_set": problem.x_set, "y_set": problem.y_set}
    return gp.SaddleProblem(value, vectorized=True, n=problem.n, **sets), asked


def by_auto(problem: gp.Problem, gap: Gap, seed: int) -> float:
    """Returns the gap after a pilot and a run, both within the budget."""
    own, asked = counted(problem)
    solver = gp.Solver.auto(own, queries=BUDGET - PILOT, pilot=PILOT, seed=seed)
    result = gp.solve(own, solver, queries=BUDGET - asked[0], seed=seed)
    if asked[0] > BUDGET:
        raise RuntimeError(f"{asked[0]} values were asked, the budget is {BUDGET}")
    return gap(result.x, result.y)


def by_formula(problem: gp.Problem, gap: Gap, seed: int) -> float:
    """Returns the gap of two-point estimates, NaN if they cannot be asked."""
    own, asked = counted(problem)
    try:
        solver = gp.Solver.auto(own, estimate=gp.TwoPoint(), seed=seed)
        result = gp.solve(own, solver, queries=BUDGET - asked[0], seed=seed)
    except (ValueError, gp.GameproofError):
        return float("nan")
    return gap(result.x, result.y)


def slopes(problem: gp.Problem, x: Any, y: Any, radius: float = 1e-6) -> tuple[Any, Any]:
    """Returns forward differences of the mean along every coordinate."""
    here = problem.value(x, y)
    of_x = [problem.value(x + radius * e, y) - here for e in np.eye(x.size)]
    of_y = [problem.value(x, y + radius * e) - here for e in np.eye(y.size)]
    return np.array(of_x) / radius, np.array(of_y) / radius


def extragradient(problem: gp.Problem, step: float) -> tuple[Any, Any]:
    """Returns where extragradient steps from forward differences lead within the budget."""
    x, y = problem.start
    gradients = BUDGET // (problem.n * (1 + x.size + y.size))
    for _ in range(gradients // 2):
        u, v = x, y
        for _ in range(2):
            gx, gy = slopes(problem, u, v)
            u, v = problem.x_set.project(x - step * gx), problem.y_set.project(y + step * gy)
        x, y = u, v
    return x, y


def by_extragradient(problem: gp.Problem, gap: Gap) -> float:
    """Returns the gap for the best step, NaN if differences cannot be asked."""
    try:
        return min(gap(*extragradient(problem, step)) for step in STEPS)
    except ValueError:
        return float("nan")


def main() -> None:
    """Prints the table and keeps it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=8, help="how many seeds (8)")
    parser.add_argument("--only", choices=PROBLEMS, help="one of the problems")
    arguments = parser.parse_args()
    seeds = range(arguments.seeds)
    table = Table(
        f"duality gaps after {BUDGET} values, {len(seeds)} seeds",
        ("problem", "start", "auto", "worst", "formula", "extragradient", "target"),
    )
    for name in (arguments.only,) if arguments.only else PROBLEMS:
        example = runpy.run_path(str(FOLDER / f"{name}.py"), run_name=name)
        problem, gap = example["PROBLEM"], example["duality_gap"]
        own = [by_auto(problem, gap, seed) for seed in seeds]
        rivals = [
            float(np.median([by_formula(problem, gap, seed) for seed in seeds])),
            by_extragradient(problem, gap),
        ]
        able = [rival for rival in rivals if not np.isnan(rival)]
        cells = gap(*problem.start), np.median(own), max(own), *rivals
        target = 2 * max(min(able), EXACT) if able else float("nan")
        shown = ["–" if np.isnan(cell) else f"{cell:.2g}" for cell in (*cells, target)]
        table.row(name.replace("_", " "), *shown)
    save("auto_gaps", [table])


if __name__ == "__main__":
    main()
