"""The two blocks of a saddle problem, x and y, and which of their coordinates are perturbed."""

from __future__ import annotations

from typing import Literal, NamedTuple

Block = Literal["x", "y"]


class Perturbed(NamedTuple):
    """The coordinates that are perturbed: x[x_start:x_stop], and all of y or none of it."""

    x_start: int
    x_stop: int
    y: bool


NOTHING = Perturbed(0, 0, False)
