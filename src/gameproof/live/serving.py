"""`serve`: runs the service of a study until it is told to stop."""

from __future__ import annotations

import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

import uvicorn

from gameproof.live.guard import MOST_BYTES, Guard
from gameproof.live.host_names import HostNames, is_loopback
from gameproof.live.service import Service
from gameproof.live.study import Study
from gameproof.live.tokens import TokenFile

HOST, PORT, MOST_PORTS = "127.0.0.1", 8642, 65535
# Seconds that requests have to end when the service stops.
STOP_PATIENCE = 10


@final
@dataclass(frozen=True)
class Place:
    """Where a service listens, and who may call it.

    Attributes
    ----------
    host, port : str, int
        The address. Port 0 is any free one.
    tokens : TokenFile or None
        The valid tokens. Without them, the address must be loopback.
    allow_hosts : tuple of str
        Further names by which the service may be called, such as that of a proxy.
    certificate, certificate_key : Path or None
        Files for HTTPS.
    most_bytes : int
        The largest body of a request.
    """

    host: str = HOST
    port: int = PORT
    tokens: TokenFile | None = None
    allow_hosts: tuple[str, ...] = ()
    certificate: Path | None = None
    certificate_key: Path | None = None
    most_bytes: int = MOST_BYTES

    def check(self) -> None:
        """Raises ValueError if strangers could call the service, or nobody could."""
        if not 0 <= self.port <= MOST_PORTS:
            raise ValueError(f"port must be between 0 and {MOST_PORTS}, got {self.port}")
        if self.tokens is not None and not self.tokens.tokens():
            raise ValueError(
                f"{self.tokens.path} has no token; create one: gameproof live token "
                f"{self.tokens.path} --name NAME --scope read"
            )
        if self.tokens is None and not is_loopback(self.host):
            raise ValueError(
                f"{self.host} can be reached from other machines, so the service needs tokens: "
                "gameproof live token creates a file of them for --tokens"
            )
        if (self.certificate is None) != (self.certificate_key is None):
            raise ValueError("HTTPS needs both a certificate and its key")
        if self.certificate is not None:
            _check_certificate(self.certificate, self.certificate_key)


def _check_certificate(certificate: Path, key: Path | None) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except OSError as error:  # of which ssl.SSLError is one
        raise ValueError(
            f"{certificate} and {key} are not a certificate and its key in PEM form: "
            f"{error.strerror or error}"
        ) from error


def serve(study: Study, place: Place, ready: Callable[[str], None] = print) -> None:
    """Serves a study until SIGTERM or Ctrl-C, and calls `ready` with the address of its page."""
    place.check()
    with bound(place) as listening, _orderly_end():
        StudyServer(study, place, listening, ready).run(sockets=[listening])


@final
class StudyServer(uvicorn.Server):
    """Says when it is ready, and ends streams before it waits for connections to close."""

    def __init__(
        self, study: Study, place: Place, listening: socket.socket, ready: Callable[[str], None]
    ) -> None:
        self._service = Service(study, place.tokens is not None)
        self._ready, self._address = ready, _address(place, listening)
        names = HostNames(place.host, place.allow_hosts)
        super().__init__(
            uvicorn.Config(
                Guard(self._service.app, names, place.tokens, place.most_bytes),
                lifespan="on",
                ws="none",
                log_level="warning",
                server_header=False,
                timeout_graceful_shutdown=STOP_PATIENCE,
                ssl_certfile=place.certificate,
                ssl_keyfile=place.certificate_key,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready(self._address)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.stop_streams()
        await super().shutdown(sockets)


@contextmanager
def _orderly_end() -> Iterator[None]:
    """Lets the caller close its files after a signal. The server repeats the signal that ended it,
    which would end the process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGTERM, signal.SIGINT)
    before = {each: signal.signal(each, lambda *_: None) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def bound(place: Place) -> socket.socket:
    """A socket at this address, so that a port in use is one clear error."""
    try:
        [(family, *_, address), *_] = socket.getaddrinfo(
            place.host, place.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        return socket.create_server(address[:2], family=family, backlog=2048)
    except OSError as error:
        raise OSError(
            f"the service cannot listen at {place.host}, port {place.port}: "
            f"{error.strerror or error}; give another --host or --port"
        ) from error


def _address(place: Place, listening: socket.socket) -> str:
    scheme = "http" if place.certificate is None else "https"
    host = place.host
    if HostNames(host).any_address:
        host = socket.gethostname()
    elif ":" in host:
        host = f"[{host}]"
    return f"{scheme}://{host}:{listening.getsockname()[1]}/"
