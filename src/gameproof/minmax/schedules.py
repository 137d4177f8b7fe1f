"""Step sizes and query radii.

A schedule is any function from the epoch t = 0, 1, … to a positive number; wrapped in `PerStep`, a
function of the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import final

import numpy as np

from gameproof.core.arguments import Vector, as_number, as_positive

Schedule = Callable[[int], float]


@final
@dataclass(frozen=True)
class Power:
    """initial * (t + 1) ** -exponent at epoch t; exponent 0 is constant.

    Parameters
    ----------
    initial
        The value at epoch 0, positive.
    exponent
        At least 0.

    Examples
    --------
    >>> Power(1.0, 0.5)(3)
    0.5
    """

    initial: float
    exponent: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "initial", as_positive("initial", self.initial))
        object.__setattr__(self, "exponent", as_number("exponent", self.exponent))
        if not (np.isfinite(self.exponent) and self.exponent >= 0):
            raise ValueError(f"exponent must be finite and at least 0, got {self.exponent}")

    def __call__(self, t: int) -> float:
        return float(self.initial * (t + 1) ** -self.exponent)


@final
@dataclass(frozen=True)
class Constant:
    """The same value at every epoch.

    Parameters
    ----------
    value
        A positive number.

    Examples
    --------
    >>> Constant(0.1)(7)
    0.1
    """

    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", as_positive("value", self.value))

    def __call__(self, t: int) -> float:
        return float(self.value)


@final
@dataclass(frozen=True)
class PerStep:
    """A schedule by step instead of by epoch.

    Parameters
    ----------
    schedule
        A function from the step 0, 1, … to a positive number, such as `Power`.

    Examples
    --------
    >>> PerStep(Power(1.0, 0.5))(3)
    0.5
    """

    schedule: Schedule

    def __post_init__(self) -> None:
        if not callable(self.schedule):
            raise TypeError(f"schedule must be a function of the step, got {self.schedule!r}")

    def __call__(self, t: int) -> float:
        return self.schedule(t)


@final
@dataclass(frozen=True)
class Shifted:
    """The schedule of a run that continues another one: schedule(t + by).

    Parameters
    ----------
    schedule
        A function from 0, 1, … to a positive number.
    by
        How many epochs or steps the earlier run made.

    Examples
    --------
    >>> Shifted(Power(1.0, 0.5), by=3)(0)
    0.5
    """

    schedule: Schedule
    by: int

    def __call__(self, t: int) -> float:
        return self.schedule(t + self.by)


def as_schedule(name: str, value: Schedule | float) -> Schedule:
    """A schedule; a number stands for a constant one."""
    if callable(value):
        return value
    return Constant(as_positive(name, value))


def tabulated(name: str, schedule: Schedule, first: int, last: int) -> Vector:
    """The schedule's values at first … last - 1, each checked to be positive."""
    values = [schedule(t) for t in range(first, last)]
    unit = "step" if isinstance(schedule, PerStep) else "epoch"
    for t, value in enumerate(values, first):
        if type(value) is not float:  # most are floats, and there may be many
            as_number(f"{name} at {unit} {t}", value)
        if not 0 < value < inf:
            raise ValueError(
                f"{name} must be positive at every {unit}, got {value} at {unit} {t} (the first is "
                "0)"
            )
    return np.array(values, dtype=np.float64)
