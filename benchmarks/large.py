"""A step as n grows, beside the C program's, and the memory that a run with a file of people takes.

Each size runs in a process of its own. The features are a file mapped to memory; so are the labels.
What is shown of memory is the largest that the process held, less those two: in bytes an agent, all
that the interpreter and the packages take included.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from harness import Table, median, ratios, spread
from plain_c import Program, compiler

import gameproof as gp

D, BLOCK, STEPS = 10, 100_000, 1_000_000


def write_people(folder: Path, n: int) -> None:
    """Synthetic people, block by block."""
    rng = np.random.default_rng(0)
    theta = rng.standard_normal(D)
    with open(folder / f"X{n}", "wb") as features, open(folder / f"y{n}", "wb") as labels:
        for start in range(0, n, BLOCK):
            X = rng.standard_normal((min(BLOCK, n - start), D))
            y = np.sign(X @ theta + np.sqrt(0.1) * rng.standard_normal(len(X)))
            features.write(X.tobytes())
            labels.write(y.tobytes())


def measure(folder: Path, n: int) -> tuple[float, float | None, float]:
    """Seconds a step of ours and of the C program, and bytes an agent beyond the data, in this
    process. A first epoch brings the file to memory."""
    X = np.memmap(folder / f"X{n}", dtype=np.float64, mode="c", shape=(n, D))
    y = np.memmap(folder / f"y{n}", dtype=np.float64, mode="c", shape=(n,))
    people = gp.Population(X, y, gp.QuadraticCost(0.05, features=range(D // 2)))
    problem = gp.StrategicProblem(people, radius=0.4, label_cost=0.5, form="printed")
    solver = gp.ogda_rr(step=gp.Power(0.003, 0.76), radius=gp.Power(4.0, 0.25))
    gp.solve(problem, solver, epochs=1, seed=0, progress=False)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    epochs = max(1, STEPS // n)
    run = gp.Run(problem, solver, seed=0)
    run.compile(whole=True)
    began = time.process_time()
    run.advance(epochs * n, 10**18, compiled=True)
    seconds = (time.process_time() - began) / (epochs * n)
    plain = None
    if compiler():
        plain = Program(folder).solve(problem, solver, epochs, seed=0)[2] / (epochs * n)
    return seconds, plain, (peak - X.nbytes - y.nbytes) / n


def flat_in_n(folder: Path, rounds: int, largest: int) -> Table:
    """Sizes of 10^3 up to the largest, taking turns; the largest three rounds only."""
    sizes = [10**k for k in range(3, 8) if 10**k <= largest]
    found: dict[int, list[list[float]]] = {n: [] for n in sizes}
    for n in sizes:
        write_people(folder, n)
    for turn in range(rounds):
        for n in sizes:
            if n < 10**7 or turn < 3:
                command = [sys.executable, __file__, str(folder), str(n)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                found[n].append(json.loads(done.stdout))
    columns = ("n", "ours, ns", "spread", "of the first", "C, ns", "of the first", "ours / C")
    title = f"One OGDA-RR one-point step as n grows, d = {D}, people in a file"
    table = Table(title, (*columns, "peak memory, bytes an agent"))
    own_first, c_first, _ = zip(*found[sizes[0]], strict=True)
    for n in sizes:
        own, c, memory = zip(*found[n], strict=True)
        table.row(
            n,
            round(median(own) * 1e9),
            spread(own),
            f"{median(own) / median(own_first):.2f}",
            round(median(c) * 1e9) if compiler() else None,
            f"{median(c) / median(c_first):.2f}" if compiler() else None,
            f"{median(ratios(own, c)):.2f}" if compiler() else None,
            f"{max(memory):.0f}" if n >= 10**6 else None,  # the packages' own would be most of it
        )
    return table


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]))))
