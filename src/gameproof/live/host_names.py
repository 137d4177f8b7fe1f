"""`HostNames`: the names by which a service may be called."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from ipaddress import ip_address
from typing import final
from urllib.parse import urlsplit

LOOPBACK = ("localhost", "127.0.0.1", "::1")


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


def _host_name(header: str) -> str | None:
    """The name in a Host header, without port and brackets."""
    try:
        return urlsplit(f"//{header}").hostname
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
