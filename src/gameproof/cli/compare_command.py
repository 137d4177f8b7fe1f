"""``gameproof compare``: three classifiers on the same rows of a table."""

from __future__ import annotations

import argparse
from typing import Any

from gameproof.cli.console import Console
from gameproof.cli.fit_options import add_fit, parse_meaning, parse_settings
from gameproof.cli.options import add_command, integer
from gameproof.cli.outputs import add_full, add_report, require_writable, show_result
from gameproof.cli.table_reading import parse_engine, read_table_or_files, table_name

EXAMPLE = """example:
  gameproof compare people.csv --target repaid --favourable yes \\
    --movable savings:0..5000,credit_lines,utilisation:-0.2..0 --splits 10"""


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``compare``."""
    parser = add_command(
        commands,
        shared,
        "compare",
        run,
        summary="compare three classifiers on the same rows of a table",
        description="Fits plain logistic regression, strategic logistic regression and the robust "
        "classifier to the same rows, and tests them on held-out rows while people game them.",
        examples=EXAMPLE,
    )
    add_fit(parser)
    parser.add_argument(
        "--splits",
        type=integer(1),
        default=1,
        metavar="N",
        help="report means and intervals over this many splits (%(default)s)",
    )
    add_full(parser)
    add_report(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Fits all three models on every split and prints the comparison."""
    from gameproof.tables.compare_table import compare_table
    from gameproof.tables.fit_settings import FitSettings
    from gameproof.tables.meaning import Meaning
    from gameproof.tables.open_training import open_training

    require_writable(options.report, force=options.force, inputs=(options.table,))
    with console.step(f"reading {table_name(options.table)}"):
        table = read_table_or_files(options.table, options)
    meaning, where = Meaning(**parse_meaning(options, table)), parse_engine(options)
    with open_training(table, meaning, **where, progress=console.progress) as training:
        found = compare_table(
            training,
            FitSettings(**parse_settings(options)),
            radius=options.radius,
            splits=options.splits,
            progress=console.progress,
        )
    show_result(found, options, console)
