"""``gameproof show``: the coefficients of a model, how it decides, and how it was made."""

from __future__ import annotations

import argparse
from typing import Any

from gameproof.cli.console import Console
from gameproof.cli.options import add_command, model_file

EXAMPLE = "example: gameproof show model.json"


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``show``."""
    parser = add_command(
        commands,
        shared,
        "show",
        run,
        summary="show a model: coefficients, threshold, budgets, and how it was made",
        description="Prints the effect of every column in the units of the table, with the columns "
        "that people can change marked, the intercept, the threshold, the budgets, the radius, and "
        "how the model was trained.",
        examples=EXAMPLE,
    )
    parser.add_argument(
        "model", type=model_file, metavar="MODEL", help="a file that gameproof fit wrote"
    )


def run(options: argparse.Namespace, console: Console) -> None:
    """Reads the model and prints its summary."""
    from gameproof.tables.load_model import load_table_model
    from gameproof.tables.model_summary import ModelSummary

    found = ModelSummary(load_table_model(options.model), str(options.model))
    console.show("\n".join(found.lines()), found.record())
