"""How long a step takes, as ratios measured in one run: ``make bench``.

Contenders take turns, so that a busy moment of the machine hits all of them, and the median over
the rounds is shown. Nothing is timed with the compiler inside.
"""

from __future__ import annotations

import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np

import gameproof as gp

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from listings import Listing, run_listing

ROUNDS = 7
DX = DY = 5
SOLVER = gp.ogda_rr(step=gp.Power(0.003, 0.76), radius=gp.Power(0.5, 0.25))


def seconds(task: Callable[[], object]) -> float:
    """How long a task takes."""
    began = time.perf_counter()
    task()
    return time.perf_counter() - began


def medians(tasks: dict[str, Callable[[], float]]) -> dict[str, float]:
    """The median of what each task measures, the tasks taking turns."""
    found: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            found[name].append(task())
    return {name: statistics.median(times) for name, times in found.items()}


def compiled_step(game: gp.Problem, steps: int) -> Callable[[], float]:
    """Seconds a step of the compiled loop, by its own clock."""
    epochs = max(1, steps // game.n)
    solve = lambda: gp.solve(game, SOLVER, epochs=epochs, record_every=epochs, seed=0)  # noqa: E731
    solve()
    return lambda: (result := solve()).seconds / result.n_steps


def listing_step(game: gp.QuadraticGame, steps: int) -> Callable[[], float]:
    """Seconds a step of the listing in NumPy."""
    a, b, p, q = game.data

    def value(i: int, u: np.ndarray) -> float:
        s, t = a[i] @ u[:DX], b[i] @ u[DX:]
        return float(s * s / 2 + s * t - t * t / 2 + p[i] @ u[:DX] - q[i] @ u[DX:])

    def project(u: np.ndarray) -> np.ndarray:
        return np.concatenate([w * min(1.0, 3.0 / np.linalg.norm(w)) for w in np.split(u, [DX])])

    listing = Listing(
        n=game.n,
        dx=DX,
        value=value,
        gradient=lambda i, u: np.zeros_like(u),
        project=project,
        perturbed=np.ones(DX + DY, dtype=bool),
        optimistic=True,
        reshuffle=True,
        estimate="plain",
        eta=gp.Power(0.003, 0.76),
        eps=gp.Power(0.5, 0.25),
    )

    def run() -> None:
        walk = run_listing(listing, np.full(DX + DY, 1e-9), 10**6, np.random.default_rng(0))
        for _ in range(steps):
            next(walk)

    return lambda: seconds(run) / steps


def callable_overhead(steps: int) -> tuple[Callable[[], float], Callable[[], float]]:
    """Seconds a step with a Python function, and of the bare calls that the step makes."""

    def value(i: int, x: np.ndarray, y: np.ndarray) -> float:
        return 0.5 * x[0] * x[0] + x[0] * y[0] - 0.5 * y[0] * y[0]

    n = 1000
    problem = gp.SaddleProblem(
        value, n=n, x_set=gp.Ball(np.zeros(DX), 1.0), y_set=gp.Ball(np.zeros(DY), 1.0)
    )
    gp.solve(problem, SOLVER, epochs=1, seed=0)
    x, y = np.zeros(DX), np.zeros(DY)

    def solve() -> float:
        result = gp.solve(problem, SOLVER, epochs=steps // n, seed=0)
        return result.seconds / result.n_steps

    def bare() -> None:
        for i in range(steps):
            value(i, x, y)
            value(i, x, y)

    return solve, lambda: seconds(bare) / steps


def in_new_process(code: str) -> float:
    """Seconds that a statement takes in a process of its own, its interpreter's start left out."""
    timed = f"import time; began = time.perf_counter(); {code}; print(time.perf_counter() - began)"
    done = subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    """Prints the tables."""
    names = ("numpy", "numba", "scipy")
    print(f"Python {platform.python_version()}, {', '.join(f'{m} {version(m)}' for m in names)}")
    print(
        f"{platform.processor() or platform.machine()}; median of {ROUNDS} rounds, taking turns\n"
    )

    sizes = {f"n = 10^{k}": 10**k for k in range(3, 7)}
    games = {name: gp.QuadraticGame.random(n=n, dx=DX, dy=DY) for name, n in sizes.items()}
    flat = medians({name: compiled_step(game, 10**6) for name, game in games.items()})
    print("One OGDA-RR one-point step, compiled, quadratic game of dimension 5 + 5")
    first = flat["n = 10^3"]
    for name, taken in flat.items():
        print(f"  {name:10s} {taken * 1e9:8.0f} ns   {taken / first:5.2f} x the first")

    small = games["n = 10^3"]
    pair = medians({"ours": compiled_step(small, 10**6), "numpy": listing_step(small, 3000)})
    print("\nThe same step, line by line in NumPy (tests/listings.py)")
    print(f"  NumPy      {pair['numpy'] * 1e6:8.1f} us   compiled {pair['ours'] * 1e9:6.0f} ns")
    print(f"  ratio      {pair['numpy'] / pair['ours']:8.0f} x")

    with_solver, bare = callable_overhead(20_000)
    python = medians({"solve": with_solver, "bare": bare})
    print("\nThe same step with a plain Python function for the values")
    print(
        f"  step       {python['solve'] * 1e6:8.1f} us   bare calls {python['bare'] * 1e6:5.1f} us"
    )
    print(f"  overhead   {(python['solve'] - python['bare']) * 1e6:8.1f} us a step")

    game = "import gameproof as gp; gp.solve(gp.QuadraticGame.random(), gp.ogda_rr(), epochs=10)"
    start = medians(
        {
            "import": lambda: in_new_process("import gameproof"),
            "solve": lambda: in_new_process(game),
        }
    )
    print("\nIn a new process, compiled code in the disk cache")
    print(
        f"  import     {start['import']:8.3f} s    import and solve a game {start['solve']:6.2f} s"
    )


if __name__ == "__main__":
    main()
