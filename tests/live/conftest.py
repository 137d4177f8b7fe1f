"""Stores of every kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from gameproof.live.ledger import Ledger
from gameproof.live.memory_ledger import MemoryLedger
from gameproof.live.sql_ledger import SqlLedger
from postgres_server import MISSING, PROGRAMS, Server, running_server

_files = count()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A running server."""
    if not PROGRAMS:
        pytest.skip(MISSING)
    with running_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Names empty databases of one kind."""
    if request.param == "sqlite":
        return lambda: str(tmp_path / f"study{next(_files)}.db")
    server: Server = request.getfixturevalue("postgresql")
    return server.new_database


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def make_ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Ledger]]:
    """Makes empty ledgers of one kind, and closes them."""
    opened: list[SqlLedger] = []

    def make() -> Ledger:
        if request.param == "memory":
            return MemoryLedger()
        where = str(tmp_path / f"ledger{next(_files)}.db")
        if request.param == "postgresql":
            where = request.getfixturevalue("postgresql").new_database()
        opened.append(SqlLedger(where))
        return opened[-1]

    yield make
    for ledger in opened:
        ledger.close()
