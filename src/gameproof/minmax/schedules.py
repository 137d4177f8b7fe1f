"""Step sizes and query radii by epoch.

A schedule is any function from the epoch t = 0, 1, … to a positive number.
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
    """initial * (t + 1) ** -exponent; exponent 0 is constant.

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
    """The same at every epoch."""

    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", as_positive("value", self.value))

    def __call__(self, t: int) -> float:
        return float(self.value)


def as_schedule(name: str, value: Schedule | float) -> Schedule:
    """A schedule; a number stands for a constant one."""
    if callable(value):
        return value
    return Constant(as_positive(name, value))


def by_epoch(name: str, schedule: Schedule, first: int, last: int) -> Vector:
    """The schedule's values at epochs first … last - 1, each checked to be positive."""
    values = [schedule(t) for t in range(first, last)]
    for t, value in enumerate(values, first):
        if type(value) is not float:  # most are, and there may be many
            as_number(f"{name} at epoch {t}", value)
        if not 0 < value < inf:
            raise ValueError(
                f"{name} must be positive at every epoch, got {value} at epoch {t} (the first is 0)"
            )
    return np.array(values, dtype=np.float64)
