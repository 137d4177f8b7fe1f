"""`open_training`: labelled rows of a table in memory, in files or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gameproof.rows.cores import one_blas_thread
from gameproof.tables.engines import EngineName, open_engine
from gameproof.tables.meaning import Meaning
from gameproof.tables.table import Table, as_table
from gameproof.tables.table_files import TableFiles, required_files, table_files
from gameproof.tables.table_format import DETECTED, TableFormat
from gameproof.tables.training_files import training_files
from gameproof.tables.training_table import TrainingTable, training_table


@contextmanager
def open_training(
    table: Any,
    meaning: Meaning,
    engine: EngineName | None = None,
    scheduler: str | None = None,
    progress: bool | None = None,
) -> Iterator[TrainingTable]:
    """The labelled rows of a table; a cluster is left at the end of the context.

    Meanwhile, BLAS has one thread: its own threads would only wait for each other."""
    on_cluster = engine is not None or scheduler is not None
    given = as_rows_or_files(table, on_cluster=on_cluster)
    with one_blas_thread():
        if isinstance(given, Table):
            yield training_table(given, meaning)
            return
        with open_engine(engine, scheduler) as where:
            yield training_files(given, where, meaning, progress)


def as_rows_or_files(
    table: Any, stated: TableFormat = DETECTED, *, on_cluster: bool = False
) -> Table | TableFiles:
    """A table in memory, or its files if there are many, or one that is too large; a cluster
    always reads files."""
    if isinstance(table, TableFiles):
        return table
    if on_cluster:
        return required_files(table, stated)
    if isinstance(table, (str, Path)) and (files := table_files(table, stated)) is not None:
        return files
    return as_table(table, stated=stated)
