"""Tables on a Dask cluster: a block is a partition, which is processed where it is.

Every pass submits one task per partition and gathers the results in the order of the partitions.
Tasks depend only on the partitions and on a few parameters, so Dask repeats those of a lost worker,
with the same result.
"""

from __future__ import annotations

import pickle
from asyncio import CancelledError as AsyncCancelled
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from gameproof.core.errors import ClusterError
from gameproof.rows.cores import one_blas_thread
from gameproof.rows.row_blocks import RowBlocks, Rows
from gameproof.rows.row_progress import RowProgress
from gameproof.rows.row_source import RowSource, first_places

# Larger parameters become a task of their own, so that they are sent once and not with every task.
LARGE = 2**16


class DaskSource(RowSource):
    """Partitions on a cluster. Each of `blocks` is a delayed `RawRows`.

    `prepared` takes the place of the source: the raw partitions are released."""

    _progress: RowProgress | None = None

    def __init__(self, client: Any, blocks: Sequence[Any]) -> None:
        self._client = client
        with scheduler_at_work(client):
            self._blocks = list(client.compute(list(blocks)))

    def map(
        self, function: Callable[..., Any], *parameters: Any, each: Sequence[Any] | None = None
    ) -> Iterator[Any]:
        futures = self._submitted(function, parameters, each)
        return _gathered(self._client, futures, self._progress)

    def prepared(
        self, function: Callable[..., Rows], *parameters: Any, sizes: Sequence[int], d: int
    ) -> RowBlocks:
        blocks = self._submitted(function, parameters, first_places(sizes))
        self._blocks = []
        filled = [block for block, size in zip(blocks, sizes, strict=True) if size]
        return DaskRows(self._client, filled, sum(sizes), d, self._progress)

    def mapped(
        self,
        function: Callable[..., Any],
        *parameters: Any,
        each: Sequence[Any] | None = None,
        n: int | None = None,
    ) -> RowSource:
        futures = self._submitted(function, parameters, each)
        return DaskSource.of(self._client, futures, n, self._progress)

    @classmethod
    def of(
        cls,
        client: Any,
        futures: list[Any],
        n: int | None = None,
        progress: RowProgress | None = None,
    ) -> DaskSource:
        """The source of blocks that are on the cluster, or will be."""
        found = cls(client, [])
        found._blocks, found.n, found._progress = futures, n, progress
        return found

    @classmethod
    def places(
        cls, client: Any, blocks: Sequence[Any], n: int, progress: RowProgress
    ) -> DaskSource:
        """The source of small blocks that say where workers find n rows."""
        with scheduler_at_work(client):
            futures = [client.submit(_itself, block, pure=False) for block in blocks]
        return cls.of(client, futures, n, progress)

    def _submitted(
        self, function: Callable[..., Any], parameters: tuple[Any, ...], each: Sequence[Any] | None
    ) -> list[Any]:
        return _submitted(self._client, self._blocks, function, parameters, each)


class DaskRows(RowBlocks):
    """Rows that stay on the workers as long as memory and workers last, and are recomputed
    otherwise."""

    def __init__(
        self,
        client: Any,
        blocks: list[Any],
        n: int,
        d: int,
        progress: RowProgress | None = None,
    ) -> None:
        self._client, self._blocks, self.n, self.d = client, blocks, n, d
        self._progress = progress

    def map(self, function: Callable[..., Any], *parameters: Any) -> Iterator[Any]:
        futures = _submitted(self._client, self._blocks, function, parameters, None)
        return _gathered(self._client, futures, self._progress)


def client_or_default(client: Any) -> Any:
    """The given client, or else Dask's default client."""
    from distributed import default_client

    if client is not None:
        return client
    try:
        return default_client()
    except ValueError as error:
        raise ClusterError(
            "there is no Dask cluster: start one with dask.distributed.Client(), or give "
            "client=Client(address)"
        ) from error


@contextmanager
def scheduler_at_work(client: Any) -> Iterator[None]:
    """Turns the loss of the cluster into one clear error."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    address = getattr(getattr(client, "scheduler", None), "address", "an unknown address")
    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            f"several workers of the Dask cluster at {address} ended while they worked on the same "
            "partition; if memory ran out, make partitions smaller"
        ) from error
    except (Exception, AsyncCancelled) as error:
        # An error raised by a task is not an error of the cluster.
        lost = (CancelledError, AsyncCancelled, CommClosedError)
        if client.status == "running" and not isinstance(error, lost):
            raise
        raise ClusterError(
            f"the Dask scheduler at {address} was lost, and nothing was written; start it again "
            "and repeat the command"
        ) from error


def _submitted(
    client: Any,
    blocks: Sequence[Any],
    function: Callable[..., Any],
    parameters: tuple[Any, ...],
    each: Sequence[Any] | None,
) -> list[Any]:
    """One task per block."""
    with scheduler_at_work(client):
        shared: Any = parameters
        if len(pickle.dumps(parameters)) > LARGE:
            shared = client.submit(_itself, parameters, pure=False)
        own = [()] * len(blocks) if each is None else [(one,) for one in each]
        return [
            client.submit(_on_one_core, function, block, more, shared, pure=False)
            for block, more in zip(blocks, own, strict=True)
        ]


def _gathered(client: Any, futures: list[Any], progress: RowProgress | None) -> Iterator[Any]:
    if progress is not None:
        total = max(1, len(futures))
        progress.begin(lambda: sum(future.done() for future in futures) / total)
    with scheduler_at_work(client):
        results = client.gather(futures)
    yield from results


def _on_one_core(
    function: Callable[..., Any], block: Any, own: tuple[Any, ...], parameters: tuple[Any, ...]
) -> Any:
    with one_blas_thread():
        return function(block, *own, *parameters)


def _itself(given: Any) -> Any:
    return given
