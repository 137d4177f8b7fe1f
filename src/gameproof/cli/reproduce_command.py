"""``gameproof reproduce``: the paper's experiments, with error bars and verdicts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gameproof.cli.console import Console
from gameproof.cli.options import Help, one_of, whole
from gameproof.cli.outputs import add_force, add_report, make_sure, make_sure_of_folder
from gameproof.paper.experiments import EXPERIMENTS


def add_parser(words: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """``reproduce``."""
    listed = "\n".join(f"  {name:16s} {title}" for name, title in EXPERIMENTS.items())
    parser = words.add_parser(
        "reproduce",
        parents=[shared],
        help="run the paper's experiments again",
        description="Runs the paper's experiments again and says, claim by claim, what holds. What "
        "was found before is kept: an interrupted run goes on where it stopped.",
        epilog=f"experiments:\n{listed}\n\nexample: gameproof reproduce rate error-bars --quick",
        formatter_class=Help,
    )
    parser.add_argument(
        "names",
        nargs="*",
        type=one_of("experiment", EXPERIMENTS),
        metavar="NAME",
        help="some of them; all by default",
    )
    parser.add_argument("--quick", action="store_true", help="a smoke run: few seeds, few epochs")
    parser.add_argument("--seeds", type=whole(1), metavar="N", help="seeds (20, or 3 with --quick)")
    parser.add_argument("--jobs", type=whole(1), metavar="N", help="processes (one a core)")
    parser.add_argument("--again", action="store_true", help="run finished parts again")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="where to (out/paper, or out/paper-quick with --quick)",
    )
    add_report(parser)
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> None:
    """Runs them, and shows the claims with their verdicts."""
    from gameproof.auditing.number_format import survival
    from gameproof.paper.reproduce import reproduce
    from gameproof.paper.summary import SMOKE, counted

    if options.out is None:
        options.out = Path("out/paper-quick" if options.quick else "out/paper")
    make_sure(options.report, force=options.force)
    make_sure_of_folder(options.out)
    try:
        studies = reproduce(
            options.names,
            options.out,
            seeds=options.seeds,
            quick=options.quick,
            jobs=options.jobs,
            again=options.again,
            force=options.force,
            progress=False if console.quiet else None,
            say=console.say,
        )
    except KeyboardInterrupt:
        console.say("What is done is kept; the same command goes on from there.")
        raise
    judged = [found for study in studies for found in study.judged]
    lines = ["verdict, survives correction, effect (95 % interval), claim", ""]
    for found in judged:
        claim = found.claim
        survived = survival(claim.verdict, found.survives)
        lines.append(
            f"{claim.verdict:14s} {survived:4s} {claim.effect:7.3g} ({claim.low:.3g} to "
            f"{claim.high:.3g})  {claim.text}; {claim.measure}"
        )
    lines += ["", counted(judged)]
    where = options.out / "summary.md"
    if options.quick:
        lines += ["", SMOKE]
    written = [f"Tables, figures and a summary: {where}"]
    if options.report:
        from gameproof.cli.pages import write_reproduction_page

        note = SMOKE if options.quick else ""
        write_reproduction_page(options.report, studies, note, options)
        written.append(f"page: {options.report}")
    record = {
        "summary": str(where),
        "quick": options.quick,
        "correction": "Holm, over all claims of all experiments finished in the same folder",
        "claims": [{"experiment": s.name, **c.row()} for s in studies for c in s.judged],
    }
    console.show("\n".join([*lines, "", *written]), record)
