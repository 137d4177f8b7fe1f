"""Summaries of one experiment and of all, in Markdown, and the table of all claims.

Holm's procedure corrects all claims of all finished experiments in a folder as one family. Smoke
runs are a separate family, because their verdicts mean nothing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from gameproof.auditing.number_format import p_value, survival
from gameproof.core.atomic_files import write_rules, write_whole
from gameproof.paper.experiment_study import ExperimentStudy, Say, machine, versions
from gameproof.paper.experiments import EXPERIMENTS
from gameproof.paper.paper_claims import JudgedClaim, judge

SMOKE = "A smoke run with few seeds and epochs: its verdicts mean nothing."
HOW = (
    "Each effect has a 95 % interval over paired seeds and a two-sided p-value. A claim holds, or "
    "does not hold, if the whole interval lies on one side of the border; otherwise it is "
    "undecided. Intervals hold for the tuned settings: they leave out the uncertainty of tuning. "
    "The last two columns correct for the number of claims by Holm's step-down procedure, over "
    "all claims of all experiments. A verdict survives if its adjusted p is at most 0.05. The "
    "probability that any surviving verdict is due to chance is at most 5 %."
)


def write_summaries(folder: Path, say: Say = lambda sentence: None) -> dict[str, list[JudgedClaim]]:
    """Writes ``summary.md`` for each finished experiment and for all of them, and ``claims.csv``.

    Returns the corrected claims by experiment.
    """
    found = (ExperimentStudy.finished(name, folder / name, say) for name in EXPERIMENTS)
    done = [study for study in found if study is not None]
    judged: dict[str, list[JudgedClaim]] = {}
    for quick in (False, True):
        judged |= _corrected([study for study in done if study.quick is quick])
    with write_rules(folder=folder):
        for study in done:
            write_whole(study.folder / "summary.md", summary(study, judged[study.name]).encode())
        write_whole(folder / "summary.md", overall(done, judged).encode())
        write_whole(folder / "claims.csv", _as_csv(done, judged).encode())
    return judged


def _corrected(studies: Sequence[ExperimentStudy]) -> dict[str, list[JudgedClaim]]:
    """Corrects all claims of these studies as one family."""
    found = iter(judge([claim for study in studies for claim in study.claims]))
    return {study.name: [next(found) for _ in study.claims] for study in studies}


def summary(study: ExperimentStudy, judged: Sequence[JudgedClaim]) -> str:
    """Returns the Markdown page of one experiment."""
    return "\n".join([*_findings(study, ""), *_claims_table(_marked(study, judged)), ""])


def overall(studies: Sequence[ExperimentStudy], judged: Mapping[str, Sequence[JudgedClaim]]) -> str:
    """Returns the Markdown page of all experiments: first the verdicts, then the figures."""
    seeds = " or ".join(str(number) for number in sorted({study.seeds for study in studies}))
    claims = [each for study in studies for each in _marked(study, judged[study.name])]
    order = list(dict.fromkeys(found.claim.text for found, _ in claims))
    return "\n".join(
        [
            "# The paper's experiments",
            "",
            f"Written by `gameproof reproduce` with {versions()} on {machine()}; {seeds} seeds.",
            "",
            HOW,
            "",
            counted([found for found, _ in claims]),
            "",
            *([SMOKE, ""] if any(study.quick for study in studies) else []),
            *_claims_table(sorted(claims, key=lambda each: order.index(each[0].claim.text))),
            "",
            *(line for study in studies for line in _findings(study, f"{study.name}/")),
        ]
    )


def counted(judged: Sequence[JudgedClaim]) -> str:
    """Returns a sentence: how many claims hold, and how many verdicts survive correction."""
    parts = []
    for verdict in ("holds", "does not hold"):
        own = [found for found in judged if found.claim.verdict == verdict]
        kept = sum(found.survives for found in own)
        parts.append(f"{verdict} {len(own)} ({kept} after correction)")
    undecided = sum(found.claim.verdict == "undecided" for found in judged)
    return f"Claims: {len(judged)}; {parts[0]}, {parts[1]}, undecided {undecided}."


def _findings(study: ExperimentStudy, folder: str) -> list[str]:
    lines = [f"## {study.name}: {EXPERIMENTS[study.name]}", ""]
    if study.quick:
        lines += [SMOKE, ""]
    for name, figure in study.figures:
        lines += [f"![{study.name}, {name}]({folder}{name}.png)", "", figure.caption, ""]
    return lines + [line for note in study.notes for line in (note, "")]


def _marked(study: ExperimentStudy, judged: Sequence[JudgedClaim]) -> list[tuple[JudgedClaim, str]]:
    """Returns the claims with their verdicts, marked if they come from a smoke run."""
    mark = " (smoke run)" if study.quick else ""
    return [(found, found.claim.verdict + mark) for found in judged]


def _claims_table(claims: Sequence[tuple[JudgedClaim, str]]) -> list[str]:
    head = ("claim", "measure", "effect", "border", "verdict", "p", "adjusted p", "survives")
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for found, verdict in claims:
        claim = found.claim
        cells = (
            claim.text,
            claim.measure,
            f"{claim.effect:.3g} ({claim.low:.3g} to {claim.high:.3g})",
            f"{claim.border:g}",
            verdict,
            p_value(claim.p),
            p_value(found.adjusted),
            survival(claim.verdict, found.survives),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _as_csv(studies: Sequence[ExperimentStudy], judged: Mapping[str, Sequence[JudgedClaim]]) -> str:
    text = io.StringIO()
    rows = [
        {"experiment": s.name, "quick": s.quick, **j.row()} for s in studies for j in judged[s.name]
    ]
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()
