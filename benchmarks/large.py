"""A step as n grows, and the memory that a run with a file of people takes.

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
from harness import Table, median, spread

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


def measure(folder: Path, n: int) -> tuple[float, float]:
    """Seconds a step, and bytes an agent beyond the data, in this process."""
    X = np.memmap(folder / f"X{n}", dtype=np.float64, mode="c", shape=(n, D))
    y = np.memmap(folder / f"y{n}", dtype=np.float64, mode="c", shape=(n,))
    people = gp.Population(X, y, gp.QuadraticCost(0.05, features=range(D // 2)))
    problem = gp.StrategicProblem(people, radius=0.4, label_cost=0.5, form="printed")
    solver = gp.ogda_rr(step=gp.Power(0.003, 0.76), radius=gp.Power(4.0, 0.25))
    epochs = max(1, STEPS // n)
    gp.Run(problem, solver, seed=0).compile(whole=True)
    began = time.process_time()
    result = gp.solve(problem, solver, epochs=epochs, record_every=epochs, seed=0, progress=False)
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return seconds / result.n_steps, (peak - X.nbytes - y.nbytes) / n


def flat_in_n(folder: Path, rounds: int, largest: int) -> Table:
    """Sizes of 10^3 up to the largest, taking turns; the largest two rounds only."""
    sizes = [10**k for k in range(3, 8) if 10**k <= largest]
    found: dict[int, list[tuple[float, float]]] = {n: [] for n in sizes}
    for n in sizes:
        write_people(folder, n)
    for turn in range(rounds):
        for n in sizes:
            if n < 10**7 or turn < 2:
                command = [sys.executable, __file__, str(folder), str(n)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                found[n].append(tuple(json.loads(done.stdout)))
    title = f"One OGDA-RR one-point step as n grows, d = {D}, people in a file"
    table = Table(title, ("n", "ns", "spread", "of the first", "peak memory, bytes an agent"))
    first = median([seconds for seconds, _ in found[sizes[0]]])
    for n in sizes:
        times = [seconds for seconds, _ in found[n]]
        each = max(memory for _, memory in found[n])
        shown = f"{each:.0f}" if n >= 10**6 else None  # the packages' own would be most of it
        table.row(
            n, round(median(times) * 1e9), spread(times), f"{median(times) / first:.2f}", shown
        )
    return table


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]))))
