"""Differences along every coordinate: the gradient itself, up to O(eps).

d + 1 values per sample, or 2d if symmetric. On a simplex the directions are an orthonormal basis of
its hull, so there are d - 1 of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from gameproof.core.arguments import Matrix
from gameproof.kernels import layout as at
from gameproof.minmax.estimates.gradient import Compiled, FromValues, Space


@final
@dataclass(frozen=True)
class Coordinates(FromValues):
    """The sum over all coordinates c of (L_i(u + eps e_c) - L_i(u)) / eps e_c.

    Parameters
    ----------
    symmetric
        True for symmetric differences, which are exact for quadratic functions.
    blocks, feasible
        See `Gradient`.

    Examples
    --------
    >>> Coordinates().n_points(10)
    11
    """

    symmetric: bool = False

    @property
    def code(self) -> Compiled:
        return Compiled(at.MIRROR if self.symmetric else at.CENTRE, at.BASIS)

    def n_directions(self, dim: int) -> int:
        return dim

    def factor(self, dim: int) -> float:
        return 1.0

    def directions(self, rng: np.random.Generator, space: Space) -> Matrix:
        return space.basis()
