"""Options that several commands share: what the columns of a table mean, measures and costs."""

from __future__ import annotations

import argparse

from gameproof.cli.movable_option import FORM
from gameproof.cli.options import integer, number
from gameproof.tables.defaults import MEASURES


def add_meaning(
    parser: argparse.ArgumentParser, *, model_knows: bool = False, needed: str = "required"
) -> None:
    """What the columns mean. These options may be left out where a model knows the answer; `needed`
    says when the favourable value must be stated."""
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
        help=f"the value of the target that people want{known or f' ({needed})'}",
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


def add_measure(parser: argparse.ArgumentParser, *, fits: bool = True) -> None:
    """By what models are judged and, where the command fits them, settings are chosen."""
    default = "auc if an outcome has less than 30%% of the rows, else accuracy"
    parser.add_argument(
        "--measure",
        choices=MEASURES,
        help=f"the measure by which settings are chosen and models are judged ({default})"
        if fits
        else f"the measure by which the verdict judges the model (by default that of its fit, or "
        f"else {default})",
    )


def add_groups(parser: argparse.ArgumentParser) -> None:
    """Comparisons between groups."""
    parser.add_argument(
        "--groups", metavar="COL", help="also report everything by the values of this column"
    )


def add_costs(parser: argparse.ArgumentParser, *, fits: bool = True) -> None:
    """What wrong decisions cost."""
    user = "the fit" if fits else "the verdict"
    for what in ("accept-bad", "refuse-good"):
        parser.add_argument(
            f"--cost-{what}",
            type=number(0),
            default=1.0,
            metavar="COST",
            help=f"the cost of a decision to {what.replace('-', ' a ')} applicant, in any unit; "
            f"{user} uses it with --measure cost, the tables always (1)",
        )


def parse_costs(options: argparse.Namespace) -> dict[str, float]:
    """What wrong decisions cost, by argument name."""
    return {
        "cost_accept_bad": options.cost_accept_bad,
        "cost_refuse_good": options.cost_refuse_good,
    }
