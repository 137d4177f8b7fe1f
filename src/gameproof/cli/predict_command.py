"""``gameproof predict``: what a model decides about the rows of a table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gameproof.cli.column_lists import column_names
from gameproof.cli.console import Console, print_out
from gameproof.cli.options import STANDARD, add_command, integer, model_file
from gameproof.cli.outputs import add_force, output_to, require_writable
from gameproof.cli.table_options import add_table, read_table, table_name

EXAMPLE = "example: gameproof predict model.json people.csv --keep id -o decisions.csv"


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``predict``."""
    parser = add_command(
        commands,
        shared,
        "predict",
        run,
        summary="apply a model to the rows of a table",
        description="Prints, or writes to a file, the decision about each row of a table, with its "
        "score, positive for the favourable outcome, and its probability. If the table holds the "
        "outcome too, reports the accuracy.",
        examples=EXAMPLE,
    )
    parser.add_argument(
        "model", type=model_file, metavar="MODEL", help="a file that gameproof fit wrote"
    )
    add_table(parser)
    parser.add_argument(
        "--keep", action="append", metavar="A,B", help="columns of the table to copy to the output"
    )
    parser.add_argument(
        "--reasons",
        type=integer(0),
        default=0,
        metavar="N",
        help="add the N columns that speak most for each decision, with what they add to the log "
        "odds (%(default)s)",
    )
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        metavar="OUT",
        help="a file: .csv, .tsv (or compressed) or .parquet; by default, and with -, CSV is "
        "printed",
    )
    parser.add_argument(
        "--raw",
        action="store_true",
        help="copy text that begins with =, +, - or @ unchanged to CSV; by default an apostrophe "
        "is put before it, because a spreadsheet would run it as a formula",
    )
    add_force(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Reads the model and the table, and prints or writes the decisions."""
    from gameproof.tables.load_model import load_table_model
    from gameproof.tables.predict_table import predict_table
    from gameproof.tables.spreadsheet_cells import neutralised
    from gameproof.tables.write_table import (
        check_table_name,
        is_text_table,
        table_bytes,
        write_table,
    )

    out = None if options.out == STANDARD else options.out
    if out:
        require_writable(out, force=options.force, inputs=(options.model, options.table))
        check_table_name(out)
    with console.step(f"reading {table_name(options.table)}"):
        model = load_table_model(options.model)
        table = read_table(options.table, options)
        found = predict_table(
            model, table, column_names(options.keep, table), reasons=options.reasons
        )
    for note in found.notes:
        console.say(note)
    record = {"accuracy": found.accuracy, "notes": found.notes}
    columns = found.columns
    if not options.raw and (out is None or is_text_table(out)):
        columns = neutralised(columns)
    if out:
        with output_to(out, options.force):
            write_table(out, columns)
        text = f"{table.n:,} decisions in {out}"
        console.show(text, {"file": str(out), "rows": table.n, **record})
    elif console.as_json:
        console.show("", {**record, "rows": found.rows()})
    else:
        print_out(table_bytes(Path("decisions.csv"), columns).decode().rstrip())
