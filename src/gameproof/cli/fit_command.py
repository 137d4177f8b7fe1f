"""``gameproof fit``: fits a robust classifier to a table and compares it with two baselines."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gameproof.cli.console import Console
from gameproof.cli.options import add_command, command_line
from gameproof.cli.outputs import add_report, require_writable
from gameproof.cli.table_options import (
    add_fit,
    parse_meaning,
    parse_settings,
    read_table,
    table_name,
)

EXAMPLE = """example:
  gameproof data write people people.csv
  gameproof fit people.csv --target repaid --favourable yes \\
    --movable savings:0..5000,credit_lines,utilisation:-0.2..0 -o model.json --report page.html"""


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``fit``."""
    parser = add_command(
        commands,
        shared,
        "fit",
        run,
        summary="fit a robust classifier to a table and evaluate it",
        description="Fits a classifier that holds up when people game it, compares it with plain "
        "and strategic logistic regression on held-out rows, and writes it to a file.",
        examples=EXAMPLE,
    )
    add_fit(parser)
    parser.add_argument(
        "-o", "--out", type=Path, required=True, metavar="MODEL", help="the file for the model"
    )
    add_report(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Reads the table, fits, writes the model and the page, and prints the evaluation."""
    from gameproof.tables.fit_table import fit_table

    require_writable(options.out, options.report, force=options.force, inputs=(options.table,))
    with console.step(f"reading {table_name(options.table)}"):
        table = read_table(options.table, options)
    fit = fit_table(
        table,
        **parse_meaning(options, table),
        **parse_settings(options),
        radius=options.radius,
        progress=console.progress,
    )
    written = [f"model: {options.out}"]
    if options.report:
        with console.step("drawing the page"):
            fit = fit.with_curves()
            fit.write_page(options.report, command=command_line(options))
        written.append(f"page: {options.report}")
    # The model comes last: its presence means that everything else was written.
    fit.save(options.out, command=command_line(options))
    record = {
        **fit.record(),
        "audit": fit.audit.record(),
        "model": str(options.out),
        "report": str(options.report) if options.report else None,
    }
    console.show("\n".join([*fit.lines(), *written]), record)
