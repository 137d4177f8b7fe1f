"""PostgreSQL for tests: a server of their own on a free loopback port."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import create_engine, text

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
MISSING = "PostgreSQL is not installed (Debian: apt-get install postgresql)"
_databases = count()


class Server:
    """A server that can be stopped and started again."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, _free_port()
        self._data = folder / "data"
        self.url = f"postgresql://tester@127.0.0.1:{self._port}"
        if not os.getuid():
            shutil.chown(folder, "postgres")
        self._run("initdb", "-D", self._data, "-U", "tester", "-A", "trust", "-E", "UTF8")

    def start(self) -> None:
        # No socket file, and nobody from elsewhere: the server listens on loopback only.
        settings = f"-p {self._port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        log = self._folder / "log"
        self._run("pg_ctl", "-D", self._data, "-w", "-l", log, "-o", settings, "start")

    def stop(self) -> None:
        """Stops at once, as after a power failure."""
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "stop")

    def new_database(self) -> str:
        """The URL of an empty database."""
        name = f"test{os.getpid()}_{next(_databases)}"
        admin = self.url.replace("postgresql:", "postgresql+psycopg:") + "/postgres"
        engine = create_engine(admin, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return f"{self.url}/{name}"

    def _run(self, program: str, *arguments: str | Path) -> None:
        """Runs a program of PostgreSQL, which refuses to run as root."""
        user = {} if os.getuid() else {"user": "postgres"}
        command = [PROGRAMS[0] / program, *arguments]
        subprocess.run(command, check=True, cwd=self._folder, stdout=subprocess.DEVNULL, **user)


@contextmanager
def running_server() -> Iterator[Server]:
    """A server until the end of the block."""
    with TemporaryDirectory(prefix="gameproof-postgresql-") as name:
        server = Server(Path(name))
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
