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
# Waits for the end of its input, which the death of our process brings about, too.
WATCHER = 'read -r _; "$0" -D "$1/data" -m immediate stop >/dev/null 2>&1; rm -rf "$1"'
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

    @property
    def pid(self) -> int:
        """The number of the process that starts all others."""
        return int((self._data / "postmaster.pid").read_text().split()[0])

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
        """Runs a program of PostgreSQL."""
        command = [PROGRAMS[0] / program, *arguments]
        subprocess.run(command, check=True, cwd=self._folder, stdout=subprocess.DEVNULL, **_user())


@contextmanager
def running_server() -> Iterator[Server]:
    """A server until the end of the block, or of our process if it is killed."""
    with TemporaryDirectory(prefix="gameproof-postgresql-") as name, _watched(name):
        server = Server(Path(name))
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def _watched(folder: str) -> Iterator[None]:
    """Stops the server in a folder, and removes the folder, if our process dies."""
    command = ["sh", "-c", WATCHER, PROGRAMS[0] / "pg_ctl", folder]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, cwd="/", start_new_session=True, **_user()
    ):
        yield


def _user() -> dict[str, str]:
    """PostgreSQL refuses to run as root."""
    return {} if os.getuid() else {"user": "postgres"}


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
