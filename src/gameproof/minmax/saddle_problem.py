"""`SaddleProblem`: a saddle problem from functions of your own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, final

import numpy as np
from numba.core.registry import CPUDispatcher

from gameproof.core.arguments import Indices, Vector, as_count, shown
from gameproof.kernels.games import UserFunction
from gameproof.minmax.blocks import Block
from gameproof.minmax.problem import Problem
from gameproof.minmax.saddle import Saddle
from gameproof.minmax.sets.convex_set import ConvexSet

BlockGradients = tuple[Callable[..., Any] | None, Callable[..., Any] | None]


@final
class SaddleProblem(Problem):
    """min over x in x_set, max over y in y_set of (1/n) sum_i value(i, x, y).

    Parameters
    ----------
    value
        ``value(i, x, y) -> float``, convex in x and concave in y. Queries may lie outside the sets
        by up to the query radius, unless the estimate is `feasible`. With
        ``vectorized=True`` it is ``value(indices, x, y) -> array``: one call for all samples asked
        at a point. A function compiled with ``numba.njit`` makes whole runs compiled. x and y
        arrive as read-only arrays; a compiled function gets the run's own and must not change them.
    n
        The number of samples.
    x_set, y_set
        Convex compact sets.
    gradient
        Optional. ``gradient(i, x, y) -> (dL_i/dx, dL_i/dy)``; or a pair of functions, one per
        block, with None for a block whose gradient is not known: only that block is estimated.
    vectorized
        See `value`.
    saddle
        Optional, a known `Saddle`: lets `solve` stop at a tolerance.
    name
        Part of what identifies a saved run; by default the name of the function.

    Examples
    --------
    >>> import gameproof as gp
    >>> problem = gp.SaddleProblem(
    ...     lambda i, x, y: (x[0] - i) ** 2 + x[0] * y[0] - y[0] ** 2,
    ...     n=3, x_set=gp.Ball([0.0], 2.0), y_set=gp.Box([-1.0], [1.0]))
    >>> problem.value([1.0], [0.0])
    0.6666666666666666
    """

    def __init__(
        self,
        value: Callable[..., Any],
        *,
        n: int,
        x_set: ConvexSet,
        y_set: ConvexSet,
        gradient: Callable[..., Any] | BlockGradients | None = None,
        vectorized: bool = False,
        saddle: Saddle | None = None,
        name: str | None = None,
    ) -> None:
        if not callable(value):
            raise TypeError(f"value must be a function (i, x, y) -> float, got {value!r}")
        self.n = as_count("n", n)
        for label, part in (("x_set", x_set), ("y_set", y_set)):
            if not isinstance(part, ConvexSet):
                raise TypeError(f"{label} must be a set such as Ball or Box, got {part!r}")
            as_count(f"the dim of {label}", part.dim)
            if np.shape(part.center) != (part.dim,):
                raise ValueError(f"the center of {label} must have {part.dim} coordinates")
        self.x_set, self.y_set, self._saddle = x_set, y_set, saddle
        if saddle is not None:
            if not isinstance(saddle, Saddle):
                raise TypeError(f"saddle must be a Saddle, got {saddle!r}")
            for part, point in zip((x_set, y_set), self.point(saddle.x, saddle.y), strict=True):
                if not part.contains(point, tolerance=1e-6):
                    raise ValueError(f"the saddle point lies outside {part!r}")
        self.name = name or str(getattr(value, "__name__", type(value).__name__))
        self._value, self._vectorized = value, vectorized
        self._compiled_value = isinstance(value, CPUDispatcher)
        self._gradients = _split(gradient)
        for function in (value, *self._gradients):
            if isinstance(function, CPUDispatcher):
                _keep_error_model(function)
        self._joint, self._x_gradient, self._y_gradient = self._gradients
        self.known = self._known_blocks()
        self.data = self._compiled()

    @property
    def saddle(self) -> Saddle | None:
        return self._saddle

    def evaluate(self, indices: Indices, x: Vector, y: Vector) -> Iterable[float]:
        if self._vectorized:
            return self._batch(indices, x, y)
        if self._compiled_value:
            # A function compiled for declared types accepts no read-only arrays.
            x, y = x.copy(), y.copy()
        # Not map, which would end silently if the function raised StopIteration.
        return (self._value(i, x, y) for i in indices.tolist())

    def gradient(self, i: int, x: Vector, y: Vector) -> tuple[Vector | None, Vector | None]:
        if any(isinstance(f, CPUDispatcher) for f in self._gradients):
            x, y = x.copy(), y.copy()
        if self._joint is not None:
            found = self._joint(i, x, y)
            parts = tuple(found) if isinstance(found, Iterable) else ()
            if len(parts) != 2:
                raise ValueError(f"expected the pair (dL_i/dx, dL_i/dy), got {shown(found)}")
        else:
            x_part, y_part = self._x_gradient, self._y_gradient
            parts = x_part and x_part(i, x, y), y_part and y_part(i, x, y)
        gx, gy = parts
        for block, part in (("x", gx), ("y", gy)):
            if part is None and block in self.known:
                raise ValueError(f"{self.name} gave no gradient of {block}, though it declares one")
        return gx, gy

    def _batch(self, indices: Indices, x: Vector, y: Vector) -> Iterable[float]:
        values = np.asarray(self._value(indices, x, y))
        if values.ndim != 1:
            raise ValueError(
                f"{self.name} gave an array of shape {values.shape}, expected "
                f"({len(indices)},): one value per sample"
            )
        if len(values) != len(indices):
            raise ValueError(f"{self.name} gave {len(values)} values for {len(indices)} samples")
        listed: list[float] = values.tolist()
        return listed

    def _known_blocks(self) -> frozenset[Block]:
        blocks: set[Block] = set()
        if self._joint or self._x_gradient:
            blocks.add("x")
        if self._joint or self._y_gradient:
            blocks.add("y")
        return frozenset(blocks)

    def _compiled(self) -> UserFunction | None:
        functions = (self._value, self._joint, self._x_gradient, self._y_gradient)
        if self._vectorized or not all(isinstance(f, CPUDispatcher) for f in functions if f):
            return None
        return UserFunction(*functions)


def _keep_error_model(function: CPUDispatcher) -> None:
    """Lets the function raise at a division by zero inside a compiled run, as it does elsewhere.

    Numba hands the error model down to functions that set none, and the loop divides as NumPy does:
    an integer division by zero would silently be 0."""
    function.targetoptions.setdefault("error_model", "python")


def _split(
    gradient: Callable[..., Any] | BlockGradients | None,
) -> tuple[Callable[..., Any] | None, Callable[..., Any] | None, Callable[..., Any] | None]:
    """(joint gradient, gradient in x, gradient in y); what was not given is None."""
    if gradient is None:
        return None, None, None
    if callable(gradient):
        return gradient, None, None
    if (
        isinstance(gradient, tuple)
        and len(gradient) == 2
        and all(part is None or callable(part) for part in gradient)
    ):
        return None, *gradient
    raise TypeError(
        "gradient must be a function (i, x, y) -> (gx, gy), or a pair of functions with None for a "
        f"block that is not known, got {gradient!r}"
    )
