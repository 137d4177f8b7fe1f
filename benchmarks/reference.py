"""Certified saddle points: the tables of docs/speed.md.

The first table has the paper's synthetic problem, printed form, n = 500, by three methods. In the
others every row is measured in its own process, with its peak memory: Newton's method as n grows,
and against a contender at n = 100,000. The contender is the conic solver for the strategic problem
and, where nobody responds, the package dro, with labels that flip both ways (kappa = 1) and with
labels that stay. Newton's times are medians of rounds before and after the contender. Contenders
that take minutes have one round. Compile time is excluded.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import Any

from against_dro import Case, fit_dro, our_problem
from harness import Table, interleaved, median, save, spread

import gameproof as gp

ROUNDS = 5
METHODS = ("newton", "conic", "gda")
SIZES = ((1_000, 10), (10_000, 10), (100_000, 10), (100_000, 20), (1_000_000, 10))
LARGE, QUICK = 100_000, 5_000
# Pairs of problem and contender.
CONTESTS = (
    ("strategic", "conic"),
    ("labels both ways, nobody responds", "dro"),
    ("labels that stay, nobody responds", "dro"),
)
# n of a first problem, which compiles and loads libraries.
WARM_UP = 500


def synthetic_problem(n: int, d: int = 10) -> gp.StrategicProblem:
    """Returns the paper's synthetic problem: five movable features, kappa 0.5, delta 0.4."""
    X, y = gp.synthetic_people(n=n, d=d, seed=0)
    people = gp.Population(X, y, gp.QuadraticCost(0.05, features=range(5)))
    return gp.StrategicProblem(people, radius=0.4, label_cost=0.5, form="printed")


def dro_case(name: str, n: int, d: int) -> Case:
    """Returns one of the two problems that dro can solve."""
    return Case(n, d, 0.05, inf if "stay" in name else 1.0, seed=2)


def task(name: str, method: str, n: int, d: int) -> Callable[[], tuple[float, float]]:
    """Returns a function that solves a problem and returns its value and certified gap; dro gives
    no gap."""
    if method == "dro":
        case = dro_case(name, n, d)
        people = our_problem(case).population
        return lambda: (fit_dro(case, people)[2], inf)
    problem = synthetic_problem(n, d) if name == "strategic" else our_problem(dro_case(name, n, d))

    def solve() -> tuple[float, float]:
        saddle = gp.saddle_point(problem, method)
        return saddle.value, saddle.duality_gap

    return solve


def timed(solve: Callable[[], tuple[float, float]], found: list[Any]) -> Callable[[], float]:
    """Returns a function that returns the time of `solve` and appends its result to `found`."""

    def clocked() -> float:
        began = time.perf_counter()
        answer = solve()
        seconds = time.perf_counter() - began
        found.append(answer)
        return seconds

    return clocked


def resident(field: str) -> float | None:
    """Returns this process's memory in MB, now (VmRSS) or at its peak (VmHWM), or None."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def measure(name: str, method: str, n: int, d: int, rounds: int) -> None:
    """Prints seconds, value, gap and the growth of memory above the problem itself."""
    warnings.simplefilter("ignore")
    task(name, method, WARM_UP, d)()
    solve = task(name, method, n, d)
    before = resident("VmRSS")
    if before is not None:
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    found: list[tuple[float, float]] = []
    clocked = timed(solve, found)
    seconds = [clocked() for _ in range(rounds)]
    peak, (value, gap) = resident("VmHWM"), found[-1]
    memory = None if before is None or peak is None else peak - before
    print(json.dumps({"seconds": seconds, "value": value, "gap": gap, "memory": memory}))


def in_new_process(*arguments: Any) -> dict[str, Any]:
    """Runs `measure` in a new process and returns what it prints."""
    command = [sys.executable, __file__, "--alone", *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def three_methods(rounds: int) -> Table:
    """Returns the table of the paper's problem by three methods."""
    tasks = {m: task("strategic", m, WARM_UP, 10) for m in METHODS}
    found: dict[str, list[Any]] = {m: [] for m in METHODS}
    times = interleaved({m: timed(solve, found[m]) for m, solve in tasks.items()}, rounds)
    table = Table("n = 500, d = 10", ("method", "value", "duality gap", "seconds", "spread"))
    for method in METHODS:
        (value, gap), seconds = found[method][-1], median(times[method])
        table.row(method, f"{value:.9f}", f"{gap:.1e}", seconds, spread(times[method]))
    return table


def growing(sizes: tuple[tuple[int, int], ...], rounds: int) -> Table:
    """Returns the table of Newton's method as n grows."""
    columns = ("n", "d", "value", "duality gap", "seconds", "spread", "MB of data", "MB more")
    table = Table(f"Newton's method, {rounds} rounds each", columns)
    for n, d in sizes:
        found = in_new_process("strategic", "newton", n, d, rounds)
        seconds, gap = found["seconds"], f"{found['gap']:.1e}"
        size = 8 * n * (d + 1) / 2**20
        middle, quarters = median(seconds), spread(seconds)
        row = (f"{n:,}", d, f"{found['value']:.9f}", gap, middle, quarters, size, found["memory"])
        table.row(*row)
    return table


def against(n: int, rounds: int) -> Table:
    """Returns the table of contests. If a contender is not installed, its row says so."""
    ours, theirs = ("newton, s", "gap", "MB more"), ("contender", "seconds", "MB more")
    columns = ("problem", *ours, *theirs, "values apart", "times")
    table = Table(f"n = {n:,}, d = 10; contenders have one round", columns)
    for name, contender in CONTESTS:
        first, needed = (
            in_new_process(name, "newton", n, 10, rounds),
            {"conic": "clarabel"}.get(contender),
        )
        seconds, row = first["seconds"], [f"{first['gap']:.1e}", first["memory"]]
        if find_spec(needed or contender) is None:
            missing = f"{needed or contender} is not installed"
            table.row(name, median(seconds), *row, missing, None, None, None, None)
            continue
        other = in_new_process(name, contender, n, 10, 1)
        seconds += in_new_process(name, "newton", n, 10, rounds)["seconds"]
        took, far = other["seconds"][0], abs(other["value"] - first["value"])
        row += [contender, took, other["memory"], f"{far:.0e}", f"{took / median(seconds):.0f}"]
        table.row(name, median(seconds), *row)
    return table


def main() -> None:
    """Prints the tables and keeps them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer rounds")
    parser.add_argument("--alone", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        name, method, *numbers = options.alone
        measure(name, method, *map(int, numbers))
        return
    rounds, sizes, large = (2, SIZES[:2], QUICK) if options.quick else (ROUNDS, SIZES, LARGE)
    tables = [three_methods(rounds), growing(sizes, rounds), against(large, rounds)]
    save("reference", tables)


if __name__ == "__main__":
    main()
