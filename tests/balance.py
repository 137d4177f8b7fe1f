"""Which process runs which test file, and in which order.

Every file runs in one process, so that its fixtures are made once. Some files share what takes
long to make, and run in the same one. The longest come first, so that no process waits at the end.
"""

from typing import Any

import pytest

TOGETHER = {
    # The first loop that a process compiles for a user's functions takes three times as long.
    "tests/test_docs.py": "compiled loops",
    "tests/minmax/test_compiled_functions.py": "compiled loops",
    "tests/strategic/losses/test_custom_losses.py": "compiled loops",
    # A cluster of processes.
    "tests/test_dask.py": "cluster",
    "tests/tables/test_fit_files.py": "cluster",
}
LONGEST = (
    *TOGETHER,
    "tests/strategic/learning/",
    "tests/strategic/auto/",
    "tests/live/",
    "tests/paper/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the longest files first."""

    def place(item: pytest.Item) -> int:
        found = (k for k, start in enumerate(LONGEST) if item.nodeid.startswith(start))
        return next(found, len(LONGEST))

    items.sort(key=place)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Files as units of work, as --dist loadfile has them, but for those in `TOGETHER`."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.split("::", 1)[0]
            return TOGETHER.get(path, path)

    return Together(config, log)
