"""The state of a run, explicit and complete: what it was is what it will be when it goes on."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from gameproof import kernels
from gameproof.core.arguments import Vector
from gameproof.core.errors import StateFileError
from gameproof.minmax import state_files
from gameproof.minmax.problem import Problem
from gameproof.minmax.solver import Solver
from gameproof.minmax.trace import Row

# Bytes: a processor fetches lines of its cache by two.
LINES = 128


class Mark(NamedTuple):
    """sum eta and sum eta u at the end of an epoch: where a suffix average may start."""

    epoch: int
    weight: float
    x: Vector
    y: Vector


@dataclass(eq=False, repr=False)
class State:
    """Iterates, kept estimate, place in the order, averages, counters, generator, records.

    A state can be taken after any step, or after any answer within one; `save` writes it to a file,
    `load` reads it back, and ``solve(…, resume=state)`` goes on to the same bits.
    """

    memory: kernels.Memory
    rng: np.random.Generator
    problem: str  # fingerprint
    solver: str  # signature
    seconds: float = 0.0
    marks: list[Mark] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    @classmethod
    def begin(
        cls,
        problem: Problem,
        solver: Solver,
        method: kernels.Method,
        start: tuple[Vector, Vector],
        rng: np.random.Generator,
    ) -> Self:
        """The state before the first step."""
        layout = _layout(problem, method)
        memory = kernels.Memory(**{name: _zeros(*part) for name, part in layout.items()})
        rows = [kernels.BASE, kernels.U, kernels.POINT]
        memory.x[rows] = start[0]
        if method.private:
            memory.y[:, kernels.OWN_BASE] = start[1]
        else:
            memory.y[rows] = start[1]
        return cls(memory, rng, problem.fingerprint, solver.signature)

    def __repr__(self) -> str:
        return f"State(after {self.steps} steps and {self.queries} values)"

    def copy(self) -> State:
        """Independent of this one."""
        return deepcopy(self)

    @property
    def weight(self) -> float:
        """The sum of the step sizes so far."""
        return float(self.memory.numbers[kernels.WEIGHT])

    @property
    def iterate(self) -> tuple[Vector, Vector]:
        """The iterate itself, which the next step changes."""
        x, y = self.memory.x, self.memory.y
        return x[kernels.U], self._private_u() if self._is_private else y[kernels.U]

    @property
    def _is_private(self) -> bool:
        """Whether y is laid out as a private one."""
        return self.memory.slots.size > 0

    def _private_u(self) -> Vector:
        """BASE; between the phases of a step a copy, with U as it was noted."""
        base: Vector = self.memory.y[:, kernels.OWN_BASE]
        slots, counts = self.memory.slots, self.memory.counts
        if counts[kernels.PHASE] == 0:
            return base
        base = base.copy()
        for which, samples in enumerate(self.memory.batch):
            size = counts[kernels.N_CURRENT + which]
            base[samples[:size]] = slots[kernels.SLOT_U + which, :size]
        return base

    @property
    def last(self) -> tuple[Vector, Vector]:
        """A copy of the iterate."""
        x, y = self.iterate
        return x.copy(), y.copy()

    @property
    def epoch(self) -> int:
        """Epochs completed."""
        return int(self.memory.counts[kernels.EPOCH])

    @property
    def steps(self) -> int:
        """Steps completed."""
        return int(self.memory.counts[kernels.STEP])

    @property
    def queries(self) -> int:
        """Values received."""
        return int(self.memory.counts[kernels.QUERIES])

    @property
    def deployments(self) -> int:
        """Points at which values were asked."""
        return int(self.memory.counts[kernels.DEPLOYMENTS])

    def totals(self) -> tuple[Vector, Vector]:
        """sum eta u over the iterates after each step, for x and for y."""
        x, y = self.memory.x, self.memory.y
        of_x = x[kernels.TOTAL].copy()
        if not self._is_private:
            return of_x, y[kernels.TOTAL].copy()
        of_y: Vector = self.iterate[1] * self.weight
        of_y += y[:, kernels.OWN_DUE]  # in place, for y may be as long as memory allows
        return of_x, of_y

    def mark(self) -> None:
        """Notes where a suffix average may start, once an epoch; the last two marks are kept."""
        if not self.marks or self.marks[-1].epoch != self.epoch:
            self.marks = [*self.marks[-1:], Mark(self.epoch, self.weight, *self.totals())]

    def save(self, path: str | Path) -> None:
        """Writes the state to a file, all of it or nothing."""
        header = {
            "problem": self.problem,
            "solver": self.solver,
            "seconds": self.seconds,
            "generator": state_files.generator_state(self.rng),
            "marks": len(self.marks),
        }
        arrays = dict(self.memory._asdict())
        for k, mark in enumerate(self.marks):
            arrays |= {f"mark{k}_{name}": np.asarray(part) for name, part in mark._asdict().items()}
        table = np.array(self.rows, dtype=np.float64).reshape(-1, len(Row._fields))
        for name, column in zip(Row._fields, table.T, strict=True):
            arrays[f"row_{name}"] = column
        state_files.write(Path(path), header, arrays)

    @classmethod
    def load(cls, path: str | Path) -> State:
        """Reads a state that `save` wrote; refuses one that is cut short, altered or newer."""
        header, arrays = state_files.read(Path(path))
        try:
            return cls._unpacked(header, arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise StateFileError(
                f"{path} lacks a part of a state ({error}): it is of another version of gameproof"
            ) from error

    @classmethod
    def _unpacked(cls, header: dict[str, Any], arrays: state_files.Arrays) -> State:
        fields = kernels.Memory._fields
        marks = [
            Mark(
                int(arrays[f"mark{k}_epoch"]),
                float(arrays[f"mark{k}_weight"]),
                arrays[f"mark{k}_x"],
                arrays[f"mark{k}_y"],
            )
            for k in range(header["marks"])
        ]
        columns = [arrays[f"row_{name}"].tolist() for name in Row._fields]
        rows = [
            Row(e, int(s), int(q), int(d), *rest)
            for e, s, q, d, *rest in zip(*columns, strict=True)
        ]
        return cls(
            kernels.Memory(**{name: arrays[name] for name in fields}),
            state_files.generator(header["generator"]),
            header["problem"],
            header["solver"],
            header["seconds"],
            marks,
            rows,
        )

    def check(self, problem: Problem, solver: Solver, method: kernels.Method) -> None:
        """Refuses to go on with another problem or method than the one of the run."""
        if self.problem != problem.fingerprint:
            raise StateFileError(
                f"this state is of another problem than {problem.name}: its samples, sets or name "
                "differ; resume with the problem the run was started with"
            )
        if self.solver != solver.signature:
            raise StateFileError(
                f"this state is of another method: it was made by {self.solver}, and this is "
                f"{solver.signature}; resume with the same parts"
            )
        for name, (shape, kind) in _layout(problem, method).items():
            array = getattr(self.memory, name)
            fits = array.shape == shape and array.dtype == kind and array.flags.c_contiguous
            if not fits:  # kernels look no more, and would read beyond its end
                raise StateFileError(
                    f"this state does not fit {problem.name}: {name} has shape {array.shape} and "
                    f"type {array.dtype}, expected {shape} and {np.dtype(kind)}, row by row; "
                    "resume with the problem and the solver that the run was started with"
                )


def _layout(problem: Problem, method: kernels.Method) -> dict[str, tuple[tuple[int, ...], type]]:
    """The shape and type of every array of `kernels.Memory`."""
    real, whole, batch = np.float64, np.int64, method.batch
    dx, dy = int(problem.x_set.dim), int(problem.y_set.dim)
    with_order = method.order != kernels.WITH_REPLACEMENT
    perturbed = method.x_stop - method.x_start + (dy if method.y_perturbed else 0)
    return {
        "x": ((kernels.ROWS, dx), real),
        "y": ((dy, kernels.OWN_COLUMNS) if method.private else (kernels.ROWS, dy), real),
        "slots": ((kernels.SLOTS, batch if method.private else 0), real),
        "direction": ((perturbed,), real),
        "order": ((method.n if with_order else 0,), np.uint32),
        "batch": ((2, batch), whole),
        "asked": ((2 * batch,), whole),
        "answers": ((2, 2 * batch), real),
        "counts": ((kernels.N_COUNTS,), whole),
        "numbers": ((kernels.N_NUMBERS,), real),
    }


def _zeros(shape: tuple[int, ...], kind: type) -> NDArray[Any]:
    """Zeros on lines of the cache that nothing else lies on: of threads that write to one line,
    each waits for the other."""
    dtype = np.dtype(kind)
    size = int(np.prod(shape)) * dtype.itemsize
    room = np.zeros(size + 2 * LINES, dtype=np.uint8)
    start = LINES - room.ctypes.data % LINES
    zeros: NDArray[Any] = room[start : start + size].view(dtype).reshape(shape)
    return zeros
