"""Options that say how to fit a classifier to a table and how to test it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from gameproof.cli.column_lists import column_names
from gameproof.cli.movable_option import parse_movable
from gameproof.cli.options import UsageError, number, number_or_auto
from gameproof.cli.table_options import (
    add_columns,
    add_costs,
    add_groups,
    add_meaning,
    add_measure,
    add_seed,
    parse_costs,
)
from gameproof.cli.table_reading import add_table
from gameproof.tables.defaults import LABEL_COST, POWER, TEST_SHARE

if TYPE_CHECKING:
    from gameproof.tables.table import Table
    from gameproof.tables.table_files import TableFiles


def add_fit(parser: argparse.ArgumentParser) -> None:
    """A table to learn from, what its columns mean, and how to fit a classifier to it."""
    add_table(parser, files=True)
    needed = "required unless --unfavourable and --ignore name all other values"
    add_meaning(parser, needed=needed)
    _add_outcomes(parser)
    add_columns(parser)
    _add_dates(parser)
    _add_fitting(parser)
    _add_test_rows(parser)
    add_measure(parser)
    add_costs(parser)
    _add_thresholds(parser)
    add_groups(parser)


def _add_outcomes(parser: argparse.ArgumentParser) -> None:
    for option, what in (
        ("--unfavourable", "a value of the target that is a bad outcome"),
        ("--ignore", "a value of the target whose rows are left out, such as pending cases"),
    ):
        parser.add_argument(
            option, action="append", default=[], metavar="VALUE", help=f"{what}; may be repeated"
        )


def _add_dates(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--date",
        action="append",
        default=[],
        metavar="COL[:FORMAT]",
        help="a column of dates to use as days since 2000-01-01, by default left out; the format "
        "is needed where day and month can be exchanged, as in applied:%%d/%%m/%%Y; may be "
        "repeated",
    )


def _add_fitting(parser: argparse.ArgumentParser) -> None:
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
        help="half the adversary's cost of flipping a favourable label; inf if labels are reliable "
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


def _add_test_rows(parser: argparse.ArgumentParser) -> None:
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--test",
        type=number(0, 1, open_ends=True),
        default=TEST_SHARE,
        metavar="SHARE",
        help="the share of rows held out for testing (%(default)s)",
    )
    how.add_argument(
        "--split-by",
        metavar="COL",
        help="hold out the rows with a later date or a larger number in this column instead",
    )
    parser.add_argument(
        "--test-after", metavar="VALUE", help="with --split-by: test rows come after this value"
    )
    add_seed(parser, "the split")


def _add_thresholds(parser: argparse.ArgumentParser) -> None:
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
    """Columns of dates and their formats, None if the format must be detected."""
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
