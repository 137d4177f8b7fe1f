"""The time of a step as n grows, beside the C program, and the memory of people in files.

Each size runs in its own process and alternates with the smallest size. Features and labels are
memory-mapped files. After writing, the files are evicted from memory, because the system does not
change the pages of a file that is already there. Memory is the peak of the process less the two
files, in bytes per agent, including the interpreter and all packages.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from harness import Table, median, ratios, spread
from plain_c import Program, compiler

import gameproof as gp

D, BLOCK, STEPS, TURNS, FEWEST = 10, 100_000, 1_000_000, 10, 1000
SOLVER = gp.ogda_rr(step=gp.Power(0.003, 0.76), radius=gp.Power(4.0, 0.25))


def write_people(folder: Path, n: int) -> None:
    """Writes synthetic people, block by block."""
    rng = np.random.default_rng(0)
    theta = rng.standard_normal(D)
    with open(folder / f"X{n}", "wb") as features, open(folder / f"y{n}", "wb") as labels:
        for start in range(0, n, BLOCK):
            X = rng.standard_normal((min(BLOCK, n - start), D))
            y = np.sign(X @ theta + np.sqrt(0.1) * rng.standard_normal(len(X)))
            features.write(X.tobytes())
            labels.write(y.tobytes())
        for file in (features, labels):
            evict(file)


def evict(file: BinaryIO) -> None:
    """Writes a file to disk and evicts it from memory, if the system supports that."""
    file.flush()
    os.fsync(file.fileno())
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def in_large_pages(file: Path) -> float | None:
    """Returns the share of a mapped file in large pages, or None if the system does not say."""
    maps = Path("/proc/self/smaps")
    found = {"Rss": 0, "FilePmdMapped": 0}
    within = False
    for line in maps.read_text().splitlines() if maps.exists() else ():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            within = line.endswith(str(file))
        name, _, rest = line.partition(":")
        if within and name in found:
            found[name] += int(rest.split()[0])
    return found["FilePmdMapped"] / found["Rss"] if found["Rss"] else None


def people(folder: Path, n: int) -> gp.StrategicProblem:
    """Returns the problem with people in files."""
    X = np.memmap(folder / f"X{n}", dtype=np.float64, mode="r", shape=(n, D))
    y = np.memmap(folder / f"y{n}", dtype=np.float64, mode="r", shape=(n,))
    population = gp.Population(X, y, gp.QuadraticCost(0.05, features=range(D // 2)))
    return gp.StrategicProblem(population, radius=0.4, label_cost=0.5, form="printed")


def seconds_per_step(problems: tuple[gp.StrategicProblem, ...], steps: int) -> list[float]:
    """Returns the seconds per step of each problem, taking turns. The first epoch, in which the
    system allocates memory, is not timed."""
    runs = [gp.Run(problem, SOLVER, seed=0) for problem in problems]
    for run in runs:
        run.compile(True)
        run.advance(run.problem.n, 10**18, compiled=True)
    seconds = [0.0 for _ in runs]
    for _ in range(TURNS):
        for k, run in enumerate(runs):
            began = time.process_time()
            run.advance(run.state.steps + steps // TURNS, 10**18, compiled=True)
            seconds[k] += time.process_time() - began
    return [total / steps for total in seconds]


def measure(folder: Path, n: int) -> dict[str, Any]:
    """Measures in this process, after a first epoch that loads the file.

    Returns bytes per agent beyond the data, the share of the file in large pages, seconds per step
    of ours and of the C program with n and with the fewest people, and of memory access alone.
    """
    problem, few = people(folder, n), people(folder, FEWEST)
    gp.solve(problem, SOLVER, epochs=1, seed=0, progress=False)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    data = problem.population.X.nbytes + problem.population.y.nbytes
    own, own_few = seconds_per_step((problem, few), max(STEPS, n))
    found = {"beyond": (peak - data) / n, "own": own, "own few": own_few}
    found["large"] = in_large_pages(folder / f"X{n}")
    if not compiler():
        return found
    program = Program(folder)
    for name, given in (("c", problem), ("c few", few)):
        epochs = max(STEPS // given.n, 1)
        found[name] = program.solve(given, SOLVER, epochs, seed=0)[2] / (epochs * given.n)
    return found | {"alone": program.touch(problem, max(STEPS // n, 1))}


def flat_in_n(folder: Path, rounds: int, largest: int) -> Table:
    """Returns the table for 10^3 people up to the largest size, which has three rounds only."""
    sizes = [10**k for k in range(3, 8) if 10**k <= largest]
    found: dict[int, list[dict[str, Any]]] = {n: [] for n in sizes}
    for n in sizes:
        write_people(folder, n)
    for turn in range(rounds):
        for n in sizes:
            if n < 10**7 or turn < 3:
                command = [sys.executable, __file__, str(folder), str(n)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                found[n].append(json.loads(done.stdout))
    columns = ("n", "ours, ns", "spread", "/ n = 1000", "C, ns", "C / n = 1000", "ours / C")
    title = f"One OGDA-RR one-point step as n grows, d = {D}, people in a file"
    about = ("memory alone, ns", "in large pages", "peak memory, bytes per agent")
    table = Table(title, (*columns, *about))
    for n in sizes:
        of = {name: [one[name] for one in found[n]] for name in found[n][0]}
        own, c = of["own"], of.get("c")
        table.row(
            n,
            round(median(own) * 1e9),
            spread(own),
            f"{median(ratios(own, of['own few'])):.2f}",
            round(median(c) * 1e9) if c else None,
            f"{median(ratios(c, of['c few'])):.2f}" if c else None,
            f"{median(ratios(own, c)):.2f}" if c else None,
            round(median(of["alone"]) * 1e9) if c else None,
            None if of["large"][0] is None else f"{min(of['large']):.0%}",
            f"{max(of['beyond']):.0f}" if n >= 10**6 else None,  # mostly packages below
        )
    return table


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]))))
