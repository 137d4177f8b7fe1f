"""The state of a run, explicit and complete: what it was is what it will be when it goes on."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from gameproof import kernels
from gameproof.arguments import Vector
from gameproof.errors import StateFileError
from gameproof.problem.problem import Problem
from gameproof.solver import files
from gameproof.solver.method import Solver
from gameproof.solver.trace import Row

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
        start: tuple[Vector, Vector],
        rng: np.random.Generator,
    ) -> Self:
        """The state before the first step."""
        method = solver.compiled(problem)
        x = _zeros((kernels.ROWS, start[0].size))
        own_u = len(solver.update.phases) > 1
        private_rows = kernels.U + 1 if own_u else kernels.U
        y = _zeros((private_rows if method.private else kernels.ROWS, start[1].size))
        sums = _zeros((start[1].size if method.private else 0, 2))
        for block, point in ((x, start[0]), (y, start[1])):
            block[kernels.BASE] = point
            for row in (kernels.U, kernels.POINT):
                if row < len(block):
                    block[row] = point
        with_order = method.order != kernels.WITH_REPLACEMENT
        memory = kernels.Memory(
            x=x,
            y=y,
            sums=sums,
            slots=_zeros((3, method.batch if method.private else 0)),
            direction=_zeros(
                method.x_stop - method.x_start + (start[1].size if method.y_perturbed else 0)
            ),
            order=_zeros(method.n if with_order else 0, dtype=np.uint32),
            batch=_zeros((2, method.batch), dtype=np.int64),
            asked=_zeros(2 * method.batch, dtype=np.int64),
            answers=_zeros((2, 2 * method.batch)),
            counts=_zeros(kernels.N_COUNTS, dtype=np.int64),
            numbers=_zeros(kernels.N_NUMBERS),
        )
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
        return _iterate(self.memory.x), _iterate(self.memory.y)

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
        x, y, sums = self.memory.x, self.memory.y, self.memory.sums
        of_x = x[kernels.TOTAL].copy()
        if len(y) > kernels.TOTAL:
            return of_x, y[kernels.TOTAL].copy()
        # Private: in place, for y may be as long as memory allows.
        of_y: Vector = self.weight - sums[:, kernels.MARK]
        of_y *= _iterate(y)
        of_y += sums[:, kernels.SUM]
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
            "generator": files.generator_state(self.rng),
            "marks": len(self.marks),
        }
        arrays = dict(self.memory._asdict())
        for k, mark in enumerate(self.marks):
            arrays |= {f"mark{k}_{name}": np.asarray(part) for name, part in mark._asdict().items()}
        table = np.array(self.rows, dtype=np.float64).reshape(-1, len(Row._fields))
        for name, column in zip(Row._fields, table.T, strict=True):
            arrays[f"row_{name}"] = column
        files.write(Path(path), header, arrays)

    @classmethod
    def load(cls, path: str | Path) -> State:
        """Reads a state that `save` wrote; refuses one that is cut short, altered or newer."""
        header, arrays = files.read(Path(path))
        try:
            return cls._unpacked(header, arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise StateFileError(
                f"{path} lacks a part of a state ({error}): it is of another version of gameproof"
            ) from error

    @classmethod
    def _unpacked(cls, header: dict[str, Any], arrays: files.Arrays) -> State:
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
            files.generator(header["generator"]),
            header["problem"],
            header["solver"],
            header["seconds"],
            marks,
            rows,
        )

    def check(self, problem: Problem, solver: Solver) -> None:
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


def _zeros(shape: int | tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
    """Zeros on lines of the cache that nothing else lies on: of threads that write to one line,
    each waits for the other."""
    kind = np.dtype(dtype)
    size = int(np.prod(shape)) * kind.itemsize
    room = np.zeros(size + 2 * LINES, dtype=np.uint8)
    start = LINES - room.ctypes.data % LINES
    zeros: NDArray[Any] = room[start : start + size].view(kind).reshape(shape)
    return zeros


def _iterate(block: NDArray[np.float64]) -> Vector:
    """U of a block; a private y that has no such row has it in BASE."""
    iterate: Vector = block[kernels.U if len(block) > kernels.U else kernels.BASE]
    return iterate
