"""Tokens of a service: a file that holds their hashes, and what each of them permits.

A token is 32 random bytes, so its plain SHA-256 cannot be guessed back, and nobody who reads the
file can use it. The file is read again when it changes: a revoked token ends at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, final

from gameproof.core.atomic_files import write_whole
from gameproof.core.errors import DataError

# Says what a leaked token is for, also to programs that search for secrets.
PREFIX = "gplive_"
VERSION = 1
HASH = re.compile(r"[0-9a-f]{64}")


class Scope(StrEnum):
    """What a token permits."""

    ASK = "ask"
    TELL = "tell"
    READ = "read"
    MANAGE = "manage"  # close a deployment, withdraw an answer, pause and resume


ALL_SCOPES = frozenset(Scope)


class Token(NamedTuple):
    """A token as the file knows it."""

    name: str
    hash: str
    scopes: frozenset[Scope]
    created: float


@final
class TokenFile:
    """The tokens of a file. A missing file has none."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._by_hash: dict[str, Token] = {}

    def tokens(self) -> list[Token]:
        """All tokens, by name."""
        try:
            stored = json.loads(self.path.read_text(encoding="utf-8"))
            if stored["version"] != VERSION:
                raise ValueError(f"version {stored['version']}")
            found = [_read(each) for each in stored["tokens"]]
        except FileNotFoundError:
            return []
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{self.path} is not a file of tokens; gameproof live token creates one"
            ) from error
        return sorted(found, key=lambda token: token.name)

    def add(self, name: str, scopes: Iterable[Scope]) -> str:
        """Creates a token and returns it. Only its hash is kept, so this is the only chance."""
        known, permitted = self.tokens(), frozenset(scopes)
        if not name.strip() or not name.isprintable():
            raise ValueError(f"a token needs a name in one line, got {name!r}")
        if not permitted:
            raise ValueError("a token needs a scope: " + ", ".join(Scope))
        if any(token.name == name for token in known):
            raise ValueError(f"there is a token {name!r} already; revoke it, or choose a name")
        secret = PREFIX + secrets.token_urlsafe(32)
        self._write([*known, Token(name, hashed(secret), permitted, time.time())])
        return secret

    def revoke(self, name: str) -> None:
        """Removes a token."""
        known = self.tokens()
        left = [token for token in known if token.name != name]
        if len(left) == len(known):
            have = ", ".join(repr(token.name) for token in known) or "none"
            raise ValueError(f"there is no token {name!r}; the file has {have}")
        self._write(left)

    def find(self, secret: str) -> Token | None:
        """The token, if it is valid now."""
        with self._lock:
            stamp = self._stamp_now()
            if stamp != self._stamp:
                self._by_hash = {token.hash: token for token in self.tokens()}
                self._stamp = stamp
            return self._by_hash.get(hashed(secret))

    def _stamp_now(self) -> tuple[int, int, int] | None:
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _write(self, tokens: list[Token]) -> None:
        # Created for its owner alone; later writes keep the permissions.
        os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
        stored = {"version": VERSION, "tokens": [_record(token) for token in tokens]}
        write_whole(self.path, (json.dumps(stored, indent=2) + "\n").encode())


def hashed(secret: str) -> str:
    """What the file keeps of a token."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _record(token: Token) -> dict[str, Any]:
    scopes = [scope.value for scope in Scope if scope in token.scopes]
    return {"name": token.name, "sha256": token.hash, "scopes": scopes, "created": token.created}


def _read(stored: dict[str, Any]) -> Token:
    if not HASH.fullmatch(stored["sha256"]):
        raise ValueError("a hash has 64 hexadecimal digits")
    scopes = frozenset(Scope(scope) for scope in stored["scopes"])
    return Token(str(stored["name"]), stored["sha256"], scopes, float(stored["created"]))
