"""Services of live studies on loopback, for tests: in a thread, or as a process of their own."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Queue
from typing import Any

import urllib3

from gameproof.live.serving import Place, StudyServer, bound
from gameproof.live.study import Study

PATIENCE = 60.0


@contextmanager
def served(study: Study, **place: Any) -> Iterator[str]:
    """The address of a service in a thread."""
    where, addresses = Place(port=0, **place), Queue()
    with bound(where) as listening:
        server = StudyServer(study, where, listening, addresses.put)
        thread = threading.Thread(target=lambda: server.run(sockets=[listening]))
        thread.start()
        try:
            yield addresses.get(timeout=PATIENCE)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive(), "the service does not end"


@contextmanager
def served_by_process(where: str, program: list[str] | None = None) -> Iterator[tuple[str, Any]]:
    """The address of a service of its own, and its process."""
    command = program or ["-m", "gameproof", "live", "serve", where, "--port", "0", "--json"]
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("}"):
                break
        assert lines, process.stderr.read()
        yield json.loads("".join(lines))["url"], process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def call(url: str, method: str, path: str, token: str | None = None, **rest: Any) -> Any:
    """One request, without any repetition."""
    headers = {**({"Authorization": f"Bearer {token}"} if token else {}), **rest.pop("headers", {})}
    with urllib3.PoolManager() as pool:
        return pool.request(
            method, url.rstrip("/") + path, headers=headers, retries=False, timeout=30.0, **rest
        )


def eventually(holds: Callable[[], Any]) -> Any:
    """The value of `holds` as soon as it is true."""
    until = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < until, "it does not happen"
        time.sleep(0.02)
    return found


def first_event(url: str, token: str | None = None, number: int = 1) -> list[tuple[str, Any]]:
    """The first events of the stream, as kinds and bodies."""
    found: list[tuple[str, Any]] = []
    for event in events(url, token):
        found.append(event)
        if len(found) == number:
            break
    return found


def events(url: str, token: str | None = None) -> Iterator[tuple[str, Any]]:
    """The stream until it ends."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with urllib3.PoolManager() as pool:
        reply = pool.request(
            "GET", f"{url}v1/events", headers=headers, preload_content=False, timeout=PATIENCE
        )
        assert reply.status == 200, reply.data
        rest = b""
        try:
            for part in reply.stream(decode_content=True):
                *whole, rest = (rest + part).split(b"\n\n")
                for text in whole:
                    lines = dict(line.split(": ", 1) for line in text.decode().split("\n"))
                    if "event" in lines:
                        yield lines["event"], json.loads(lines["data"])
        finally:
            reply.release_conn()
            reply.close()
