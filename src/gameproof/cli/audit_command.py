"""``gameproof audit``: what gaming does to a model in use."""

from __future__ import annotations

import argparse
from typing import Any

from gameproof.cli.console import Console
from gameproof.cli.movable_option import parse_movable
from gameproof.cli.options import add_command, model_file, number
from gameproof.cli.outputs import add_full, add_report, require_writable, show_result
from gameproof.cli.table_options import add_costs, add_groups, add_meaning, add_measure
from gameproof.cli.table_reading import add_table, parse_engine, read_table_or_files, table_name
from gameproof.tables.defaults import LABEL_COST, POWER

EXAMPLE = """examples:
  gameproof audit model.json people.csv --report page.html
  gameproof audit in_use.skops people.csv --target repaid --favourable yes \\
    --movable savings:0..5000,credit_lines"""


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``audit``."""
    parser = add_command(
        commands,
        shared,
        "audit",
        run,
        summary="show what gaming does to a model in use",
        description="Reports how much accuracy a linear classifier keeps when people change what "
        "they can and when the data is inaccurate, which columns are its weak spots, and which "
        "applicants it refuses. The model was written by gameproof fit, or is a linear model of "
        "scikit-learn saved by skops.",
        examples=EXAMPLE,
    )
    parser.add_argument(
        "model", type=model_file, metavar="MODEL", help="a file that gameproof fit or skops wrote"
    )
    add_table(parser, files=True)
    add_meaning(parser, model_knows=True)
    parser.add_argument(
        "--power",
        type=number(0),
        metavar="Z",
        help="how far people move for a higher score, for the secondary numbers (by default what "
        f"the model was fitted for, or else {POWER:g})",
    )
    parser.add_argument(
        "--label-cost",
        type=number(0, infinite=True),
        metavar="K",
        help="half the adversary's cost of flipping a favourable label; inf if labels are reliable "
        f"(by default what the model was fitted for, or else {LABEL_COST:g})",
    )
    add_measure(parser, fits=False)
    add_costs(parser, fits=False)
    add_groups(parser)
    add_full(parser)
    add_report(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Reads the model and the table, audits and prints."""
    from gameproof.tables.audit_table import audit_table
    from gameproof.tables.load_model import load_model_in_use

    require_writable(options.report, force=options.force, inputs=(options.model, options.table))
    with console.step(f"reading {options.model} and {table_name(options.table)}"):
        model = load_model_in_use(options.model)
        table = read_table_or_files(options.table, options)
    stated = None if options.movable is None else parse_movable(options.movable, table)
    found = audit_table(
        model,
        table,
        target=options.target,
        favourable=options.favourable,
        rest=options.rest,
        budgets=stated,
        power=options.power,
        label_cost=options.label_cost,
        measure=options.measure,
        groups=options.groups,
        cost_accept_bad=options.cost_accept_bad,
        cost_refuse_good=options.cost_refuse_good,
        **parse_engine(options),
        progress=console.progress,
    )
    show_result(found, options, console)
