"""Reference saddle points by three methods: the tables of docs/mathematics.md.

The first table is the paper's synthetic problem, printed form, n = 500; the second Newton's method
as n grows. Contenders take turns, and the median is shown; nothing is timed with the compiler
inside.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import gameproof as gp

ROUNDS = 5
METHODS = ("newton", "conic", "gda")
SIZES = (500, 5_000, 50_000)


def synthetic_problem(n: int) -> gp.StrategicProblem:
    """theta* normal, features normal, five of ten movable; kappa 0.5, delta 0.4 as printed."""
    X, y = gp.synthetic_people(n=n, d=10, seed=0)
    people = gp.Population(X, y, gp.QuadraticCost(0.05, features=range(5)))
    return gp.StrategicProblem(people, radius=0.4, label_cost=0.5, form="printed")


def taking_turns(
    tasks: dict[str, Callable[[], gp.Saddle]],
) -> dict[str, tuple[gp.Saddle, float]]:
    """The result of each task and its median time, after a first round that is not timed."""
    saddles = {name: task() for name, task in tasks.items()}
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            began = time.perf_counter()
            task()
            seconds[name].append(time.perf_counter() - began)
    return {name: (saddles[name], statistics.median(seconds[name])) for name in tasks}


def show(rows: dict[str, tuple[gp.Saddle, float]]) -> None:
    """Value, gap and seconds, a line each."""
    for name, (saddle, seconds) in rows.items():
        print(f"{name:12s}{saddle.value:14.9f}{saddle.duality_gap:14.1e}{seconds:12.3f}")


def main() -> None:
    """Prints the tables."""
    print(f"{'n = 500':12s}{'value':>14s}{'duality gap':>14s}{'seconds':>12s}")
    problem = synthetic_problem(500)
    show(taking_turns({m: lambda m=m: gp.saddle_point(problem, m) for m in METHODS}))
    print(f"\n{'newton':12s}{'value':>14s}{'duality gap':>14s}{'seconds':>12s}")
    problems = {f"n = {n:,}": synthetic_problem(n) for n in SIZES}
    tasks = {name: lambda own=own: gp.saddle_point(own) for name, own in problems.items()}
    show(taking_turns(tasks))


if __name__ == "__main__":
    main()
