"""`CompiledLoop`: `kernels.step.run` for one run, compiled for the types of its arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, final

from numba import types
from numba.core.errors import NumbaError

from gameproof.kernels import layout as at
from gameproof.kernels import step as kernel
from gameproof.kernels.games import UserFunction
from gameproof.kernels.jit import bound, for_data
from gameproof.kernels.samples import has_user_functions
from gameproof.minmax.plan import Plan, steps_per_epoch
from gameproof.minmax.problem import Problem
from gameproof.minmax.schedules import PerStep, tabulated
from gameproof.minmax.solver import Solver
from gameproof.minmax.state import State

# Entries of a schedule that are computed ahead: for a compiled loop, and for one that returns to
# Python for every value.
LONGEST_TABLE, SHORT_TABLE = 2**16, 2**6
# Numba styles its messages for terminals if colorama is installed.
STYLES = re.compile(r"\x1b\[[\d;]*m")


@final
class CompiledLoop:
    """Calls the compiled loop on the state of a run."""

    def __init__(
        self, problem: Problem, solver: Solver, plan: Plan, state: State, counts: Any
    ) -> None:
        self.problem, self.state = problem, state
        self._plan, self._method, self._counts = plan, plan.method, counts
        self._loops: dict[bool, Callable[..., int]] = {}
        self._schedules = solver.schedules
        self._steps_per_epoch = steps_per_epoch(self._method.n, self._method.batch)

    def __call__(self, stop_at: int, max_queries: int, compiled: bool) -> int:
        """Steps up to `stop_at`; returns why the loop stopped."""
        arguments = self._arguments(stop_at, max_queries, compiled)
        loop = self._loops.get(compiled) or self._bind(compiled, arguments)
        return loop(*arguments)

    def compile(self, compiled: bool) -> None:
        """Compiles the loop, or takes it from the disk cache."""
        self._bind(compiled, self._arguments(self.state.steps, 0, compiled))

    def _bind(self, compiled: bool, arguments: tuple[Any, ...]) -> Callable[..., int]:
        """`kernels.step.run` for arguments of this run's types, which do not change."""
        own = compiled and has_user_functions(self.problem.data)
        try:
            loop: Callable[..., int] = bound(for_data(kernel.run, own), *arguments)
        except NumbaError as error:
            if not own:
                raise
            raise TypeError(
                f"{self.problem.name} does not compile into a run: its functions must take "
                "(i, x, y), an integer and two vectors, and return a number, or a pair of "
                f"vectors for a gradient{_objection(self.problem.data)}"
            ) from error
        self._loops[compiled] = loop
        return loop

    def _arguments(self, last_step: int, max_queries: int, compiled: bool) -> tuple[Any, ...]:
        tables, firsts, by_step = [], [], []
        longest = LONGEST_TABLE if compiled else SHORT_TABLE
        for name, schedule, kept in zip(
            ("step", "radius"), self._schedules, (at.ETA, at.RADIUS), strict=True
        ):
            each = isinstance(schedule, PerStep)
            first = self.state.steps if each else self.state.epoch
            last = last_step if each else -(-last_step // self._steps_per_epoch)
            table = tabulated(name, schedule, first, min(last, first + longest))
            # An epoch ends with the step it began with.
            if self._counts[at.POSITION] > 0 and not each:
                table[:1] = self.state.memory.numbers[kept]
            tables.append(table)
            firsts.append(int(first))
            by_step.append(each)
            limit = (first + longest) * (1 if each else self._steps_per_epoch)
            last_step = min(last_step, limit)
        return (
            self.problem.data if compiled else None,
            self._method,
            self._plan.x_set,
            self._plan.y_set,
            self.state.memory,
            self.state.rng,
            *tables,
            tuple(firsts),
            tuple(by_step),
            (last_step, max_queries),
        )


def _objection(data: Any) -> str:
    """What Numba says about one of a user's functions: its message about the whole loop fills
    pages."""
    vector = types.float64[::1]
    for function in data if isinstance(data, UserFunction) else ():
        try:
            if function is not None:
                function.compile((types.int64, vector, vector))
        except Exception as error:
            lines = STYLES.sub("", str(error)).splitlines()
            told = next((line for line in lines if not line.startswith("Failed in ")), repr(error))
            return f"; of {function.__name__} Numba says: {told}"
    return ""
