"""Every method as its paper prints it: one function for each update and each estimate, in NumPy.

Nothing here calls the package. u = (x, y) is one vector; an estimate of the operator flips the sign
of its y block, and a step moves against it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import null_space

from listings import permutation

Vector = np.ndarray[Any, np.dtype[np.float64]]
# (origin, move, how much the set is shrunk) -> the end of the step.
Step = Callable[[Vector, Vector, float], Vector]


def on_ball(radius: float) -> Step:
    """On the ball around 0."""

    def step(origin: Vector, move: Vector, shrink: float) -> Vector:
        point = origin - move
        return point / max(1.0, float(np.linalg.norm(point)) / (shrink * radius))

    return step


def on_interval(bound: float) -> Step:
    """On the box from -bound to bound."""
    return lambda origin, move, shrink: np.clip(origin - move, -shrink * bound, shrink * bound)


def on_simplex(origin: Vector, move: Vector, shrink: float) -> Vector:
    """On {v >= (1 - shrink) / dim : sum v = 1}: the threshold is found by trying every support."""
    floor = (1 - shrink) / origin.size
    point = origin - move - floor
    total = 1 - floor * origin.size
    ordered = np.sort(point)[::-1]
    for k in range(origin.size, 0, -1):
        threshold = (ordered[:k].sum() - total) / k
        if ordered[k - 1] >= threshold:
            break
    return np.maximum(point - threshold, 0.0) + floor


def by_entropy(origin: Vector, move: Vector, shrink: float) -> Vector:
    """Multiplicative weights."""
    grown = origin * np.exp(-move)
    return grown / grown.sum()


@dataclass
class Plain:
    """A problem, a method and what the method remembers."""

    n: int
    dx: int
    dy: int
    value: Callable[[int, Vector], float]
    gradient: Callable[[int, Vector], Vector]
    x_step: Step
    y_step: Step
    estimate: str = "plain"
    k: int = 2
    eta: Callable[[int, int], float] = lambda epoch, step: 0.02
    eps: Callable[[int, int], float] = lambda epoch, step: 0.1
    scale: tuple[float, float] = (1.0, 1.0)
    batch: int = 1
    simplices: bool = False  # x and y each have a constant sum
    y_known: bool = False  # y is not perturbed
    reach: float = np.inf  # the radius of a ball in the sets, if queries must be feasible
    every: int = 0  # epochs between two snapshots, for variance reduction
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    snapshot: Vector | None = None
    snapshot_mean: Any = 0.0
    asked: int = 0
    mean: float = 0.0
    seen: int = 0
    last: float = 0.0

    def hull(self, block: str) -> Vector:
        """An orthonormal basis of the directions in which a phase perturbs, one per row."""
        of_x, of_y = np.eye(self.dx), np.eye(self.dy)
        if self.simplices:
            of_x, of_y = null_space(np.ones((1, self.dx))).T, null_space(np.ones((1, self.dy))).T
        rows = []
        if block in ("x", "both"):
            rows += [np.concatenate([v, np.zeros(self.dy)]) for v in of_x]
        if block in ("y", "both") and not self.y_known:
            rows += [np.concatenate([np.zeros(self.dx), v]) for v in of_y]
        return np.array(rows).reshape(-1, self.dx + self.dy)

    def directions(self, block: str) -> Vector:
        hull = self.hull(block)
        if self.estimate.startswith("coordinates"):
            return hull
        used = np.concatenate(
            [
                np.full(self.dx, block != "y"),
                np.full(self.dy, block != "x" and not self.y_known),
            ]
        )
        many = self.estimate.startswith("directions")
        drawn = np.zeros((min(self.k, len(hull)) if many else 1, self.dx + self.dy))
        for row in drawn:
            row[used] = self.rng.standard_normal(int(used.sum()))
        drawn = drawn @ hull.T @ hull
        if self.estimate.startswith("gaussian"):
            return drawn
        q, r = np.linalg.qr(drawn.T)
        return (q * np.sign(np.diag(r))).T

    def operators(self, block: str, u: Vector, eps: float, *batches: list[int]) -> list[Vector]:
        """F_J(u) for each batch, all with the same directions; with a snapshot s,
        F_J(u) - F_J(s) + the mean at s."""
        exact = self.estimate == "exact" or not len(self.hull(block))
        v = np.empty((0, 0)) if exact else self.directions(block)
        found = self.along(v, block, u, eps, *batches)
        if self.snapshot is not None:
            there = self.along(v, block, self.snapshot, eps, *batches)
            found = [a - b + self.snapshot_mean for a, b in zip(found, there, strict=True)]
        return found

    def take_snapshot(self, u: Vector, eps: float) -> None:
        """The mean of F_i(u): exact, or by differences along every coordinate."""
        v, estimate = self.hull("both"), self.estimate
        if estimate != "exact" and not estimate.startswith("coordinates"):
            self.estimate = "coordinates" + " symmetric" * estimate.endswith("symmetric")
        found = [self.along(v, "both", u, eps, [i])[0] * self.batch for i in range(self.n)]
        self.snapshot, self.snapshot_mean, self.estimate = u, np.mean(found, axis=0), estimate

    def along(
        self, v: Vector, block: str, u: Vector, eps: float, *batches: list[int]
    ) -> list[Vector]:
        """F_J(u) for each batch, with these directions."""
        sign = np.concatenate([np.ones(self.dx), -np.ones(self.dy)])
        if self.estimate == "exact" or not len(self.hull(block)):
            return [
                sign * sum((self.gradient(i, u) for i in J), np.zeros_like(u)) / self.batch
                for J in batches
            ]
        d = len(self.hull(block))
        kind, _, symmetric = self.estimate.partition(" ")
        factor = {"gaussian": 1.0, "coordinates": 1.0, "directions": d / len(v)}.get(kind, d)
        centred = kind in ("two-point", "gaussian", "directions", "coordinates") and not symmetric
        past = {"baseline": self.mean, "residual": self.last}.get(kind, 0.0)
        found = []
        for J in batches:
            total = np.zeros_like(u)
            for i in J:
                for w in v:
                    if symmetric:
                        change = (self.value(i, u + eps * w) - self.value(i, u - eps * w)) / 2
                    else:
                        change = self.value(i, u + eps * w) - (
                            self.value(i, u) if centred else past
                        )
                    total += factor / eps * change * w
                if self.y_known:
                    total[self.dx :] += self.gradient(i, u)[self.dx :]
                self.asked += len(v) * (2 if symmetric else 1) + centred
            found.append(sign * total / self.batch)
        value = float(np.mean([self.value(i, u + eps * v[0]) for i in batches[0]]))
        self.seen = min(self.seen + 1, -(-self.n // self.batch))
        self.mean += (value - self.mean) / self.seen
        self.last = value
        return found

    def run(self, update: str, u: Vector, epochs: int) -> Iterator[Vector]:
        """The iterates after each step."""
        start, kept, previous, step = u, np.zeros_like(u), [], 0

        def moved(origin: Vector, by: Vector, eps: float, blocks: str = "both") -> Vector:
            out = origin.copy()
            shrink = 1 - eps / self.reach
            x, y = slice(0, self.dx), slice(self.dx, None)
            if blocks != "y":
                out[x] = self.x_step(origin[x], eta * self.scale[0] * by[x], shrink)
            if blocks != "x":
                out[y] = self.y_step(origin[y], eta * self.scale[1] * by[y], shrink)
            return out

        for t in range(epochs):
            sigma = permutation(self.rng, self.n)
            if self.every and t % self.every == 0:
                self.take_snapshot(u, self.eps(t, step))
                kept, previous = np.zeros_like(u), []
            for first in range(0, self.n, self.batch):
                J = sigma[first : first + self.batch]
                eta, eps = self.eta(t, step), self.eps(t, step)
                if update == "SGDA":
                    (new,) = self.operators("both", u, eps, J)
                    u = moved(u, new, eps)
                elif update == "OGDA":
                    if not previous:
                        (new,) = self.operators("both", u, eps, J)
                        u = moved(u, new, eps)
                    else:
                        new, old = self.operators("both", u, eps, J, previous)
                        u = moved(u, new + old - kept, eps)
                elif update == "EG":
                    (new,) = self.operators("both", u, eps, J)
                    (new,) = self.operators("both", moved(u, new, eps), eps, J)
                    u = moved(u, new, eps)
                elif update == "PEG":
                    ahead = moved(u, kept, eps)
                    (new,) = self.operators("both", ahead, eps, J)
                    u = moved(u, new, eps)
                elif update == "EAG":
                    pulled = u + (start - u) / (step + 2)
                    (new,) = self.operators("both", u, eps, J)
                    (new,) = self.operators("both", moved(pulled, new, eps), eps, J)
                    u = moved(pulled, new, eps)
                else:  # AltGDA and the number of ascent steps
                    for _ in range(int(update.removeprefix("AltGDA"))):
                        (new,) = self.operators("y", u, eps, J)
                        u = moved(u, new, eps, "y")
                    (new,) = self.operators("x", u, eps, J)
                    u = moved(u, new, eps, "x")
                kept, previous, step = new, J, step + 1
                yield u
