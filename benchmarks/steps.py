"""How long a step takes: against C and NumPy, as n and d grow, on two cores, from a cold start.

All tables use the strategic problem in printed form, with half of the features movable and a
quadratic cost. Contenders take turns, and tables show medians and quartiles. Compile time is
excluded. Steps are timed in processor time, which excludes other processes; threads and cold starts
in wall time. The C program draws the same random numbers and must reach the same point.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from harness import Table, interleaved, median, ratios, save, spread
from large import flat_in_n
from plain_c import Program, compiler

import gameproof as gp

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from listings import Listing, run_listing

STEP, RADIUS = gp.Power(0.003, 0.76), gp.Power(4.0, 0.25)
METHODS = {
    "OGDA-RR one-point": gp.ogda_rr(step=STEP, radius=RADIUS),
    "SGDA-RR one-point": gp.sgda_rr(step=STEP, radius=RADIUS),
    "OGDA-RR two-point": gp.ogda_rr(step=STEP, radius=RADIUS, gradient=gp.TwoPoint()),
    "OGDA-RR envelope": gp.ogda_rr(step=STEP, radius=RADIUS, gradient=gp.Envelope()),
}
N = 1000


def strategic(n: int, d: int) -> gp.StrategicProblem:
    """Returns the problem with the paper's synthetic people."""
    X, y = gp.synthetic_people(n=n, d=d, seed=0)
    people = gp.Population(X, y, gp.QuadraticCost(0.05, features=range(d // 2)))
    return gp.StrategicProblem(people, radius=0.4, label_cost=0.5, form="printed")


def ours(problem: gp.Problem, solver: gp.Solver, epochs: int) -> Callable[[], float]:
    """Returns a task that measures the seconds per step of the compiled or the Python loop."""

    def task() -> float:
        run = gp.Run(problem, solver, seed=0)
        run.compile(run.can_compile)
        began = time.process_time()
        run.advance(epochs * run.steps_per_epoch, 10**18, run.can_compile)
        return (time.process_time() - began) / run.state.steps

    return task


def listing(problem: gp.StrategicProblem, solver: gp.Solver, steps: int) -> Callable[[], float]:
    """Returns a task that measures the seconds per step of the NumPy listing, which estimates the
    gradients of +1 agents as well."""
    X, labels, slope, kappa = problem.population.X, problem.population.y, problem.slope, 0.5
    n, d = X.shape
    zeta = np.where(np.arange(d) < d // 2, 0.05, 0.0)

    def value(i: int, u: np.ndarray) -> float:
        theta, alpha, gamma = u[:d], u[d], u[d + 1 + i]
        z = X[i] @ theta + (labels[i] < 0) * (zeta @ theta**2)
        pull = gamma * (z / 2 - alpha * kappa) if labels[i] > 0 else z / 2
        return float(slope * alpha + abs(z) / 2 + np.log1p(np.exp(-abs(z))) + pull)

    def gradient(i: int, u: np.ndarray) -> np.ndarray:
        theta, alpha, gamma = u[:d], u[d], u[d + 1 + i]
        z, found = X[i] @ theta + (labels[i] < 0) * (zeta @ theta**2), np.zeros_like(u)
        by_score = np.tanh(z / 2) / 2 + (gamma if labels[i] > 0 else 1.0) / 2
        found[:d] = by_score * (X[i] + (labels[i] < 0) * 2 * zeta * theta)
        found[d] = slope - (gamma * kappa if labels[i] > 0 else 0.0)
        found[d + 1 + i] = z / 2 - alpha * kappa if labels[i] > 0 else 0.0
        return found

    def project(u: np.ndarray) -> np.ndarray:
        return np.concatenate([problem.x_set.project(u[: d + 1]), np.clip(u[d + 1 :], -1, 1)])

    estimate = {gp.OnePoint: "plain", gp.TwoPoint: "two-point", gp.Envelope: "exact"}
    slow = Listing(
        n=n,
        dx=d + 1,
        value=value,
        gradient=gradient,
        project=project,
        perturbed=np.arange(d + 1 + n) < d,
        optimistic=solver.update.asks_previous,
        reshuffle=True,
        estimate=estimate[type(solver.gradient)],
        eta=STEP,
        eps=RADIUS,
        scale=solver.scales(problem),
    )

    def task() -> float:
        walk = run_listing(slow, np.concatenate(problem.start), 10**6, np.random.default_rng(0))
        next(walk)
        began = time.process_time()
        for _ in range(steps):
            next(walk)
        return (time.process_time() - began) / steps

    return task


def against_others(program: Program | None, rounds: int, dims: tuple[int, ...]) -> Table:
    """Returns the table of a step: ours, the C program's and the listing's."""
    title = f"One step, n = {N}" + ("" if program else " (no C compiler found: cc, gcc or clang)")
    columns = (
        "",
        "d",
        "ours, ns",
        "spread",
        "C, ns",
        "spread",
        "ours / C",
        "best / best",
        "NumPy / ours",
        "apart",
    )
    table = Table(title, columns)
    for d in dims:
        problem = strategic(N, d)
        for name, solver in METHODS.items():
            epochs = max(1, 1_000 // (d + 10))
            tasks = {"ours": ours(problem, solver, epochs), "NumPy": listing(problem, solver, 200)}
            apart = None
            if program is not None:
                tasks["C"] = lambda p=problem, s=solver, e=epochs: (
                    program.solve(p, s, e, seed=0)[2] / (e * N)
                )
                x, y, _ = program.solve(problem, solver, 3, seed=1)
                same = gp.solve(problem, solver, epochs=3, seed=1)
                apart = float(max(np.abs(x - same.x).max(), np.abs(y - same.y).max()))
                if not apart < 1e-8:
                    raise ArithmeticError(f"{name} at d = {d}: C ends at a distance of {apart}")
            found = interleaved(tasks, rounds)
            own, slow, c = found["ours"], found["NumPy"], found.get("C")
            table.row(
                name,
                d,
                round(median(own) * 1e9),
                spread(own),
                round(median(c) * 1e9) if c else None,
                spread(c) if c else None,
                f"{median(ratios(own, c)):.2f}" if c else None,
                f"{min(own) / min(c):.2f}" if c else None,
                f"{median(ratios(slow, own)):.0f} x",
                None if apart is None else f"{apart:.0e}",
            )
    return table


def many_seeds(program: Program | None, rounds: int, epochs: int) -> Table:
    """Returns the table of eight seeds in one and in two threads: ours, and the C program's, which
    shows what the machine allows."""
    problem, solver = strategic(N, 10), METHODS["OGDA-RR one-point"]
    seeds = range(8)

    def ours_in(threads: int) -> None:
        gp.solve_many(problem, solver, seeds=seeds, jobs=threads, epochs=epochs, record_every=10)

    def c_in(threads: int) -> None:
        assert program is not None
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda seed: program.solve(problem, solver, epochs, seed), seeds))

    def timed(work: Callable[[int], None], threads: int) -> Callable[[], float]:
        def task() -> float:
            began = time.perf_counter()
            work(threads)
            return time.perf_counter() - began

        return task

    contenders = {"ours": ours_in} | ({"C": c_in} if program else {})
    tasks = {f"{who} in {k}": timed(work, k) for who, work in contenders.items() for k in (1, 2)}
    found = interleaved(tasks, rounds)
    table = Table(
        f"Eight seeds, {os.cpu_count()} cores; ours with a record every ten epochs",
        (
            "",
            "one thread, s",
            "spread",
            "two threads, s",
            "spread",
            "times as fast",
            "spread",
            "best / best",
        ),
    )
    for who in contenders:
        one, two = found[f"{who} in 1"], found[f"{who} in 2"]
        faster = ratios(one, two)
        table.row(
            who,
            median(one),
            spread(one),
            median(two),
            spread(two),
            f"{median(faster):.2f}",
            spread(faster),
            f"{min(one) / min(two):.2f}",
        )
    return table


def python_function(rounds: int, steps: int) -> Table:
    """Returns the table of a step with a plain Python function, and the time of the bare calls."""

    def value(i: int, x: np.ndarray, y: np.ndarray) -> float:
        return 0.5 * x[0] * x[0] + x[0] * y[0] - 0.5 * y[0] * y[0]

    ball, x = gp.Ball(np.zeros(5), 1.0), np.zeros(5)
    problem = gp.SaddleProblem(value, n=N, x_set=ball, y_set=ball)

    def bare() -> float:
        began = time.process_time()
        for i in range(steps):
            value(i, x, x)
            value(i, x, x)
        return (time.process_time() - began) / steps

    solver = METHODS["OGDA-RR one-point"]
    found = interleaved({"solve": ours(problem, solver, steps // N), "bare": bare}, rounds)
    table = Table("A step with a plain Python function, µs", ("", "median", "spread"))
    for name, label in (("solve", "step"), ("bare", "of that the function")):
        table.row(label, f"{median(found[name]) * 1e6:.1f}", spread(found[name]))
    over = [a - b for a, b in zip(found["solve"], found["bare"], strict=True)]
    table.row("overhead", f"{median(over) * 1e6:.1f}", spread(over))
    return table


COLD = """
import time; began = time.perf_counter()
import json, numpy as np, gameproof as gp
imported = time.perf_counter() - began
rng = np.random.default_rng(0)
X, y = rng.standard_normal((100, 10)), np.resize([1, -1], 100)
people = gp.Population(X, y, gp.QuadraticCost(0.05))
run = gp.Run(gp.StrategicProblem(people, radius=0.1, label_cost=0.5), gp.ogda_rr(), seed=0)
run.advance(1, 10**9, compiled=True)
print(json.dumps([imported, time.perf_counter() - began]))
"""


def cold_start(rounds: int) -> Table:
    """Returns the table of a new process up to its first compiled step, without the start of the
    interpreter."""

    def start() -> list[float]:
        done = subprocess.run([sys.executable, "-c", COLD], capture_output=True, check=True)
        found: list[float] = json.loads(done.stdout)
        return found

    start()
    times = [start() for _ in range(rounds)]
    table = Table("A new process, compiled code in the disk cache", ("", "seconds", "spread"))
    for k, label in enumerate(("import gameproof and numpy", "up to the first compiled step")):
        found = [pair[k] for pair in times]
        table.row(label, median(found), spread(found))
    return table


def main() -> None:
    """Prints the tables and keeps them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer rounds")
    quick = parser.parse_args().quick
    rounds, dims = (3, (10, 100)) if quick else (7, (10, 100, 1000))
    with tempfile.TemporaryDirectory() as folder:
        program = Program(Path(folder)) if compiler() else None
        tables = [
            against_others(program, 3 * rounds, dims),
            flat_in_n(Path(folder), rounds, 10**5 if quick else 10**7),
            many_seeds(program, 3 * rounds, 50 if quick else 1000),
            python_function(rounds, 5_000 if quick else 20_000),
            cold_start(rounds),
        ]
    save("steps", tables)


if __name__ == "__main__":
    main()
