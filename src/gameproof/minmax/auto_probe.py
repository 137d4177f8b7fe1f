"""`probe`: what a few values say about a problem of which only sets and values are known.

- *Noise.* Some values are asked twice. If they differ, differences need a radius that grows with
  the noise.
- *Outside the sets.* Points just outside are asked. If a value there raises or is not finite,
  queries must be feasible.
- *Sizes.* With a random unit vector v of a space of d directions, E (g'v)^2 = |g|^2 / d. For
  samples i and j asked along the same v, the mean of d (g_i'v)(g_j'v) over i = j estimates the mean
  square of a sample's gradient, and over i != j the square of the gradient of the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.minmax.estimates.directions import Directions
from gameproof.minmax.estimates.gradient import Space
from gameproof.minmax.problem import Problem
from gameproof.minmax.sampling import draw_samples
from gameproof.minmax.sets.convex_set import ConvexSet
from gameproof.minmax.sets.product import primitive_sets
from gameproof.minmax.sets.simplex import Simplex

# The query radius of repeatable values in units of the smaller half diameter, and the range of the
# radius of noisy values, which grows with the noise.
SMALL, NOISY = 1e-4, (0.02, 0.5)
# The same in units of the ball inside the sets, if queries must be feasible.
SMALL_INSIDE, NOISY_INSIDE = 1e-4, 0.1
# The fewest values with which anything can be measured.
FEWEST = 60
# At how many points sizes are measured, and how many points outside the sets are asked.
PLACES, OUTSIDE = 4, 6
# The squares of larger values may not be finite.
LARGEST = 1e150
# How many values are asked twice.
TWICE = 4


@dataclass(frozen=True)
class ProbeFindings:
    """What the probe found. Pairs belong to x and y."""

    radius: float
    feasible: bool
    noisy: bool
    widths: tuple[float, float]  # half diameters
    per_sample: Vector  # mean squares of the gradient of a sample, by block
    of_mean: Vector  # squares of the gradient of the mean, by block
    n_values: int

    def sizes(self, batch: int, n: int, spread: float) -> Vector:
        """The root mean square of an estimate by block. `spread` is the factor by which random
        directions multiply the mean square of a sample's gradient."""
        rest = 0.0 if batch == n and spread == 1 else 1 / batch
        between = np.maximum(spread * self.per_sample - self.of_mean, 0.0)
        return np.maximum(np.sqrt(self.of_mean + between * rest), 1e-12)


def probe(problem: Problem, number: int, rng: np.random.Generator) -> ProbeFindings:
    """Asks at most `number` values."""
    return _Probe(problem, rng).findings(max(number, FEWEST))


class _Probe:
    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self._problem, self._rng, self._asked = problem, rng, 0
        sets = problem.x_set, problem.y_set
        self._spaces = [Space(part.dim, part.fixed_sums) for part in sets]
        self._widths = [float(part.diameter) / 2 for part in sets]
        self._reach = min(_reach(part) for part in sets)

    def findings(self, number: int) -> ProbeFindings:
        problem, smallest = self._problem, min([w for w in self._widths if w > 0], default=1.0)
        few = draw_samples(self._rng, problem.n, TWICE, noisy=True)
        once, again = (self._usable_values(few, *problem.start) for _ in range(2))
        noisy = bool((once != again).any())
        radius = (self._noise_ratio(few, once, again) if noisy else SMALL) * smallest
        feasible = self._reach > 0 and not self._is_defined_outside(radius)
        if feasible:
            radius = min(radius, (NOISY_INSIDE if noisy else SMALL_INSIDE) * self._reach)
        per_sample, of_mean = self._sizes(number - self._asked, radius, feasible)
        return ProbeFindings(
            radius,
            feasible,
            noisy,
            (self._widths[0] or 1e-300, self._widths[1] or 1e-300),
            per_sample,
            of_mean,
            self._asked,
        )

    def _noise_ratio(self, few: Indices, once: Vector, again: Vector) -> float:
        """The noise of a value in units of its change across the sets, within `NOISY`."""
        parts = self._problem.x_set, self._problem.y_set
        drawn = [
            self._usable_values(few, *(part.sample(self._rng) for part in parts)) for _ in range(4)
        ]
        change = np.abs(np.mean(drawn, axis=1) - once.mean()).mean()
        noise = np.sqrt(((once - again) ** 2).mean() / 2)
        return float(np.clip(noise / max(change, 1e-300), *NOISY))

    def _is_defined_outside(self, radius: float) -> bool:
        """True if values can be asked `radius` outside the sets."""
        problem = self._problem
        for _ in range(OUTSIDE):
            outside = [
                part.project(part.center + 10 * part.diameter * v) + radius * v
                for part, space in zip((problem.x_set, problem.y_set), self._spaces, strict=True)
                for v in [self._directions(space, 1).sum(axis=0)]
            ]
            try:
                few = self._samples(min(problem.n, 4))
                if not np.isfinite(self._values(few, *outside)).all():
                    return False
            except Exception:  # whatever a function raises where it is not defined
                return False
        return True

    def _sizes(self, number: int, radius: float, feasible: bool) -> tuple[Vector, Vector]:
        """Mean squares over the start and random points: a run may meet either."""
        n, inside = self._problem.n, 1.0 - (2 * radius / self._reach if feasible else 0.0)
        places = PLACES if number > 4 * FEWEST else 2
        samples = min(n, 8, max(2, int(np.sqrt(number / (2 * places)))))
        directions = max(1, (number // (places * samples) - 1) // 2)
        found = []
        for place in range(places):
            parts = self._problem.x_set, self._problem.y_set
            drawn = self._problem.start if place == 0 else [p.sample(self._rng) for p in parts]
            u = [p.center + inside * (v - p.center) for p, v in zip(parts, drawn, strict=True)]
            found.append(self._squares(u, self._samples(samples), directions, radius))
        squares = np.mean(found, axis=0)
        if not np.isfinite(squares).all():
            raise ValueError(
                f"{self._problem.name} gave values in the pilot so large that the square of a "
                "gradient is not finite; bring them to about unit size"
            )
        return squares[0], squares[1]

    def _squares(self, u: list[Vector], samples: Indices, directions: int, radius: float) -> Matrix:
        """|g_i|^2 in the mean, and |mean g|^2, by block, at one place."""
        found, base = np.zeros((2, 2)), self._usable_values(samples, *u)
        for block, space in enumerate(self._spaces):
            if space.dim == 0:
                continue
            slopes = []
            for v in self._directions(space, min(directions, space.dim, 10)):
                moved = [part + radius * v if k == block else part for k, part in enumerate(u)]
                slopes.append((self._usable_values(samples, *moved) - base) / radius)
            a, m = np.array(slopes), len(samples)
            square = (a.mean(axis=1) ** 2).mean()
            with np.errstate(over="ignore"):
                each = (a**2).mean()
            if m < self._problem.n:  # without the part that is due to the choice of samples
                square = max((m * square - each) / (m - 1), square / 10)
            found[:, block] = space.dim * each, space.dim * square
        return found

    def _directions(self, space: Space, number: int) -> Matrix:
        if space.dim == 0:
            return np.zeros((1, space.size))
        return Directions(k=number).directions(self._rng, space)

    def _samples(self, number: int) -> Indices:
        drawn: Indices = self._rng.choice(self._problem.n, size=number, replace=False)
        return drawn

    def _values(self, samples: Indices, x: Any, y: Any) -> Vector:
        self._asked += len(samples)
        return self._problem.values(samples, x, y)

    def _usable_values(self, samples: Indices, x: Any, y: Any) -> Vector:
        """The values, or an error that names the first sample whose value cannot be used."""
        values = self._values(samples, x, y)
        for i, value in zip(samples, values, strict=True):
            if not abs(value) < LARGEST:
                raise ValueError(
                    f"{self._problem.name} gave {value} for sample {i} in the pilot; values must "
                    "be finite, and of about unit size"
                )
        return values


def _reach(whole: ConvexSet) -> float:
    """The radius of a ball inside a set; 0 if queries cannot be kept feasible there."""
    if any(isinstance(part, Simplex) and part.entropy for part in primitive_sets(whole)):
        return 0.0  # multiplicative steps cannot keep to a smaller simplex
    return float(whole.inner_radius)
