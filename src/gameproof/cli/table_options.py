"""Options that say which table to read, what its columns mean and how to fit a classifier."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gameproof.cli.column_lists import column_names
from gameproof.cli.movable_option import FORM, parse_movable
from gameproof.cli.options import STANDARD, UsageError, integer, number, number_or_auto
from gameproof.core.errors import DataError
from gameproof.tables.defaults import LABEL_COST, MEASURES, POWER, TEST_SHARE
from gameproof.tables.table_format import TableFormat

if TYPE_CHECKING:
    from gameproof.tables.table import Table
    from gameproof.tables.table_files import TableFiles


def add_table(
    parser: argparse.ArgumentParser, name: str = "table", about: str = "", *, files: bool = False
) -> None:
    """The table to read, and once for all tables how its text is written. With `files`, it may be
    in many files, and on a cluster."""
    many = ", a folder of such files or a quoted pattern" if files else ""
    parser.add_argument(
        name,
        type=Path,
        metavar=name.upper(),
        help=f"{about}CSV, TSV or Parquet, compressed or not{many}; - reads standard input",
    )
    if files:
        add_engine(parser)
    if name != "after":  # a command with two tables states their format once
        _add_format(parser)


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--decimal", metavar="SIGN", help="the decimal sign, . or , (by default detected)"
    )
    parser.add_argument(
        "--thousands",
        metavar="SIGN",
        help="the thousands separator: . , ' space or none (by default detected)",
    )
    parser.add_argument(
        "--encoding", metavar="NAME", help="the encoding of text, such as latin-1 (detected)"
    )


def table_format(options: argparse.Namespace) -> TableFormat:
    """How the text of a table is written, as far as the user says so."""
    try:
        return TableFormat(options.decimal, options.thousands, options.encoding).checked()
    except ValueError as error:
        raise UsageError(str(error)) from error


def table_name(path: Path) -> str:
    """The name of a table in messages."""
    return "standard input" if path == STANDARD else str(path)


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Where to work on a table in files."""
    parser.add_argument(
        "--engine",
        choices=("dask",),
        help="work on a Dask cluster, by default one on this machine with a worker for each core",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="the scheduler of a Dask cluster whose workers can read the files, such as "
        "tcp://host:8786",
    )


def parse_engine(options: argparse.Namespace) -> dict[str, Any]:
    """Where to work on a table in files, as arguments of `fit_table`."""
    return {"engine": options.engine, "scheduler": options.scheduler}


def read_table_or_files(path: Path, options: argparse.Namespace) -> Table | TableFiles:
    """Reads a table, or finds its files: those of a directory or a pattern, a file that is too
    large to be read whole, and any file for a cluster."""
    from gameproof.tables.open_training import as_rows_or_files

    on_cluster = bool(options.engine or options.scheduler)
    if path == STANDARD:
        if on_cluster:
            raise UsageError("a cluster cannot read standard input; name a file or a folder")
        return read_table(path, options)
    return as_rows_or_files(path, table_format(options), on_cluster=on_cluster)


def read_table(path: Path, options: argparse.Namespace) -> Table:
    """Reads a table from a file or from standard input, in the format that the options state."""
    from gameproof.tables.table import open_table, table_of

    stated = table_format(options)
    if path != STANDARD:
        return open_table(path, stated=stated)
    if sys.stdin is None:
        raise DataError("standard input is closed, expected a table")
    return table_of(sys.stdin.buffer.read(), table_name(path), stated=stated)


def add_meaning(parser: argparse.ArgumentParser, *, model_knows: bool = False) -> None:
    """What the columns mean. These options may be left out where a model knows the answer."""
    known = " (only needed for a model of scikit-learn)" if model_knows else ""
    parser.add_argument(
        "--target",
        required=not model_knows,
        metavar="COL",
        help=f"the column that holds the outcome{known}",
    )
    parser.add_argument(
        "--favourable",
        metavar="VALUE",
        help=f"the value of the target that people want{known}",
    )
    parser.add_argument(
        "--movable",
        action="append",
        required=not model_knows,
        metavar=FORM,
        help=f"what people can change{known}: savings:0..5000 gives the smallest and the largest "
        "change of a number, job:=retired|student the levels that people can claim; a column alone "
        "means half a standard deviation, or every level; '' means nothing; put a name that "
        "contains a comma in quotation marks: '\"a, b\":0..1,c'; may be repeated",
    )
    parser.add_argument(
        "--rest",
        action="store_true",
        help="treat all values of the target other than the favourable one as one outcome",
    )


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Columns to leave out, and columns that hold codes."""
    parser.add_argument(
        "--drop", action="append", default=[], metavar="A,B", help="columns to leave out"
    )
    parser.add_argument(
        "--category",
        action="append",
        default=[],
        metavar="A,B",
        help="numeric columns that hold codes, to be treated as categories",
    )


def add_seed(parser: argparse.ArgumentParser, what: str) -> None:
    """The seed of a random choice."""
    parser.add_argument(
        "--seed",
        type=integer(0),
        default=0,
        metavar="N",
        help=f"random seed of {what} (%(default)s)",
    )


def add_measure(parser: argparse.ArgumentParser) -> None:
    """By what models are judged and settings are chosen."""
    parser.add_argument(
        "--measure",
        choices=MEASURES,
        help="the measure by which settings are chosen and models are judged (auc if an outcome "
        "has less than 30%% of the rows, else accuracy)",
    )


def add_groups(parser: argparse.ArgumentParser) -> None:
    """Comparisons between groups."""
    parser.add_argument(
        "--groups", metavar="COL", help="also report everything by the values of this column"
    )


def add_costs(parser: argparse.ArgumentParser) -> None:
    """What wrong decisions cost."""
    for what in ("accept-bad", "refuse-good"):
        parser.add_argument(
            f"--cost-{what}",
            type=number(0),
            default=1.0,
            metavar="COST",
            help=f"the cost of a decision to {what.replace('-', ' a ')} applicant, in any unit; "
            "the fit uses it with --measure cost, the evaluation always (1)",
        )


def add_fit(parser: argparse.ArgumentParser) -> None:
    """A table to learn from, what its columns mean, and how to fit a classifier to it."""
    add_table(parser, files=True)
    add_meaning(parser)
    for option, what in (
        ("--unfavourable", "a value of the target that is a bad outcome"),
        ("--ignore", "a value of the target whose rows are left out, such as pending cases"),
    ):
        parser.add_argument(
            option, action="append", default=[], metavar="VALUE", help=f"{what}; may be repeated"
        )
    add_columns(parser)
    parser.add_argument(
        "--date",
        action="append",
        default=[],
        metavar="COL[:FORMAT]",
        help="a column of dates to use as days since 2000-01-01, by default left out; the format "
        "is needed where day and month can be exchanged, as in applied:%%d/%%m/%%Y; may be "
        "repeated",
    )
    parser.add_argument(
        "--balanced",
        action=argparse.BooleanOptionalAction,
        help="let both outcomes count the same in the fit, by class weights (by default if an "
        "outcome is rare)",
    )
    parser.add_argument(
        "--train-for",
        type=number_or_auto,
        default=1.0,
        metavar="MULTIPLE",
        help="train the robust classifier for this multiple of the budgets; auto chooses by "
        "cross-validation (%(default)g)",
    )
    parser.add_argument(
        "--radius",
        type=number_or_auto,
        default="auto",
        metavar="R",
        help="how inaccurate the data may be, in standard deviations; auto chooses by "
        "cross-validation (%(default)s)",
    )
    parser.add_argument(
        "--label-cost",
        type=number(0, infinite=True),
        default=LABEL_COST,
        metavar="K",
        help="the adversary's cost of flipping a favourable label; inf if labels are reliable "
        "(%(default)s)",
    )
    parser.add_argument(
        "--power",
        type=number(0),
        default=POWER,
        metavar="Z",
        help="how far people move for a higher score, for the strategic classifier and the "
        "secondary numbers (%(default)s)",
    )
    parser.add_argument(
        "--test",
        type=number(0, 1, open_ends=True),
        default=TEST_SHARE,
        metavar="SHARE",
        help="the share of rows held out for testing (%(default)s)",
    )
    parser.add_argument(
        "--split-by",
        metavar="COL",
        help="hold out the rows with a later date or a larger number in this column instead",
    )
    parser.add_argument(
        "--test-after", metavar="VALUE", help="with --split-by: test rows come after this value"
    )
    add_seed(parser, "the split")
    add_measure(parser)
    add_costs(parser)
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument(
        "--threshold",
        type=number(0, 1, open_ends=True),
        metavar="P",
        help="approve people whose probability of the favourable outcome is above P (by default "
        "each classifier has its own threshold)",
    )
    chosen.add_argument(
        "--approve",
        type=number(0, 1, open_ends=True),
        metavar="SHARE",
        help="choose the thresholds that approve this share of the training rows",
    )
    add_groups(parser)


def parse_meaning(options: argparse.Namespace, table: Table | TableFiles) -> dict[str, Any]:
    """What the columns mean, as arguments of `fit_table`."""
    budgets, drop = parse_movable(options.movable, table), column_names(options.drop, table)
    for name in budgets:
        if name in drop:
            raise UsageError(f"{name!r} is given to both --movable and --drop")
    return {
        "target": options.target,
        "favourable": options.favourable,
        "budgets": budgets,
        "drop": drop,
        "categories": column_names(options.category, table),
        "rest": options.rest,
        "unfavourable": options.unfavourable,
        "ignore": options.ignore,
        "dates": parse_dates(options.date, table),
        "groups": options.groups,
        "split_by": options.split_by,
        "test_after": options.test_after,
    }


def parse_dates(given: list[str], table: Table | TableFiles) -> dict[str, str | None]:
    """Columns of dates and their formats, None where the format is to be detected."""
    found: dict[str, str | None] = {}
    for text in given:
        name, colon, form = text.partition(":%")
        if text in table.columns or not colon:
            found[text] = None
        else:
            found[name] = f"%{form}"
    return found


def parse_settings(options: argparse.Namespace) -> dict[str, Any]:
    """How to fit and to test, as arguments of `fit_table`."""
    return {
        "label_cost": options.label_cost,
        "power": options.power,
        "test_share": options.test,
        "seed": options.seed,
        "measure": options.measure,
        "balanced": options.balanced,
        "threshold": options.threshold,
        "approve": options.approve,
        "train_for": options.train_for,
        **parse_costs(options),
    }


def parse_costs(options: argparse.Namespace) -> dict[str, float]:
    """What wrong decisions cost, by argument name."""
    return {
        "cost_accept_bad": options.cost_accept_bad,
        "cost_refuse_good": options.cost_refuse_good,
    }
