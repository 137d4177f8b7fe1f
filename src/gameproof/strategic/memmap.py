"""Features and labels in files that are mapped to memory."""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Matrix

# Of the memory of the machine: what a file may take and be sure to stay there.
SHARE = 0.5
# Where Linux tells a container how many bytes of memory it is given.
LIMIT = Path("/sys/fs/cgroup/memory.max")


def require_open(name: str, array: NDArray[Any]) -> None:
    """Refuses an array whose file is no longer mapped: to read it would end the process."""
    mapping = _mapping_behind(array)
    if mapping is not None and mapping.closed:
        raise ValueError(f"{name} lies in a mapped file that was closed; map it again")


def ask_for_large_pages(features: Matrix) -> None:
    """Asks the system to keep the file behind these features, if there is one, in large pages.

    Steps go to agents in random order. In pages of 4 KB, to find out where an agent lies takes
    longer than to read it; the large ones are few enough to be known by heart. It has to be said
    before the file is first read: what is in memory already stays as it is. It is said only of
    files that fit, since of others every agent would bring a large page from the disk. Systems
    that know no large pages for files lose nothing.
    """
    mapping = _mapping_behind(features)
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if mapping is None or advice is None or len(mapping) > SHARE * _memory():
        return
    with suppress(OSError):
        mapping.madvise(advice)


def _mapping_behind(array: Any) -> mmap.mmap | None:
    """The mapping in which the numbers of an array lie, if they lie in one."""
    owner = array
    while isinstance(owner, (np.ndarray, memoryview)):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return owner if isinstance(owner, mmap.mmap) else None


def _memory() -> int:
    """Bytes of memory that the machine has, or those that a container is given."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # no such file; or no limit, which is the word max
        return min(machine, int(LIMIT.read_text()))
    return machine
