"""``gameproof live ask``: questions and the deployed model, as files."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gameproof.cli.console import Console, print_out
from gameproof.cli.live_study import add_study, opened_study
from gameproof.cli.options import UsageError, add_command, integer, number
from gameproof.cli.outputs import add_force, output_to, require_writable

if TYPE_CHECKING:
    from gameproof.live.reports import LiveQuestion, StudyStatus

EXAMPLE = "example: gameproof live ask study.db --limit 50 -o questions.csv --model model.json"
HOUR = 3600.0


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``ask``."""
    parser = add_command(
        commands,
        shared,
        "ask",
        run,
        summary="print whom to ask next, and the model to show them",
        description="Prints or writes open questions, which nobody else is given until their lease "
        "ends. The same holder gets its open questions again. Show the deployed model to these "
        "people, and give their answers to gameproof live tell.",
        examples=EXAMPLE,
    )
    add_study(parser)
    parser.add_argument(
        "--limit", type=integer(1), default=1, metavar="N", help="the most questions (%(default)s)"
    )
    parser.add_argument(
        "--holder", default="anybody", metavar="NAME", help="who will ask them (%(default)s)"
    )
    parser.add_argument(
        "--lease",
        type=number(0),
        default=1.0,
        metavar="HOURS",
        help="hours for which nobody else is given them (%(default)g)",
    )
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        metavar="OUT",
        help="a file: .csv, .tsv or .parquet; by default CSV is printed, or JSON with --json",
    )
    parser.add_argument(
        "--model", type=Path, metavar="MODEL", help="also write the deployed model to this file"
    )
    add_force(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Leases questions, and prints or writes them."""
    from gameproof.tables.write_table import check_table_name, table_bytes, write_table

    require_writable(options.out, options.model, force=options.force)
    if options.out:
        check_table_name(options.out)
    with opened_study(options) as study:
        if options.model and study.table is None:
            raise UsageError("the study has no table, so its model has no file; see --json")
        questions = study.ask(options.limit, options.holder, options.lease * HOUR)
        deployment = study.deployment
        columns = question_columns(questions)
        if options.model and deployment is not None:
            assert deployment.model is not None
            with output_to(options.model, options.force):
                deployment.model.save(options.model)
        if not questions:
            console.say(_why_none(options.holder, study.status()))
    if options.out:
        with output_to(options.out, options.force):
            write_table(options.out, columns)
        console.show(
            f"{len(questions):,} questions in {options.out}",
            {"file": str(options.out), "questions": len(questions)},
        )
    elif console.as_json:
        console.show("", _record(questions))
    else:
        print_out(table_bytes(Path("questions.csv"), columns).decode().rstrip())


def _why_none(holder: str, status: StudyStatus) -> str:
    from gameproof.live.reports import plural

    if status.state == "asking" and status.n_pending:
        held = plural(status.n_pending, "open question")
        return f"no question is free for {holder!r}: others hold the {held} until their leases end"
    return f"no question is open for {holder!r}: {status}"


def question_columns(questions: list[LiveQuestion]) -> dict[str, Any]:
    """One row per question. `tell` needs only the first column."""
    return {
        "question": [question.id for question in questions],
        "person": [question.person for question in questions],
        "deployment": [question.deployment for question in questions],
        "expires": [_time(question.expires) for question in questions],
    }


def _record(questions: list[LiveQuestion]) -> dict[str, Any]:
    columns = question_columns(questions)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    deployed = [(q.theta.tolist(), q.intercept) for q in questions[:1]]
    theta, intercept = deployed[0] if deployed else (None, None)
    return {"questions": rows, "theta": theta, "intercept": intercept}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
