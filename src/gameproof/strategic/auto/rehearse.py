"""Settings for a strategic problem by rehearsal: runs on people of a known response cost nothing.

The unknown of a strategic problem is the response; features, labels, loss and sets are the
learner's own. With a model of the response in its place everything can be simulated, compiled, and
its saddle point is known: so settings are tried there and the best is kept. They are tried on
several models, as far apart as the answers leave open, since one that is wrong would choose a step
that keeps its errors.

A setting is worth the mean, over queries spaced by factors, of the log of the largest gap from
there on. All settings meet the same seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.errors import GameproofError
from gameproof.minmax.averages import Average, Last, StepWeighted, Suffix
from gameproof.minmax.estimates import Envelope, Gradient, OnePoint, Residual, TwoPoint
from gameproof.minmax.problem import Saddle
from gameproof.minmax.run import UNLIMITED, Run
from gameproof.minmax.schedules import Power
from gameproof.minmax.solver import Solver
from gameproof.minmax.updates import SGDA
from gameproof.strategic.newton.convex_objective import ConvexSide
from gameproof.strategic.newton.minimum import minimum
from gameproof.strategic.responses import KnownResponse
from gameproof.strategic.robust_problem import StrategicProblem

# Steps of theta, in units of 1 / mean |x|^2, and how far down the search may go on.
SIZES = tuple(10.0 ** (-k / 2) for k in range(8))
SMALLEST = 1e-7
# The step of a run that is to stay where it is.
STILL = 1e-10
# A batch has less noise, and takes longer steps.
LARGER = (100.0, 10**1.5, 10.0, 10**0.5)
# Radii by kind of estimate, in units that change a score by about 1.
RADII: dict[type[Gradient], tuple[float, ...]] = {
    OnePoint: (0.5, 1.0, 2.0, 4.0, 8.0),
    Residual: (0.5, 1.0, 2.0, 4.0),
    TwoPoint: (0.1,),
}
EXPONENTS = (0.5, 0.76, 1.0)
# Steps of gamma, which lives between -1 and 1: its multiplier times the step of theta. Where theta
# starts far off and has to go slowly, an adversary who does not is ever farther ahead: from there
# the search may go on downwards.
REACHES = (3.0, 30.0, 300.0)
SHORTEST = 1e-3
AVERAGES: tuple[Average, ...] = (Last(), Suffix(), StepWeighted())
# The longest run that is rehearsed, in samples, or in steps where that is more; and how often it is
# looked at.
LONGEST, AT_LEAST, LOOKS = 20_000, 100, 8
# Gaps below this are as good as none.
FLOOR = 1e-4
# From a learnt start a gap may become so many times as large.
FAR = 30.0
FEWEST = 100
FINALISTS = 4


@dataclass(frozen=True, eq=False)
class Stage:
    """A problem with a known response, its saddle point (x*, y*), and how far points are off it."""

    problem: StrategicProblem
    saddle: Saddle
    side: ConvexSide

    @classmethod
    def of(cls, problem: StrategicProblem) -> Stage:
        """By Newton's method."""
        found = minimum(problem)
        gap = found.upper - found.lower
        return cls(problem, Saddle(found.v, found.gamma, found.upper, gap), ConvexSide(problem))

    @cached_property
    def _at_saddle(self) -> tuple[float, Vector]:
        v = self.side.lift(self.saddle.x)
        return self.side.at(v).value, self.side.pulls(v)

    def gap(self, x: Vector, y: Vector) -> float:
        """max over y' of L(x, y') less L(x*, y): between the gap to the saddle point and the
        duality gap, and nearly for nothing."""
        side, v = self.side, self.side.lift(x)
        upper = side.at(v).value + float(np.abs(side.pulls(v)).sum()) / side.n
        if not self.problem.smooth:
            return upper - self.saddle.value
        value, pulls = self._at_saddle
        return upper - value - float(y[side.free] @ pulls) / side.n


@dataclass(frozen=True)
class Setting:
    """What is searched over, in the units of the lists above."""

    gradient: Gradient
    size: float
    radius: float
    exponent: float = 0.76
    reach: float = 30.0
    average: Average = AVERAGES[0]

    @property
    def stays(self) -> bool:
        """Whether its steps are all but 0, as nothing better than the start was found."""
        return self.reach <= STILL

    def solver(self, problem: StrategicProblem, batch: int) -> Solver:
        """The solver for this problem."""
        spread = float(np.mean(problem.population.X**2))  # of a feature
        dim = problem.population.d
        length = dim * spread + (problem.intercept is not None)
        step = self.size / (max(length, 1.0) if self.stays else length)
        shrinks = 0.25 if isinstance(self.gradient, OnePoint | Residual) else 0.0
        return Solver(
            update=SGDA(),
            gradient=self.gradient,
            step=Power(step, self.exponent),
            radius=Power(self.radius / np.sqrt(spread), shrinks),
            scale=(1.0, self.reach * min(batch, problem.n) / step),
            batch=batch,
            average=self.average,
        )


class Rehearsal:
    """Tries settings on stages, from a start."""

    def __init__(
        self,
        stages: Sequence[Stage],
        start: tuple[Vector, Vector] | None,
        batch: int,
        queries: int | None,
        seed: int,
    ) -> None:
        self._stages, self._start = stages, start
        self._batch = min(batch, stages[0].problem.n)
        self._queries, self._seed = queries, seed

    def best(self, gradients: Iterable[Gradient]) -> Setting:
        """The best setting for any of these estimates: first the step for each radius, then the
        exponent and the adversary's step, then all of it again on every stage. Where the best does
        not improve on the problem's own start, or leads away from a learnt one, one that stays."""
        first: dict[Setting, float] = {}
        sizes = SIZES if self._batch == 1 else LARGER + SIZES
        for gradient in gradients:
            for radius in RADII.get(type(gradient), (1.0,)):
                first |= self._along([Setting(gradient, size, radius) for size in sizes])
        second = self._tried(
            {
                replace(setting, exponent=exponent, reach=reach)
                for setting, exponent, reach in product(_least(first), EXPONENTS, REACHES)
            },
            [(0, 0)],
        )
        reach = SHORTEST if self._start else REACHES[0]
        while reach > SHORTEST and (best := _least(second)[0]).reach <= reach:
            reach /= 10
            second |= self._tried([replace(best, reach=reach)], [(0, 0)])
        everywhere = [(k, 1 + k) for k in range(len(self._stages))] + [(0, 9)]
        third = self._tried(
            {
                replace(setting, size=factor * setting.size)
                for setting, factor in product(_least(second), (0.5, 1.0, 2.0))
            },
            everywhere,
        )
        best = _least(third)[0]
        if not self._worth_moving(best, everywhere):
            return replace(best, size=STILL, reach=STILL)
        return best

    def _worth_moving(self, setting: Setting, where: list[tuple[int, int]]) -> bool:
        """Whether to run at all, rather than to stay at the start.

        From a learnt start: unless a run ends far from it. To lose a little is no reason to stay:
        where the model is right every run does, and where it is wrong the run mends it.
        From the problem's own start: if every run improves the gap; or, as the gap to a saddle
        point may say little of y, if the duality gap falls by a tenth in the mean.
        """
        k = AVERAGES.index(setting.average)
        before = [stage.gap(*(self._start or stage.problem.start)) for stage in self._stages]
        stays = np.log(np.maximum(before, FLOOR))
        change = [self._worth(setting, *pair)[k] - stays[pair[0]] for pair in where]
        if self._start is not None:
            return bool(max(change) < np.log(FAR))
        if max(change) < 0:
            return True
        return bool(np.mean([self._change(setting, *pair) for pair in where]) < np.log(0.9))

    def _change(self, setting: Setting, stage: int, number: int) -> float:
        """Of the log of the duality gap, in one run."""
        problem, run = self._stages[stage].problem, self._begun(setting, stage, number)
        try:
            run.advance(self._looks(run)[-1], UNLIMITED, compiled=True)
            after = problem.duality_gap(*setting.average.read(run.state))
        except (GameproofError, FloatingPointError):
            return np.inf
        return float(np.log(after / problem.duality_gap(*problem.start)))

    def _along(self, line: list[Setting]) -> dict[Setting, float]:
        """Settings from the largest step to the smallest, and on where the smallest is best."""
        found = self._tried(line, [(0, 0)])
        size = line[-1].size
        while size > SMALLEST and _least(found)[0].size <= size:
            size /= 10
            found |= self._tried([replace(line[-1], size=size)], [(0, 0)])
        return found

    def _tried(
        self, settings: Iterable[Setting], where: list[tuple[int, int]]
    ) -> dict[Setting, float]:
        """The worth of each setting with each average, over pairs of a stage and a seed."""
        ordered = sorted(settings, key=repr)
        worth: dict[Setting, float] = {}
        for setting in ordered:
            found = np.mean([self._worth(setting, *pair) for pair in where], axis=0)
            for average, value in zip(AVERAGES, found, strict=True):
                worth[replace(setting, average=average)] = float(value)
        return worth

    def _worth(self, setting: Setting, stage: int, number: int) -> Vector:
        """By average, of one run."""
        where, run = self._stages[stage], self._begun(setting, stage, number)
        gaps = np.full((LOOKS, len(AVERAGES)), np.inf)
        try:
            for k, step in enumerate(self._looks(run)):
                run.advance(step, UNLIMITED, compiled=True)
                for a, average in enumerate(AVERAGES):
                    gaps[k, a] = where.gap(*average.read(run.state))
        except (GameproofError, FloatingPointError):
            pass  # a step far too large: the rest stays infinite
        gaps = np.nan_to_num(gaps, nan=np.inf)
        stays = np.maximum.accumulate(gaps[::-1], axis=0)
        worth: Vector = np.minimum(np.log(np.maximum(stays, FLOOR)), 100.0).mean(axis=0)
        return worth

    def _begun(self, setting: Setting, stage: int, number: int) -> Run:
        """A run of which every average can be read."""
        problem = self._stages[stage].problem
        model = problem.population.response
        if isinstance(setting.gradient, Envelope) and isinstance(model, KnownResponse):
            setting = replace(setting, gradient=Envelope(model.degree))
        solver = replace(setting.solver(problem, self._batch), average=Suffix())
        seeds = np.random.SeedSequence([self._seed, number])
        return Run(problem, solver, seed=seeds, start=self._start)

    def _looks(self, run: Run) -> list[int]:
        """The steps to look at."""
        movers = int((self._stages[0].problem.population.y < 0).sum())
        cost = movers / run.problem.n * self._batch
        cost *= 2 if isinstance(run.solver.gradient, TwoPoint) else 1
        known = self._queries is not None
        last = self._queries or max(10 * movers, 30 * FEWEST, AT_LEAST * cost)
        steps = min(max(last / cost, 1.0), max(LONGEST / self._batch, AT_LEAST))
        first = steps / 10 if known else min(FEWEST / cost, steps / 10)
        spaced = np.geomspace(max(first, 1.0), max(steps, 2.0), LOOKS)
        return sorted({round(step) for step in spaced})


def _least(worth: dict[Setting, float]) -> list[Setting]:
    """The best few settings, of each the best average alone."""
    chosen: list[Setting] = []
    for setting in sorted(worth, key=lambda s: worth[s]):
        if all(replace(setting, average=other.average) != other for other in chosen):
            chosen.append(setting)
        if len(chosen) == FINALISTS:
            break
    return chosen
