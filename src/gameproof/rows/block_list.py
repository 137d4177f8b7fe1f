"""Blocks of any kind in a list: rows in memory, or the places in files where rows are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gameproof.rows.cores import on_cores
from gameproof.rows.row_progress import RowProgress
from gameproof.rows.row_source import RowSource


class BlockList(RowSource):
    """Blocks in a list. If they are places in files, a mapped source reads them in every pass.

    `sizes` are their numbers of rows, which are reported to `progress`."""

    def __init__(
        self,
        blocks: Sequence[Any],
        sizes: Sequence[int] | None = None,
        progress: RowProgress | None = None,
        *,
        cores: int | None = None,
    ) -> None:
        self._blocks, self._sizes, self._cores = blocks, sizes, cores
        self._progress = progress
        self.n = None if sizes is None else sum(sizes)

    def map(
        self, function: Callable[..., Any], *parameters: Any, each: Sequence[Any] | None = None
    ) -> Iterator[Any]:
        def of_block(k: int) -> Any:
            own = () if each is None else (each[k],)
            return function(self._blocks[k], *own, *parameters)

        found = on_cores(of_block, range(len(self._blocks)), self._cores)
        if self._progress is None or self._sizes is None:
            return found
        return self._progress.watched(found, self._sizes)
