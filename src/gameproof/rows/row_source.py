"""`RowSource`: a table in blocks, as it is stored, before it is prepared for a method.

A source may be arrays, files or partitions on a cluster. `prepared` turns its blocks into `Rows`,
and `mapped` into blocks of any kind. A source that reads files repeats this in every pass, so that
it keeps no row; a cluster does it once and keeps the result where the block is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gameproof.core.arguments import Indices, Vector
from gameproof.rows.row_blocks import RowBlocks, Rows


class RawRows(NamedTuple):
    """Rows as they are stored: a table, labels and weights, and the name of the block for
    messages."""

    X: Any
    y: Any
    weights: Vector | None
    name: str


class RowSource(ABC):
    """A table in blocks of a fixed order. A classifier is fitted to blocks that are `RawRows`.
    `n` is the number of rows, if it is known."""

    n: int | None = None

    @abstractmethod
    def map(
        self, function: Callable[..., Any], *parameters: Any, each: Sequence[Any] | None = None
    ) -> Iterator[Any]:
        """function(block, *parameters) of each block, in order.

        With `each`, it is function(block, each[k], *parameters) for block k."""

    def prepared(
        self, function: Callable[..., Rows], *parameters: Any, sizes: Sequence[int], d: int
    ) -> RowBlocks:
        """The rows function(block, place of its first row, *parameters) of all blocks.

        `sizes` are the numbers of rows that the function makes, and d is the number of features."""
        return PreparedRows(self, function, parameters, sizes, d)

    def mapped(
        self,
        function: Callable[..., Any],
        *parameters: Any,
        each: Sequence[Any] | None = None,
        n: int | None = None,
    ) -> RowSource:
        """The source whose blocks are function(block, *parameters), or with `each`
        function(block, each[k], *parameters). n is the number of its rows, if it is known."""
        return MappedSource(self, function, parameters, each, n)


class MappedSource(RowSource):
    """Blocks that are made from those of another source in every pass."""

    def __init__(
        self,
        source: RowSource,
        function: Callable[..., Any],
        parameters: tuple[Any, ...],
        each: Sequence[Any] | None,
        n: int | None,
    ) -> None:
        self._source, self._function, self._parameters = source, function, parameters
        self._each, self.n = each, n

    def map(
        self, function: Callable[..., Any], *parameters: Any, each: Sequence[Any] | None = None
    ) -> Iterator[Any]:
        first = (self._function, self._parameters)
        if self._each is None and each is None:
            return self._source.map(_chained, ((), ()), first, function, parameters)
        number = len(self._each if each is None else each)  # type: ignore[arg-type]
        own = [()] * number if self._each is None else [(one,) for one in self._each]
        more = [()] * number if each is None else [(one,) for one in each]
        pairs = list(zip(own, more, strict=True))
        return self._source.map(_chained, first, function, parameters, each=pairs)


class PreparedRows(RowBlocks):
    """Rows that are made from a source in every pass."""

    def __init__(
        self,
        source: RowSource,
        function: Callable[..., Rows],
        parameters: tuple[Any, ...],
        sizes: Sequence[int],
        d: int,
    ) -> None:
        self._source, self._function, self._parameters = source, function, parameters
        self._starts = first_places(sizes)
        self.n, self.d = int(sum(sizes)), d

    def map(self, function: Callable[..., Any], *parameters: Any) -> Iterator[Any]:
        for found in self._source.map(
            _composed, self._function, self._parameters, function, parameters, each=self._starts
        ):
            yield from found


def _chained(
    block: Any,
    own: tuple[tuple[Any, ...], tuple[Any, ...]],
    first: tuple[Callable[..., Any], tuple[Any, ...]],
    function: Callable[..., Any],
    parameters: tuple[Any, ...],
) -> Any:
    """`function` of what the first function makes of a block."""
    make, given = first
    return function(make(block, *own[0], *given), *own[1], *parameters)


def first_places(sizes: Sequence[int]) -> list[int]:
    """The place of the first row of each block."""
    ends: Indices = np.cumsum([0, *sizes])
    return [int(end) for end in ends[:-1]]


def _composed(
    raw: RawRows,
    start: int,
    prepare: Callable[..., Rows],
    own: tuple[Any, ...],
    function: Callable[..., Any],
    parameters: tuple[Any, ...],
) -> list[Any]:
    """A list with `function` of the rows that `prepare` makes of a block; empty without rows."""
    rows = prepare(raw, start, *own)
    return [function(rows, *parameters)] if len(rows.y) else []
