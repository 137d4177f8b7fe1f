"""A strategic problem whose rows are in blocks: in files, or on a cluster.

`RowPeople` is what a problem needs to know about all people. If people differ in their moves, its
response is that of a few agents who together can do whatever anyone can do; how far each row can
move is part of the row (`Rows.own`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Indices, Vector
from gameproof.core.size_limits import whole_limit
from gameproof.rows.array_rows import ArrayRows
from gameproof.rows.cores import one_blas_thread
from gameproof.rows.row_blocks import RowBlocks, Rows
from gameproof.strategic.newton.convex_objective import ConvexObjective
from gameproof.strategic.responses import KnownResponse, Sight
from gameproof.strategic.robust_objective import NOTHING
from gameproof.strategic.robust_parameters import RobustParameters

# Rows with at most this many numbers are gathered in memory.
SMALL = 2**24
# The bytes of a number.
FLOAT = 8


@dataclass(frozen=True, eq=False)
class RowPeople:
    """The numbers that describe people whose rows are in blocks."""

    n: int
    d: int
    n_positive: int
    positive_share: float
    weighted: bool
    largest_by_feature: Vector
    response: KnownResponse
    movers: Indices

    @property
    def sight(self) -> Sight:
        """What a learner may see: the response function."""
        return self.response.sight

    @property
    def largest(self) -> float:
        """The largest absolute value of a feature."""
        return float(self.largest_by_feature.max())

    def require_both_labels(self) -> None:
        """Raises if all labels are the same."""
        if self.n_positive in (0, self.n):
            raise ValueError(
                f"y must contain both -1 and +1, got only {1 if self.n_positive else -1:+d}"
            )


class RowProblem(RobustParameters[RowPeople]):
    """The robust problem of people whose rows are in blocks."""

    has_duality_gap = True

    def __init__(
        self, population: RowPeople, rows: RowBlocks, radius: float, *given: Any, **options: Any
    ) -> None:
        super().__init__(population, radius, *given, **options)
        self.rows = rows
        if not rows.in_memory and rows.n * rows.d <= SMALL:
            self.gather()

    @property
    def fits_memory(self) -> bool:
        """Whether the rows may be gathered in memory."""
        return self.rows.n * self.rows.d * FLOAT <= whole_limit()

    def gather(self) -> None:
        """Holds the rows in memory from now on, where a method may take all of them at once."""
        self.rows = ArrayRows.of(self.rows.gathered())

    def robust_value(self, x: ArrayLike) -> float:
        """max over gamma of L(x, gamma)."""
        with one_blas_thread():
            return ConvexObjective(self).robust_value(self.as_x(x))

    def ignores_data(self, x: ArrayLike) -> bool:
        """Whether theta is so small that no score differs from the intercept."""
        largest: float = max(self.rows.map(_largest_score, self.split(x)[0]))
        return largest < NOTHING


def _largest_score(rows: Rows, theta: Vector) -> float:
    return float(np.abs(rows.X @ theta).max(initial=0.0))
