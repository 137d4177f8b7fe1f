"""All experiments by name, and what they leave behind: tables, figures, summaries, verdicts."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from gameproof.arguments import as_count
from gameproof.data.files import write_whole
from gameproof.paper import comparison, complexity, error_bars, radii, rate, smooth
from gameproof.paper.catalog import EXPERIMENTS
from gameproof.paper.claims import Claim
from gameproof.paper.people import Source
from gameproof.paper.study import Study, machine, versions

SEEDS, QUICK_SEEDS = 20, 3
SMOKE = "A smoke run: few seeds and few epochs, so that its verdicts mean nothing."


def _on_data(study: Study, source: Source) -> None:
    from gameproof.data.catalog import CATALOG
    from gameproof.data.get import get

    get(CATALOG[source], say=study.say)
    n = 400 if study.quick else 2000
    comparison.run(study, source, n, 50)
    radii.run(study, source, n)


RUNS: dict[str, Callable[[Study], None]] = {
    "synthetic-500": partial(comparison.run, source="synthetic", n=500, epochs=100),
    "synthetic-1000": partial(comparison.run, source="synthetic", n=1000, epochs=100),
    "synthetic-4000": partial(comparison.run, source="synthetic", n=4000, epochs=30),
    "error-bars": error_bars.run,
    "credit": partial(_on_data, source="credit"),
    "bank": partial(_on_data, source="bank"),
    "complexity": complexity.run,
    "smooth-or-not": smooth.run,
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
    progress: bool | None = None,
    say: Callable[[str], None] = lambda sentence: None,
) -> list[Study]:
    """Runs experiments, all where none is named, and writes what they found to `folder`, one
    folder each, with a summary of all that are finished there. What was found before is kept,
    unless `again`."""
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        raise ValueError(f"no experiment {unknown[0]!r}, there are {', '.join(EXPERIMENTS)}")
    _require_extras()
    seeds = None if seeds is None else as_count("seeds", seeds)
    jobs = (os.cpu_count() or 1) if jobs is None else as_count("jobs", jobs)
    studies = []
    for name in dict.fromkeys(names or EXPERIMENTS):
        say(f"{name}: {EXPERIMENTS[name]} …")
        study = Study(
            name,
            folder / name,
            seeds=seeds or (QUICK_SEEDS if quick else SEEDS),
            quick=quick,
            jobs=jobs,
            progress=progress,
            say=say,
        )
        if again:
            study.forget()
        RUNS[name](study)
        study.finish()
        write_whole(study.folder / "summary.md", summary(study).encode())
        studies.append(study)
    done = [found for name in EXPERIMENTS if (found := Study.finished(name, folder / name))]
    write_whole(folder / "summary.md", overall(done).encode())
    return studies


def _require_extras() -> None:
    """Before anything is computed."""
    needed = ("joblib", "matplotlib", "pandas", "pyarrow")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"the experiments need {', '.join(missing)}: pip install 'gameproof[reproduce]', or "
            "'.[reproduce]' in a clone"
        )


def summary(study: Study) -> str:
    """One experiment as a page in Markdown."""
    return "\n".join([*_findings(study, ""), *_claims_table(study.claims), ""])


def overall(studies: Sequence[Study]) -> str:
    """All of them: first what became of the claims, then the figures."""
    seeds = " or ".join(str(number) for number in sorted({study.seeds for study in studies}))
    claims = [claim for study in studies for claim in study.claims]
    order = list(dict.fromkeys(claim.text for claim in claims))
    return "\n".join(
        [
            "# The paper's experiments",
            "",
            f"Made by `gameproof reproduce` with {versions()} on {machine()}; {seeds} seeds "
            "wherever something is random.",
            "",
            "An effect stands with its interval of 95 % over paired seeds. A claim holds, or does "
            "not, where all of the interval is on one side of the border; else it is undecided.",
            "",
            *_claims_table(sorted(claims, key=lambda claim: order.index(claim.text))),
            "",
            *(line for study in studies for line in _findings(study, f"{study.name}/")),
        ]
    )


def _findings(study: Study, folder: str) -> list[str]:
    lines = [f"## {study.name}: {EXPERIMENTS[study.name]}", ""]
    if study.quick:
        lines += [SMOKE, ""]
    for name, figure in study.figures:
        lines += [f"![{figure.caption}]({folder}{name}.png)", "", figure.caption, ""]
    return lines + [line for note in study.notes for line in (note, "")]


def _claims_table(claims: Sequence[Claim]) -> list[str]:
    rows = [
        f"| {claim.text} | {claim.measure} | {claim.effect:.3g} ({claim.low:.3g} to "
        f"{claim.high:.3g}) | {claim.border:g} | {claim.verdict} |"
        for claim in claims
    ]
    return ["| claim | measure | effect | border | verdict |", "|---|---|---|---|---|", *rows]
