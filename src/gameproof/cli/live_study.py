"""The study that a ``gameproof live`` command works on."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gameproof.live.study import Study


def add_study(parser: argparse.ArgumentParser) -> None:
    """The database, and the study's name in it."""
    parser.add_argument("where", metavar="STUDY", help="the file of a study, or a database URL")
    parser.add_argument(
        "--study", metavar="NAME", help="the study's name, if the database has several"
    )


@contextmanager
def needs_live() -> Iterator[None]:
    """Says which extra to install if an import in the block fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("gameproof"):
            raise
        raise ImportError(
            f"live studies need {error.name}: pip install 'gameproof[live]'"
        ) from error


@contextmanager
def opened_study(options: argparse.Namespace) -> Iterator[Study]:
    """The study, until the end of the block. A missing file is an error, not a new database."""
    if "://" not in options.where and not Path(options.where).exists():
        raise FileNotFoundError(
            f"there is no study {options.where}; gameproof live create makes one"
        )
    with needs_live():
        from gameproof.live.open_study import open as open_study
    with open_study(options.where, options.study) as study:
        yield study
