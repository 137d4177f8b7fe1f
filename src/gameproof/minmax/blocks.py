"""The two blocks of a saddle problem, x and y, and which of their coordinates are perturbed."""

from __future__ import annotations

from typing import Literal, NamedTuple

Block = Literal["x", "y"]


class Perturbed(NamedTuple):
    """The coordinates that are perturbed: the first `x` of x, and all of y or none of it."""

    x: int
    y: bool


NOTHING = Perturbed(0, False)
