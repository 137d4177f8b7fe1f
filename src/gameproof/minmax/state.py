"""The state of a run, explicit and complete: a resumed run continues to the same bits."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from gameproof.core.arguments import Vector, as_count
from gameproof.core.errors import StateFileError
from gameproof.core.npz_files import Arrays
from gameproof.kernels import layout as at
from gameproof.kernels.layout import Memory
from gameproof.minmax import state_files
from gameproof.minmax.averages import Mark
from gameproof.minmax.plan import Plan
from gameproof.minmax.problem import Problem
from gameproof.minmax.solver import Solver, differing
from gameproof.minmax.state_checks import check_marks, check_memory
from gameproof.minmax.state_layout import check_kinds, check_layout, layout_of, zeros
from gameproof.minmax.state_parts import (
    as_real,
    as_text,
    generator,
    generator_state,
    pack_marks,
    pack_rows,
    unpack_marks,
    unpack_rows,
)
from gameproof.minmax.trace import TraceRow

# Arrays of an update's own, in a file.
OWN = "update_"


@dataclass(eq=False, repr=False)
class State:
    """Iterates, kept estimate, place in the order, averages, counters, generator, records.

    A state can be taken after any step, or after any answer within one. `save` writes it to a file,
    `load` reads it back, and ``solve(…, resume=state)`` continues to the same bits.

    Attributes
    ----------
    memory, rng, problem, solver, seconds, marks, rows, arrays, position
        What a resumed run needs. Read the properties instead.

    Examples
    --------
    >>> import gameproof as gp
    >>> game = gp.QuadraticGame.random(n=20, seed=0)
    >>> result = gp.solve(game, gp.ogda_rr(step=0.02, radius=0.5), epochs=2, seed=0)
    >>> result.state
    State(after 40 steps and 79 values)
    """

    memory: Memory
    rng: np.random.Generator
    problem: str  # fingerprint
    solver: str  # signature
    seconds: float = 0.0
    marks: list[Mark] = field(default_factory=list)
    rows: list[TraceRow] = field(default_factory=list)
    # Arrays of the update's own, each over x and then y.
    arrays: dict[str, Vector] = field(default_factory=dict)
    # How far stored answers have been read (`Queries.position`).
    position: int = 0

    @classmethod
    def begin(
        cls,
        problem: Problem,
        solver: Solver,
        plan: Plan,
        start: tuple[Vector, Vector],
        rng: np.random.Generator,
    ) -> Self:
        """The state before the first step."""
        parts = {name: zeros(*part) for name, part in layout_of(problem, plan).items()}
        memory = Memory(**parts)
        memory.directions[:] = plan.directions
        memory.x[[at.BASE, at.U, at.POINT, at.ANCHOR]] = start[0]
        memory.x[at.CENTER] = problem.x_set.center
        if plan.method.private:
            memory.own[:, at.OWN_U] = start[1]
        else:
            memory.y[[at.BASE, at.U, at.POINT, at.ANCHOR]] = start[1]
            memory.y[at.CENTER] = problem.y_set.center
        size = problem.x_set.dim + problem.y_set.dim
        arrays = {name: np.zeros(size) for name in solver.update.arrays}
        return cls(memory, rng, problem.fingerprint, solver.signature, arrays=arrays)

    def __repr__(self) -> str:
        return f"State(after {self.steps} steps and {self.queries} values)"

    def copy(self) -> State:
        """An independent copy."""
        return deepcopy(self)

    @property
    def weight(self) -> float:
        """The sum of the step sizes so far."""
        return float(self.memory.numbers[at.WEIGHT])

    @property
    def iterate(self) -> tuple[Vector, Vector]:
        """The iterate itself, which the next step changes."""
        own = self.memory.own
        return self.memory.x[at.U], own[:, at.OWN_U] if own.size else self.memory.y[at.U]

    @property
    def is_finite(self) -> bool:
        """Whether the iterate is finite."""
        return all(bool(np.isfinite(block).all()) for block in self.iterate)

    @property
    def last(self) -> tuple[Vector, Vector]:
        """A copy of the iterate."""
        x, y = self.iterate
        return x.copy(), y.copy()

    @property
    def epoch(self) -> int:
        """Epochs completed."""
        return int(self.memory.counts[at.EPOCH])

    @property
    def steps(self) -> int:
        """Steps completed."""
        return int(self.memory.counts[at.STEP])

    @property
    def queries(self) -> int:
        """Values received."""
        return int(self.memory.counts[at.QUERIES])

    @property
    def deployments(self) -> int:
        """Points at which values were asked."""
        return int(self.memory.counts[at.DEPLOYMENTS])

    def totals(self) -> tuple[Vector, Vector]:
        """sum eta u over the iterates after each step, for x and for y."""
        own, of_x = self.memory.own, self.memory.x[at.TOTAL].copy()
        if not own.size:
            return of_x, self.memory.y[at.TOTAL].copy()
        of_y: Vector = own[:, at.OWN_U] * self.weight
        of_y += own[:, at.OWN_DUE]  # in place, since y may be as long as memory allows
        return of_x, of_y

    def mark(self) -> None:
        """Notes where a suffix average may start, once an epoch; the last two marks are kept."""
        if not self.marks or self.marks[-1].epoch != self.epoch:
            self.marks = [*self.marks[-1:], Mark(self.epoch, self.weight, *self.totals())]

    def save(self, path: str | Path) -> None:
        """Writes the state to a file, all of it or nothing."""
        state_files.write(Path(path), *self.parts())

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The state as JSON and arrays, which `of_parts` puts together."""
        header = {
            "problem": self.problem,
            "solver": self.solver,
            "seconds": self.seconds,
            "generator": generator_state(self.rng),
            "marks": len(self.marks),
            "position": self.position,
        }
        arrays = self.memory._asdict() | pack_marks(self.marks) | pack_rows(self.rows)
        arrays |= {f"{OWN}{name}": array for name, array in self.arrays.items()}
        return header, arrays

    @classmethod
    def load(cls, path: str | Path, *, max_bytes: int | None = None) -> State:
        """Reads a state that `save` wrote.

        Parameters
        ----------
        path
            The file. It runs no code and is checked, so it need not be trusted.
        max_bytes
            The most bytes that the file may unpack to. By default what the environment variable
            ``GAMEPROOF_MAX_BYTES`` says, or else 2 GB.

        Returns
        -------
        State
            The state.

        Raises
        ------
        StateFileError
            If the file is truncated, altered, too large or of another version.
        """
        header, arrays = state_files.read(Path(path), max_bytes)
        try:
            return cls.of_parts(header, arrays)
        except MemoryError:
            raise
        except Exception as error:  # a crafted file can be wrong in any way
            what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise StateFileError(
                f"{path} does not hold a state that can be used: {what}"
            ) from error

    @classmethod
    def of_parts(cls, header: dict[str, Any], arrays: Arrays) -> State:
        """The state of `parts`, checked. Takes the arrays out of the dictionary."""
        memory = Memory(**{name: arrays.pop(name) for name in Memory._fields})
        check_kinds(memory)
        seconds = as_real("seconds", header["seconds"])
        marks = unpack_marks(header["marks"], arrays)
        rows = unpack_rows(arrays)
        own = {name: arrays.pop(name) for name in list(arrays) if name.startswith(OWN)}
        if arrays:
            raise ValueError(f"it has the unknown part {next(iter(arrays))!r}")
        return cls(
            memory,
            generator(header["generator"]),
            as_text("problem", header["problem"]),
            as_text("solver", header["solver"]),
            seconds,
            marks,
            rows,
            {name.removeprefix(OWN): array for name, array in own.items()},
            as_count("position", header.get("position", 0), least=0),
        )

    def check(self, problem: Problem, solver: Solver, plan: Plan) -> None:
        """Raises unless the state belongs to a run of this method on this problem."""
        if self.problem != problem.fingerprint:
            raise StateFileError(
                f"this state belongs to another problem than {problem.name}: its samples, sets or "
                "name differ; resume with the problem the run was started with"
            )
        if self.solver != solver.signature:
            made_by, this = differing(self.solver, solver.signature)
            raise StateFileError(
                f"this state belongs to another method: it was made by {made_by}, and this is "
                f"{this}; resume with the same parts"
            )
        size = (problem.x_set.dim + problem.y_set.dim,)
        own = [OWN + name for name in solver.update.arrays]
        expected = layout_of(problem, plan) | dict.fromkeys(own, (size, np.float64))
        found = self.memory._asdict() | {OWN + name: array for name, array in self.arrays.items()}
        check_layout(found, expected, problem.name)
        check_memory(self.memory, plan)
        check_marks(self.marks, self.memory, (problem.x_set.dim, problem.y_set.dim))
