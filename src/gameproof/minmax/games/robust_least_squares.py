"""`RobustLeastSquares`: least squares against an adversary who shifts the targets."""

from __future__ import annotations

from functools import cached_property
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import as_positive
from gameproof.kernels import games
from gameproof.minmax.blocks import Perturbed
from gameproof.minmax.games.ball_minimum import ball_minimum
from gameproof.minmax.games.game import Game, require_inside, sample_array
from gameproof.minmax.saddle import Saddle
from gameproof.minmax.sets.ball import Ball
from gameproof.minmax.sets.box import Box


@final
class RobustLeastSquares(Game):
    """L_i = (a_i'x - b_i - y_i)^2/2 - penalty y_i^2/2: an adversary shifts target b_i by y_i.

    x in a ball, |y_i| <= bound, penalty > 1. Each y_i belongs to one sample, and its derivative
    needs no query: by default only x is estimated. With the bounds inactive, maximising over y
    multiplies the squares by penalty/(penalty - 1), so x* is the least-squares solution and
    y* = -residual/(penalty - 1).

    Parameters
    ----------
    a, b
        Features and targets, one row per sample.
    penalty
        The price of a shift, above 1.
    radius, bound
        Radius of the ball of x, and bound of every |y_i|.

    Examples
    --------
    >>> RobustLeastSquares.random(n=20, seed=0).saddle.duality_gap < 1e-12
    True
    """

    private_y = True

    def __init__(
        self, a: ArrayLike, b: ArrayLike, penalty: float, radius: float, bound: float
    ) -> None:
        rows = sample_array("a", a, 2)
        self.n, dx = rows.shape
        self.penalty, self.bound = as_positive("penalty", penalty), as_positive("bound", bound)
        if self.penalty <= 1:
            raise ValueError(f"penalty must exceed 1 for L to be concave in y, got {penalty}")
        self.name = f"robust least squares in {dx} unknowns"
        self.x_set = Ball(np.zeros(dx), radius)
        self.y_set = Box(np.full(self.n, -self.bound), np.full(self.n, self.bound))
        self.data = games.LeastSquares(rows, sample_array("b", b, 1, (self.n,)), self.penalty)

    @classmethod
    def random(cls, n: int = 100, dx: int = 5, noise: float = 0.5, seed: int = 0) -> Self:
        rng = np.random.default_rng(seed)
        a, truth = rng.standard_normal((n, dx)), rng.standard_normal(dx) / np.sqrt(dx)
        b = a @ truth + noise * rng.standard_normal(n)
        return cls(a, b, penalty=2.0, radius=3.0, bound=10.0)

    @property
    def estimated(self) -> Perturbed:
        return Perturbed(self.x_set.dim, False)

    @cached_property
    def saddle(self) -> Saddle:
        a, b, _ = self.data
        x = np.linalg.lstsq(a, b)[0]
        y = -(a @ x - b) / (self.penalty - 1)
        require_inside(self, x, y)
        return self._certified(x, y)

    def duality_gap(self, x: ArrayLike, y: ArrayLike) -> float:
        x, y = self.point(x, y)
        a, b, penalty = self.data
        worst = np.clip(-(a @ x - b) / (penalty - 1), -self.bound, self.bound)
        target = b + y
        best = ball_minimum(a.T @ a / self.n, -(a.T @ target) / self.n, self.x_set.diameter / 2)
        return self.value(x, worst) - (best + float(target @ target - penalty * y @ y) / 2 / self.n)
