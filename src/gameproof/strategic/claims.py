"""Categories whose level people can change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Indices, Vector


class Claim(NamedTuple):
    """A category whose level people can change.

    Level k is the column `columns[k]` of the features, -1 if it has none, where it counts
    `steps[k]`. `allowed` levels can be claimed; `current` is the level of each agent.
    """

    columns: Indices
    steps: Vector
    allowed: NDArray[np.bool_]
    current: Indices

    def values(self, theta: Vector) -> Vector:
        """What each level adds to a score."""
        found: Vector = np.where(self.columns >= 0, self.steps * theta[self.columns], 0.0)
        return found

    def best(self, theta: Vector, own: Indices) -> Indices:
        """The level that agents at these levels claim; their own unless another gains more."""
        values = self.values(theta)
        if not self.allowed.any():
            return own
        first = int(np.argmax(np.where(self.allowed, values, -np.inf)))
        found: Indices = np.where(values[first] > values[own], first, own)
        return found
