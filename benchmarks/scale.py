"""Tables larger than memory, and clusters: the tables of docs/scale.md.

The first table fits the same rows in memory, from Parquet files, and on Dask with one and two
workers, and shows logistic regression of scikit-learn, and of dask-ml if it is installed, next to
them. Contenders take turns. The second table measures one fit from the files, its passes and what
each pass sends, and the third extrapolates: passes times seconds per row, on more cores. The fourth
compares two workers with one where passes are long.
"""

from __future__ import annotations

import argparse
import pickle
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import Table, interleaved, median, ratios, save, spread
from sklearn.linear_model import LogisticRegression

import gameproof as gp
from gameproof.rows.dask_source import DaskRows
from gameproof.rows.parquet_source import ParquetSource
from gameproof.strategic import row_problem

# Features, and the rows of a file.
D, ROWS = 10, 125_000
LONG = 2_000_000, 100  # rows and features of the comparison of workers
LOOPBACK: Any = {
    "host": "127.0.0.1",
    "dashboard_address": "127.0.0.1:0",
    "worker_dashboard_address": "127.0.0.1:0",
    "threads_per_worker": 1,
    "set_as_default": False,
}


def write_people(folder: Path, n: int) -> None:
    """Writes n people with ten features to Parquet files."""
    theta = np.random.default_rng(0).normal(size=D)
    for k in range(n // ROWS):
        X, y = people(ROWS, theta, k)
        columns = {f"x{c}": X[:, c] for c in range(D)} | {"y": y}
        pq.write_table(pa.table(columns), folder / f"part-{k:04}.parquet")


def people(n: int, theta: Any, k: int) -> tuple[Any, Any]:
    """Returns n people of a logistic model; k is a seed."""
    rng = np.random.default_rng([1, k])
    X = rng.normal(size=(n, theta.size))
    return X, (X @ theta + rng.logistic(size=n) > 0).astype(np.int8)


def classifier() -> Any:
    """Returns the classifier that is fitted."""
    return gp.RobustStrategicClassifier(features=[f"x{c}" for c in range(5)])


def timed(task: Callable[[], Any]) -> Callable[[], float]:
    """Returns a function that measures the task."""

    def run() -> float:
        start = time.perf_counter()
        task()
        return time.perf_counter() - start

    return run


def on_dask(client: Any, folder: Path) -> Any:
    """Fits the files on a cluster."""
    import dask.dataframe as dd

    from gameproof.dask import RobustStrategicClassifier

    table = dd.read_parquet(folder)
    names = [f"x{c}" for c in range(D)]
    model = RobustStrategicClassifier(features=names[:5], client=client)
    return model.fit(table[names], table["y"])


def on_dask_ml(client: Any, folder: Path) -> None:
    """Fits dask-ml's logistic regression."""
    import dask.dataframe as dd
    from dask_ml.linear_model import LogisticRegression as DaskLogisticRegression

    with client.as_current():
        # Read apart, features and labels would get different partitions.
        table = dd.read_parquet(folder).to_dask_array(lengths=True)
        DaskLogisticRegression(solver="newton", C=1e6).fit(table[:, :D], table[:, D])


def contest(folder: Path, rounds: int) -> Table:
    """Measures all contenders on the same files."""
    from distributed import Client

    whole = pq.read_table(folder)
    X = np.column_stack([whole[f"x{c}"].to_numpy() for c in range(D)])
    y = whole["y"].to_numpy()
    plain = LogisticRegression(solver="newton-cholesky", tol=1e-10, C=np.inf)
    local = gp.RobustStrategicClassifier(features=range(5))
    with Client(n_workers=1, **LOOPBACK) as one, Client(n_workers=2, **LOOPBACK) as two:
        tasks = {
            "in memory": timed(lambda: local.fit(X, y)),
            "Parquet, in batches": timed(lambda: gp.fit_parquet(classifier(), folder, "y")),
            "Dask, one worker": timed(lambda: on_dask(one, folder)),
            "Dask, two workers": timed(lambda: on_dask(two, folder)),
            "scikit-learn, logistic": timed(lambda: plain.fit(X, y)),
        }
        if find_spec("dask_ml"):
            tasks["dask-ml, logistic"] = timed(lambda: on_dask_ml(two, folder))
        found = interleaved(tasks, rounds)
        trip = median([timed(lambda: two.submit(abs, 1, pure=False).result())() for _ in range(20)])
    table = Table(
        f"{len(y):,} rows, {D} features; an empty round trip takes {1000 * trip:.0f} ms",
        ("", "seconds", "quartiles", "times in memory"),
    )
    base = median(found["in memory"])
    for name, times in found.items():
        table.row(name, median(times), spread(times), median(times) / base)
    return table


@contextmanager
def counted(kind: Any) -> Iterator[tuple[list[float], list[int]]]:
    """The seconds of each pass of this kind of rows, and the bytes that each block returned."""
    whole, spent, sent = kind.map, [], []

    def mapped(self: Any, *given: Any, **options: Any) -> Any:
        start = time.perf_counter()
        for found in whole(self, *given, **options):
            sent.append(len(pickle.dumps(found)))
            yield found
        spent.append(time.perf_counter() - start)

    kind.map = mapped
    small, row_problem.SMALL = row_problem.SMALL, 0  # measure passes, as over a large table
    try:
        yield spent, sent
    finally:
        kind.map, row_problem.SMALL = whole, small


def passes(folder: Path) -> tuple[Table, float, int]:
    """Counts and measures the passes of one fit over the files."""
    with counted(ParquetSource) as (spent, sent):
        start = time.perf_counter()
        model = gp.fit_parquet(classifier(), folder, "y")
        total = time.perf_counter() - start
    n = ParquetSource(folder, "y").n
    unit = 2**20 if sys.platform == "darwin" else 2**10
    table = Table(f"One fit to {n:,} rows in Parquet files, in batches", ("", "value"))
    table.row("seconds", total)
    table.row("passes over the files", len(spent))
    table.row("seconds of all passes", sum(spent))
    table.row("seconds per pass and million rows", sum(spent) / len(spent) / n * 1e6)
    table.row("bytes that a block returns, on average", sum(sent) / len(sent))
    table.row("certified gap", model.result_.duality_gap)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit / 2**10
    table.row("peak memory of the process so far, GiB", peak)
    return table, sum(spent) / len(spent) / n, len(spent)


def workers(n: int, d: int, rounds: int) -> Table:
    """Measures two workers against one, in turns, on rows that they make and keep."""
    import dask.array as da
    from dask.delayed import delayed
    from distributed import Client

    from gameproof.dask import RobustStrategicClassifier

    parts, theta = 16, np.random.default_rng(0).normal(size=d) / np.sqrt(d)
    made = [delayed(people, nout=2)(n // parts, theta, k) for k in range(parts)]
    X = da.concatenate([da.from_delayed(x, (n // parts, d), np.float64) for x, _ in made])
    y = da.concatenate([da.from_delayed(y, (n // parts,), np.int8) for _, y in made])
    times: dict[str, list[list[float]]] = {}

    def fit(name: str, client: Any) -> float:
        model = RobustStrategicClassifier(features=range(d // 2), client=client)
        with counted(DaskRows) as (spent, _):
            seconds = timed(lambda: model.fit(X, y))()
        times.setdefault(name, []).append(spent)
        return seconds

    with Client(n_workers=1, **LOOPBACK) as one, Client(n_workers=2, **LOOPBACK) as two:
        tasks = {name: partial(fit, name, c) for name, c in (("one", one), ("two", two))}
        found = interleaved(tasks, rounds)
    table = Table(
        f"{n:,} rows, {d} features on Dask: one and two workers with one thread each",
        ("", "one worker", "two workers", "ratio"),
    )
    # The longest passes sum gradients and Hessians.
    longest = {name: [max(spent) for spent in each[1:]] for name, each in times.items()}
    passes = {name: [sum(spent) for spent in each[1:]] for name, each in times.items()}
    measured = {"seconds of a fit": found, "of its passes": passes, "of its longest pass": longest}
    for name, each in measured.items():
        ratio = median(ratios(each["one"], each["two"]))
        table.row(name, median(each["one"]), median(each["two"]), ratio)
    return table


def extrapolated(per_row: float, number: int) -> Table:
    """Estimates larger tables, for cores as fast as these."""
    import os

    cores = os.cpu_count() or 1
    table = Table(
        f"Estimates: {number} passes of {per_row * 1e6:.2g} s per million rows on {cores} cores",
        ("rows", "cores", "minutes", "GiB as float64"),
    )
    for n, more in ((10**8, cores), (10**9, cores), (10**9, 64), (10**10, 64), (10**10, 512)):
        seconds = number * (per_row * n * cores / more + 0.03)
        table.row(f"{n:.0e}", more, seconds / 60, n * (D + 1) * 8 / 2**30)
    return table


def main() -> None:
    """Runs all of it on temporary files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="fewer rows, one round")
    parser.add_argument("--rows", type=int, help="the number of rows, a multiple of 125,000")
    parser.add_argument(
        "--only", choices=("contest", "passes", "workers"), help="one of the measurements"
    )
    options = parser.parse_args()
    n, rounds = options.rows or (ROWS if options.quick else 8 * ROWS), 1 if options.quick else 3
    tables = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_people(folder, n)
        if options.only in (None, "passes"):  # first, so that memory is that of the fit alone
            measured, per_row, number = passes(folder)
            tables = [measured, extrapolated(per_row, number)]
        if options.only in (None, "contest"):
            tables.insert(0, contest(folder, rounds))
    if options.only in (None, "workers"):
        size = (20_000, 50) if options.quick else (options.rows or LONG[0], LONG[1])
        tables.append(workers(*size, rounds))
    save("scale", tables)


if __name__ == "__main__":
    main()
