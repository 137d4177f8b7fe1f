"""PostgreSQL for the tests: a server of their own on a free loopback port."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from sqlalchemy import create_engine, text

from gameproof.live.ledger import Ledger
from gameproof.live.memory_ledger import MemoryLedger
from gameproof.live.sql_ledger import SqlLedger

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
_databases = count()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a server, without the name of a database."""
    if not PROGRAMS:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    with TemporaryDirectory(prefix="gameproof-postgresql-") as name:
        folder, port = Path(name), _free_port()
        if not os.getuid():
            shutil.chown(folder, "postgres")
        data, log = folder / "data", folder / "log"
        # No socket file, and nobody from elsewhere: the server listens on loopback only.
        settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        _run("initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", folder=folder)
        _run("pg_ctl", "-D", data, "-w", "-l", log, "-o", settings, "start", folder=folder)
        try:
            yield f"postgresql://tester@127.0.0.1:{port}"
        finally:
            _run("pg_ctl", "-D", data, "-m", "immediate", "stop", folder=folder)


def _run(program: str, *arguments: str | Path, folder: Path) -> None:
    """Runs a program of PostgreSQL, which refuses to run as root."""
    user = {} if os.getuid() else {"user": "postgres"}
    command = [PROGRAMS[0] / program, *arguments]
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, **user)


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def make_ledger(request: pytest.FixtureRequest, tmp_path: Path):
    """Makes empty ledgers of one kind, and closes them."""
    opened: list[SqlLedger] = []

    def make() -> Ledger:
        if request.param == "memory":
            return MemoryLedger()
        if request.param == "sqlite":
            opened.append(SqlLedger(tmp_path / f"ledger{next(_databases)}.db"))
        else:
            server, name = request.getfixturevalue("postgresql"), f"ledger{next(_databases)}"
            engine = create_engine(
                server.replace("postgresql:", "postgresql+psycopg:") + "/postgres",
                isolation_level="AUTOCOMMIT",
            )
            with engine.connect() as connection:
                connection.execute(text(f"CREATE DATABASE {name}"))
            engine.dispose()
            opened.append(SqlLedger(f"{server}/{name}"))
        return opened[-1]

    yield make
    for ledger in opened:
        ledger.close()
