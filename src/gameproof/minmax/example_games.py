"""Games whose saddle points are known, built in and compiled: for tests, demos and benchmarks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from functools import cached_property
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, linprog

from gameproof.core.arguments import Indices, Vector, as_numbers, as_positive, require_finite
from gameproof.kernels import games, samples
from gameproof.minmax.blocks import Block, Perturbed
from gameproof.minmax.problem import Problem, Saddle
from gameproof.minmax.sets.ball import Ball
from gameproof.minmax.sets.box import Box
from gameproof.minmax.sets.simplex import Simplex


class _Game(Problem):
    """A problem whose samples and gradients are compiled."""

    known: frozenset[Block] = frozenset({"x", "y"})

    @property
    @abstractmethod
    def saddle(self) -> Saddle: ...

    def evaluate(self, indices: Indices, x: Vector, y: Vector) -> Iterable[float]:
        out = np.empty(indices.size)
        samples.values_at(self.data, indices, *self.uncopied(x, y), out)
        values: list[float] = out.tolist()
        return values

    def gradient(self, i: int, x: Vector, y: Vector) -> tuple[Vector, Vector]:
        self.samples([i])
        gx, gy = np.empty(self.x_set.dim), np.empty(self.y_set.dim)
        samples.gradient_at(self.data, i, *self.uncopied(x, y), gx, gy)
        return gx, gy

    def value(self, x: ArrayLike, y: ArrayLike) -> float:
        return float(samples.mean_value(self.data, self.n, *self.point(x, y)))

    def _certified(self, x: Vector, y: Vector) -> Saddle:
        return Saddle(x, y, self.value(x, y), self.duality_gap(x, y))


@final
class MatrixGame(_Game):
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
        stack = _samples("matrices", matrices, 3)
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


@final
class BilinearGame(_Game):
    """L_i = x' A_i y + p_i' x + q_i' y on two balls: plain descent-ascent circles here.

    Its saddle point solves A y + p = 0 and A' x + q = 0 for the means, and must lie in the balls.

    Parameters
    ----------
    matrices, p, q
        A_i, p_i and q_i, one per sample along the first axis.
    radius
        Of both balls.

    Examples
    --------
    >>> BilinearGame.random(n=10, dim=2, seed=0).saddle.duality_gap < 1e-12
    True
    """

    def __init__(self, matrices: ArrayLike, p: ArrayLike, q: ArrayLike, radius: float) -> None:
        stack = _samples("matrices", matrices, 3)
        self.n, dx, dy = stack.shape
        if dx != dy:
            raise ValueError(f"the matrices of a bilinear game must be square, got {dx} x {dy}")
        self.name = f"bilinear game of dimension {dx}"
        self.x_set = self.y_set = Ball(np.zeros(dx), radius)
        self.data = games.Bilinear(
            stack, _samples("p", p, 2, (self.n, dx)), _samples("q", q, 2, (self.n, dx))
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
        x = _solved(self, self._mean.T, -self._q)
        y = _solved(self, self._mean, -self._p)
        _require_inside(self, x, y)
        return self._certified(x, y)

    def duality_gap(self, x: ArrayLike, y: ArrayLike) -> float:
        x, y = self.point(x, y)
        reach = self.x_set.diameter / 2
        best_y = self._p @ x + reach * np.linalg.norm(x @ self._mean + self._q)
        best_x = self._q @ y - reach * np.linalg.norm(self._mean @ y + self._p)
        return float(best_y - best_x)


@final
class QuadraticGame(_Game):
    """L_i = (a_i'x)^2/2 + (a_i'x)(b_i'y) - (b_i'y)^2/2 + p_i'x - q_i'y on two balls.

    The saddle point solves a linear system of the means and must lie in the balls.

    Parameters
    ----------
    a, b, p, q
        One row per sample.
    radius
        Of both balls.

    Examples
    --------
    >>> QuadraticGame.random(n=20, seed=0).saddle.duality_gap < 1e-12
    True
    """

    def __init__(
        self, a: ArrayLike, b: ArrayLike, p: ArrayLike, q: ArrayLike, radius: float
    ) -> None:
        first, second = _samples("a", a, 2), _samples("b", b, 2)
        self.n, dx = first.shape
        dy = second.shape[1]
        self.name = f"quadratic game {dx} + {dy}"
        self.x_set, self.y_set = Ball(np.zeros(dx), radius), Ball(np.zeros(dy), radius)
        self.data = games.RankOne(
            first,
            _samples("b", second, 2, (self.n, dy)),
            _samples("p", p, 2, (self.n, dx)),
            _samples("q", q, 2, (self.n, dy)),
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
        solution = _solved(self, np.block([[xx, xy], [xy.T, -yy]]), np.append(-p, q))
        x, y = np.split(solution, [p.size])
        _require_inside(self, x, y)
        return self._certified(x, y)

    def duality_gap(self, x: ArrayLike, y: ArrayLike) -> float:
        x, y = self.point(x, y)
        xx, xy, yy, p, q = self._means
        worst = -ball_minimum(yy, q - xy.T @ x, self.y_set.diameter / 2) + p @ x + x @ xx @ x / 2
        best = ball_minimum(xx, p + xy @ y, self.x_set.diameter / 2) - q @ y - y @ yy @ y / 2
        return float(worst - best)


@final
class RobustLeastSquares(_Game):
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
        Of the ball of x, and of every |y_i|.

    Examples
    --------
    >>> RobustLeastSquares.random(n=20, seed=0).saddle.duality_gap < 1e-12
    True
    """

    private_y = True

    def __init__(
        self, a: ArrayLike, b: ArrayLike, penalty: float, radius: float, bound: float
    ) -> None:
        rows = _samples("a", a, 2)
        self.n, dx = rows.shape
        self.penalty, self.bound = as_positive("penalty", penalty), as_positive("bound", bound)
        if self.penalty <= 1:
            raise ValueError(f"penalty must exceed 1 for L to be concave in y, got {penalty}")
        self.name = f"robust least squares in {dx} unknowns"
        self.x_set = Ball(np.zeros(dx), radius)
        self.y_set = Box(np.full(self.n, -self.bound), np.full(self.n, self.bound))
        self.data = games.LeastSquares(rows, _samples("b", b, 1, (self.n,)), self.penalty)

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
        _require_inside(self, x, y)
        return self._certified(x, y)

    def duality_gap(self, x: ArrayLike, y: ArrayLike) -> float:
        x, y = self.point(x, y)
        a, b, penalty = self.data
        worst = np.clip(-(a @ x - b) / (penalty - 1), -self.bound, self.bound)
        target = b + y
        best = ball_minimum(a.T @ a / self.n, -(a.T @ target) / self.n, self.x_set.diameter / 2)
        return self.value(x, worst) - (best + float(target @ target - penalty * y @ y) / 2 / self.n)


def ball_minimum(hessian: NDArray[np.float64], slope: Vector, radius: float) -> float:
    """min of z'Hz/2 + g'z over |z| <= radius, H positive semidefinite.

    In the eigenbasis the minimiser is -g/(h + m) with m >= 0 zero or such that |z| = radius.
    """
    h, basis = np.linalg.eigh(hessian)
    h, g = np.maximum(h, 0.0), basis.T @ slope

    def point(m: float) -> Vector:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(g == 0, 0.0, -g / (h + m))

    def excess(m: float) -> float:
        return float(1 / radius - 1 / np.linalg.norm(point(m)))

    m = 0.0
    if np.linalg.norm(point(0.0)) > radius:
        # Where h = 0 this is the answer itself, and the excess there may round to either sign.
        most = float(np.linalg.norm(g)) / radius
        m = most
        if excess(most) < 0:
            m = brentq(excess, 0.0, most, xtol=1e-300, maxiter=5000)
    z = point(m)
    return float(z @ (h * z) / 2 + g @ z)


def _samples(
    name: str, value: ArrayLike, ndim: int, shape: tuple[int, ...] | None = None
) -> NDArray[np.float64]:
    """A finite contiguous float array of its own, samples along the first axis, or an error."""
    array = as_numbers(name, value)
    if array.ndim != ndim or 0 in array.shape:
        raise ValueError(f"{name} must be a non-empty array with {ndim} axes, got {array.shape}")
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
    require_finite(name, array)
    return array


def _solved(game: Problem, matrix: NDArray[np.float64], right: Vector) -> Vector:
    try:
        solution: Vector = np.linalg.solve(matrix, right).astype(np.float64)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            f"the {game.name} has no single saddle point: its mean matrix is singular"
        ) from error
    return solution


def _require_inside(game: Problem, x: Vector, y: Vector) -> None:
    for label, point, part in (("x", x, game.x_set), ("y", y, game.y_set)):
        if not part.contains(point):
            raise ValueError(
                f"the unconstrained saddle point of the {game.name} has {label} outside its set; "
                "enlarge the set to keep the closed form"
            )
