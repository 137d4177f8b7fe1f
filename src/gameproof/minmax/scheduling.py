"""Long pieces of work on a few threads, so that all threads finish together.

A piece of work is an iterator that yields its progress. With one thread per piece until it ends,
some threads would be idle at the end. So the last pieces, twice as many as there are threads, take
turns, the one furthest behind first.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import final

# Seconds of a turn: long beside what it takes to find the next, short beside most runs.
TURN = 0.01


@final
class Turns:
    """Pieces of work that `jobs` threads go through in their order.

    No further one begins once `goes_on` says no, or one has failed; those that have begun are
    ended all the same.
    """

    def __init__(
        self, works: Sequence[Iterator[int]], jobs: int, goes_on: Callable[[], bool]
    ) -> None:
        self._waiting = deque(enumerate(works))
        self._paused: list[tuple[int, int, Iterator[int]]] = []  # how far, which, the work
        self._jobs, self._goes_on = jobs, goes_on
        self._begun, self._errors = 0, dict[int, Exception]()
        self._lock = Lock()

    def run(self) -> None:
        """All of them; where some fail, raises the error of the first in order."""
        with ThreadPoolExecutor(self._jobs) as pool:
            for thread in [pool.submit(self._work) for _ in range(self._jobs)]:
                thread.result()
        if self._errors:
            raise self._errors[min(self._errors)]

    def _work(self) -> None:
        """What a thread does: turn after turn, until there is none to take."""
        while (turn := self._take()) is not None:
            k, work = turn
            far, failed = None, None
            try:
                far = _go_on(work)
            except Exception as error:
                failed = error
            with self._lock:
                if far is not None:
                    self._paused.append((far, k, work))
                else:
                    self._begun -= 1
                if failed is not None:
                    self._errors[k] = failed

    def _take(self) -> tuple[int, Iterator[int]] | None:
        """A new one where threads would be idle without it or it is one of the last, else the one
        that is least far. None: others have what is left."""
        with self._lock:
            few = self._begun + len(self._waiting) <= 2 * self._jobs
            if self._waiting and (few or self._begun < self._jobs):
                if self._goes_on() and not self._errors:
                    self._begun += 1
                    return self._waiting.popleft()
                self._waiting.clear()
            if not self._paused:
                return None
            least = min(self._paused, key=lambda turn: turn[:2])
            self._paused.remove(least)
            return least[1:]


def _go_on(work: Iterator[int]) -> int | None:
    """One turn; how far the work is then, or None at its end."""
    until = time.perf_counter() + TURN
    for far in work:
        if time.perf_counter() >= until:
            return far
    return None
