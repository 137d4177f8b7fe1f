"""`EncodedColumns`: the encoders of all columns of a table, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.estimators.column_encoders import CategoryEncoder, NumberEncoder
from gameproof.estimators.table_budgets import Budgets, MoveBounds
from gameproof.strategic.category_claims import Claim


@final
class EncodedColumns:
    """The resulting columns of a table, and how far people can move in them."""

    def __init__(self, encoders: Sequence[NumberEncoder | CategoryEncoder]) -> None:
        self._encoders = encoders
        widths = [len(encoder.names("")) for encoder in encoders]
        # The position of the first resulting column of each column, and the number of all.
        self._starts = [int(start) for start in np.cumsum([0, *widths])]

    def encoded(self, table: Matrix) -> Matrix:
        """The resulting columns."""
        made: Matrix = np.empty((len(table), self._starts[-1]))
        for encoder, column, start in zip(self._encoders, table.T, self._starts, strict=False):
            for k, encoded in enumerate(encoder.encoded(column)):
                made[:, start + k] = encoded
        return made

    def moves(self, table: Matrix, budgets: Budgets, times: float | Vector) -> MoveBounds:
        """Bounds on the changes of each person within `times` their budget."""
        lower = np.zeros((len(table), self._starts[-1]))
        upper = lower.copy()
        for start, low, high in self._number_moves(table, budgets, times):
            lower[:, start], upper[:, start] = low, high
        return MoveBounds(lower, upper, tuple(self._claims(table, budgets)))

    def gains(
        self, table: Matrix, budgets: Budgets, theta: Vector, times: float | Vector
    ) -> Vector:
        """The largest gain in score of each person within `times` their budget. Only the columns
        that people can change are encoded."""
        gained, everyone = np.zeros(len(table)), np.arange(len(table))
        for start, low, high in self._number_moves(table, budgets, times):
            gained += np.maximum(low * theta[start], high * theta[start])
        for claim in self._claims(table, budgets):
            gained += claim.gains(theta, everyone)
        return gained

    def _number_moves(
        self, table: Matrix, budgets: Budgets, times: float | Vector
    ) -> Iterator[tuple[int, Vector, Vector]]:
        """The resulting columns of numbers that people can change, and bounds on the changes."""
        for at, (encoder, start) in enumerate(zip(self._encoders, self._starts, strict=False)):
            if isinstance(encoder, NumberEncoder) and at in budgets.ranges:
                with np.errstate(over="ignore"):
                    low, high = (times * np.float64(end) for end in budgets.ranges[at])
                yield start, *encoder.moves(table[:, at], low, high)

    def _claims(self, table: Matrix, budgets: Budgets) -> Iterator[Claim]:
        for at, (encoder, start) in enumerate(zip(self._encoders, self._starts, strict=False)):
            if isinstance(encoder, CategoryEncoder) and at in budgets.claims:
                yield encoder.claim(table[:, at], budgets.claims[at], start)
