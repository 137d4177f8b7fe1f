"""``gameproof live simulate``: simulated people answer a study, to try it out."""

from __future__ import annotations

import argparse
from typing import Any

from gameproof.cli.console import Console
from gameproof.cli.live_study import add_study, opened_study
from gameproof.cli.options import add_command, integer, number
from gameproof.cli.table_options import add_seed


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``simulate``."""
    parser = add_command(
        commands,
        shared,
        "simulate",
        run,
        summary="let simulated people answer, to try a study",
        description="Answers the questions of a study as simulated people would, until it is "
        "finished. Moves are in standard deviations of the prepared columns. Do not use this on a "
        "study with real people: the answers count.",
        examples="example: gameproof live simulate study.db --silent 0.1 --noise 0.2",
    )
    add_study(parser)
    moves = parser.add_mutually_exclusive_group()
    moves.add_argument(
        "--power",
        type=number(0),
        default=0.1,
        metavar="Z",
        help="people move as far as it pays, with this power (%(default)g)",
    )
    moves.add_argument(
        "--budget",
        type=number(0),
        metavar="DISTANCE",
        help="people move up to this distance towards a better score instead",
    )
    parser.add_argument(
        "--noise", type=number(0), default=0.0, metavar="SD", help="noise of answers (%(default)g)"
    )
    for option, what in (("reluctant", "who do not move"), ("silent", "who never answer")):
        parser.add_argument(
            f"--{option}",
            type=share,
            default=0.0,
            metavar="SHARE",
            help=f"the share of people {what} (%(default)g)",
        )
    parser.add_argument(
        "--answers", type=integer(1), metavar="N", help="stop after this many answers"
    )
    parser.add_argument(
        "--pause",
        type=number(0),
        default=0.0,
        metavar="SECONDS",
        help="wait before each answer, to watch the page (%(default)g)",
    )
    add_seed(parser, "the simulated people")


def share(given: str) -> float:
    """Argument type: a number from 0 to 1, without 1."""
    try:
        value = float(given)
    except ValueError:
        value = 1.0
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(
            f"expected a share, at least 0 and less than 1, got {given!r}"
        )
    return value


def run(options: argparse.Namespace, console: Console) -> None:
    """Lets simulated people answer."""
    with opened_study(options) as study:
        from gameproof.live.simulated_people import SimulatedPeople, simulate

        people = SimulatedPeople(
            study,
            power=options.power,
            budget=options.budget,
            noise=options.noise,
            reluctant=options.reluctant,
            silent=options.silent,
            seed=options.seed,
        )
        with console.step("simulating answers"):
            told = simulate(study, people, answers=options.answers, pause=options.pause)
        status = study.status()
        found = study.recommend()
    console.show(
        "\n".join([f"{told:,} simulated answers", str(status), *status.warnings, str(found)]),
        {"told": told, "status": status.as_dict(), "recommendation": found.sentence},
    )
