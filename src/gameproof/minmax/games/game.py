"""`Game`: a compiled problem with a known saddle point."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof.core.arguments import Indices, Vector, as_numbers, require_finite
from gameproof.kernels import samples
from gameproof.minmax.blocks import Block
from gameproof.minmax.problem import Problem
from gameproof.minmax.saddle import Saddle


class Game(Problem):
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


def sample_array(
    name: str, value: ArrayLike, ndim: int, shape: tuple[int, ...] | None = None
) -> NDArray[np.float64]:
    """A finite contiguous copy as floats, with samples along the first axis; or an error."""
    array = as_numbers(name, value)
    if array.ndim != ndim or 0 in array.shape:
        raise ValueError(f"{name} must be a non-empty array with {ndim} axes, got {array.shape}")
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
    require_finite(name, array)
    return array


def solve_mean_system(game: Problem, matrix: NDArray[np.float64], right: Vector) -> Vector:
    """The solution of a linear system of means, or an error that names the game."""
    try:
        solution: Vector = np.linalg.solve(matrix, right).astype(np.float64)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            f"the {game.name} has no single saddle point: its mean matrix is singular"
        ) from error
    return solution


def require_inside(game: Problem, x: Vector, y: Vector) -> None:
    """Raises if a saddle point without constraints lies outside the sets."""
    for label, point, part in (("x", x, game.x_set), ("y", y, game.y_set)):
        if not part.contains(point):
            raise ValueError(
                f"the unconstrained saddle point of the {game.name} has {label} outside its set; "
                "enlarge the set to keep the closed form"
            )
