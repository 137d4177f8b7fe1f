"""Exact fits against scikit-learn, and against an earlier version: tables of docs/speed.md.

Every measurement runs in a process of its own and reports wall seconds, processor seconds and its
peak memory. The first table fits certified classifiers and logistic regression to the same rows, in
turns: people with costs, balls and boxes on half of the columns, labels that may be wrong and
labels that are certain. Logistic regression is solved to the same accuracy, and by default. The
second table takes the whole way of a user: choosing a radius, fitting a million rows, and the
command on a Parquet file. With ``--against FOLDER``, it runs the package in FOLDER/src in turns
with this one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from harness import Table, median, ratios, save
from sklearn.linear_model import LogisticRegression

import gameproof as gp

SIZES = ((100_000, 10), (100_000, 20), (1_000_000, 10), (1_000_000, 20), (10_000, 300), (2000, 500))
QUICK = ((10_000, 10), (2000, 100))
# To the same accuracy, and as scikit-learn does it by default: up to a gradient of 1e-4.
LOGISTIC = {
    "exact": LogisticRegression(solver="newton-cholesky", tol=1e-10),
    "default": LogisticRegression(),
}
WARM_UP = 400
PAUSE = 0.25


def people(n: int, d: int) -> tuple[Any, Any]:
    """Returns normal features and labels of a logistic model."""
    rng = np.random.default_rng(0)
    theta = 1.5 * rng.standard_normal(d) / np.sqrt(d)
    X = rng.standard_normal((n, d))
    return X, (X @ theta + rng.logistic(size=n) > 0).astype(np.int64)


def classifiers(d: int) -> dict[str, Any]:
    """Returns the classifiers by name; people can change half of the columns."""
    half = list(range(d // 2))
    found = {}
    for labels, cost in (("labels may be wrong", 0.5), ("labels are certain", np.inf)):
        options: dict[str, dict[str, Any]] = {
            "cost": {"features": half},
            "ball": {"response": gp.BallBudget(0.5, features=half)},
            "box": {"budgets": dict.fromkeys(half, (-0.5, 0.5))},
        }
        for kind, given in options.items():
            found[f"{kind}, {labels}"] = gp.RobustStrategicClassifier(label_cost=cost, **given)
    return found


def clocked(task: Callable[[], Any]) -> tuple[float, float]:
    """Returns the wall and processor seconds of a task, which begins when the threads of BLAS no
    longer wait for more work of the task before."""
    time.sleep(PAUSE)
    wall, busy = time.perf_counter(), time.process_time()
    task()
    return time.perf_counter() - wall, time.process_time() - busy


def fits(n: int, d: int, rounds: int) -> dict[str, Any]:
    """Measures all classifiers in turns with both logistic regressions."""
    X, y = people(n, d)
    found = {}
    for name, model in classifiers(d).items():
        model.fit(X[:WARM_UP], y[:WARM_UP])
        contenders = {**LOGISTIC, "ours": model}
        times: dict[str, list[tuple[float, float]]] = {who: [] for who in contenders}
        for _ in range(rounds):
            for who, contender in contenders.items():
                times[who].append(clocked(lambda c=contender: c.fit(X, y)))
        found[name] = {"times": times, "gap": model.result_.duality_gap}
    return found


def radius(n: int, d: int, kind: str) -> dict[str, Any]:
    """Measures `select_radius`."""
    X, y = people(n, d)
    model = classifiers(d)[f"{kind}, labels may be wrong"]
    model.fit(X[:WARM_UP], y[:WARM_UP])
    return {"seconds": clocked(lambda: gp.select_radius(X, y, model))}


def one_fit(n: int, d: int) -> dict[str, Any]:
    """Measures one fit, and how far memory grows above the table and the packages."""
    X, y = people(n, d)
    model = gp.RobustStrategicClassifier(features=range(d // 2))
    model.fit(X[:WARM_UP], y[:WARM_UP])
    before = _peak()
    seconds = clocked(lambda: model.fit(X, y))
    return {"seconds": seconds, "tables": (_peak() - before) / X.nbytes + 1}


def command(n: int, d: int) -> dict[str, Any]:
    """Measures ``gameproof fit`` on a Parquet file."""
    from gameproof.tables.write_table import write_table

    X, y = people(n, d)
    with tempfile.TemporaryDirectory() as folder:
        file, model = Path(folder) / "people.parquet", Path(folder) / "model.json"
        labels = np.where(y > 0, "yes", "no").tolist()
        write_table(file, {**{f"c{k}": X[:, k] for k in range(d)}, "y": labels})
        del X, y, labels
        words = ["fit", file, "--target", "y", "--favourable", "yes", "--movable", "c0,c1,c2"]
        began = time.perf_counter()
        line = [sys.executable, "-m", "gameproof", *map(str, words), "-o", str(model)]
        subprocess.run(line, check=True, capture_output=True)
        wall = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"seconds": (wall, used.ru_utime + used.ru_stime)}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 2.0**10


PARTS: dict[str, Callable[..., dict[str, Any]]] = {
    "fits": fits,
    "radius": radius,
    "one_fit": one_fit,
    "command": command,
}


def in_new_process(name: str, *given: Any, package: Path | None = None) -> dict[str, Any]:
    """Runs a part in a new process and returns what it prints."""
    environment = dict(os.environ)
    if package is not None:
        environment["PYTHONPATH"] = str(package / "src")
    line = [sys.executable, __file__, "--alone", name, *map(str, given)]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def against_scikit_learn(sizes: tuple[tuple[int, int], ...], rounds: int) -> Table:
    """Returns the table of fits. Ratios are medians over rounds."""
    columns = ("n x d", "people", "seconds", "logistic", "ratio", "processor ratio")
    table = Table(
        "Certified fits against logistic regression of scikit-learn",
        (*columns, "by default", "ratio", "gap"),
    )
    for n, d in sizes:
        for name, found in in_new_process("fits", n, d, rounds).items():
            wall, busy = (
                {who: [pair[clock] for pair in pairs] for who, pairs in found["times"].items()}
                for clock in (0, 1)
            )
            row: list[Any] = [f"{n:,} x {d}", name, median(wall["ours"])]
            for who in LOGISTIC:
                row += [median(wall[who]), median(ratios(wall["ours"], wall[who]))]
                if who == "exact":
                    row.append(median(ratios(busy["ours"], busy[who])))
            table.row(*row, f"{found['gap']:.0e}")
    return table


def whole_way(quick: bool, rounds: int, earlier: Path | None, part: str) -> Table:
    """Returns the table of tasks whose name contains `part`, in turns with an earlier version if
    there is one."""
    few, many, most = (2000, 5000, 10_000) if quick else (10_000, 100_000, 1_000_000)
    tasks: dict[str, tuple[Any, ...]] = {
        f"select_radius, {few:,} x 20, cost": ("radius", few, 20, "cost"),
        f"select_radius, {many:,} x 20, cost": ("radius", many, 20, "cost"),
        f"select_radius, {many:,} x 20, box": ("radius", many, 20, "box"),
        f"fit, {most:,} x 20": ("one_fit", most, 20),
        f"gameproof fit, Parquet, {most:,} x 20": ("command", most, 20),
    }
    columns = ("", "seconds", "processor", "earlier", "processor", "ratio", "peak / table")
    table = Table("From a table to a model", columns)
    for name, task in tasks.items():
        if part not in name:
            continue
        versions = [None] if earlier is None else [None, earlier]
        found: list[list[Any]] = [[] for _ in versions]
        for _ in range(rounds):
            for k, package in enumerate(versions):
                found[k].append(in_new_process(*task, package=package))
        times = [[median([one["seconds"][c] for one in each]) for c in (0, 1)] for each in found]
        before: list[Any] = times[1] if earlier is not None else [None, None]
        share = times[0][1] / before[1] if earlier is not None else None
        peak = found[0][0].get("tables")
        table.row(name, *times[0], *before, share, peak)
    return table


def main() -> None:
    """Prints the tables and keeps them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller sizes, one round")
    parser.add_argument("--rounds", type=int, default=3, help="the number of rounds")
    parser.add_argument("--against", type=Path, help="the folder of an earlier version's source")
    parser.add_argument("--only", choices=("fits", "way"), help="one of the two tables")
    parser.add_argument("--task", default="", help="only tasks of the second table with this word")
    parser.add_argument("--alone", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        warnings.simplefilter("ignore")
        name, *given = options.alone
        print(json.dumps(PARTS[name](*(int(v) if v.isdecimal() else v for v in given))))
        return
    rounds, sizes = (1, QUICK) if options.quick else (options.rounds, SIZES)
    tables = []
    if options.only != "way":
        tables.append(against_scikit_learn(sizes, rounds))
    if options.only != "fits":
        tables.append(whole_way(options.quick, rounds, options.against, options.task))
    save("exact_fits", tables)


if __name__ == "__main__":
    main()
