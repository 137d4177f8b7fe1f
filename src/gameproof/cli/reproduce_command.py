"""``gameproof reproduce``: the paper's experiments, with error bars and verdicts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gameproof.cli.console import Console
from gameproof.cli.options import add_command, command_line, integer, one_of
from gameproof.cli.outputs import (
    add_report,
    page_before_result,
    require_writable,
    require_writable_folder,
)
from gameproof.paper.experiments import EXPERIMENTS

if TYPE_CHECKING:
    from gameproof.paper.experiment_study import ExperimentStudy

CORRECTION = "Holm, over all claims of all experiments finished in the same folder"


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``reproduce``."""
    titles = "\n".join(f"  {name:16s} {title}" for name, title in EXPERIMENTS.items())
    parser = add_command(
        commands,
        shared,
        "reproduce",
        run,
        summary="reproduce the paper's experiments",
        description="Reproduces the paper's experiments and says for each claim whether it holds. "
        "Finished parts are kept: an interrupted run resumes where it stopped.",
        examples=f"experiments:\n{titles}\n\nexample: gameproof reproduce rate error-bars --quick",
    )
    parser.add_argument(
        "names",
        nargs="*",
        type=one_of("experiment", EXPERIMENTS),
        metavar="NAME",
        help="the experiments to run; by default all",
    )
    parser.add_argument("--quick", action="store_true", help="smoke test: few seeds, few epochs")
    parser.add_argument(
        "--seeds", type=integer(1), metavar="N", help="number of seeds (20, or 3 with --quick)"
    )
    parser.add_argument(
        "--jobs", type=integer(1), metavar="N", help="number of processes (one per core)"
    )
    parser.add_argument("--again", action="store_true", help="run finished parts again")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="the output folder (out/paper, or out/paper-quick with --quick)",
    )
    add_report(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Runs the experiments and prints the claims with their verdicts."""
    from gameproof.paper.reproduce import reproduce
    from gameproof.paper.summary import SMOKE, counted

    out = options.out or Path("out/paper-quick" if options.quick else "out/paper")
    require_writable(options.report, force=options.force)
    require_writable_folder(out)
    try:
        studies = reproduce(
            options.names,
            out,
            seeds=options.seeds,
            quick=options.quick,
            jobs=options.jobs,
            again=options.again,
            force=options.force,
            progress=False if console.quiet else None,
            say=console.say,
        )
    except KeyboardInterrupt:
        console.say("Finished parts are kept; the same command resumes from there.")
        raise
    lines = [*_claim_lines(studies), "", counted([c for study in studies for c in study.judged])]
    if options.quick:
        lines += ["", SMOKE]
    lines += ["", f"Tables, figures and a summary: {out / 'summary.md'}"]
    record = {
        "summary": str(out / "summary.md"),
        "quick": options.quick,
        "correction": CORRECTION,
        "claims": [{"experiment": s.name, **c.row()} for s in studies for c in s.judged],
    }

    def write_page(path: Path) -> None:
        from gameproof.cli.reproduction_page import write_reproduction_page

        note = SMOKE if options.quick else ""
        write_reproduction_page(path, studies, note, command_line(options))

    with page_before_result(options, write_page) as page:
        written = [f"page: {page}"] if page else []
        console.show("\n".join([*lines, *written]), record)


def _claim_lines(studies: list[ExperimentStudy]) -> list[str]:
    from gameproof.auditing.number_format import survival

    lines = ["verdict, survives correction, effect (95 % interval), claim", ""]
    for found in (found for study in studies for found in study.judged):
        claim = found.claim
        survived = survival(claim.verdict, found.survives)
        lines.append(
            f"{claim.verdict:14s} {survived:4s} {claim.effect:7.3g} ({claim.low:.3g} to "
            f"{claim.high:.3g})  {claim.text}; {claim.measure}"
        )
    return lines
