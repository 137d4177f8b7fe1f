"""Shared by all benchmarks: contenders take turns, and tables are kept with their provenance.

If contenders take turns, other load on the machine affects all of them, so ratios are more reliable
than seconds. Tables show medians and quartiles.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("gameproof", "numpy", "scipy", "numba", "scikit-learn", "cvxpy", "clarabel", "dro")
Cell = str | int | float | None


def interleaved(tasks: dict[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Runs the tasks in turns and returns the seconds that each reports, by round.

    Each task is first called once without recording, so compile time is excluded.
    """
    for task in tasks.values():
        task()
    found: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            found[name].append(task())
    return found


def median(times: Sequence[float]) -> float:
    """Returns the median."""
    return statistics.median(times)


def ratios(times: Sequence[float], others: Sequence[float]) -> list[float]:
    """Returns the ratio of each round, so that other load affects both numbers."""
    return [one / other for one, other in zip(times, others, strict=True)]


def spread(times: Sequence[float]) -> str:
    """Returns the quartiles relative to the median, as text."""
    if len(times) < 2:
        return "one round"
    low, middle, high = statistics.quantiles(times, n=4, method="inclusive")
    return f"{low / middle - 1:+.0%} … {high / middle - 1:+.0%}"


@dataclass
class Table:
    """Rows under a title."""

    title: str
    columns: Sequence[str]
    rows: list[tuple[Cell, ...]] = field(default_factory=list)

    def row(self, *cells: Cell) -> None:
        """Adds a row."""
        if len(cells) != len(self.columns):
            raise ValueError(f"{self.title!r} has {len(self.columns)} columns, got {cells}")
        self.rows.append(cells)

    def __str__(self) -> str:
        shown = [list(self.columns), *([_shown(cell) for cell in row] for row in self.rows)]
        widths = [max(len(line[k]) for line in shown) for k in range(len(self.columns))]
        lines = [
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip()
            for line in shown
        ]
        return "\n".join([self.title, *(f"  {line}" for line in lines)])


def machine() -> dict[str, Any]:
    """Describes the machine and the versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def save(name: str, tables: Sequence[Table], folder: Path | None = None) -> Path:
    """Prints the tables and keeps them, with the machine, in a file named for the benchmark."""
    made = machine()
    packages = ", ".join(f"{package} {found}" for package, found in made["packages"].items())
    print(f"{made['processor']}, {made['cores']} cores; Python {made['python']}, {packages}\n")
    print("\n\n".join(map(str, tables)))
    path = (folder or results_folder()) / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = [{"title": t.title, "columns": list(t.columns), "rows": t.rows} for t in tables]
    path.write_text(json.dumps({"machine": made, "tables": kept}, indent=2) + "\n")
    print(f"\nkept in {path}", file=sys.stderr)
    return path


def results_folder() -> Path:
    """Returns the folder for tables; ``gameproof bench --out DIR`` sets it in the environment."""
    return Path(os.environ.get("GAMEPROOF_BENCH", "out/bench"))


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
