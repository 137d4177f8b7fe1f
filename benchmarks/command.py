"""How long the command takes, including start-up: its help, and a fit of a large table.

The table has 100,000 rows and 20 columns, or a tenth of the rows with --quick. Compiled code is
already in the disk cache.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from harness import Table, interleaved, median, save, spread

from gameproof.tables.write_table import write_table

ROWS, COLUMNS, ROUNDS = 100_000, 20, 3


def write_people(path: Path, rows: int) -> None:
    """Writes a table whose features predict the outcome, with noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, COLUMNS)).round(5)
    y = np.where(X @ rng.standard_normal(COLUMNS) + rng.standard_normal(rows) > 0, "yes", "no")
    write_table(path, {**{f"c{k}": X[:, k] for k in range(COLUMNS)}, "y": y.tolist()})


def seconds(*words: str) -> float:
    """Returns how long ``gameproof WORDS`` takes in its own process."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "gameproof", *words]
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def main() -> None:
    """Measures, prints the table and keeps it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    rows = ROWS // 10 if parser.parse_args().quick else ROWS
    with tempfile.TemporaryDirectory() as folder:
        people, model = Path(folder) / "people.csv", Path(folder) / "model.json"
        write_people(people, rows)
        fit = ("fit", str(people), "--target", "y", "--favourable", "yes", "--movable", "c0,c1,c2")
        out = ("-o", str(model), "--force", "--radius")
        times = interleaved(
            {
                "gameproof --help": lambda: seconds("--help"),
                "gameproof fit --radius 0.05": lambda: seconds(*fit, *out, "0.05"),
                "gameproof fit --radius auto": lambda: seconds(*fit, *out, "auto"),
            },
            ROUNDS,
        )
    title = f"Seconds of a command, {rows:,} rows and {COLUMNS} columns; median of {ROUNDS}"
    table = Table(title, ("command", "seconds", "spread"))
    for name, found in times.items():
        table.row(name, median(found), spread(found))
    save("command", [table])


if __name__ == "__main__":
    main()
