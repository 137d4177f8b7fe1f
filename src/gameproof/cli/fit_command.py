"""``gameproof fit``: fits a robust classifier to a table and compares it with two baselines."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gameproof.cli.console import Console
from gameproof.cli.fit_options import add_fit, parse_meaning, parse_settings
from gameproof.cli.options import add_command, command_line
from gameproof.cli.outputs import (
    add_full,
    add_report,
    hint,
    output_to,
    page_before_result,
    require_writable,
)
from gameproof.cli.table_reading import parse_engine, read_table_or_files, table_name

EXAMPLE = """example:
  gameproof data write people people.csv
  gameproof fit people.csv --target repaid --favourable yes \\
    --movable savings:0..5000,credit_lines,utilisation:-0.2..0 -o model.json --report page.html

a folder of files, on a cluster:
  gameproof fit loans/ --target repaid --favourable yes --movable savings:0..5000 \\
    -o model.json --scheduler tcp://host:8786"""


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``fit``."""
    parser = add_command(
        commands,
        shared,
        "fit",
        run,
        summary="fit a robust classifier to a table and evaluate it",
        description="Fits a classifier that holds up when people game it, compares it with plain "
        "and strategic logistic regression on held-out rows, and writes it to a file. The "
        "strategic one expects people to move by --power times its coefficients, not by their "
        "budgets.",
        examples=EXAMPLE,
    )
    add_fit(parser)
    parser.add_argument(
        "-o", "--out", type=Path, required=True, metavar="MODEL", help="the file for the model"
    )
    parser.add_argument(
        "--model",
        choices=("robust", "strategic", "logistic", "recommended"),
        default="robust",
        help="which classifier to write to the file: one of the three, whatever the verdict says, "
        "or the one that it recommends; if it recommends none, no file is written (%(default)s)",
    )
    add_full(parser)
    add_report(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Reads the table, fits, writes the model and the page, and prints the evaluation."""
    from gameproof.tables.fit_table import fit_table
    from gameproof.tables.three_classifiers import ROBUST

    require_writable(options.out, options.report, force=options.force, inputs=(options.table,))
    with console.step(f"reading {table_name(options.table)}"):
        table = read_table_or_files(options.table, options)
    fit = fit_table(
        table,
        **parse_meaning(options, table),
        **parse_settings(options),
        radius=options.radius,
        **parse_engine(options),
        progress=console.progress,
    )
    chosen = fit.audit.verdict.model if options.model == "recommended" else options.model
    if chosen is None:
        raise ValueError(f"no model is recommended, so no file was written: {fit.verdict}")
    with output_to(options.out, options.force):
        fit.save(options.out, model=chosen, command=command_line(options))
    advised, written = fit.audit.verdict.model, [f"model: {options.out}"]
    if chosen != ROBUST or advised != ROBUST:
        written = [f"model: {options.out}, the {chosen} classifier"]
    if chosen != advised:
        written[0] += f", which the verdict does not recommend; {_advice(advised)}"

    def write_page(path: Path) -> None:
        nonlocal fit
        with console.step("drawing the page"):
            fit = fit.with_curves()
            fit.write_page(path, command=command_line(options))

    with page_before_result(options, write_page) as page:
        record = {
            **fit.record(),
            "audit": fit.audit.record(),
            "model": str(options.out),
            "report": str(page) if page else None,
        }
        pages = [f"page: {page}"] if page else []
        console.show(
            "\n".join([*fit.lines(options.full), *written, *pages, *hint(options)]), record
        )


def _advice(advised: str | None) -> str:
    """What to do instead of using the classifier in the file."""
    return f"--model {advised} writes the one it does" if advised else "it recommends none of them"
