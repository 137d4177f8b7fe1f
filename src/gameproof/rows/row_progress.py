"""`RowProgress`: how far a pass over the rows of a table is, for messages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any


class RowProgress:
    """Says how many of n rows the present pass has seen, and how long the rest of it takes."""

    def __init__(self, n: int) -> None:
        self._n, self._passes, self._began = n, 0, 0.0
        self._share: Callable[[], float] = float

    def begin(self, share: Callable[[], float]) -> None:
        """A new pass begins; `share` tells which share of the rows it has seen."""
        self._passes, self._share, self._began = self._passes + 1, share, time.monotonic()

    def watched(self, results: Iterable[Any], sizes: Sequence[int]) -> Iterator[Any]:
        """The results of a pass over blocks of these sizes, which are counted as they come."""
        done, total = 0, max(1, sum(sizes))
        self.begin(lambda: done / total)
        for result, size in zip(results, sizes, strict=True):
            done += size
            yield result

    def __call__(self) -> str:
        """How far the present pass is, in words; empty before the first pass."""
        if not self._passes:
            return ""
        share = self._share()
        said = f", pass {self._passes}: {round(share * self._n):,} of {self._n:,} rows"
        if not 0 < share < 1:
            return said
        left = (time.monotonic() - self._began) * (1 - share) / share
        return f"{said}, about {left:.0f} s left in this pass"
