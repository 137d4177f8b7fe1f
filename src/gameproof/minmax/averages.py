"""What a run returns: an average of its iterates, or the last one.

Averages are over the iterates after each step, weighted by step size. A run keeps the sum of eta u
up to date in O(changed coordinates) per step; an average computes its output from these sums.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, final

import numpy as np

from gameproof.core.arguments import Vector, shown
from gameproof.minmax.replaceable_part import ReplaceablePart

# A smaller share of a run's weight is lost in the difference of two sums.
SMALLEST_SHARE = 1e-8


class Mark(NamedTuple):
    """sum eta and sum eta u at the end of an epoch: where a suffix average may start."""

    epoch: int
    weight: float
    x: Vector
    y: Vector


class Iterates(Protocol):
    """What an average can read: see `State`."""

    @property
    def epoch(self) -> int: ...
    @property
    def weight(self) -> float: ...
    @property
    def last(self) -> tuple[Vector, Vector]: ...
    @property
    def marks(self) -> Sequence[Mark]: ...
    def totals(self) -> tuple[Vector, Vector]: ...


class Average(ReplaceablePart, ABC):
    """Computes the output of a run from its state.

    Examples
    --------
    Half way between the average and the last iterate:

    >>> import gameproof as gp
    >>> class HalfWay(gp.Average):
    ...     def read(self, state):
    ...         pairs = zip(gp.StepWeighted().read(state), state.last)
    ...         return tuple((average + last) / 2 for average, last in pairs)
    """

    # True if the run must mark its sums at every power of two of epochs.
    needs_marks: ClassVar[bool] = False

    @abstractmethod
    def read(self, state: Iterates) -> tuple[Vector, Vector]:
        """The output (x, y).

        `state.last` is the last iterate (x, y), `state.totals()` the sums of eta u over all steps,
        and `state.weight` that of eta.
        """


def checked_output(average: Average, found: Any, dims: tuple[int, int]) -> tuple[Vector, Vector]:
    """The output that an average read, which may be a user's own, or an error."""
    if isinstance(found, (tuple, list)) and len(found) == 2:
        x, y = (np.asarray(part, dtype=np.float64) for part in found)
        if (*x.shape, *y.shape) == dims and x.ndim == 1:
            return x, y
    raise ValueError(
        f"{average!r} must read a pair (x, y) of {dims[0]} and {dims[1]} numbers, got "
        f"{shown(found)}"
    )


@final
@dataclass(frozen=True)
class StepWeighted(Average):
    """sum eta u / sum eta over the whole run: the paper's output.

    Examples
    --------
    Each step halves x, and the output is the mean of 0.5, 0.25 and 0.125:

    >>> import gameproof as gp
    >>> box = gp.Box([-1], [1])
    >>> problem = gp.SaddleProblem(
    ...     lambda i, x, y: x @ x - y @ y,
    ...     n=1,
    ...     x_set=box,
    ...     y_set=box,
    ...     gradient=lambda i, x, y: (2 * x, -2 * y),
    ... )
    >>> solver = gp.sgda_rr(gradient=gp.Exact(), step=0.25, average=gp.StepWeighted())
    >>> gp.solve(problem, solver, epochs=3, seed=0, start=([1], [0])).x.round(3)
    array([0.292])
    """

    def read(self, state: Iterates) -> tuple[Vector, Vector]:
        weight = state.weight
        if weight == 0:
            return state.last
        x, y = state.totals()
        x /= weight
        y /= weight
        return x, y


@final
@dataclass(frozen=True)
class Suffix(Average):
    """The step-weighted average over the later part of the run: at least its last half, at most
    three quarters. It starts at the largest power of two of epochs that is at most half the run.

    Examples
    --------
    >>> Suffix().needs_marks
    True
    """

    needs_marks: ClassVar[bool] = True

    def read(self, state: Iterates) -> tuple[Vector, Vector]:
        if len(state.marks) < 2:
            if state.epoch >= 2:
                raise ValueError("this run has no marks; give average=Suffix() to its solver")
            return StepWeighted().read(state)
        since = state.marks[0]
        weight = state.weight - since.weight
        if weight <= SMALLEST_SHARE * state.weight:
            return state.last  # nothing has moved since the mark
        x, y = state.totals()
        return (x - since.x) / weight, (y - since.y) / weight


@final
@dataclass(frozen=True)
class Last(Average):
    """The last iterate.

    Examples
    --------
    Each step halves x, from 1 to 0.5, 0.25 and 0.125:

    >>> import gameproof as gp
    >>> box = gp.Box([-1], [1])
    >>> problem = gp.SaddleProblem(
    ...     lambda i, x, y: x @ x - y @ y,
    ...     n=1,
    ...     x_set=box,
    ...     y_set=box,
    ...     gradient=lambda i, x, y: (2 * x, -2 * y),
    ... )
    >>> solver = gp.sgda_rr(gradient=gp.Exact(), step=0.25, average=gp.Last())
    >>> gp.solve(problem, solver, epochs=3, seed=0, start=([1], [0])).x
    array([0.125])
    """

    def read(self, state: Iterates) -> tuple[Vector, Vector]:
        return state.last
