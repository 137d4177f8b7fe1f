"""Which theta a pilot study deploys, one after the other.

Every feature gets a coefficient. Sizes differ by up to a factor of 4, since the norm shows in how
moves depend on them. The second deployment is twice the first, since the degree shows in how moves
grow. Signs are balanced, since a feature may be able to move in one direction only.

If one feature moves at a time (norm 1, or prices), features that have moved get the coefficient 0
until nobody moves, so that a new feature moves each time. If only scores are seen, each feature is
deployed alone; with both signs if scores double with theta, as they do within a budget.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import NamedTuple

import numpy as np
from scipy.stats import t as t_distribution

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.learning.pilot_plan import PilotPlan

SPREAD = 4.0  # the largest over the smallest coefficient, in units of the features' scale
SIZES = (0.25, 0.7, 0.9, 0.35)  # sizes of the deployments after the first two (0.5 and 1)
CHECKS = 3  # final deployments of all features, after features were deployed alone
FALSE_NO = 0.005  # the rate at which noise hides that scores double


class PilotQuestion(NamedTuple):
    """A theta to deploy, and whom to ask."""

    theta: Vector
    number: int
    again: bool = False  # ask only agents who were asked at the first deployment


Reply = tuple[Indices, Matrix]  # the agents asked, and their moves


class Design:
    """Chooses the next deployment from the replies so far."""

    def __init__(
        self, plan: PilotPlan, scale: Vector, size: float, rng: np.random.Generator
    ) -> None:
        self._plan, self._scale, self._size, self._rng = plan, scale, size, rng
        self._balance = np.zeros(scale.size)  # positive less negative coefficients so far
        self._n_drawn = 0
        self._start = plan.each  # agents asked at each of the first two deployments

    def questions(self, scores_only: bool) -> Generator[PilotQuestion, Reply, None]:
        """Yields questions; send the reply to each."""
        plan, first = self._plan, 0.5 * self._draw_theta()
        # Keep enough answers to deploy each feature alone with both signs.
        spare = plan.most - 2 * (2 * plan.features.size + 1)
        if scores_only and not plan.fixed and spare >= 4:
            self._start = min(plan.each, spare // 2)
        before = yield PilotQuestion(first, self._start)
        after = yield PilotQuestion(2 * first, self._start)
        if scores_only:
            yield from self._for_scores(may_double(before, after))
        elif (mover := _only_mover(before[1])) >= 0 and mover == _only_mover(after[1]):
            still = np.delete(np.concatenate([before[1], after[1]]), mover, axis=1)
            noise = float(np.sqrt(np.mean(still**2))) if still.size else 0.0
            yield from self._without_movers(mover, noise)
        else:
            yield from self._all_features(plan.deployments - 2, plan.each)

    def _answers_left(self, deployments: int) -> int:
        """The answers left after the first two deployments, if this many more are needed."""
        plan = self._plan
        used = 2 * self._start
        return max(plan.answers, min(plan.most, used + 2 * deployments)) - used

    def _all_features(self, number: int, each: int) -> Generator[PilotQuestion, Reply, None]:
        """Deployments in which every feature has a coefficient."""
        for _ in range(number):
            size = SIZES[self._n_drawn % len(SIZES)]
            self._n_drawn += 1
            yield PilotQuestion(size * self._draw_theta(), each)

    def _for_scores(self, budget: bool) -> Generator[PilotQuestion, Reply, None]:
        """Each feature alone; with both signs if the response may be a budget."""
        plan, features = self._plan, self._plan.features
        planned = plan.deployments - 2
        wanted = 2 * features.size + 1
        left = self._answers_left(wanted)
        enough = planned >= wanted if plan.fixed else left >= 2 * wanted
        if budget and enough:
            each = plan.each if plan.fixed else min(plan.each, left // wanted)
            for c in features:
                for sign in (1.0, -1.0):
                    yield PilotQuestion(self._single(c, sign), each)
            checks = planned - wanted + 1
            if not plan.fixed:
                checks = min((left - (wanted - 1) * each) // each, CHECKS)
            yield from self._all_features(checks, each)
            return
        singles = features if plan.alone else features[:0]
        for c in singles:
            yield PilotQuestion(self._single(c, 1.0), plan.each)
        yield from self._all_features(planned - singles.size, plan.each)

    def _without_movers(self, mover: int, noise: float) -> Generator[PilotQuestion, Reply, None]:
        """Sets the coefficients of features that have moved to 0, until nobody moves."""
        plan, d = self._plan, self._scale.size
        left = self._answers_left(d + CHECKS)
        each, number, checks = plan.each, plan.deployments - 2, 0
        if not plan.fixed:
            each = max(min(left // (d + CHECKS), plan.each), 2)
            number = left // each
            checks = min(CHECKS, number // 3)
        known = {mover}
        while mover >= 0 and len(known) < d and number > checks:
            _, moves = yield PilotQuestion(0.5 * self._draw_theta(known), each, again=True)
            number -= 1
            left -= each
            mover = _only_mover(moves, noise)
            known.add(mover)
        if not plan.fixed:
            number = max(left // plan.each, checks)
            each = min(plan.each, left // max(number, 1))
        yield from self._all_features(number, each)

    def _single(self, c: int, sign: float) -> Vector:
        """A theta in which feature c alone has a coefficient."""
        theta = np.zeros(self._scale.size)
        theta[c] = sign * self._size / self._scale[c]
        return theta

    def _draw_theta(self, without: Iterable[int] = ()) -> Vector:
        """A random theta that spreads scores by `size`, with 0 for the features `without`."""
        d, rng = self._scale.size, self._rng
        sizes = np.empty(d)
        sizes[rng.permutation(d)] = SPREAD ** -np.linspace(0.0, 1.0, d) if d > 1 else 1.0
        sizes[list(without)] = 0.0
        signs = np.where(self._balance == 0, rng.choice([-1.0, 1.0], d), -np.sign(self._balance))
        self._balance += signs * (sizes > 0)
        found: Vector = self._size * signs * sizes / np.linalg.norm(sizes) / self._scale
        return found


def _only_mover(moves: Matrix, noise: float | None = None) -> int:
    """The only feature that moved; -1 if none or several moved."""
    mean = np.abs(moves.mean(axis=0))
    margin = 4 * moves.std(axis=0) if noise is None else np.full(mean.size, 3 * noise)
    clear = mean > np.maximum(margin / np.sqrt(len(moves)), 1e-9 * mean.max(initial=1e-300))
    return int(np.argmax(clear)) if clear.sum() == 1 else -1


def may_double(before: Reply, after: Reply) -> bool:
    """Whether rises of scores may double when theta doubles, as within a budget: for agents asked
    both times, and for the means of all. Scores that never rise count."""
    _, first, second = np.intersect1d(before[0], after[0], return_indices=True)
    low, high = before[1][:, 0], after[1][:, 0]
    excess = high[second] - 2 * low[first]
    exact = 1e-7 * float(np.abs(high).max())
    if np.abs(excess).max(initial=0.0) <= exact:
        return True
    errors = [
        _standard_error(excess),
        float(np.hypot(_standard_error(high), 2 * _standard_error(low))),
    ]
    means = [float(excess.mean()), float(high.mean() - 2 * low.mean())]
    freedoms = (max(excess.size - 1, 1), 2 * high.size - 2)
    limits = [float(t_distribution.isf(FALSE_NO, freedom)) for freedom in freedoms]
    return all(abs(m) <= max(q * e, exact) for m, q, e in zip(means, limits, errors, strict=True))


def _standard_error(values: Vector) -> float:
    """The standard error of the mean."""
    return float(values.std(ddof=1)) / np.sqrt(values.size) if values.size > 1 else 0.0
