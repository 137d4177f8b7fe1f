"""``gameproof live create``: a study of the people in a table."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from gameproof.cli.console import Console
from gameproof.cli.fit_options import parse_meaning
from gameproof.cli.live_study import needs_live
from gameproof.cli.options import add_command, integer, number
from gameproof.cli.table_options import add_columns, add_meaning, add_seed
from gameproof.cli.table_reading import add_table, read_table, table_name
from gameproof.core.naming import without_password
from gameproof.tables.defaults import LABEL_COST

EXAMPLE = """example:
  gameproof data write people people.csv
  gameproof live create study.db people.csv --target repaid --favourable yes \\
    --movable savings,utilisation --key id --max-answers 2000"""
STUDY = "study"  # the name of a study that is not named
DAY = 24 * 3600.0
LIMITS = {
    "--max-answers": "the most answers that count",
    "--max-deployments": "the most deployments",
    "--max-per-person": "the most questions to one person",
}


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``create``."""
    parser = add_command(
        commands,
        shared,
        "create",
        run,
        summary="create a study of the people in a table",
        description="Creates a study and its first deployment. The database keeps a copy of the "
        "table's features, so that the study can continue on another machine.",
        examples=EXAMPLE,
    )
    parser.add_argument(
        "where", metavar="STUDY", help="a file, created if it is missing, or a database URL"
    )
    add_table(parser)
    add_meaning(parser)
    add_columns(parser)
    parser.add_argument(
        "--key", metavar="COL", help="the column that identifies people (by default row numbers)"
    )
    parser.add_argument(
        "--study",
        default=STUDY,
        metavar="NAME",
        help="the study's name, if the database is to hold several (%(default)s)",
    )
    _add_method(parser)
    _add_people(parser)
    # Options of `gameproof fit` that a study does not have.
    parser.set_defaults(
        unfavourable=[], ignore=[], date=[], groups=None, split_by=None, test_after=None
    )


def _add_method(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--method",
        choices=("auto", "ogda-rr", "ogda-wr", "sgda-rr", "sgda-wr"),
        default="auto",
        help="auto learns how people respond and checks that; the others are the paper's "
        "algorithms (%(default)s)",
    )
    parser.add_argument(
        "--batch",
        type=integer(1),
        metavar="N",
        help="rows per deployment (100, or less if few answers are allowed)",
    )
    parser.add_argument(
        "--radius",
        type=number(0),
        default=0.05,
        metavar="R",
        help="how inaccurate the data may be, in standard deviations (%(default)g)",
    )
    parser.add_argument(
        "--label-cost",
        type=number(0, infinite=True),
        default=LABEL_COST,
        metavar="K",
        help="half the adversary's cost of flipping a favourable label (%(default)s)",
    )
    add_seed(parser, "the study")


def _add_people(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--silence",
        choices=("wait", "replace", "continue"),
        default="replace",
        help="what to do about people who do not answer: wait, ask someone else, or continue with "
        "those who answered (%(default)s)",
    )
    parser.add_argument(
        "--patience",
        type=number(0),
        default=7.0,
        metavar="DAYS",
        help="days until a person counts as silent (%(default)g)",
    )
    for option, what in LIMITS.items():
        parser.add_argument(option, type=integer(1), metavar="N", help=f"{what} (no limit)")


def run(options: argparse.Namespace, console: Console) -> None:
    """Reads the table and creates the study."""
    with needs_live():
        from gameproof.live.open_study import create
        from gameproof.live.reports import plural
        from gameproof.live.study_table import problem_from_table
    with console.step(f"reading {table_name(options.table)}"):
        table = read_table(options.table, options)
        problem, stored = problem_from_table(
            table,
            **parse_meaning(options, table),
            radius=options.radius,
            label_cost=options.label_cost,
            key=options.key,
        )
    limits = [option[2:].replace("-", "_") for option in LIMITS]
    with create(
        options.where,
        problem,
        name=options.study,
        method=options.method,
        batch=options.batch,
        seed=options.seed,
        silence=options.silence,
        patience=options.patience * DAY,
        table=stored,
        **{name: getattr(options, name) for name in limits},
    ) as study:
        status = study.status()
    people, where = problem.population, without_password(options.where)
    named = "" if options.study == STUDY else f" --study={shlex.quote(options.study)}"
    console.show(
        f"study {options.study!r} in {where}: {people.n:,} people, "
        f"{people.n_movers:,} of whom can be asked; "
        f"{plural(status.n_pending, 'open question')}\n"
        f"next: gameproof live ask {shlex.quote(where)}{named} --limit 10 -o questions.csv",
        status.as_dict(),
    )
