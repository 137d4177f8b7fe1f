"""`Broadcast`: tells every open page how the study stands, as server-sent events.

One task looks at the study for all listeners, and only while there are any. A listener that is slow
misses intermediate events and never a later one.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, final

from starlette.concurrency import run_in_threadpool

from gameproof.live.driver import Driver
from gameproof.live.facts import LedgerError
from gameproof.live.overview import StudyView
from gameproof.live.reports import StudyStatus
from gameproof.live.service_errors import error_body
from gameproof.live.study import Study

LOG = logging.getLogger("gameproof.live")
MOST_LISTENERS = 100
# Seconds between two looks, at least and as a multiple of what a look takes.
SHORTEST, SPARING = 1.0, 5.0
# Seconds after which a quiet stream says that it is alive, and ends if its token was revoked.
QUIET = 15.0
# An advance that takes longer is shown as a computation, in seconds.
LONG = 2.0


@final
class Broadcast:
    """The newest overview of a study, for any number of listeners."""

    def __init__(self, study: Study, driver: Driver) -> None:
        self._study, self._driver = study, driver
        self._view: StudyView | None = None
        self._one = asyncio.Lock()
        self._listeners = 0
        self._seen: object = None
        self._latest: bytes | None = None
        self._changed, self._listening = asyncio.Event(), asyncio.Event()
        self._stopping = False

    def stop(self) -> None:
        """Ends all streams."""
        self._stopping = True
        self._changed.set()
        self._listening.set()

    async def overview(self) -> dict[str, Any]:
        """How the study stands now."""
        async with self._one:
            status = await run_in_threadpool(self._study.status)
            return await run_in_threadpool(self._built, status)

    async def run(self) -> None:
        """Looks at the study until `stop`."""
        while not self._stopping:
            await self._listening.wait()
            began = time.monotonic()
            await self._look()
            await asyncio.sleep(max(SHORTEST, SPARING * (time.monotonic() - began)))

    async def listen(self, permitted: Callable[[], object]) -> AsyncIterator[bytes]:
        """The stream of one listener. `permitted` raises when it may not listen any more."""
        seen: bytes | None = None
        self._listeners += 1
        self._listening.set()
        try:
            while not self._stopping:
                permitted()
                changed = self._changed
                if self._latest is not None and self._latest is not seen:
                    seen = self._latest
                    yield seen
                    continue
                try:
                    await asyncio.wait_for(changed.wait(), QUIET)
                except TimeoutError:
                    yield b": still here\n\n"
        except LedgerError as error:
            yield _event("error", error_body(error.code, str(error)))
        finally:
            self._listeners -= 1
            if not self._listeners:
                self._listening.clear()

    @property
    def is_full(self) -> bool:
        """Whether nobody else can listen."""
        return self._listeners >= MOST_LISTENERS

    async def _look(self) -> None:
        try:
            async with self._one:
                status = await run_in_threadpool(self._study.status)
                now = (status, self._driver.recommendation, str(self._problem()))
                if now == self._seen and self._latest is not None:
                    return
                event = _event("overview", await run_in_threadpool(self._built, status))
                self._seen = now
        except LedgerError as error:
            event, self._seen = _event("problem", error_body(error.code, str(error))), None
        except Exception as error:
            LOG.exception("the overview cannot be computed")
            text = f"the overview cannot be computed: {error}"
            event, self._seen = _event("problem", error_body("internal-error", text)), None
        if event != self._latest:
            self._latest = event
            self._changed.set()
            self._changed = asyncio.Event()

    def _built(self, status: StudyStatus) -> dict[str, Any]:
        if self._view is None:
            self._view = StudyView(self._study)
        return self._view.overview(status, self._driver.recommendation, self._problem())

    def _problem(self) -> dict[str, str] | None:
        """What keeps the study from advancing, if anything does."""
        problem, since = self._driver.problem, self._driver.since
        if problem is not None:
            return error_body(problem.code, str(problem))
        if since is None or time.time() - since < LONG:
            return None
        if self._driver.recommendation is None:
            return error_body("computing", "The answers so far are being replayed.")
        return error_body("computing", "The next deployment is being computed.")


def _event(kind: str, body: dict[str, Any]) -> bytes:
    return f"event: {kind}\ndata: {json.dumps(body, separators=(',', ':'))}\n\n".encode()
