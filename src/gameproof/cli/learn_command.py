"""``gameproof learn``: learns budgets from tables before and after a model became known."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gameproof.cli.column_lists import column_names
from gameproof.cli.console import Console
from gameproof.cli.options import (
    STANDARD,
    UsageError,
    add_command,
    command_line,
    model_file,
    number,
)
from gameproof.cli.outputs import add_report, page_before_result, require_writable
from gameproof.cli.table_options import add_columns, add_seed
from gameproof.cli.table_reading import add_table, read_table, table_name

if TYPE_CHECKING:
    from gameproof.tables.table import Table

EXAMPLE = """examples:
  gameproof learn before.csv after.csv --key id --model model.json
  gameproof learn before.csv after.csv        # no key: weaker evidence, from distributions"""


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``learn``."""
    parser = add_command(
        commands,
        shared,
        "learn",
        run,
        summary="learn budgets from tables before and after a model became known",
        description="Compares tables of people before and after a model became known: which "
        "columns moved, in which direction and how far, and whether that helps to get accepted. "
        "Proposes a budget for each column that moved, in the table's own units. With --model, it "
        "distinguishes gaming from drift. Without --key, people are not matched, which is weaker "
        "evidence.",
        examples=EXAMPLE,
    )
    for name in ("before", "after"):
        add_table(parser, name, f"the table {name}: ")
    parser.add_argument(
        "--key",
        action="append",
        metavar="COL",
        help="the column that identifies a person in both tables, or several separated by commas",
    )
    parser.add_argument(
        "--model",
        type=model_file,
        metavar="MODEL",
        help="a file that gameproof fit wrote; people whom it refused before are compared with "
        "people whom it accepted",
    )
    parser.add_argument(
        "--quantile",
        type=number(0, 1, open_ends=True),
        default=0.95,
        metavar="Q",
        help="a budget is this quantile of the moves of people who moved (%(default)s)",
    )
    add_columns(parser)
    add_seed(parser, "the bootstrap")
    add_report(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Reads both tables, learns the budgets and prints them."""
    from gameproof.tables.budget_learning.learn_budgets import learn_budgets
    from gameproof.tables.budget_learning.moves_page import write_moves_page

    if options.before == options.after == STANDARD:
        raise UsageError("only one of the two tables can be read from standard input")
    inputs = (options.before, options.after, *([options.model] if options.model else []))
    require_writable(options.report, force=options.force, inputs=inputs)
    with console.step(f"reading {table_name(options.before)} and {table_name(options.after)}"):
        before, after = (read_table(path, options) for path in (options.before, options.after))
    key = column_names(options.key, before)
    if options.key is not None and not key:
        raise UsageError("--key names no column; leave it out to compare unmatched people")
    with console.step("comparing people"):
        found = learn_budgets(
            before,
            after,
            key,
            model=options.model,
            quantile=options.quantile,
            drop=column_names(options.drop, before),
            categories=column_names(options.category, before),
            seed=options.seed,
        )
    lines = [*str(found).splitlines(), _read_line(before), _read_line(after)]
    if found.budgets:
        quoted = f"'{found.movable}'" if "'" not in found.movable else shlex.quote(found.movable)
        lines.append(f"for gameproof fit: --movable {quoted}")
    record = {"before": before.source, "after": after.source, "key": key, **found.record()}

    def write_page(path: Path) -> None:
        write_moves_page(
            path,
            found,
            (before, after),
            model=options.model,
            command=command_line(options),
            seed=options.seed,
        )

    with page_before_result(options, write_page) as page:
        written = [f"page: {page}"] if page else []
        console.show("\n".join([*lines, *written]), record)


def _read_line(table: Table) -> str:
    return f"{table.source}: {table.n:,} rows, {len(table.columns)} columns"
