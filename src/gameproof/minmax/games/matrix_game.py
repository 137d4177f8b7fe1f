"""`MatrixGame`: bilinear on simplices."""

from __future__ import annotations

from functools import cached_property
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from gameproof.kernels import games
from gameproof.minmax.games.game import Game, sample_array
from gameproof.minmax.saddle import Saddle
from gameproof.minmax.sets.simplex import Simplex


@final
class MatrixGame(Game):
    """L_i = x' A_i y on simplices. A linear program gives the saddle point.

    Parameters
    ----------
    matrices
        One matrix A_i per sample, stacked along the first axis.

    Examples
    --------
    >>> rock_paper_scissors = MatrixGame([[[0, 1, -1], [-1, 0, 1], [1, -1, 0]]])
    >>> rock_paper_scissors.saddle.x.round(3)
    array([0.333, 0.333, 0.333])
    """

    def __init__(self, matrices: ArrayLike) -> None:
        stack = sample_array("matrices", matrices, 3)
        self.n, dx, dy = stack.shape
        self.name = f"matrix game {dx} x {dy}"
        self.x_set, self.y_set = Simplex(dx), Simplex(dy)
        self.data = games.Bilinear(stack, np.zeros((self.n, dx)), np.zeros((self.n, dy)))
        self._mean = stack.mean(axis=0)

    @classmethod
    def random(cls, n: int = 100, dx: int = 5, dy: int = 5, seed: int = 0) -> Self:
        """Entries normal, drawn by sample around a common matrix."""
        rng = np.random.default_rng(seed)
        return cls(rng.standard_normal((dx, dy)) + rng.standard_normal((n, dx, dy)))

    @cached_property
    def saddle(self) -> Saddle:
        # min t subject to A'x <= t, x in the simplex; the multipliers of the rows are y. Scaled,
        # because the solver takes numbers below its own tolerance for zero.
        dx, dy = self._mean.shape
        scaled = self._mean / max(np.abs(self._mean).max(), np.finfo(float).tiny)
        program = linprog(
            np.append(np.zeros(dx), 1.0),
            A_ub=np.column_stack([scaled.T, -np.ones(dy)]),
            b_ub=np.zeros(dy),
            A_eq=np.append(np.ones(dx), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0, None)] * dx + [(None, None)],
        )
        if program.status != 0:
            raise ArithmeticError(f"the linear program of {self.name} failed: {program.message}")
        return self._certified(program.x[:dx], -program.ineqlin.marginals)

    def duality_gap(self, x: ArrayLike, y: ArrayLike) -> float:
        x, y = self.point(x, y)
        return float((x @ self._mean).max() - (self._mean @ y).min())
