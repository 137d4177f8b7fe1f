"""Checkpoints in a table of their own, which is made when it is first needed.

The table is no part of the schema: it holds nothing that the facts do not hold, and may be dropped
at any time.
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    delete,
    insert,
    inspect,
    select,
)

_table = Table(
    "checkpoint",
    MetaData(),
    Column("study_id", Integer, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
)


def write_checkpoint(connection: Connection, study: int, content: bytes) -> None:
    """Replaces the checkpoint of a study."""
    _table.create(connection, checkfirst=True)
    connection.execute(delete(_table).where(_table.c.study_id == study))
    connection.execute(insert(_table), {"study_id": study, "content": content})


def read_checkpoint(connection: Connection, study: int) -> bytes | None:
    """The checkpoint of a study."""
    if not inspect(connection).has_table(_table.name):
        return None
    found = connection.scalar(select(_table.c.content).where(_table.c.study_id == study))
    return None if found is None else bytes(found)
