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

# Seconds of a turn: long compared with choosing the next piece, short compared with most runs.
TURN = 0.01


@final
class Turns:
    """Pieces of work that `jobs` threads do in their order.

    No further piece starts once `continues()` is false or a piece has failed. Pieces that have
    started are finished.
    """

    def __init__(
        self, works: Sequence[Iterator[int]], jobs: int, continues: Callable[[], bool]
    ) -> None:
        self._waiting = deque(enumerate(works))
        self._paused: list[tuple[int, int, Iterator[int]]] = []  # progress, number, work
        self._jobs, self._continues = jobs, continues
        self._started, self._errors = 0, dict[int, Exception]()
        self._lock = Lock()

    def run(self) -> None:
        """Does all pieces. If some fail, raises the error of the first one in their order."""
        with ThreadPoolExecutor(self._jobs) as pool:
            for thread in [pool.submit(self._work) for _ in range(self._jobs)]:
                thread.result()
        if self._errors:
            raise self._errors[min(self._errors)]

    def _work(self) -> None:
        """Runs in each thread: takes turns until none is left."""
        while (turn := self._take()) is not None:
            k, work = turn
            far, failed = None, None
            try:
                far = _one_turn(work)
            except Exception as error:
                failed = error
            with self._lock:
                if far is not None:
                    self._paused.append((far, k, work))
                else:
                    self._started -= 1
                if failed is not None:
                    self._errors[k] = failed

    def _take(self) -> tuple[int, Iterator[int]] | None:
        """The next piece: a new one if a thread would otherwise be idle or it is one of the last,
        else the paused one furthest behind. None if other threads have all that is left."""
        with self._lock:
            few = self._started + len(self._waiting) <= 2 * self._jobs
            if self._waiting and (few or self._started < self._jobs):
                if self._continues() and not self._errors:
                    self._started += 1
                    return self._waiting.popleft()
                self._waiting.clear()
            if not self._paused:
                return None
            least = min(self._paused, key=lambda turn: turn[:2])
            self._paused.remove(least)
            return least[1:]


def _one_turn(work: Iterator[int]) -> int | None:
    """Works for one turn. Returns the progress, or None at the end."""
    until = time.perf_counter() + TURN
    for far in work:
        if time.perf_counter() >= until:
            return far
    return None
