"""All experiments by name, and what they leave behind: tables, figures, summaries, verdicts."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from gameproof.arguments import as_count
from gameproof.data.files import write_whole
from gameproof.paper import comparison, complexity, decisions, error_bars, radii, rate, smooth
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
) -> list[Study]:
    """Runs experiments, all where none is named, and writes what they found to `folder`, one
    folder each, with a summary of all that are finished there. What was found before is kept,
    unless `again`; a larger run is not replaced by a smaller one, unless `force`."""
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        raise ValueError(f"no experiment {unknown[0]!r}, there are {', '.join(EXPERIMENTS)}")
    _require_extras()
    seeds = (QUICK_SEEDS if quick else SEEDS) if seeds is None else as_count("seeds", seeds)
    chosen = list(dict.fromkeys(names or EXPERIMENTS))
    if not force:
        _require_nothing_larger(chosen, folder, seeds, quick)
    jobs = (os.cpu_count() or 1) if jobs is None else as_count("jobs", jobs)
    studies = []
    for name in chosen:
        say(f"{name}: {EXPERIMENTS[name]} …")
        study = Study(
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
        write_whole(study.folder / "summary.md", summary(study).encode())
        studies.append(study)
    done = [found for name in EXPERIMENTS if (found := Study.finished(name, folder / name))]
    write_whole(folder / "summary.md", overall(done).encode())
    return studies


def _require_nothing_larger(names: Sequence[str], folder: Path, seeds: int, quick: bool) -> None:
    """Before anything is computed."""
    for name in names:
        found = Study.finished(name, folder / name)
        if found and (found.quick, -found.seeds) < (quick, -seeds):
            raise FileExistsError(
                f"{folder / name} has the results of {_size(found.seeds, found.quick)}, and would "
                f"get those of {_size(seeds, quick)}; name another folder (--out), or --force"
            )


def _size(seeds: int, quick: bool) -> str:
    return f"a {'smoke' if quick else 'full'} run with {seeds} seeds"


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
    return "\n".join([*_findings(study, ""), *_claims_table(_judged(study)), ""])


def overall(studies: Sequence[Study]) -> str:
    """All of them: first what became of the claims, then the figures."""
    seeds = " or ".join(str(number) for number in sorted({study.seeds for study in studies}))
    claims = [judged for study in studies for judged in _judged(study)]
    order = list(dict.fromkeys(claim.text for claim, _ in claims))
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
            *([SMOKE, ""] if any(study.quick for study in studies) else []),
            *_claims_table(sorted(claims, key=lambda judged: order.index(judged[0].text))),
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


def _judged(study: Study) -> list[tuple[Claim, str]]:
    """Its claims with their verdicts, marked where those mean nothing."""
    mark = " (smoke run)" if study.quick else ""
    return [(claim, claim.verdict + mark) for claim in study.claims]


def _claims_table(claims: Sequence[tuple[Claim, str]]) -> list[str]:
    rows = [
        f"| {claim.text} | {claim.measure} | {claim.effect:.3g} ({claim.low:.3g} to "
        f"{claim.high:.3g}) | {claim.border:g} | {verdict} |"
        for claim, verdict in claims
    ]
    return ["| claim | measure | effect | border | verdict |", "|---|---|---|---|---|", *rows]
