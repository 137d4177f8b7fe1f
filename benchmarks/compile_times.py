"""How long a new user waits for the compiler: CPU seconds with an empty cache and with a full one.

Each row is a process of its own. The first number is measured with an empty folder for compiled
code, the second in another process with the same folder. Both include imports and the work itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from harness import Table, save

BEFORE = """
import time, numpy as np, gameproof as gp
X, y = gp.synthetic_people(n=200, d=5, seed=0)
people = gp.Population(X, y, gp.QuadraticCost(0.05))
problem = gp.StrategicProblem(people, radius=0.4, label_cost=0.5)
"""
AFTER = "\nprint(time.process_time())\n"
TASKS = {
    "solve, strategic problem": "gp.solve(problem, gp.ogda_rr(), epochs=2, seed=0)",
    "saddle_point": "gp.saddle_point(problem)",
    "RobustStrategicClassifier.fit": "gp.RobustStrategicClassifier().fit(X, y)",
    "solve, matrix game": "gp.solve(gp.MatrixGame.random(n=20), gp.ogda_rr(), epochs=2, seed=0)",
}


def seconds(task: str, folder: str) -> float:
    """Returns the CPU seconds of a task in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", BEFORE + task + AFTER],
        env=os.environ | {"NUMBA_CACHE_DIR": folder},
        capture_output=True,
        check=True,
        text=True,
    )
    return float(done.stdout)


def main() -> None:
    """Prints the table and keeps it."""
    table = Table("CPU seconds of a first call", ("", "empty cache", "full cache"))
    for name, task in TASKS.items():
        with tempfile.TemporaryDirectory() as folder:
            cold = seconds(task, folder)
            table.row(name, f"{cold:.1f}", f"{seconds(task, folder):.1f}")
    save("compile_times", [table])


if __name__ == "__main__":
    main()
