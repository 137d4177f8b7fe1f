"""Processor seconds that other processes have used so far, as Linux counts them."""

from __future__ import annotations

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid: int) -> float:
    """The processor seconds of a process and its running children."""
    return sum(_own_seconds(each) for each in [pid, *_children(pid)])


def _own_seconds(pid: int) -> float:
    found = _fields(pid)
    return (int(found[11]) + int(found[12])) / TICKS if found else 0.0


def _children(pid: int) -> list[int]:
    others = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [other for other in others if (_fields(other) or ["", ""])[1] == str(pid)]


def _fields(pid: int) -> list[str]:
    """The fields after the program's name in its line of /proc/PID/stat."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
