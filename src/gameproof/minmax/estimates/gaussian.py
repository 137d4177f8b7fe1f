"""Gaussian smoothing: (1/eps) (L_i(u + eps v) - L_i(u)) v with v ~ N(0, I).

Nesterov and Spokoiny, "Random gradient-free minimization of convex functions", 2017; Wang et al.,
"Zeroth-order algorithms for nonconvex minimax problems with improved complexities", 2020.
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
class Gaussian(FromValues):
    """(1/eps) (L_i(u + eps v) - L_i(u)) v with v ~ N(0, I): two values per sample.

    Parameters
    ----------
    symmetric
        True for (1/2eps) (L_i(u + eps v) - L_i(u - eps v)) v.
    blocks
        See `Gradient`.
    feasible
        Must be False: Gaussian offsets have any length.

    Examples
    --------
    >>> Gaussian().n_points(10)
    2
    """

    symmetric: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.feasible:
            raise ValueError(
                "Gaussian() queries points at any distance, so they cannot be kept in the sets; "
                "use TwoPoint(feasible=True)"
            )

    @property
    def code(self) -> Compiled:
        return Compiled(at.MIRROR if self.symmetric else at.CENTRE, at.GAUSSIAN)

    def factor(self, dim: int) -> float:
        return 1.0

    def directions(self, rng: np.random.Generator, space: Space) -> Matrix:
        return space.flatten(rng.standard_normal((1, space.size)))
