"""`Driver`: advances a study while it is served, in a thread of its own.

Advancing may compute for a minute, so neither the event loop nor the threads that answer requests
do it. The driver looks when it is woken by a request and every few seconds, because other processes
may tell answers, too, and silent people are replaced by the clock.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import final

from gameproof.live.facts import LedgerError
from gameproof.live.refusals import CHANGED_MEANWHILE
from gameproof.live.reports import Recommendation
from gameproof.live.study import Study

LOG = logging.getLogger("gameproof.live")
# Seconds between two looks: without a request, at least, and as a multiple of what a look takes.
TICK, SHORTEST, SPARING = 5.0, 0.05, 4.0
# The thread may be computing when the service ends; nothing is lost if it is left behind.
STOP_PATIENCE = 2.0
Waiting = tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]


@final
class Driver:
    """Advances a study until it is stopped."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._lock, self._wake = threading.Lock(), threading.Event()
        self._waiting: list[Waiting] = []
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="advance the study", daemon=True)
        self.recommendation: Recommendation | None = None
        self.problem: LedgerError | None = None
        self.since: float | None = None  # when the look that is under way began

    def start(self) -> None:
        """Starts the thread, which looks at once."""
        self._wake.set()
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread after the step that is under way."""
        self._stopping = True
        self._wake.set()
        self._thread.join(STOP_PATIENCE)

    def wake(self) -> None:
        """Says that the study may be able to advance."""
        self._wake.set()

    async def advanced(self, patience: float) -> None:
        """Waits until the study has advanced as far as it can, or for `patience` seconds."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        with self._lock:
            self._waiting.append((loop, done))
        self._wake.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(done, patience)

    def _run(self) -> None:
        while not self._stopping:
            self._wake.wait(TICK)
            self._wake.clear()
            with self._lock:
                waiting, self._waiting = self._waiting, []
            began = time.monotonic()
            self.since = time.time()
            self._look(waiting)
            self.since = None
            took = time.monotonic() - began
            if not self._stopping:
                time.sleep(min(TICK, max(SHORTEST, SPARING * took)))

    def _look(self, waiting: Sequence[Waiting]) -> None:
        try:
            try:
                closed = self._study.advance()
            finally:
                for loop, done in waiting:
                    with suppress(RuntimeError):  # the loop has ended
                        loop.call_soon_threadsafe(_finish, done)
            if closed or self.recommendation is None or not self.recommendation.final:
                self.recommendation = self._study.recommend()
        except LedgerError as error:
            self._report(error)
        except Exception as error:
            LOG.exception("the study cannot advance")
            self._report(LedgerError("cannot-advance", f"the study cannot advance: {error}"))
        else:
            self.problem = None

    def _report(self, error: LedgerError) -> None:
        if error.code == CHANGED_MEANWHILE:  # an answer arrived in the same moment
            self._wake.set()
            return
        if self.problem is None or str(self.problem) != str(error):
            LOG.error("%s: %s", error.code, error)
        self.problem = error


def _finish(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)
