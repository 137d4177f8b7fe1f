"""`QuadraticGame`: quadratic on balls."""

from __future__ import annotations

from functools import cached_property
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Vector
from gameproof.kernels import games
from gameproof.minmax.games.ball_minimum import ball_minimum
from gameproof.minmax.games.game import Game, require_inside, sample_array, solve_mean_system
from gameproof.minmax.saddle import Saddle
from gameproof.minmax.sets.ball import Ball


@final
class QuadraticGame(Game):
    """L_i = (a_i'x)^2/2 + (a_i'x)(b_i'y) - (b_i'y)^2/2 + p_i'x - q_i'y on two balls.

    The saddle point solves a linear system of the means and must lie in the balls.

    Parameters
    ----------
    a, b, p, q
        One row per sample.
    radius
        Radius of both balls.

    Examples
    --------
    >>> QuadraticGame.random(n=20, seed=0).saddle.duality_gap < 1e-12
    True
    """

    def __init__(
        self, a: ArrayLike, b: ArrayLike, p: ArrayLike, q: ArrayLike, radius: float
    ) -> None:
        first, second = sample_array("a", a, 2), sample_array("b", b, 2)
        self.n, dx = first.shape
        dy = second.shape[1]
        self.name = f"quadratic game {dx} + {dy}"
        self.x_set, self.y_set = Ball(np.zeros(dx), radius), Ball(np.zeros(dy), radius)
        self.data = games.RankOne(
            first,
            sample_array("b", second, 2, (self.n, dy)),
            sample_array("p", p, 2, (self.n, dx)),
            sample_array("q", q, 2, (self.n, dy)),
        )

    @classmethod
    def random(
        cls, n: int = 100, dx: int = 5, dy: int = 5, noise: float = 1.0, seed: int = 0
    ) -> Self:
        rng = np.random.default_rng(seed)
        a, b = rng.standard_normal((n, dx)), rng.standard_normal((n, dy))
        p = rng.standard_normal(dx) / np.sqrt(dx) + noise * rng.standard_normal((n, dx))
        q = rng.standard_normal(dy) / np.sqrt(dy) + noise * rng.standard_normal((n, dy))
        return cls(a, b, p, q, radius=3.0)

    @cached_property
    def _means(self) -> tuple[Vector, Vector, Vector, Vector, Vector]:
        a, b, p, q = self.data
        return a.T @ a / self.n, a.T @ b / self.n, b.T @ b / self.n, p.mean(axis=0), q.mean(axis=0)

    @cached_property
    def saddle(self) -> Saddle:
        xx, xy, yy, p, q = self._means
        solution = solve_mean_system(self, np.block([[xx, xy], [xy.T, -yy]]), np.append(-p, q))
        x, y = np.split(solution, [p.size])
        require_inside(self, x, y)
        return self._certified(x, y)

    def duality_gap(self, x: ArrayLike, y: ArrayLike) -> float:
        x, y = self.point(x, y)
        xx, xy, yy, p, q = self._means
        worst = -ball_minimum(yy, q - xy.T @ x, self.y_set.diameter / 2) + p @ x + x @ xx @ x / 2
        best = ball_minimum(xx, p + xy @ y, self.x_set.diameter / 2) - q @ y - y @ yy @ y / 2
        return float(worst - best)
