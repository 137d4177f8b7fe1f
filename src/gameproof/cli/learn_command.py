"""``gameproof learn``: budgets from tables of people before and after a model became known."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gameproof.cli.console import Console
from gameproof.cli.options import STANDARD, Help, SenselessOptions, model_file, number, whole
from gameproof.cli.outputs import add_force, add_report, make_sure
from gameproof.cli.table_options import name_of, names, read

if TYPE_CHECKING:
    from gameproof.tables.table import Table

EXAMPLE = """examples:
  gameproof learn before.csv after.csv --key id --model model.json
  gameproof learn before.csv after.csv        # no key: weaker evidence, from distributions"""
SHARE = number(0, 1, open_ends=True)


def add_parser(words: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """``learn``."""
    parser = words.add_parser(
        "learn",
        parents=[shared],
        help="learn budgets from people before and after a model became known",
        description="Compares tables of people before and after a model became known: which "
        "columns moved, which way and how far, and whether that helps acceptance. Proposes a "
        "budget for each column that moved, in the table's own units. With --model it tells gaming "
        "from drift. "
        "Without --key people are not matched, which is weaker evidence.",
        epilog=EXAMPLE,
        formatter_class=Help,
    )
    for name in ("before", "after"):
        parser.add_argument(
            name,
            type=Path,
            metavar=name.upper(),
            help=f"the table {name}: CSV, TSV or Parquet, packed or not; - for standard input",
        )
    parser.add_argument(
        "--key",
        action="append",
        metavar="COL",
        help="the column that identifies a person in both tables; several with commas between",
    )
    parser.add_argument(
        "--model",
        type=model_file,
        metavar="MODEL",
        help="what gameproof fit wrote: whom it refused before is compared with whom it accepted",
    )
    parser.add_argument(
        "--quantile",
        type=SHARE,
        default=0.95,
        metavar="Q",
        help="a budget is this quantile of the moves of people who moved (0.95)",
    )
    parser.add_argument(
        "--drop", action="append", default=[], metavar="A,B", help="columns to leave out"
    )
    parser.add_argument(
        "--category",
        action="append",
        default=[],
        metavar="A,B",
        help="columns of numbers that are names, such as codes",
    )
    parser.add_argument(
        "--seed", type=whole(0), default=0, metavar="S", help="for the bootstrap (0)"
    )
    add_report(parser)
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> None:
    """Reads both tables, learns and prints budgets."""
    from gameproof.tables.budget_learning.learn_budgets import learn_budgets

    if options.before == options.after == STANDARD:
        raise SenselessOptions("only one of the tables can come from standard input")
    inputs = (options.before, options.after, *([options.model] if options.model else []))
    make_sure(options.report, force=options.force, inputs=inputs)
    with console.step(f"reading {name_of(options.before)} and {name_of(options.after)}"):
        before, after = read(options.before), read(options.after)
    key = names(options.key, before)
    if options.key is not None and not key:
        raise SenselessOptions("--key names no column; leave it out to compare unmatched people")
    with console.step("comparing people"):
        found = learn_budgets(
            before,
            after,
            key,
            model=options.model,
            quantile=options.quantile,
            drop=names(options.drop, before),
            categories=names(options.category, before),
            seed=options.seed,
        )
    lines = [_read_line(before), _read_line(after), *str(found).splitlines()]
    if found.budgets:
        quoted = f"'{found.movable}'" if "'" not in found.movable else shlex.quote(found.movable)
        lines.append(f"for gameproof fit: --movable {quoted}")
    record = {"before": before.source, "after": after.source, "key": key, **found.record()}
    if options.report:
        from gameproof.cli.pages import write_budgets_page

        write_budgets_page(options.report, found, (before, after), options)
        lines.append(f"page: {options.report}")
    console.show("\n".join(lines), record)


def _read_line(table: Table) -> str:
    return f"{table.source}: {table.n:,} rows, {len(table.columns)} columns"
