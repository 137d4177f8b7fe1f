"""`Guard`: what is checked before a request reaches the service.

1. The Host header must name this service. Otherwise a page from elsewhere could reach a service on
   loopback by a name of its own that resolves to 127.0.0.1 (DNS rebinding).
2. The Origin header, if there is one, must be this very service, and a browser must not call the
   interface from another site.
3. The interface needs a token, if the service has any.
4. The body must not be too large, whether or not its length is announced.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from ipaddress import ip_address
from typing import final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gameproof.core.errors import DataError
from gameproof.live.facts import LedgerError
from gameproof.live.service_errors import error_reply
from gameproof.live.tokens import ALL_SCOPES, TokenFile
from gameproof.live.tokens import Scope as Permission

API = "/v1/"
MOST_BYTES = 8 * 2**20
# Seconds that a client has to send a body, and that the rest of a refused one is read.
BODY_PATIENCE, DRAIN_PATIENCE = 30.0, 5.0
LOOPBACK = ("localhost", "127.0.0.1", "::1")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# In the scope of a request, this gives what the caller may do now, or raises.
PERMISSIONS = "gameproof.permissions"


def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


@final
class HostNames:
    """The names by which a service that listens at `host` may be called."""

    def __init__(self, host: str, others: Iterable[str] = ()) -> None:
        own = {*LOOPBACK, host}
        try:
            self.any_address = ip_address(host).is_unspecified
        except ValueError:
            self.any_address = False
        if self.any_address:
            own |= {socket.gethostname(), socket.getfqdn()}
        self._names = {name.lower() for name in (*own, *others)}

    def allow(self, header: str) -> bool:
        """Whether a Host header names the service. A rebound name is never an address."""
        name = _host_name(header)
        if name is None:
            return False
        return name in self._names or (self.any_address and _is_address(name))


@final
class Guard:
    """An ASGI application that checks requests and passes them on.

    Parameters
    ----------
    app
        The service.
    names
        By which names it may be called.
    tokens
        The valid tokens; without them everybody may do everything.
    most_bytes
        The largest body.
    """

    def __init__(
        self,
        app: ASGIApp,
        names: HostNames,
        tokens: TokenFile | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._app, self._names, self._tokens = app, names, tokens
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                found = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    found.setdefault(name, value)
            await send(message)

        headers, incoming = Headers(scope=scope), _Incoming(receive)
        try:
            self._check_names(scope["path"], headers)
            scope[PERMISSIONS] = partial(self._permissions, scope["path"], headers)
            scope[PERMISSIONS]()
            body = await self._body(headers, incoming)
        except LedgerError as error:
            await incoming.drain()
            reply = error_reply(error.code, str(error), {"Connection": "close"})
            await reply(scope, receive, send_with_headers)
        except ClientDisconnect:
            return
        else:
            await self._app(scope, incoming.replay(body), send_with_headers)

    def _check_names(self, path: str, headers: Headers) -> None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._names.allow(hosts[0]):
            raise LedgerError(
                "wrong-host",
                "this service has another name; use the address that it printed when it started, "
                "or start it with --allow-host NAME",
            )
        origin = headers.get("origin")
        foreign = origin is not None and _place(origin) != hosts[0].lower()
        site = headers.get("sec-fetch-site", "none")
        if foreign or (path.startswith(API) and site not in ("same-origin", "none")):
            raise LedgerError("wrong-origin", "pages from elsewhere may not call this service")

    def _permissions(self, path: str, headers: Headers) -> frozenset[Permission]:
        if self._tokens is None or not path.startswith(API):
            return ALL_SCOPES
        kind, _, secret = headers.get("authorization", "").partition(" ")
        try:
            token = self._tokens.find(secret.strip()) if kind.lower() == "bearer" else None
        except (DataError, OSError) as error:
            raise LedgerError("tokens-unreadable", f"no token can be checked: {error}") from error
        if token is None:
            raise LedgerError(
                "no-token",
                "this service needs a valid token, in the header Authorization: Bearer TOKEN; "
                "gameproof live token creates one",
            )
        return token.scopes

    async def _body(self, headers: Headers, incoming: _Incoming) -> bytes:
        """The whole body. Its length is not announced if it comes in chunks."""
        announced = headers.get("content-length", "0")
        if announced.isdecimal() and int(announced) > self._most_bytes:
            raise self._too_large()
        parts, size = [], 0
        try:
            async with asyncio.timeout(BODY_PATIENCE):
                while not incoming.finished:
                    parts.append(await incoming.part())
                    size += len(parts[-1])
                    if size > self._most_bytes:
                        raise self._too_large()
        except TimeoutError as error:
            raise LedgerError(
                "body-too-slow", f"the body did not arrive within {BODY_PATIENCE:g} seconds"
            ) from error
        return b"".join(parts)

    def _too_large(self) -> LedgerError:
        return LedgerError(
            "body-too-large",
            f"the body exceeds {self._most_bytes:,} bytes; send fewer answers at once",
        )


@final
class _Incoming:
    """The body of a request as it arrives."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self.finished = receive, False

    async def part(self) -> bytes:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        self.finished = not message.get("more_body", False)
        found: bytes = message.get("body", b"")
        return found

    async def drain(self) -> None:
        """Reads the rest of a refused body: a client that still sends does not see the reply."""
        with suppress(TimeoutError, ClientDisconnect):
            async with asyncio.timeout(DRAIN_PATIENCE):
                while not self.finished:
                    await self.part()

    def replay(self, body: bytes) -> Receive:
        """Gives the body that was read already, and then what comes after it."""
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def next_message() -> Message:
            return messages.pop() if messages else await self._receive()

        return next_message


def _host_name(header: str) -> str | None:
    """The name in a Host header, without port and brackets."""
    try:
        return urlsplit(f"//{header}").hostname
    except ValueError:
        return None


def _place(origin: str) -> str | None:
    """The host and port of an origin."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
