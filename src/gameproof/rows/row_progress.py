"""`RowProgress`: how far a pass over the rows of a table is, for messages."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any


class RowProgress:
    """Counts the rows of a pass, and estimates how long the rest of the pass takes."""

    def __init__(self) -> None:
        self._passes = self._done = self._total = 0
        self._began = time.monotonic()

    def watched(self, results: Iterable[Any], sizes: Sequence[int]) -> Iterator[Any]:
        """The results of a pass over blocks of these sizes, which are counted as they come."""
        self._passes += 1
        self._done, self._total, self._began = 0, sum(sizes), time.monotonic()
        for result, size in zip(results, sizes, strict=True):
            self._done += size
            yield result

    def __call__(self) -> str:
        """How far the present pass is, in words; empty before the first pass."""
        done, total = self._done, self._total
        if not self._passes:
            return ""
        said = f"pass {self._passes} over the rows, {done:,} of {total:,}"
        if not 0 < done < total:
            return said
        left = (time.monotonic() - self._began) * (total - done) / done
        return f"{said}, {left:.0f} s left in this pass"
