"""Games with known saddle points, written once more, with conic programs for both of their sides.

Where max over y is taken under a bound, the programs below use the conjugate of a sum: for a
positive definite Q, max over |z| <= R of c'z - z'Qz/2 is the minimum over w of
(c - w)' Q^-1 (c - w) / 2 + R |w|. So min over x of max over y is one convex program, and max over y
of min over x another; that they agree certifies the value.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.typing import NDArray

from gameproof import BilinearGame, MatrixGame, Problem, QuadraticGame, RobustLeastSquares

Array = NDArray[np.float64]
Formula = Callable[[int, Array, Array], float]


@dataclass
class Case:
    """A game, the formula of its samples, and the mean of that formula for cvxpy: concave in y
    where x is an array, convex in x where y is one."""

    game: Problem
    formula: Formula
    of_x: Callable[[Any, Array], Any]
    of_y: Callable[[Array, Any], Any]
    within: Callable[[Any, str], list[Any]]
    both_sides: Callable[[], tuple[float, Array, float, Array]]


def solved(program: Any) -> float:
    """The optimal value, right to about 1e-8 of its size: Clarabel's default tolerance."""
    return float(program.solve(solver=cp.CLARABEL))


def simplex(u: Any, block: str) -> list[Any]:
    return [u >= 0, cp.sum(u) == 1]


def ball(radius: float) -> Callable[[Any, str], list[Any]]:
    return lambda u, block: [cp.norm(u) <= radius]


def quadratic(z: Any, root: Array) -> Any:
    """|root z|^2 / 2 / n with n the number of rows: z'Hz/2 for H the mean of the rows' squares."""
    return cp.sum_squares(root @ z) / 2 / len(root)


def inverse_quadratic(z: Any, root: Array) -> Any:
    """z' H^-1 z / 2 for the same H."""
    factor = np.linalg.inv(np.linalg.cholesky(root.T @ root / len(root)))
    return cp.sum_squares(factor @ z) / 2


def matrix_case(n: int, dx: int, dy: int, seed: int) -> Case:
    stack = np.random.default_rng(seed).normal(size=(n, dx, dy))
    mean = sum(stack) / n

    def both_sides() -> tuple[float, Array, float, Array]:
        x, y = cp.Variable(dx), cp.Variable(dy)
        high = solved(cp.Problem(cp.Minimize(cp.max(mean.T @ x)), simplex(x, "x")))
        low = solved(cp.Problem(cp.Maximize(cp.min(mean @ y)), simplex(y, "y")))
        return high, x.value, low, y.value

    return Case(
        MatrixGame(stack),
        lambda i, x, y: float(np.einsum("r,rc,c", x, stack[i], y)),
        lambda x, y: (mean @ y) @ x,
        lambda x, y: (mean.T @ x) @ y,
        simplex,
        both_sides,
    )


def bilinear_case(n: int, dim: int, seed: int, radius: float) -> Case:
    rng = np.random.default_rng(seed)
    stack = np.eye(dim) + 0.3 * rng.normal(size=(n, dim, dim))
    p, q = 0.3 * rng.normal(size=(2, n, dim))
    mean, pm, qm = sum(stack) / n, sum(p) / n, sum(q) / n

    def both_sides() -> tuple[float, Array, float, Array]:
        x, y = cp.Variable(dim), cp.Variable(dim)
        worst = pm @ x + radius * cp.norm(mean.T @ x + qm)
        best = qm @ y - radius * cp.norm(mean @ y + pm)
        high = solved(cp.Problem(cp.Minimize(worst), [cp.norm(x) <= radius]))
        low = solved(cp.Problem(cp.Maximize(best), [cp.norm(y) <= radius]))
        return high, x.value, low, y.value

    return Case(
        BilinearGame(stack, p, q, radius),
        lambda i, x, y: float(x @ stack[i] @ y + p[i] @ x + q[i] @ y),
        lambda x, y: (mean @ y + pm) @ x + qm @ y,
        lambda x, y: (mean.T @ x + qm) @ y + pm @ x,
        ball(radius),
        both_sides,
    )


def quadratic_case(n: int, dx: int, dy: int, seed: int, radius: float) -> Case:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(n, dx)), rng.normal(size=(n, dy))
    p, q = rng.normal(size=(n, dx)), rng.normal(size=(n, dy))
    cross, pm, qm = (
        sum(np.outer(*pair) for pair in zip(a, b, strict=True)) / n,
        sum(p) / n,
        sum(q) / n,
    )

    def formula(i: int, x: Array, y: Array) -> float:
        s, t = float(a[i] @ x), float(b[i] @ y)
        return s**2 / 2 + s * t - t**2 / 2 + float(p[i] @ x) - float(q[i] @ y)

    def both_sides() -> tuple[float, Array, float, Array]:
        x, y, w, z = cp.Variable(dx), cp.Variable(dy), cp.Variable(dy), cp.Variable(dx)
        worst = quadratic(x, a) + pm @ x + inverse_quadratic(cross.T @ x - qm - w, b)
        best = quadratic(y, b) + qm @ y + inverse_quadratic(-cross @ y - pm - z, a)
        high = solved(cp.Problem(cp.Minimize(worst + radius * cp.norm(w)), ball(radius)(x, "x")))
        low = -solved(cp.Problem(cp.Minimize(best + radius * cp.norm(z)), ball(radius)(y, "y")))
        return high, x.value, low, y.value

    return Case(
        QuadraticGame(a, b, p, q, radius),
        formula,
        lambda x, y: quadratic(x, a) + (cross @ y + pm) @ x - (b @ y) @ (b @ y) / 2 / n - qm @ y,
        lambda x, y: (a @ x) @ (a @ x) / 2 / n + pm @ x + (cross.T @ x - qm) @ y - quadratic(y, b),
        ball(radius),
        both_sides,
    )


def least_squares_case(
    n: int, dx: int, seed: int, radius: float, bound: float, penalty: float
) -> Case:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(n, dx)), rng.normal(size=n)

    def within(u: Any, block: str) -> list[Any]:
        return [cp.norm(u) <= radius] if block == "x" else [cp.abs(u) <= bound]

    def both_sides() -> tuple[float, Array, float, Array]:
        x, y, m = cp.Variable(dx), cp.Variable(n), cp.Variable(n)
        # max over |y| <= B of (r - y)^2/2 - P y^2/2 is r^2/2 plus a Huber function of r.
        knee, r = (penalty - 1) * bound, a @ x - b
        worst = cp.sum_squares(r) / 2 + cp.sum(cp.huber(r, knee)) / 2 / (penalty - 1)
        # min over |x| <= R of |Ax - t|^2/2n is, with multipliers m of Ax - t = r,
        # max over m of -n |m|^2/2 - m't - R |A'm|; t = b + y, and the square is completed.
        best = -cp.sum_squares(np.sqrt(n) * m + y / np.sqrt(n)) / 2 - m @ b
        best -= radius * cp.norm(a.T @ m) + (penalty - 1) * cp.sum_squares(y) / 2 / n
        high = solved(cp.Problem(cp.Minimize(worst / n), within(x, "x")))
        low = solved(cp.Problem(cp.Maximize(best), within(y, "y")))
        return high, x.value, low, y.value

    return Case(
        RobustLeastSquares(a, b, penalty, radius, bound),
        lambda i, x, y: float((a[i] @ x - b[i] - y[i]) ** 2 - penalty * y[i] ** 2) / 2,
        lambda x, y: (cp.sum_squares(a @ x - b - y) - penalty * y @ y) / 2 / n,
        # The square of y_i is gathered, so that what is left is seen to be concave.
        lambda x, y: (
            ((a @ x - b) @ (a @ x - b) - 2 * (a @ x - b) @ y - (penalty - 1) * cp.sum_squares(y))
            / (2 * n)
        ),
        within,
        both_sides,
    )


SADDLES_INSIDE = {
    "matrix 4 x 3": matrix_case(6, 4, 3, seed=0),
    "matrix 2 x 5": matrix_case(3, 2, 5, seed=1),
    "bilinear": bilinear_case(5, 3, seed=2, radius=2.0),
    "quadratic": quadratic_case(12, 3, 2, seed=3, radius=3.0),
    "least squares": least_squares_case(8, 2, seed=4, radius=3.0, bound=4.0, penalty=2.0),
    "matrix of one sample": matrix_case(1, 3, 3, seed=5),
    "bilinear of one sample": bilinear_case(1, 2, seed=6, radius=2.0),
    "quadratic of one sample": quadratic_case(1, 1, 1, seed=15, radius=3.0),
    "least squares of one sample": least_squares_case(1, 1, 8, radius=4.0, bound=1.0, penalty=1.5),
}
"""The closed forms hold: the saddle point is interior, except on simplices."""
CASES = SADDLES_INSIDE | {
    "quadratic, small balls": quadratic_case(12, 3, 2, seed=9, radius=0.1),
    "quadratic, one sample, singular": quadratic_case(1, 3, 2, seed=10, radius=1.0),
    "quadratic, fewer samples than unknowns": quadratic_case(3, 5, 4, seed=11, radius=2.0),
    "least squares, small sets": least_squares_case(8, 2, 12, radius=0.1, bound=0.05, penalty=3.0),
    "least squares, one sample": least_squares_case(1, 3, 13, radius=1.0, bound=1.0, penalty=1.5),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
every_saddle = pytest.mark.parametrize("case", SADDLES_INSIDE.values(), ids=SADDLES_INSIDE)


def random_points(game: Problem, count: int, seed: int = 0) -> list[tuple[Array, Array]]:
    rng = np.random.default_rng(seed)
    return [(game.x_set.sample(rng), game.y_set.sample(rng)) for _ in range(count)]
