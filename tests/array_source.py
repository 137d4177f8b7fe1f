"""A table in memory, or in a memory-mapped file, in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gameproof.core.arguments import Matrix, Vector
from gameproof.rows.cores import on_cores
from gameproof.rows.row_blocks import BLOCK
from gameproof.rows.row_source import RawRows, RowSource


class ArraySource(RowSource):
    """Blocks of arrays, which are read in place."""

    def __init__(
        self,
        X: Matrix,
        y: Any,
        weights: Vector | None = None,
        *,
        block: int = BLOCK,
        cores: int | None = None,
    ) -> None:
        self._X, self._y, self._weights, self._cores = X, y, weights, cores
        self.n = len(X)
        self._slices = [slice(k, min(k + block, len(X))) for k in range(0, len(X), block)]

    def map(
        self, function: Callable[..., Any], *parameters: Any, each: Sequence[Any] | None = None
    ) -> Iterator[Any]:
        def of_block(k: int) -> Any:
            b, own = self._slices[k], () if each is None else (each[k],)
            weights = None if self._weights is None else self._weights[b]
            raw = RawRows(self._X[b], self._y[b], weights, f"rows {b.start} to {b.stop - 1}")
            return function(raw, *own, *parameters)

        return on_cores(of_block, range(len(self._slices)), self._cores)
