"""The arrays of a state: their shapes and types, how they are made, and how they are checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gameproof.core.errors import StateFileError
from gameproof.kernels import layout as at
from gameproof.kernels.layout import Memory
from gameproof.minmax.plan import Plan
from gameproof.minmax.problem import Problem

# The shape and type of each array.
Layout = dict[str, tuple[tuple[int, ...], type]]
# Bytes: processors fetch cache lines in pairs.
LINES = 128
# The shape of each array of `Memory` on any problem, None where it depends on the problem.
KINDS: dict[str, tuple[tuple[int | None, ...], type]] = {
    "x": ((None, None), np.float64),
    "y": ((None, None), np.float64),
    "own": ((None, at.OWN_COLUMNS), np.float64),
    "directions": ((None, None), np.float64),
    "order": ((None,), np.uint32),
    "samples": ((at.SAMPLE_ROWS, None), np.int64),
    "answers": ((None, None), np.float64),
    "counts": ((at.N_COUNTS,), np.int64),
    "numbers": ((at.N_NUMBERS,), np.float64),
}


def layout_of(problem: Problem, plan: Plan) -> Layout:
    """The shape and type of every array of `Memory`."""
    real, whole, method = np.float64, np.int64, plan.method
    dx, dy = int(problem.x_set.dim), int(problem.y_set.dim)
    private, batch = method.private, method.batch
    rows = at.ROWS + (at.SNAPSHOT_ROWS if method.snapshot_every else 0)
    return {
        "x": ((rows, dx), real),
        "y": ((rows, 2 * batch if private else dy), real),
        "own": ((dy if private else 0, at.OWN_COLUMNS), real),
        "directions": (plan.directions.shape, real),
        "order": ((method.n,), np.uint32),
        "samples": ((at.SAMPLE_ROWS, 2 * batch), whole),
        "answers": ((plan.n_points, 2 * batch), real),
        "counts": ((at.N_COUNTS,), whole),
        "numbers": ((at.N_NUMBERS,), real),
    }


def zeros(shape: tuple[int, ...], kind: type) -> NDArray[Any]:
    """Zeros on cache lines of their own: threads that write to one line wait for each other."""
    dtype = np.dtype(kind)
    size = int(np.prod(shape)) * dtype.itemsize
    room = np.zeros(size + 2 * LINES, dtype=np.uint8)
    start = LINES - room.ctypes.data % LINES
    found: NDArray[Any] = room[start : start + size].view(dtype).reshape(shape)
    return found


def check_kinds(memory: Memory) -> None:
    """Rejects arrays that no run on any problem can have."""
    for name, array in memory._asdict().items():
        shape, kind = KINDS[name]
        fits = len(shape) == array.ndim and all(
            size in (None, found) for size, found in zip(shape, array.shape, strict=True)
        )
        if name in ("x", "y"):
            fits = fits and len(array) in (at.ROWS, at.ROWS + at.SNAPSHOT_ROWS)
        if not fits or array.dtype != kind:
            sizes = ", ".join("any" if size is None else str(size) for size in shape)
            raise StateFileError(
                f"{name} has shape {array.shape} and type {array.dtype}, expected ({sizes}) and "
                f"{np.dtype(kind)}"
            )


def check_layout(found: Mapping[str, NDArray[Any]], expected: Layout, name: str) -> None:
    """Rejects arrays of another shape or type than a run on the problem `name` has."""
    for part, (shape, kind) in expected.items():
        array = found.get(part, np.empty(0))
        fits = array.shape == shape and array.dtype == kind and array.flags.carray
        if not fits:
            raise StateFileError(
                f"this state does not fit {name}: {part} has shape {array.shape} and type "
                f"{array.dtype}, expected {shape} and {np.dtype(kind)}, row by row; resume with "
                "the problem and the solver that the run was started with"
            )
    for part in found.keys() - expected.keys():
        raise StateFileError(
            f"this state does not fit {name}: it has the unknown part {part}; resume with the "
            "solver that the run was started with"
        )
