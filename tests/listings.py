"""The paper's listings, line by line in NumPy: slow, plain, and written from the formulas alone.

Nothing here calls the package. Tests hold the compiled solver against `run_listing`, benchmarks
compare with its speed. u = (x, y) is one vector; every estimate of the operator flips the sign of
its y block.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Vector = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Listing:
    """A problem and a method as the listings see them."""

    n: int
    dx: int
    value: Callable[[int, Vector], float]
    gradient: Callable[[int, Vector], Vector]
    project: Callable[[Vector], Vector]
    perturbed: Vector  # which coordinates of u are estimated, as a mask
    optimistic: bool
    reshuffle: bool
    estimate: str  # plain, baseline, two-point, symmetric, residual or exact
    eta: Callable[[int], float]
    eps: Callable[[int], float]
    scale: tuple[float, float] = (1.0, 1.0)
    batch: int = 1


def permutation(rng: np.random.Generator, n: int) -> list[int]:
    """Fisher and Yates, from the top."""
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        j = int(rng.integers(0, i + 1))
        order[i], order[j] = order[j], order[i]
    return order


def run_listing(
    problem: Listing, u: Vector, epochs: int, rng: np.random.Generator
) -> Iterator[tuple[Vector, Vector, int]]:
    """The iterate, the average and the values asked so far, after each step."""
    n, d = problem.n, int(problem.perturbed.sum())
    sign = np.where(np.arange(u.size) < problem.dx, 1.0, -1.0)
    scale = np.where(np.arange(u.size) < problem.dx, *problem.scale)
    baseline, seen, last_value = 0.0, 0, 0.0
    previous: list[int] = []
    kept = np.zeros_like(u)
    weighted, weights, asked = np.zeros_like(u), 0.0, 0

    def offset(i: int, point: Vector, v: Vector, eps: float) -> float:
        return {
            "plain": lambda: 0.0,
            "baseline": lambda: baseline,
            "residual": lambda: last_value,
            "two-point": lambda: problem.value(i, point),
            "symmetric": lambda: problem.value(i, point - eps * v),
        }[problem.estimate]()

    def operator(samples: list[int], point: Vector, v: Vector, eps: float) -> Vector:
        """The estimates of F_i(point) summed, over the size of a full batch."""
        total = np.zeros_like(point)
        for i in samples:
            estimate = problem.gradient(i, point)
            if problem.estimate != "exact":
                difference = problem.value(i, point + eps * v) - offset(i, point, v, eps)
                width = 2 * eps if problem.estimate == "symmetric" else eps
                estimate = np.where(problem.perturbed, d / width * difference * v, estimate)
            total += sign * estimate
        return total / problem.batch

    values_each = {"exact": 0, "two-point": 2, "symmetric": 2}.get(problem.estimate, 1)
    for t in range(epochs):
        eta, eps = problem.eta(t), problem.eps(t)
        sigma = permutation(rng, n) if problem.reshuffle else rng.integers(0, n, size=n).tolist()
        for i in range(0, n, problem.batch):
            current = sigma[i : i + problem.batch]
            v = np.zeros_like(u)
            if problem.estimate != "exact":
                draw = rng.standard_normal(d)
                v[problem.perturbed] = draw / np.linalg.norm(draw)
            new = operator(current, u, v, eps)
            asked += len(current) * values_each
            if problem.optimistic and previous:
                step = new + operator(previous, u, v, eps) - kept
                asked += len(previous) * values_each
            else:
                step = new
            if problem.estimate != "exact":
                value = float(np.mean([problem.value(j, u + eps * v) for j in current]))
                seen = min(seen + 1, -(-n // problem.batch))
                baseline += (value - baseline) / seen
                last_value = value
            u = problem.project(u - eta * scale * step)
            kept, previous = new, current
            weighted += eta * u
            weights += eta
            yield u, weighted / weights, asked
