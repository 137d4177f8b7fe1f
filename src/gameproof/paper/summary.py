"""What became of the claims, in Markdown and as a table: of one experiment and of all.

The family that Holm's procedure corrects for is every claim of every experiment that is finished in
one folder. Smoke runs are a family of their own: their verdicts mean nothing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from gameproof.auditing.number_format import p_value, survival
from gameproof.core.atomic_files import write_whole
from gameproof.paper.claims import Judged, judge
from gameproof.paper.experiments import EXPERIMENTS
from gameproof.paper.study import Study, machine, versions

SMOKE = "A smoke run: few seeds and few epochs, so that its verdicts mean nothing."
HOW = (
    "Each effect has its 95 % interval over paired seeds and a two-sided p-value. By itself a "
    "claim holds, or does not, where the whole interval is on one side of the border; else it is "
    "undecided. The last two columns correct for the number of claims by Holm's step-down "
    "procedure, over all claims of all experiments here: a verdict that survives has an adjusted p "
    "of at most 0.05, and the chance that even one surviving verdict is due to chance is at most "
    "5 %."
)


def write_summaries(folder: Path) -> dict[str, list[Judged]]:
    """Writes ``summary.md`` of every experiment finished in the folder and of all of them, and
    ``claims.csv``; returns the claims by experiment, corrected."""
    done = [found for name in EXPERIMENTS if (found := Study.finished(name, folder / name))]
    judged: dict[str, list[Judged]] = {}
    for quick in (False, True):
        judged |= _corrected([study for study in done if study.quick is quick])
    for study in done:
        write_whole(study.folder / "summary.md", summary(study, judged[study.name]).encode())
    write_whole(folder / "summary.md", overall(done, judged).encode())
    write_whole(folder / "claims.csv", _as_csv(done, judged).encode())
    return judged


def _corrected(studies: Sequence[Study]) -> dict[str, list[Judged]]:
    """All their claims as one family."""
    found = iter(judge([claim for study in studies for claim in study.claims]))
    return {study.name: [next(found) for _ in study.claims] for study in studies}


def summary(study: Study, judged: Sequence[Judged]) -> str:
    """One experiment as a page in Markdown."""
    return "\n".join([*_findings(study, ""), *_claims_table(_marked(study, judged)), ""])


def overall(studies: Sequence[Study], judged: Mapping[str, Sequence[Judged]]) -> str:
    """All of them: first what became of the claims, then the figures."""
    seeds = " or ".join(str(number) for number in sorted({study.seeds for study in studies}))
    claims = [each for study in studies for each in _marked(study, judged[study.name])]
    order = list(dict.fromkeys(found.claim.text for found, _ in claims))
    return "\n".join(
        [
            "# The paper's experiments",
            "",
            f"Made by `gameproof reproduce` with {versions()} on {machine()}; {seeds} seeds "
            "wherever something is random.",
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


def counted(judged: Sequence[Judged]) -> str:
    """How many claims hold, and how many of those verdicts survive."""
    parts = []
    for verdict in ("holds", "does not hold"):
        own = [found for found in judged if found.claim.verdict == verdict]
        kept = sum(found.survives for found in own)
        parts.append(f"{verdict} {len(own)} ({kept} after correction)")
    undecided = sum(found.claim.verdict == "undecided" for found in judged)
    return f"Claims: {len(judged)}; {parts[0]}, {parts[1]}, undecided {undecided}."


def _findings(study: Study, folder: str) -> list[str]:
    lines = [f"## {study.name}: {EXPERIMENTS[study.name]}", ""]
    if study.quick:
        lines += [SMOKE, ""]
    for name, figure in study.figures:
        lines += [f"![{figure.caption}]({folder}{name}.png)", "", figure.caption, ""]
    return lines + [line for note in study.notes for line in (note, "")]


def _marked(study: Study, judged: Sequence[Judged]) -> list[tuple[Judged, str]]:
    """Its claims with their verdicts, marked where those mean nothing."""
    mark = " (smoke run)" if study.quick else ""
    return [(found, found.claim.verdict + mark) for found in judged]


def _claims_table(claims: Sequence[tuple[Judged, str]]) -> list[str]:
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


def _as_csv(studies: Sequence[Study], judged: Mapping[str, Sequence[Judged]]) -> str:
    text = io.StringIO()
    rows = [
        {"experiment": s.name, "quick": s.quick, **j.row()} for s in studies for j in judged[s.name]
    ]
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()
