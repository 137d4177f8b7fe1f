"""The column that says which group people belong to, for comparisons between groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.people_groups import MISSING
from gameproof.core.errors import DataError
from gameproof.tables.table import Table

MOST = 20  # groups that a reader can compare


def group_labels(table: Table, name: str) -> NDArray[np.str_]:
    """The group of each row, as text.

    Raises if the column has too many different values to be groups.
    """
    import pyarrow.compute as pc

    codes = table.column(name, "column of groups").codes
    found = np.array(pc.fill_null(codes, MISSING).to_pylist(), dtype=np.str_)
    require_few(np.unique(found).size, name)
    return found


def require_few(number: int, name: str) -> None:
    """Raises if a column has too many different values to be groups."""
    if number > MOST:
        raise DataError(
            f"the column of groups, {name!r}, has {number:,} different values, more than {MOST}; "
            "add a column to the table that puts them into a few groups"
        )
