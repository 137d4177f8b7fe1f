"""``gameproof live tell``: answers from a table."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gameproof.cli.console import Console
from gameproof.cli.live_study import add_study, opened_study
from gameproof.cli.options import add_command
from gameproof.cli.outputs import add_force, output_to, require_writable
from gameproof.cli.table_reading import add_table, read_table, table_name
from gameproof.core.errors import DataError

if TYPE_CHECKING:
    from gameproof.core.arguments import Matrix
    from gameproof.live.study import Study
    from gameproof.tables.table import Table

EXAMPLE = "example: gameproof live tell study.db answers.csv -o receipts.csv"
QUESTION, KEY = "question", "key"
# Larger numbers are not exact.
LARGEST = 2**53


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``tell``."""
    parser = add_command(
        commands,
        shared,
        "tell",
        run,
        summary="store answers",
        description="Stores the answers of a table: a column question with the numbers that ask "
        "gave, and what people report now in the columns of the study's table. A column key, if "
        "there is one, identifies each answer. If the table names the person, it must be the one "
        "who was asked. Running the command again stores nothing twice.",
        examples=EXAMPLE,
    )
    add_study(parser)
    add_table(parser, "answers")
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        metavar="OUT",
        help="a file for the number and the status of each answer: .csv, .tsv or .parquet",
    )
    add_force(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Reads the answers, stores them, and advances the study."""
    from gameproof.tables.write_table import check_table_name, write_table

    require_writable(options.out, force=options.force, inputs=(options.answers,))
    if options.out:
        check_table_name(options.out)
    with console.step(f"reading {table_name(options.answers)}"):
        table = read_table(options.answers, options)
    with opened_study(options) as study:
        receipts, refused = _tell(study, table, console)
        study.advance()
        status = study.status()
    if options.out:
        with output_to(options.out, options.force):
            write_table(options.out, receipts)
    # A row that stands in the file twice is one answer.
    stored_once = dict(zip(receipts["answer"], receipts["status"], strict=True))
    counts = Counter(stored_once.values())
    stored = ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))
    console.show(
        f"{stored or 'nothing stored'}\n{status}",
        {"answers": dict(counts), "refused": refused, "status": status.as_dict()},
    )
    if refused:
        raise DataError(f"{_how_many(len(refused), table.n)}: {refused[0]}")


def _how_many(refused: int, all_rows: int) -> str:
    """How many answers were refused, before the reason of the first."""
    if all_rows == 1:
        return "the answer was refused"
    if refused == all_rows:
        return f"all {all_rows:,} answers were refused; first"
    return f"{refused:,} of {all_rows:,} answers were refused, the others are stored; first"


def _tell(study: Study, table: Table, console: Console) -> tuple[dict[str, Any], list[str]]:
    """Stores the answer of every row. Returns the receipts, and a sentence for each refused row."""
    from gameproof.live.facts import Receipt

    numbers = _questions(table)
    keys = table.columns[KEY].cells.to_pylist() if KEY in table.columns else [None] * table.n
    features, unusable, notes = _features(study, table, numbers)
    for note in notes:
        console.say(note)
    unusable = {**unusable, **_other_people(study, table, numbers)}
    receipts: dict[str, Any] = {QUESTION: [], "answer": [], "status": []}
    refused = []
    rows = [row for row in range(table.n) if row not in unusable]
    answers = [
        (numbers[row], features[row], None if keys[row] is None else str(keys[row])) for row in rows
    ]
    with console.step(f"storing {len(rows):,} answers"):
        replies = {**unusable, **dict(zip(rows, study.tell_many(answers), strict=True))}
    for row, told in sorted(replies.items()):
        if not isinstance(told, Receipt):
            refused.append(f"row {table.row(row)}: {told}")
            continue
        receipts[QUESTION].append(numbers[row])
        receipts["answer"].append(told.answer_id)
        receipts["status"].append(told.status.value)
    return receipts, refused


def _questions(table: Table) -> list[int]:
    import numpy as np

    column = table.column(QUESTION, "column")
    cells = column.numbers
    if cells is None:  # some cell is text; which one?
        cells = [_number(cell) for cell in column.cells.to_pylist()]
    numbers = np.asarray(cells, dtype=np.float64)
    usable = (np.abs(numbers) < LARGEST) & (numbers == np.floor(numbers))
    bad = np.flatnonzero(~usable)
    if bad.size:
        raise DataError(
            f"row {table.row(int(bad[0]))} has no number in the column {QUESTION!r}; "
            "gameproof live ask gives the numbers"
        )
    found: list[int] = numbers.astype(np.int64).tolist()
    return found


def _number(cell: Any) -> float:
    """The number in a cell; NaN for text."""
    try:
        return float(cell)
    except (TypeError, ValueError):
        return nan


def _other_people(study: Study, table: Table, numbers: list[int]) -> Mapping[int, Exception]:
    """Rows that name somebody else than the person of their question."""
    if study.table is None or not study.table.person_columns(table):
        return {}
    agents = {question.id: question.agent for question in study.ledger.questions(study.id)}
    return study.table.other_people(table, [agents.get(number) for number in numbers])


def _features(
    study: Study, table: Table, numbers: list[int]
) -> tuple[Matrix, Mapping[int, Exception], list[str]]:
    """The answers, one per row, why rows are not answers, and notes on gaps in others."""
    import numpy as np

    if study.table is not None:
        return study.table.feature_rows(table, lambda row: study.features_of(numbers[row]))
    names = study.answer_names
    columns = [table.column(name, "column").numbers for name in names]
    for name, cells in zip(names, columns, strict=True):
        if cells is None:
            raise DataError(f"the column {name!r} must contain numbers only")
    found: Matrix = np.column_stack([np.asarray(cells, dtype=np.float64) for cells in columns])
    return (found[:, 0] if study.sees_scores else found), {}, []
