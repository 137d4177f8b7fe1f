"""What a run returns: an average of its iterates, or the last one.

The averages are over the iterates after each step, weighted by step size. The run keeps
sum eta u up to date in O(changed coordinates) a step; these classes read it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

from gameproof.core.arguments import Vector

if TYPE_CHECKING:
    from gameproof.minmax.state import State

# Of a run's weight: what is smaller is lost in the difference of two sums.
SMALLEST_SHARE = 1e-8


class Average(ABC):
    """Reads the output off a state."""

    # Whether the run must note its sums at every power of two of epochs.
    needs_marks: ClassVar[bool] = False

    @abstractmethod
    def read(self, state: State) -> tuple[Vector, Vector]:
        """(x, y)."""


@final
@dataclass(frozen=True)
class StepWeighted(Average):
    """sum eta u / sum eta over the whole run: the paper's output."""

    def read(self, state: State) -> tuple[Vector, Vector]:
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
    """The same sum over the later part of the run: at least its last half, at most three quarters.

    The window starts at the largest power of two of epochs that is at most half the run.
    """

    needs_marks: ClassVar[bool] = True

    def read(self, state: State) -> tuple[Vector, Vector]:
        if len(state.marks) < 2:
            if state.epoch >= 2:
                raise ValueError("this run noted no marks; give average=Suffix() to its solver")
            return StepWeighted().read(state)
        since = state.marks[0]
        weight = state.weight - since.weight
        if weight <= SMALLEST_SHARE * state.weight:
            return state.last  # since then nothing has moved
        x, y = state.totals()
        return (x - since.x) / weight, (y - since.y) / weight


@final
@dataclass(frozen=True)
class Last(Average):
    """The last iterate."""

    def read(self, state: State) -> tuple[Vector, Vector]:
        return state.last
