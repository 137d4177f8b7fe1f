"""What a journal costs per answer: python benchmarks/journal.py"""

import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

import gameproof as gp

X, Y = gp.synthetic_people(n=400, d=10, seed=0)
MOVERS = np.flatnonzero(Y < 0)


def milliseconds(batch: int, journal: Path | None, questions: int = 200, seed: int = 0) -> float:
    """The median time of a question, in milliseconds per answer."""
    box = gp.BlackBox(lambda theta, agents: X[agents] + 0.1 * theta)
    people, rng = gp.Population(X, Y, box, journal=journal), np.random.default_rng(seed)
    times = []
    for _ in range(questions):
        theta, agents = rng.standard_normal(10), rng.choice(MOVERS, batch, replace=False)
        began = time.perf_counter()
        people.ask(theta, agents)
        times.append(time.perf_counter() - began)
    return 1000 * median(times) / batch


def main() -> None:
    """Prints the table."""
    print("| answers per question | without | stored | found again |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for batch in (1, 4, 50):
            path = Path(folder) / f"{batch}.db"
            costs = [milliseconds(batch, where) for where in (None, path, path)]
            print(f"| {batch} | " + " | ".join(f"{cost:.3f} ms" for cost in costs) + " |")


if __name__ == "__main__":
    main()
