"""`BilinearGame`: bilinear on balls."""

from __future__ import annotations

from functools import cached_property
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.kernels import games
from gameproof.minmax.games.game import Game, require_inside, sample_array, solve_mean_system
from gameproof.minmax.saddle import Saddle
from gameproof.minmax.sets.ball import Ball


@final
class BilinearGame(Game):
    """L_i = x' A_i y + p_i' x + q_i' y on two balls: plain descent-ascent circles here.

    Its saddle point solves A y + p = 0 and A' x + q = 0 for the means, and must lie in the balls.

    Parameters
    ----------
    matrices, p, q
        A_i, p_i and q_i, one per sample along the first axis.
    radius
        Radius of both balls.

    Examples
    --------
    >>> BilinearGame.random(n=10, dim=2, seed=0).saddle.duality_gap < 1e-12
    True
    """

    def __init__(self, matrices: ArrayLike, p: ArrayLike, q: ArrayLike, radius: float) -> None:
        stack = sample_array("matrices", matrices, 3)
        self.n, dx, dy = stack.shape
        if dx != dy:
            raise ValueError(f"the matrices of a bilinear game must be square, got {dx} x {dy}")
        self.name = f"bilinear game of dimension {dx}"
        self.x_set = self.y_set = Ball(np.zeros(dx), radius)
        self.data = games.Bilinear(
            stack, sample_array("p", p, 2, (self.n, dx)), sample_array("q", q, 2, (self.n, dx))
        )
        self._mean, self._p, self._q = (part.mean(axis=0) for part in self.data)

    @classmethod
    def random(cls, n: int = 100, dim: int = 3, noise: float = 0.1, seed: int = 0) -> Self:
        """The mean matrix is near the identity, so the circling has a period near 2 pi."""
        rng = np.random.default_rng(seed)
        matrices = np.eye(dim) + noise * rng.standard_normal((n, dim, dim))
        p, q = noise * rng.standard_normal((2, n, dim))
        return cls(matrices, p, q, radius=2.0)

    @cached_property
    def saddle(self) -> Saddle:
        x = solve_mean_system(self, self._mean.T, -self._q)
        y = solve_mean_system(self, self._mean, -self._p)
        require_inside(self, x, y)
        return self._certified(x, y)

    def duality_gap(self, x: ArrayLike, y: ArrayLike) -> float:
        x, y = self.point(x, y)
        reach = self.x_set.diameter / 2
        best_y = self._p @ x + reach * np.linalg.norm(x @ self._mean + self._q)
        best_x = self._q @ y - reach * np.linalg.norm(self._mean @ y + self._p)
        return float(best_y - best_x)
