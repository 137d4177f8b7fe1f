"""Work on all cores, with one thread of BLAS per core.

A library of BLAS has threads of its own. For the small matrices of a block of rows they cost more
than they gain, and they wait for each other if the machine is busy. While `one_blas_thread` is
open, BLAS uses one thread, and `on_cores` runs blocks in threads of ours. Results come in the order
of the blocks, so that sums do not depend on the number of cores.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Found = TypeVar("Found")

_depth, _lock = 0, threading.Lock()
_limits: Any = None


def available_cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limits BLAS to one thread, in all threads of the process, until the last user leaves."""
    global _depth, _limits
    with _lock:
        if _depth == 0:
            _limits = _controller().limit(limits=1, user_api="blas")
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _limits.restore_original_limits()


def on_cores(
    function: Callable[[Item], Found], items: Iterable[Item], cores: int | None = None
) -> Iterator[Found]:
    """function(item) of each item, in order, computed on several cores.

    At most two items per core are under way, so that few results wait in memory."""
    workers = available_cores() if cores is None else cores
    if workers == 1 or threading.current_thread().name.startswith(_NAME):
        yield from map(function, items)
        return
    pool, waiting = _pool(workers, os.getpid()), deque[Future[Found]]()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


_NAME = "gameproof-rows"


@cache
def _pool(workers: int, process: int) -> ThreadPoolExecutor:
    """The threads of a process; a forked process has none of its parent's."""
    return ThreadPoolExecutor(workers, thread_name_prefix=_NAME)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
