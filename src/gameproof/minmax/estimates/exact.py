"""The exact gradient, for problems that compute it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.kernels import layout as at
from gameproof.minmax.estimates.gradient import Compiled, Context, Gradient, Space


class WithoutValues(Gradient):
    """An estimate that queries no values."""

    def n_points(self, dim: int) -> int:
        return 0

    def offsets(self, rng: np.random.Generator, space: Space, radius: float) -> Matrix:
        return np.empty((0, space.size))

    def estimate(self, values: Vector, offsets: Matrix, radius: float, context: Context) -> Vector:
        return np.zeros(offsets.shape[1])


@final
@dataclass(frozen=True)
class Exact(WithoutValues):
    """The exact gradient, for problems that compute it. It asks for no values.

    Examples
    --------
    >>> Exact().n_points(10)
    0
    """

    compiled: ClassVar[Compiled] = Compiled(at.NO_VALUES, at.SPHERE)
