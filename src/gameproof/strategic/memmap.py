"""Features and labels in memory-mapped files."""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Matrix

# Files up to this share of the memory are expected to stay in memory.
SHARE = 0.5
# The file in which Linux tells a container its memory limit in bytes.
LIMIT = Path("/sys/fs/cgroup/memory.max")


def require_open(name: str, array: NDArray[Any]) -> None:
    """Raises if the file behind an array is no longer mapped: reading it would crash."""
    mapping = mapping_behind(array)
    if mapping is not None and mapping.closed:
        raise ValueError(f"{name} lies in a mapped file that was closed; map it again")


def ask_for_large_pages(features: Matrix) -> None:
    """Asks the system to keep the file behind these features, if there is one, in large pages.

    Steps visit agents in random order. With pages of 4 KB, the address translation of an agent
    takes longer than reading it; large pages are few enough for the processor to cache their
    addresses. The system must be asked before the file is first read, since pages in memory do not
    change. Files that do not fit into memory are left alone: every agent would load a large page
    from the disk. Systems without large pages for files ignore the request.
    """
    mapping = mapping_behind(features)
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if mapping is None or advice is None or len(mapping) > SHARE * machine_memory():
        return
    with suppress(OSError):
        mapping.madvise(advice)


def mapping_behind(array: Any) -> mmap.mmap | None:
    """The memory map that holds an array, or None."""
    owner = array
    while isinstance(owner, (np.ndarray, memoryview)):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return owner if isinstance(owner, mmap.mmap) else None


def machine_memory() -> int:
    """The memory of the machine, or of the container, in bytes."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # no such file, or no limit, which is the word max
        return min(machine, int(LIMIT.read_text()))
    return machine
