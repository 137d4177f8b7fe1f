"""The samples of a problem. Its data are a NamedTuple, whose methods are compiled into callers."""

from typing import Any

from gameproof.kernels.games import UserFunction
from gameproof.kernels.jit import by_type, cached
from gameproof.kernels.losses import UserLoss


def has_user_functions(data: Any) -> bool:
    """True if a problem's data contain a user's functions, which no disk cache can hold."""
    return isinstance(data, UserFunction) or isinstance(getattr(data, "loss", None), UserLoss)


@by_type
def sample_value(data, i, x, y, slot):
    """L_i(x, y); see `games` for the arguments."""
    return data.instance_class.sample_value


@by_type
def add_gradient(data, i, x, y, slot, weight, gx, gy, from_x, from_y):
    """gx += weight dL_i/dx and gy += weight dL_i/dy, from these coordinates on."""
    return data.instance_class.add_gradient


@by_type
def prefetch_sample(data, i):
    """Starts loading the data of sample i."""
    return getattr(data.instance_class, "prefetch_sample", lambda data, i: None)


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
