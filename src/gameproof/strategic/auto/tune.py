"""Tuning a solver by trial runs on simulations.

Runs on a model of the response ask nobody, so many settings can be tried. They are tried on
several models that are as far apart as the answers allow: on the model alone, started at its own
saddle point, not moving at all would be best.

The cost of a setting is the mean, over queries spaced geometrically, of the log of the largest gap
from there on. All settings use the same seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.errors import GameproofError
from gameproof.minmax.averages import Suffix
from gameproof.minmax.estimates.gradient import Gradient
from gameproof.minmax.estimates.one_point import OnePoint
from gameproof.minmax.estimates.residual import Residual
from gameproof.minmax.estimates.two_point import TwoPoint
from gameproof.minmax.run import Run
from gameproof.minmax.run_engine import UNLIMITED
from gameproof.strategic.auto.simulation import Simulation
from gameproof.strategic.auto.solver_setting import AVERAGES, NO_STEP, SolverSetting
from gameproof.strategic.envelope import Envelope
from gameproof.strategic.responses import KnownResponse

# Steps of theta to try, and the smallest step to which the search may continue.
STEPS = tuple(10.0 ** (-k / 2) for k in range(8))
SMALLEST_STEP = 1e-7
# Batches have less noise, so longer steps are tried first.
BATCH_STEPS = (100.0, 10**1.5, 10.0, 10**0.5)
RADII: dict[type[Gradient], tuple[float, ...]] = {
    OnePoint: (0.5, 1.0, 2.0, 4.0, 8.0),
    Residual: (0.5, 1.0, 2.0, 4.0),
    TwoPoint: (0.1,),
}
EXPONENTS = (0.5, 0.76, 1.0)
# Steps of gamma. If theta starts far from the solution and moves slowly, a fast adversary gets
# farther and farther ahead; then the search continues downward, to the last of these.
GAMMA_STEPS = (3.0, 30.0, 300.0)
SMALLEST_GAMMA_STEP = 1e-3
# The length of a trial run: at most this many samples, but at least this many steps.
MAX_SAMPLES, MIN_STEPS = 20_000, 100
CHECKPOINTS = 8  # times at which the gap of a trial run is computed
FEWEST_QUERIES = 100  # queries at the first checkpoint, if the number of queries is not given
NEGLIGIBLE_GAP = 1e-4
MAX_FACTOR = 30.0  # by how much the gap may grow from a learned start
FINALISTS = 4

Trial = tuple[int, int]  # a simulation and a seed
# The searches use one trial. Finalists meet every simulation with seeds of their own, and the first
# simulation once more: one run says little about a setting.
FIRST: Trial = (0, 0)
ANOTHER_SEED: Trial = (0, 9)


class Tuner:
    """Tries settings on simulations, from a given start or from the problem's own."""

    def __init__(
        self,
        simulations: Sequence[Simulation],
        start: tuple[Vector, Vector] | None,
        batch: int,
        queries: int | None,
        seed: int,
    ) -> None:
        self._simulations, self._start = simulations, start
        self._batch = min(batch, simulations[0].problem.n)
        self._queries, self._seed = queries, seed

    def best(self, gradients: Iterable[Gradient]) -> SolverSetting:
        """The best setting for any of these estimates.

        The search first finds the step for each radius, then the exponent and the step of gamma,
        and then compares the finalists on every simulation. If the best setting does not improve
        on the problem's own start, or leads far away from a learned one, its steps are set to
        practically 0."""
        trials = [(k, 1 + k) for k in range(len(self._simulations))] + [ANOTHER_SEED]
        finalists = _finalists(self._search_steps(gradients))
        finalists = _finalists(self._search_exponents(finalists))
        factors = (0.5, 1.0, 2.0)
        settings = {replace(s, step=f * s.step) for s, f in product(finalists, factors)}
        best = _finalists(self._costs(settings, trials))[0]
        if not self._worth_moving(best, trials):
            return replace(best, step=NO_STEP, gamma_step=NO_STEP)
        return best

    def _search_steps(self, gradients: Iterable[Gradient]) -> dict[SolverSetting, float]:
        """Costs of steps for each estimate and radius."""
        found: dict[SolverSetting, float] = {}
        steps = STEPS if self._batch == 1 else BATCH_STEPS + STEPS
        for gradient in gradients:
            for radius in RADII.get(type(gradient), (1.0,)):
                found |= self._search_line([SolverSetting(gradient, s, radius) for s in steps])
        return found

    def _search_exponents(self, settings: list[SolverSetting]) -> dict[SolverSetting, float]:
        """Costs of these settings with each exponent and each step of gamma. From the problem's
        own start, the search continues with smaller steps of gamma while the smallest is best."""
        found = self._costs(
            {
                replace(setting, exponent=exponent, gamma_step=gamma_step)
                for setting, exponent, gamma_step in product(settings, EXPONENTS, GAMMA_STEPS)
            },
            [FIRST],
        )
        if self._start:
            return found
        smallest, best = GAMMA_STEPS[0], _finalists(found)[0]
        while smallest > SMALLEST_GAMMA_STEP and best.gamma_step <= smallest:
            smallest /= 10
            found |= self._costs([replace(best, gamma_step=smallest)], [FIRST])
            best = _finalists(found)[0]
        return found

    def _worth_moving(self, setting: SolverSetting, trials: list[Trial]) -> bool:
        """Whether to run at all, rather than to stay at the start.

        From a learned start: unless a run ends far from it. A small loss is no reason to stay: if
        the model is right every run loses a little, and if it is wrong the run corrects it. From
        the problem's own start: if every run improves the gap; or, since the gap to a saddle point
        may say little about y, if the duality gap falls by a tenth on average."""
        k = AVERAGES.index(setting.average)
        start = self._start
        before = [each.gap(*(start or each.problem.start)) for each in self._simulations]
        at_start = np.log(np.maximum(before, NEGLIGIBLE_GAP))
        change = [self._cost(setting, trial)[k] - at_start[trial[0]] for trial in trials]
        if start is not None:
            return bool(max(change) < np.log(MAX_FACTOR))
        if max(change) < 0:
            return True
        changes = [self._duality_gap_change(setting, trial) for trial in trials]
        return bool(np.mean(changes) < np.log(0.9))

    def _duality_gap_change(self, setting: SolverSetting, trial: Trial) -> float:
        """The change of the log of the duality gap in one run."""
        problem, run = self._simulations[trial[0]].problem, self._new_run(setting, trial)
        try:
            run.advance(self._checkpoints(run)[-1], UNLIMITED, compiled=True)
            after = problem.duality_gap(*setting.average.read(run.state))
        except (GameproofError, FloatingPointError):
            return np.inf
        return float(np.log(after / problem.duality_gap(*problem.start)))

    def _search_line(self, line: list[SolverSetting]) -> dict[SolverSetting, float]:
        """Costs of settings from the largest step to the smallest, and on while the smallest step
        is the best."""
        found = self._costs(line, [FIRST])
        step = line[-1].step
        while step > SMALLEST_STEP and _finalists(found)[0].step <= step:
            step /= 10
            found |= self._costs([replace(line[-1], step=step)], [FIRST])
        return found

    def _costs(
        self, settings: Iterable[SolverSetting], trials: list[Trial]
    ) -> dict[SolverSetting, float]:
        """The cost of each setting with each average, over these trials."""
        ordered = sorted(settings, key=repr)
        costs: dict[SolverSetting, float] = {}
        for setting in ordered:
            found = np.mean([self._cost(setting, trial) for trial in trials], axis=0)
            for average, value in zip(AVERAGES, found, strict=True):
                costs[replace(setting, average=average)] = float(value)
        return costs

    def _cost(self, setting: SolverSetting, trial: Trial) -> Vector:
        """The cost of one run, for each average."""
        simulation, run = self._simulations[trial[0]], self._new_run(setting, trial)
        gaps = np.full((CHECKPOINTS, len(AVERAGES)), np.inf)
        try:
            for k, step in enumerate(self._checkpoints(run)):
                run.advance(step, UNLIMITED, compiled=True)
                for a, average in enumerate(AVERAGES):
                    gaps[k, a] = simulation.gap(*average.read(run.state))
        except (GameproofError, FloatingPointError):
            pass  # the step is far too large: the remaining gaps stay infinite
        gaps = np.nan_to_num(gaps, nan=np.inf)
        largest_from_here = np.maximum.accumulate(gaps[::-1], axis=0)
        logs = np.log(np.maximum(largest_from_here, NEGLIGIBLE_GAP))
        cost: Vector = np.minimum(logs, 100.0).mean(axis=0)
        return cost

    def _new_run(self, setting: SolverSetting, trial: Trial) -> Run:
        """A run that records what every average needs."""
        problem = self._simulations[trial[0]].problem
        model = problem.population.response
        if isinstance(setting.gradient, Envelope) and isinstance(model, KnownResponse):
            setting = replace(setting, gradient=Envelope(model.degree))
        solver = replace(setting.solver(problem, self._batch), average=Suffix())
        seeds = np.random.SeedSequence([self._seed, trial[1]])
        return Run(problem, solver, seed=seeds, start=self._start)

    def _checkpoints(self, run: Run) -> list[int]:
        """The steps at which the gap is computed."""
        movers = int((self._simulations[0].problem.population.y < 0).sum())
        queries_per_step = movers / run.problem.n * self._batch
        queries_per_step *= 2 if isinstance(run.solver.gradient, TwoPoint) else 1
        given = self._queries is not None
        last = self._queries or max(10 * movers, 30 * FEWEST_QUERIES, MIN_STEPS * queries_per_step)
        longest = max(MAX_SAMPLES / self._batch, MIN_STEPS)
        steps = min(max(last / queries_per_step, 1.0), longest)
        first = steps / 10 if given else min(FEWEST_QUERIES / queries_per_step, steps / 10)
        spaced = np.geomspace(max(first, 1.0), max(steps, 2.0), CHECKPOINTS)
        return sorted({round(step) for step in spaced})


def _finalists(costs: dict[SolverSetting, float]) -> list[SolverSetting]:
    """The best few settings, each with its best average only."""
    chosen: list[SolverSetting] = []
    for setting in sorted(costs, key=lambda s: costs[s]):
        if all(replace(setting, average=other.average) != other for other in chosen):
            chosen.append(setting)
        if len(chosen) == FINALISTS:
            break
    return chosen
