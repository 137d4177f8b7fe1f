"""The mean of differences along k random orthonormal directions, times d.

Duchi, Jordan, Wainwright and Wibisono, "Optimal rates for zero-order convex optimization: the power
of two function evaluations", 2015; with k directions a block as in Liu et al., "Min-max
optimization without gradients", 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from gameproof.core.arguments import Matrix, as_count
from gameproof.kernels import layout as at
from gameproof.minmax.estimates.gradient import Compiled, FromValues, Space


@final
@dataclass(frozen=True)
class Directions(FromValues):
    """(d / k eps) sum of (L_i(u + eps v) - L_i(u)) v over k orthonormal directions v.

    It costs k + 1 values per sample, or 2k if symmetric.

    Parameters
    ----------
    k
        The number of directions; at most as many as there are coordinates are used.
    symmetric
        True for symmetric differences.
    blocks, feasible
        See `Gradient`.

    Examples
    --------
    >>> Directions(k=3).n_points(10), Directions(k=3, symmetric=True).n_points(10)
    (4, 6)
    """

    k: int = 2
    symmetric: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "k", as_count("k", self.k))

    @property
    def code(self) -> Compiled:
        return Compiled(at.MIRROR if self.symmetric else at.CENTRE, at.ORTHONORMAL)

    def n_directions(self, dim: int) -> int:
        return min(self.k, dim)

    def factor(self, dim: int) -> float:
        return dim / self.n_directions(dim)

    def directions(self, rng: np.random.Generator, space: Space) -> Matrix:
        drawn = space.flatten(rng.standard_normal((self.n_directions(space.dim), space.size)))
        rows: list[np.ndarray] = []
        for v in drawn:
            for _ in range(2):  # against rounding
                for other in rows:
                    v = v - (v @ other) * other
            rows.append(v / np.linalg.norm(v))
        return np.array(rows)
