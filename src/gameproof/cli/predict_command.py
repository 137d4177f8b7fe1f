"""``gameproof predict``: what a model decides about the rows of a table."""

from __future__ import annotations

import argparse
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gameproof.cli.column_lists import column_names
from gameproof.cli.console import Console, print_out
from gameproof.cli.options import STANDARD, UsageError, add_command, integer, model_file
from gameproof.cli.outputs import (
    add_force,
    output_to,
    require_folder_apart,
    require_free,
    require_writable,
)
from gameproof.cli.table_reading import add_table, parse_engine, read_table_or_files, table_name

if TYPE_CHECKING:
    from gameproof.tables.predict_table import About
    from gameproof.tables.table import Table
    from gameproof.tables.table_files import TableFiles
    from gameproof.tables.table_model import TableModel

EXAMPLE = """examples:
  gameproof predict model.json people.csv --keep id -o decisions.csv
  gameproof predict model.json loans/ -o decisions/"""


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
    add_table(parser, files=True)
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
        "printed; if the table is a folder or a pattern, a folder, which gets one file of "
        "decisions for each file",
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
    from gameproof.tables.table import Table
    from gameproof.tables.write_table import check_table_name

    out = None if options.out == STANDARD else options.out
    if out and not _many_files(options.table):
        require_writable(out, force=options.force, inputs=(options.model, options.table))
        check_table_name(out)
    with console.step(f"reading {table_name(options.table)}"):
        model = load_table_model(options.model)
        table = read_table_or_files(options.table, options)
    verdict = (model.training.get("verdict") or {}).get("sentence")
    if isinstance(table, Table):
        _decide_table(options, console, model, table, out, verdict)
    else:
        _decide_files(options, console, model, table, out, verdict)


def _decide_table(
    options: argparse.Namespace,
    console: Console,
    model: TableModel,
    table: Table,
    out: Path | None,
    verdict: str | None,
) -> None:
    """Decisions about a table in memory."""
    from gameproof.tables.predict_table import predict_table
    from gameproof.tables.spreadsheet_cells import neutralised
    from gameproof.tables.write_table import is_text_table, table_bytes, write_table

    found = predict_table(model, table, column_names(options.keep, table), reasons=options.reasons)
    record = _told(console, found.about, model, verdict)
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


def _decide_files(
    options: argparse.Namespace,
    console: Console,
    model: TableModel,
    files: TableFiles,
    out: Path | None,
    verdict: str | None,
) -> None:
    """Decisions about a table in files: one file for each file."""
    from gameproof.tables.predict_files import Wanted, decision_files, predict_files
    from gameproof.tables.write_table import is_text_table

    if out is None:
        where = "a file" if files.folder is None else "a folder"
        raise UsageError(f"name {where} for the decisions about {files.source} (-o)")
    if files.folder is not None:
        if out.suffix == ".parquet" or is_text_table(out):
            raise UsageError(
                f"decisions about {files.source} are files in a folder, one for each file; -o must "
                f"name a folder, got {out}"
            )
        require_folder_apart(out, Path(files.folder))
        require_free(decision_files(files, out).values(), force=options.force)
    keep = tuple(column_names(options.keep, files))
    for name in keep:
        files.column(name)
    folder = out.parent if files.folder is None else out
    with output_to(folder / "decisions", options.force):
        about = predict_files(
            model,
            files,
            out,
            Wanted(keep, options.reasons, options.raw),
            **parse_engine(options),
            progress=console.progress,
        )
    record = _told(console, about, model, verdict)
    number = len({part.path for part in files.parts})
    text = f"{files.n:,} decisions in {out}"
    text += f", {number:,} files" if files.folder is not None else ""
    console.show(text, {"file": str(out), "rows": files.n, "files": number, **record})


def _told(console: Console, about: About, model: TableModel, verdict: str | None) -> dict[str, Any]:
    """Prints the notes on decisions, and returns them for JSON."""
    notes = about.notes(model)
    for note in [*([f"verdict of the fit: {verdict}"] if verdict else []), *notes]:
        console.say(note)
    return {"verdict": verdict, "accuracy": about.accuracy, "notes": notes}


def _many_files(path: Path) -> bool:
    """Whether a path names a folder or is a pattern."""
    return path.is_dir() or (not path.exists() and has_magic(str(path)))
