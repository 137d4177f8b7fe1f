"""Which theta the pilot study deploys, one after the other.

All features get a coefficient, of sizes that differ by up to a factor of 4: how moves follow them
shows the norm. The second deployment is twice the first: how moves grow shows the degree. A feature
gets either sign as often as the other: it may be able to move one way only.

Where one feature moves at a time (norm 1, prices), features that have moved get the coefficient 0
from then on, until nobody moves: the next to move is a new one. Where only scores are seen, each
feature is deployed alone; where scores double with theta, as within a budget, with both signs.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import NamedTuple

import numpy as np
from scipy.stats import t as t_distribution

from gameproof.core.arguments import Indices, Matrix, Vector

SPREAD = 4.0  # between the largest and the smallest coefficient, in units of the features' scale
SIZES = (0.25, 0.7, 0.9, 0.35)  # of the deployments after the first two, which are 0.5 and 1
CHECKS = 3  # deployments of all features at the end, where features were told apart before
DOUBT = 0.005  # the rate at which noise alone makes scores that double seem not to


class Plan(NamedTuple):
    """How much may be asked."""

    each: int  # agents a deployment
    deployments: int
    answers: int  # in all, unless more deployments are needed than those pay for
    most: int  # answers in all, even then
    fixed: bool  # whether there may be no more deployments than planned
    alone: bool  # whether features are deployed alone, where scores are seen
    features: Indices  # those that may move


class Question(NamedTuple):
    """What to deploy, and whom to ask."""

    theta: Vector
    number: int
    again: bool = False  # only agents who were asked at the first deployment


Reply = tuple[Indices, Matrix]  # who was asked, and their moves


class Design:
    """The deployments in turn, and how many agents to ask at each."""

    def __init__(self, plan: Plan, scale: Vector, size: float, rng: np.random.Generator) -> None:
        self._plan, self._scale, self._size, self._rng = plan, scale, size, rng
        self._tally = np.zeros(scale.size)  # deployments with a positive coefficient less others
        self._draws = 0
        self._start = plan.each  # agents asked at the first two deployments

    def questions(self, scores: bool) -> Generator[Question, Reply, None]:
        """Each is sent its reply."""
        plan, first = self._plan, 0.5 * self._drawn()
        spare = plan.most - 2 * (2 * plan.features.size + 1)
        if (
            scores and not plan.fixed and spare >= 4
        ):  # enough is left to see budgets from both sides
            self._start = min(plan.each, spare // 2)
        before = yield Question(first, self._start)
        after = yield Question(2 * first, self._start)
        if scores:
            yield from self._by_scores(doubles(before, after))
        elif (mover := _only_mover(before[1])) >= 0 and mover == _only_mover(after[1]):
            still = np.delete(np.concatenate([before[1], after[1]]), mover, axis=1)
            noise = float(np.sqrt(np.mean(still**2))) if still.size else 0.0
            yield from self._one_by_one(mover, noise)
        else:
            yield from self._draw(plan.deployments - 2, plan.each)

    def _room(self, deployments: int) -> int:
        """Answers left after the first two, for so many deployments more."""
        plan = self._plan
        used = 2 * self._start
        return max(plan.answers, min(plan.most, used + 2 * deployments)) - used

    def _draw(self, number: int, each: int) -> Generator[Question, Reply, None]:
        for _ in range(number):
            size = SIZES[self._draws % len(SIZES)]
            self._draws += 1
            yield Question(size * self._drawn(), each)

    def _by_scores(self, budget: bool) -> Generator[Question, Reply, None]:
        plan, able = self._plan, self._plan.features
        planned = plan.deployments - 2
        wanted = 2 * able.size + 1
        room = self._room(wanted)
        enough = planned >= wanted if plan.fixed else room >= 2 * wanted
        if budget and enough:
            each = plan.each if plan.fixed else min(plan.each, room // wanted)
            for c in able:
                for sign in (1.0, -1.0):
                    yield Question(self._single(c, sign), each)
            left = planned - wanted + 1
            if not plan.fixed:
                left = min((room - (wanted - 1) * each) // each, CHECKS)
            yield from self._draw(left, each)
            return
        singles = able if plan.alone else able[:0]
        for c in singles:
            yield Question(self._single(c, 1.0), plan.each)
        yield from self._draw(planned - singles.size, plan.each)

    def _one_by_one(self, mover: int, noise: float) -> Generator[Question, Reply, None]:
        plan, d = self._plan, self._scale.size
        room = self._room(d + CHECKS)
        each, number, checks = plan.each, plan.deployments - 2, 0
        if not plan.fixed:
            each = max(min(room // (d + CHECKS), plan.each), 2)
            number = room // each
            checks = min(CHECKS, number // 3)
        known = {mover}
        while mover >= 0 and len(known) < d and number > checks:
            _, moves = yield Question(0.5 * self._drawn(known), each, again=True)
            number -= 1
            room -= each
            mover = _only_mover(moves, noise)
            known.add(mover)
        if not plan.fixed:
            number = max(room // plan.each, checks)
            each = min(plan.each, room // max(number, 1))
        yield from self._draw(number, each)

    def _single(self, c: int, sign: float) -> Vector:
        theta = np.zeros(self._scale.size)
        theta[c] = sign * self._size / self._scale[c]
        return theta

    def _drawn(self, without: Iterable[int] = ()) -> Vector:
        """A direction that spreads scores by `size`, for features of this scale."""
        d, rng = self._scale.size, self._rng
        sizes = np.empty(d)
        sizes[rng.permutation(d)] = SPREAD ** -np.linspace(0.0, 1.0, d) if d > 1 else 1.0
        sizes[list(without)] = 0.0
        signs = np.where(self._tally == 0, rng.choice([-1.0, 1.0], d), -np.sign(self._tally))
        self._tally += signs * (sizes > 0)
        found: Vector = self._size * signs * sizes / np.linalg.norm(sizes) / self._scale
        return found


def _only_mover(moves: Matrix, noise: float | None = None) -> int:
    """The feature that moved alone; -1 where there is no such feature."""
    mean = np.abs(moves.mean(axis=0))
    unsure = 4 * moves.std(axis=0) if noise is None else np.full(mean.size, 3 * noise)
    clear = mean > np.maximum(unsure / np.sqrt(len(moves)), 1e-9 * mean.max(initial=1e-300))
    return int(np.argmax(clear)) if clear.sum() == 1 else -1


def doubles(before: Reply, after: Reply) -> bool:
    """Whether scores may rise twice as much where theta is twice as large, or not at all: by those
    asked both times, and by the means of all."""
    _, first, second = np.intersect1d(before[0], after[0], return_indices=True)
    low, high = before[1][:, 0], after[1][:, 0]
    over = high[second] - 2 * low[first]
    exact = 1e-7 * float(np.abs(high).max())
    if np.abs(over).max(initial=0.0) <= exact:
        return True
    errors = [_error(over), float(np.hypot(_error(high), 2 * _error(low)))]
    means = [float(over.mean()), float(high.mean() - 2 * low.mean())]
    limits = [
        float(t_distribution.isf(DOUBT, n)) for n in (max(over.size - 1, 1), 2 * high.size - 2)
    ]
    return all(abs(m) <= max(q * e, exact) for m, q, e in zip(means, limits, errors, strict=True))


def _error(values: Vector) -> float:
    """Of the mean."""
    return float(values.std(ddof=1)) / np.sqrt(values.size) if values.size > 1 else 0.0
