"""Where the rows of a table in files are processed: on this machine, or on a Dask cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal, NamedTuple

from gameproof.core.errors import ClusterError
from gameproof.rows.block_list import BlockList
from gameproof.rows.cores import available_cores
from gameproof.rows.dask_source import DaskSource
from gameproof.rows.row_progress import RowProgress
from gameproof.rows.row_source import RowSource
from gameproof.tables.table_files import TableFiles

EngineName = Literal["dask"]
PATIENCE = 5.0  # seconds to wait for a scheduler


class Engine(NamedTuple):
    """This machine, or the cluster of a client."""

    client: Any = None

    def source(self, files: TableFiles, progress: RowProgress) -> RowSource:
        """The parts of a table in files."""
        if self.client is not None:
            return DaskSource.places(self.client, files.parts, files.n, progress)
        return BlockList(files.parts, [part.size for part in files.parts], progress)


@contextmanager
def open_engine(name: EngineName | None, scheduler: str | None = None) -> Iterator[Engine]:
    """This machine, the cluster at an address, Dask's default client, or else a cluster of one
    worker per core that ends with the context."""
    if name is None and scheduler is None:
        yield Engine()
        return
    if name not in (None, "dask"):
        raise ValueError(f'engine must be None or "dask", got {name!r}')
    try:
        import distributed
    except ImportError as error:
        raise ImportError("a cluster needs Dask: pip install 'gameproof[dask]'") from error
    if scheduler is None and (client := _default_client(distributed)) is not None:
        yield Engine(client)
        return
    if scheduler is None:
        # Given None, Dask takes its usual port, and warns if another cluster has it.
        options: Any = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
        cluster = distributed.LocalCluster(
            n_workers=available_cores(),
            threads_per_worker=1,
            silence_logs=logging.CRITICAL,
            **options,
        )
        with _quiet(), cluster, distributed.Client(cluster, set_as_default=False) as client:
            yield Engine(client)
        return
    with _quiet():
        client = _connected(distributed, scheduler)
        try:
            yield Engine(client)
        finally:
            with suppress(Exception):  # the scheduler may be lost
                client.close(timeout=1)


def _default_client(distributed: Any) -> Any:
    """Dask's default client, None if there is none."""
    try:
        return distributed.default_client()
    except ValueError:
        return None


def _connected(distributed: Any, address: str) -> Any:
    """A client of the scheduler at an address."""
    try:
        return distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except Exception as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address} (waited {PATIENCE:g} s); start one with "
            "dask scheduler and give the address that it prints, such as tcp://host:8786"
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Dask's own messages about lost connections; an error says what matters."""
    # Dask gives some of its loggers levels of their own.
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    levels = {logger: logger.level for logger in map(logging.getLogger, names)}
    for logger in levels:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)
