"""Runs experiments and writes their tables, figures, summaries and verdicts."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from gameproof.core.arguments import as_count
from gameproof.core.naming import escaped
from gameproof.paper import (
    comparison,
    complexity,
    decisions,
    error_bars,
    inner_loop,
    movable_features,
    radii,
    rate,
    smooth_or_not,
)
from gameproof.paper.experiment_study import ExperimentStudy
from gameproof.paper.experiments import EXPERIMENTS
from gameproof.paper.participants import Source
from gameproof.paper.summary import write_summaries

SEEDS, QUICK_SEEDS = 20, 3


def _on_data(study: ExperimentStudy, source: Source) -> None:
    from gameproof.tables.catalog import CATALOG
    from gameproof.tables.download import get

    get(CATALOG[source], say=study.say)
    n = 400 if study.quick else 2000
    comparison.run(study, source, n, 50)
    radii.run(study, source, n)
    movable_features.run(study, source, n)


RUNS: dict[str, Callable[[ExperimentStudy], None]] = {
    "synthetic-500": partial(comparison.run, source="synthetic", n=500, epochs=100),
    "synthetic-1000": partial(comparison.run, source="synthetic", n=1000, epochs=100),
    "synthetic-4000": partial(comparison.run, source="synthetic", n=4000, epochs=30),
    "error-bars": error_bars.run,
    "credit": partial(_on_data, source="credit"),
    "bank": partial(_on_data, source="bank"),
    "complexity": complexity.run,
    "smooth-or-not": smooth_or_not.run,
    "inner-loop": inner_loop.run,
    "decisions": decisions.run,
    "rate": rate.run,
}


def reproduce(
    names: Sequence[str],
    folder: Path,
    *,
    seeds: int | None = None,
    quick: bool = False,
    jobs: int | None = None,
    again: bool = False,
    force: bool = False,
    progress: bool | None = None,
    say: Callable[[str], None] = lambda sentence: None,
) -> list[ExperimentStudy]:
    """Runs the named experiments, or all of them, and writes their results to `folder`.

    Each experiment gets its own folder, and `folder` a summary of all finished ones. Earlier
    results are reused unless `again`. A larger run is not replaced by a smaller one unless `force`.
    """
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        raise ValueError(f"no experiment {unknown[0]!r}; choose from {', '.join(EXPERIMENTS)}")
    _require_extras()
    seeds = (QUICK_SEEDS if quick else SEEDS) if seeds is None else as_count("seeds", seeds)
    chosen = list(dict.fromkeys(names or EXPERIMENTS))
    if not force:
        _require_nothing_larger(chosen, folder, seeds, quick)
    jobs = (os.cpu_count() or 1) if jobs is None else as_count("jobs", jobs)
    studies: list[ExperimentStudy] = []
    for name in chosen:
        say(f"{name}: {EXPERIMENTS[name]} …")
        study = ExperimentStudy(
            name,
            folder / name,
            seeds=seeds,
            quick=quick,
            jobs=jobs,
            progress=progress,
            say=say,
        )
        if again:
            study.forget()
        RUNS[name](study)
        study.finish()
        studies.append(study)
        # Written after each experiment, so that an interrupted run has a summary as well.
        judged = write_summaries(folder, say)
        for done in studies:
            done.judged = judged[done.name]
    return studies


def _require_nothing_larger(names: Sequence[str], folder: Path, seeds: int, quick: bool) -> None:
    """Raises FileExistsError if the folder has the results of a larger run."""
    for name in names:
        found = ExperimentStudy.finished(name, folder / name)
        if found and (found.quick, -found.seeds) < (quick, -seeds):
            raise FileExistsError(
                f"{escaped(str(folder / name))} has the results of "
                f"{_size(found.seeds, found.quick)}, which is "
                f"larger than {_size(seeds, quick)}; name another folder (--out), or --force"
            )


def _size(seeds: int, quick: bool) -> str:
    return f"a {'smoke' if quick else 'full'} run with {seeds} seeds"


def _require_extras() -> None:
    """Raises ImportError if a package of the extra `reproduce` is missing."""
    needed = ("joblib", "matplotlib", "pandas", "pyarrow")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"the experiments need {', '.join(missing)}: pip install 'gameproof[reproduce]', or "
            "'.[reproduce]' in a clone"
        )
