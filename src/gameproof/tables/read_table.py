"""`read_table`: a table in a file, as a `Dataset`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gameproof.tables.column_plan import ColumnPlan
from gameproof.tables.dataset import Dataset
from gameproof.tables.table import open_table
from gameproof.tables.target import Target


def read_table(
    path: str | Path,
    target: str,
    favourable: str,
    movable: Sequence[str] = (),
    *,
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
    rest: bool = False,
    max_bytes: int | None = None,
) -> Dataset:
    """Read a table from a file as a `Dataset`.

    Rows without a target are left out, and so are columns from which nothing can be learned.

    Parameters
    ----------
    path : str or Path
        CSV, TSV or Parquet, compressed or not. Needs ``pip install 'gameproof[tables]'``.
    target : str
        The column that holds the outcome.
    favourable : str
        The value of the target that people want. It gets the label +1.
    movable : sequence of str
        Columns that people can change.
    drop, categories : sequence of str
        Columns to leave out, and numeric columns that hold codes.
    rest : bool, default False
        Treat all values of the target other than the favourable one as one outcome.
    max_bytes : int, optional
        The most bytes that a compressed file or a Parquet file may unpack to. By default what the
        environment variable ``GAMEPROOF_MAX_BYTES`` says, or else 2 GB.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If the file cannot be read or used: the message names the column and the row.

    Examples
    --------
    >>> import gameproof as gp, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "people.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("savings,repaid\\n100,no\\n250,yes\\n30,no\\n")
    ...     data = gp.read_table(path, target="repaid", favourable="yes", movable=["savings"])
    >>> data.y.tolist()
    [-1.0, 1.0, -1.0]
    """
    table = open_table(path, max_bytes)
    aim = Target.of(table, target, favourable, rest)
    known, y = aim.labelled(table)
    plan = ColumnPlan.of(known, aim, movable, drop=drop, categories=categories)
    return Dataset(str(path), plan.encoded(known).X, y, plan.features, source=str(path))
