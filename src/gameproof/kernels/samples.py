"""The samples of a problem, chosen by the type of its data when a caller is compiled."""

from typing import Any

from numba.extending import overload

from gameproof.kernels import games
from gameproof.kernels.games import Bilinear, LeastSquares, RankOne, UserFunction
from gameproof.kernels.jit import cached
from gameproof.kernels.losses import UserLoss
from gameproof.kernels.memory import prefetch, prefetch_row
from gameproof.kernels.strategic import Strategic, strategic_gradient, strategic_value

VALUES = {
    Bilinear: games.bilinear_value,
    RankOne: games.rank_one_value,
    LeastSquares: games.least_squares_value,
    Strategic: strategic_value,
    UserFunction: games.user_value,
}
GRADIENTS = {
    Bilinear: games.bilinear_gradient,
    RankOne: games.rank_one_gradient,
    LeastSquares: games.least_squares_gradient,
    Strategic: strategic_gradient,
}


def has_user_functions(data: Any) -> bool:
    """True if a problem's data contain a user's functions, which no disk cache can hold."""
    return isinstance(data, UserFunction) or isinstance(getattr(data, "loss", None), UserLoss)


def sample_value(data, i, x, y, at):
    """L_i(x, y), inside compiled code; see `games` for the arguments."""
    raise TypeError("sample_value is called from compiled code only; see values_at")


@overload(sample_value, jit_options={"forceinline": True})
def _choose_value(data, i, x, y, at):
    return VALUES[data.instance_class].py_func


def add_gradient(data, i, x, y, at, weight, gx, gy, from_x, from_y):
    """gx += weight dL_i/dx and gy += weight dL_i/dy, from these coordinates on, inside compiled
    code."""
    raise TypeError("add_gradient is called from compiled code only; see gradient_at")


@overload(add_gradient, jit_options={"forceinline": True})
def _choose_gradient(data, i, x, y, at, weight, gx, gy, from_x, from_y):
    if data.instance_class is UserFunction:
        return games.user_gradient(data).py_func
    return GRADIENTS[data.instance_class].py_func


def prefetch_sample(data, i):
    """Starts loading the data of sample i, inside compiled code."""
    raise TypeError("prefetch_sample is called from compiled code only")


@overload(prefetch_sample, jit_options={"forceinline": True})
def _choose_prefetch(data, i):
    if data.instance_class is Strategic:
        return lambda data, i: prefetch_row(data.features, i)
    if data.instance_class is LeastSquares:

        def row(data, i):
            prefetch(data.b, i)
            prefetch_row(data.a, i)

        return row
    return lambda data, i: None


@cached
def values_at(data, indices, x, y, out):
    """Overwrites out with L_i(x, y) for i in indices."""
    for m in range(indices.size):
        out[m] = sample_value(data, indices[m], x, y, indices[m])


@cached
def gradient_at(data, i, x, y, gx, gy):
    """Overwrites gx and gy with the gradient of L_i at (x, y)."""
    gx[:] = 0.0
    gy[:] = 0.0
    add_gradient(data, i, x, y, i, 1.0, gx, gy, 0, 0)


@cached
def mean_value(data, n, x, y):
    """The mean of L_i(x, y) over all samples."""
    total = 0.0
    for i in range(n):
        total += sample_value(data, i, x, y, i)
    return total / n
