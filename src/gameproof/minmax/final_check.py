"""`compare_with_start`: a run that ends worse than its start returns the start.

The duality gap of (x, y) is max over y' of L(x, y') minus min over x' of L(x', y). From values
alone it can only be bounded from below, by the best opponents that are known. The check looks for
strong ones: from the output and from the start, each player follows an estimated gradient of the
mean and keeps the best point of a line search. Both points then meet all opponents on the same
samples.

- If L is bilinear and all samples are used, one step finds the best opponent: the comparison is
  exact.
- Otherwise both gaps are underestimated. More effort goes into opponents of the output, so the
  comparison favours the start.
- If only some samples are used, the output must be better by two standard errors of their choice.
  If values are noisy, it must be better by three standard errors of the noise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Indices, Vector
from gameproof.kernels import layout as at
from gameproof.minmax.estimates.coordinates import Coordinates
from gameproof.minmax.estimates.directions import Directions
from gameproof.minmax.estimates.gradient import Context, FromValues, Space
from gameproof.minmax.run import Run
from gameproof.minmax.sampling import draw_samples
from gameproof.minmax.sets.convex_set import projected_on_shrunk

Point = tuple[Vector, Vector]
# The share of a run's values for the check, and how many it takes of a short run.
SHARE, FEWEST = 0.1, 200
# Lengths of a line search in units of the half diameter. The first leads to the boundary.
LENGTHS = (1e6, 1.0, 0.25, 0.06, 0.015)
# The most steps of a player, and the fewest samples with which a gradient is estimated.
ROUNDS, SAMPLES = 3, 8
# Pairs of points whose values are compared, one of them twice.
PAIRS = 13
# Standard errors by which the output must be better: of the choice of samples, and of noise.
OF_SAMPLES, OF_NOISE = 2.0, 3.0
# Values that are asked twice to see whether they are noisy.
REPEATED = 4


class Comparison(NamedTuple):
    """Whether the output is better than the start, both estimated gaps, and the values asked."""

    better: bool
    gap: float
    start_gap: float
    n_values: int


def values_kept(queries: int) -> int:
    """How many values of a budget are kept for the check."""
    return max(int(SHARE * queries), min(queries // 2, FEWEST))


def compare_with_start(run: Run, start: Point, output: Point, number: int) -> Comparison:
    """Asks about `number` values."""
    return _Check(run).compare(start, output, number)


class _Check:
    def __init__(self, run: Run) -> None:
        self._problem, self._asked = run.problem, 0
        self._sets = run.problem.x_set, run.problem.y_set
        self._radius = float(run.state.memory.numbers[at.RADIUS])
        # If queries must be feasible, the points move inside, so that differences stay in the sets.
        self._shrink = 1.0 - min(2 * self._radius / run.reach, 0.5)
        # A separate generator, because a resumed run needs that of the run unchanged.
        self._rng = np.random.default_rng(0)
        self._noisy = False

    def compare(self, start: Point, output: Point, number: int) -> Comparison:
        few = self._samples(REPEATED)
        self._noisy = bool((self._values(few, *output) != self._values(few, *output)).any())
        opponents = (
            self._opponent(start, number // 6, rounds=1),
            self._opponent(output, number // 3, rounds=ROUNDS),
        )
        left = number - self._asked
        samples = self._samples(max(left // PAIRS, 2))
        xs, ys = ([start[k], output[k], *(opponent[k] for opponent in opponents)] for k in range(2))
        table: dict[tuple[int, int], Vector] = {}
        for a in range(4):
            for b in (0, 1) if a > 1 else range(4):
                table[a, b] = self._values(samples, xs[a], ys[b])
        gaps = [_gap_of(table, own) for own in (0, 1)]
        again = self._values(samples, xs[1], ys[1]) - table[1, 1]
        difference = gaps[0] - gaps[1]
        means = [float(gap.mean()) for gap in gaps]
        margin = max(self._margin(difference, again), 1e-9 * abs(means[0]))
        return Comparison(difference.mean() > margin, means[1], means[0], self._asked)

    def _margin(self, difference: Vector, again: Vector) -> float:
        """By how much the mean difference of four values per sample must exceed 0.

        `again` is the difference of two values that would be equal without noise.
        """
        m, n = len(difference), self._problem.n
        chosen = (1 - m / n) * difference.var(ddof=1) if 1 < m < n else 0.0
        noise = 2 * np.mean(again**2)
        return float(np.sqrt((OF_SAMPLES**2 * chosen + OF_NOISE**2 * noise) / m))

    def _opponent(self, point: Point, number: int, rounds: int) -> Point:
        """A strong answer to x by y, and to y by x."""
        spaces = [Space(part.dim, part.fixed_sums) for part in self._sets]
        once = sum(space.dim + 1 + len(LENGTHS) for space in spaces)
        samples = self._samples(max(number // once, min(SAMPLES, self._problem.n)))
        rounds = min(max(number // (once * len(samples)), 1), rounds)
        affordable = number // len(samples) - once + sum(space.dim for space in spaces)
        k = max(affordable // 2, 1)  # directions for each block, if not all
        x = self._follow(point, 0, spaces[0], samples, rounds, k)
        return x, self._follow(point, 1, spaces[1], samples, rounds, k)

    def _follow(
        self, point: Point, block: int, space: Space, samples: Indices, rounds: int, k: int
    ) -> Vector:
        """The block after some steps that lower L if it is x, and raise L if it is y."""
        whole, sign = self._sets[block], 2 * block - 1
        u = list(point)
        u[block] = projected_on_shrunk(whole, point[block], self._shrink)
        for _ in range(rounds if space.dim > 0 else 0):
            slope, here = self._slope(u, block, space, samples, k)
            size = float(np.linalg.norm(slope))
            if not 0 < size < np.inf:
                break
            move = sign * whole.diameter / 2 / size * slope
            ends = [
                projected_on_shrunk(whole, u[block] + length * move, self._shrink)
                for length in LENGTHS
            ]
            found = [sign * self._mean(samples, _replaced(u, block, end)) for end in ends]
            if not max(found) > sign * here:
                break
            u[block] = ends[int(np.argmax(found))]
        return u[block]

    def _slope(
        self, u: list[Vector], block: int, space: Space, samples: Indices, k: int
    ) -> tuple[Vector, float]:
        """The estimated gradient of the mean of some samples, and the mean."""
        gradient: FromValues = Coordinates() if space.dim <= 2 * k else Directions(k=k)
        offsets = gradient.offsets(self._rng, space, self._radius)
        moved = (_replaced(u, block, u[block] + offset) for offset in offsets)
        means = np.array([self._mean(samples, point) for point in moved])
        context = Context(space.dim, 0.0, 0.0)
        # Both estimates ask the point itself last.
        return gradient.estimate(means, offsets, self._radius, context), float(means[-1])

    def _samples(self, number: int) -> Indices:
        return draw_samples(self._rng, self._problem.n, number, self._noisy)

    def _mean(self, samples: Indices, point: list[Vector]) -> float:
        return float(self._values(samples, *point).mean())

    def _values(self, samples: Indices, x: Vector, y: Vector) -> Vector:
        self._asked += len(samples)
        values = self._problem.values(samples, x, y)
        if not np.isfinite(values).all():
            raise ValueError(f"{self._problem.name} gave a value that is not finite")
        return values


def _gap_of(table: dict[tuple[int, int], Vector], own: int) -> Vector:
    """The gap of a point by sample, against the best opponents."""
    worst = max((table[own, k] for k in range(4)), key=np.mean)
    best = min((table[k, own] for k in range(4)), key=np.mean)
    gap: Vector = worst - best
    return gap


def _replaced(u: list[Vector], block: int, part: Vector) -> list[Vector]:
    return [part if k == block else own for k, own in enumerate(u)]
