"""`solve_many`: the same run from many seeds, on all cores."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from threading import Lock
from typing import Any

import numpy as np

from gameproof.core.arguments import as_count, as_generator
from gameproof.kernels.layout import Sources
from gameproof.minmax.blocks import Perturbed
from gameproof.minmax.estimates.gradient import Gradient
from gameproof.minmax.interrupts import Interrupts
from gameproof.minmax.paper_methods import ogda_rr
from gameproof.minmax.problem import Problem
from gameproof.minmax.queries import Queries
from gameproof.minmax.result import Result
from gameproof.minmax.run import Run, Seed
from gameproof.minmax.run_loop import RunLoop
from gameproof.minmax.scheduling import Turns
from gameproof.minmax.solve import solve, start_or_resume
from gameproof.minmax.solver import Solver


def solve_many(
    problem: Problem,
    solver: Solver | None = None,
    *,
    seeds: Sequence[Seed],
    jobs: int | None = None,
    **options: Any,
) -> list[Result]:
    """``solve(problem, solver, seed=seed, …)`` for each of the seeds, in their order.

    Compiled runs use threads and give the same results as one after the other. Inside
    ``joblib.parallel_config(backend="dask")`` they run on the cluster instead. Runs that ask in
    Python, or that share a budget, run one after the other. Ctrl-C ends all of them: the results
    are then those of the runs that had started. If a run fails, the error has a dict `results` of
    those that ended, by their place in `seeds`.

    Parameters
    ----------
    problem, solver
        As for `solve`.
    seeds
        A list of seeds.
    jobs
        The number of threads; by default one per core.
    **options
        Other options of `solve`, except those that belong to one run alone.

    Returns
    -------
    list of Result
        One result per seed.

    Examples
    --------
    >>> import gameproof as gp
    >>> game = gp.QuadraticGame.random(n=20, seed=0)
    >>> results = gp.solve_many(game, gp.ogda_rr(step=0.02), seeds=range(3), epochs=5)
    >>> [result.n_queries for result in results]
    [199, 199, 199]
    """
    for name in ("seed", "resume", "checkpoint", "checkpoint_every"):
        if options.get(name) is not None:
            raise ValueError(f"{name} belongs to one run; solve_many takes seeds=, a list of them")
    scalar = isinstance(seeds, (int, str, bytes)) or getattr(seeds, "shape", None) == ()
    if scalar or not hasattr(seeds, "__len__"):
        raise TypeError(f"seeds must be a list of seeds, such as range(10), got {seeds!r}")
    for seed in seeds:  # checked before the first query
        as_generator(seed)
    wanted = (os.cpu_count() or 1) if jobs is None else as_count("jobs", jobs)
    method = ogda_rr() if solver is None else solver
    if len(seeds) == 0:
        return []
    first = Run(problem, method, seed=0)
    alone = not first.can_compile or options.get("compiled") is False
    if alone or problem.queries.remaining is not None or _share_a_generator(seeds) or wanted == 1:
        return _one_by_one(problem, method, seeds, options)
    if cluster_is_active():
        return _on_cluster(problem, method, seeds, {"progress": False} | options)
    first.compile(True)  # once, and not in every thread
    return _at_once(problem, method, seeds, min(wanted, len(seeds)), {"progress": False} | options)


def _one_by_one(
    problem: Problem, solver: Solver, seeds: Sequence[Seed], options: dict[str, Any]
) -> list[Result]:
    ended: dict[int, Result] = {}
    for k, seed in enumerate(seeds):
        with _naming_seed(seed, ended):
            ended[k] = solve(problem, solver, seed=seed, **options)
        if ended[k].reason == "interrupted":
            break
    return list(ended.values())


def _at_once(
    problem: Problem, solver: Solver, seeds: Sequence[Seed], jobs: int, options: dict[str, Any]
) -> list[Result]:
    counting, ended = Lock(), dict[int, Result]()

    def run(k: int, seed: Seed) -> Iterator[int]:
        twin = _twin(problem)
        try:
            with _naming_seed(seed, ended), _loop(twin, solver, seed, **options) as loop:
                while loop.reason is None:
                    loop.stretch()
                    yield loop.run.state.steps
                ended[k] = loop.result()
        finally:
            with counting:
                problem.queries.tally += twin.queries.tally
                problem.queries.count_deployments(twin.queries.n_deployments)

    with Interrupts() as interrupts:
        runs = [run(k, seed) for k, seed in enumerate(seeds)]
        Turns(runs, jobs, continues=lambda: not interrupts.seen()).run()
    return [ended[k] for k in sorted(ended)]


def cluster_is_active() -> bool:
    """Whether the user has given joblib the backend of a cluster, such as Dask's."""
    if "joblib" not in sys.modules:  # nobody has set a backend
        return False
    from joblib.parallel import get_active_backend

    return bool(get_active_backend()[0].__class__.__name__ == "DaskDistributedBackend")


def _on_cluster(
    problem: Problem, solver: Solver, seeds: Sequence[Seed], options: dict[str, Any]
) -> list[Result]:
    from joblib import Parallel, delayed

    jobs = [delayed(_counted_run)(problem, solver, seed, options) for seed in seeds]
    results = []
    for result, tally, deployments in Parallel()(jobs):
        problem.queries.tally += tally
        problem.queries.count_deployments(deployments)
        results.append(result)
    return results


def _counted_run(
    problem: Problem, solver: Solver, seed: Seed, options: dict[str, Any]
) -> tuple[Result, Any, int]:
    """A run with its own counts, in a worker of a cluster."""
    twin = _twin(problem)
    with _naming_seed(seed, {}):
        result = solve(twin, solver, seed=seed, **options)
    return result, twin.queries.tally, twin.queries.n_deployments


@contextmanager
def _naming_seed(seed: Seed, ended: dict[int, Result]) -> Iterator[None]:
    """Adds the seed and the finished results to an error."""
    try:
        yield
    except Exception as error:
        error.results = ended  # type: ignore[attr-defined]
        error.add_note(
            f"This was the run with seed {seed!r}; results of others, by their place in seeds, are "
            "in the attribute `results` of this exception."
        )
        raise


def _share_a_generator(seeds: Sequence[Seed]) -> bool:
    """True if two runs draw from the same generator. Their order then matters."""
    kinds = (np.random.Generator, np.random.BitGenerator, np.random.RandomState)
    given = [as_generator(seed).bit_generator for seed in seeds if isinstance(seed, kinds)]
    return len(set(map(id, given))) < len(given)


def _loop(
    problem: Problem, solver: Solver, seed: Seed, *, start: Any = None, **options: Any
) -> RunLoop:
    """The loop of one run, with the options of `solve`."""
    return RunLoop(start_or_resume(problem, solver, seed=seed, start=start), **options)


class _OwnCounts(Queries):
    """The queries of a problem, with separate counts, because threads that add to one number lose
    some. The response is known here, so only the counts are used."""

    def __init__(self, queries: Queries) -> None:
        self._queries, self.n_deployments = queries, 0
        self.tally = np.zeros_like(queries.tally)

    def sources(self, perturbed: Perturbed) -> Sources:
        return self._queries.sources(perturbed)

    def check(self, gradient: Gradient) -> None:
        self._queries.check(gradient)

    def count_deployments(self, number: int) -> None:
        self.n_deployments += number


def _twin(problem: Problem) -> Any:
    """A copy of a problem that shares everything but the counts."""
    twin = copy(problem)
    twin.queries = _OwnCounts(problem.queries)
    return twin
