"""``gameproof predict``: what a model decides about the rows of a table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gameproof.cli.console import Console
from gameproof.cli.options import STANDARD, model_file
from gameproof.cli.outputs import add_force, make_sure
from gameproof.cli.table_options import add_table, name_of, names, read
from gameproof.core.naming import listed, quoted

if TYPE_CHECKING:
    from gameproof.tables.table import Table
    from gameproof.tables.table_model import TableModel

EXAMPLE = "example: gameproof predict model.json people.csv --keep id -o decisions.csv"


def add_parser(words: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """``predict``."""
    parser = words.add_parser(
        "predict",
        parents=[shared],
        help="what a model decides about the rows of a table",
        description="Tells for each row of a table what a model decides, with the score, positive "
        "for the favourable outcome, and the probability that goes with it. Prints CSV, or writes "
        "a file. Where the table has the target too, tells how often the model is right.",
        epilog=EXAMPLE,
    )
    parser.add_argument("model", type=model_file, metavar="MODEL", help="what gameproof fit wrote")
    add_table(parser)
    parser.add_argument(
        "--keep", action="append", metavar="A,B", help="columns of the table to write as well"
    )
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        metavar="OUT",
        help="a file: .csv, .tsv (or packed), .parquet; without it, or with -, CSV is printed",
    )
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> None:
    """Reads both, decides, prints or writes."""
    from gameproof.tables.load_model import load_table_model
    from gameproof.tables.write_table import check_table_name, table_bytes, write_table

    if options.out == STANDARD:
        options.out = None
    if options.out:
        make_sure(options.out, force=options.force, inputs=(options.model, options.table))
        check_table_name(options.out)
    with console.step(f"reading {name_of(options.table)}"):
        model = load_table_model(options.model)
        table = read(options.table)
        kept = {name: table.column(name).cells for name in names(options.keep, table)}
        columns, notes = _decided(model, table)
        taken = [name for name in kept if name in ("row", *columns)]
        if taken:
            raise ValueError(f"--keep names {taken[0]!r}, which decisions have themselves")
        columns = {"row": range(1, table.n + 1), **kept, **columns}
    right, more = _right(model, table, columns["decision"])
    notes += more
    for note in notes:
        console.say(note)
    if options.out:
        write_table(options.out, columns)
        text = f"{table.n:,} decisions in {options.out}"
        record = {"file": str(options.out), "rows": table.n, "accuracy": right, "notes": notes}
        console.show(text, record)
        return
    text = "" if console.as_json else table_bytes(Path("decisions.csv"), columns).decode().rstrip()
    console.show(text, {"accuracy": right, "notes": notes, "rows": _rows(columns)})


def _decided(model: TableModel, table: Table) -> tuple[dict[str, Any], list[str]]:
    """Decisions, scores and probabilities, and what is worth a note."""
    from scipy.special import expit

    scores, notes = model.scored(table)
    columns = {
        "decision": model.outcomes(scores),
        "score": scores.round(6),
        "probability": expit(scores).round(6),
    }
    return columns, notes


def _right(model: TableModel, table: Table, decisions: list[str]) -> tuple[float | None, list[str]]:
    """The share of decisions that agree with the target, where it is known, and what to note. To
    decide takes no target, so one that the model does not know is no fault."""
    target = model.plan.target
    if target.name not in table.columns:
        return None, []
    name = quoted(target.name)
    rows, y, strange = target.known(table)
    notes = []
    if strange:
        notes.append(
            f"{name}: {sum(strange.values()):,} rows have "
            f"{listed([quoted(value) for value in sorted(strange)], 3)}, which is neither "
            f"{quoted(target.favourable)} nor {quoted(target.other)}; they are decided all the "
            "same, and not compared"
        )
    if not rows.size:
        return None, notes
    labels = zip(rows.tolist(), y.tolist(), strict=True)
    agree: list[bool] = [(decisions[k] == target.favourable) == (sign > 0) for k, sign in labels]
    right = float(sum(agree)) / len(agree)
    return right, [*notes, f"right in {right:.3f} of the {rows.size:,} rows with a known {name}"]


def _rows(columns: dict[str, Any]) -> list[dict[str, Any]]:
    plain = [part.tolist() if hasattr(part, "tolist") else part for part in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*plain, strict=True)]
