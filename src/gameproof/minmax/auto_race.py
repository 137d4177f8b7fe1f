"""`SettingRace`: settings compete from the same start on a share of the values.

The race has rounds. In each, the settings that are left get equally many values, then they are
compared and the better half stays.

*How points are compared.* The duality gap of (x, y) is max over y' of L(x, y') minus min over x' of
L(x', y). Neither extremum can be computed from values. Instead, both range over opponents: the
points that the settings have reached, and the start. This gap is a lower bound of the true one. All
points meet the same opponents on the same samples, so differences are sharper than the values.
The start competes too. It wins unless the best setting has a smaller gap in a last comparison, on
more samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gameproof.core.arguments import Indices, Vector
from gameproof.core.errors import GameproofError
from gameproof.minmax.problem import Problem
from gameproof.minmax.run import Run
from gameproof.minmax.run_engine import UNLIMITED
from gameproof.minmax.sampling import draw_samples
from gameproof.minmax.schedules import Constant, PerStep, Shifted
from gameproof.minmax.solver import Solver

Point = tuple[Vector, Vector]
# The share of the values of a round with which points are compared.
COMPARING = 0.4


@dataclass
class RaceOutcome:
    """The best setting, where it stopped, whether that beats the start, and estimated gaps."""

    winner: Solver
    point: Point
    beats_start: bool
    gap: float
    start_gap: float
    n_values: int


class SettingRace:
    """Drives one run per setting."""

    def __init__(self, problem: Problem, settings: list[Solver], noisy: bool, seed: int) -> None:
        self._problem, self._start, self._noisy = problem, problem.start, noisy
        self._runs = [Run(problem, setting, seed=seed) for setting in settings]
        self._rng = np.random.default_rng([seed, 5])
        self._compared = 0
        self._errors: list[Exception] = []

    def outcome(self, number: int) -> RaceOutcome:
        """Asks about `number` values."""
        rounds = max(1, int(np.ceil(np.log2(len(self._runs)))))
        compare, runs = int(COMPARING * number / (rounds + 1)), self._runs
        for _ in range(rounds):
            runs = self._advance(runs, int((1 - COMPARING) * number / rounds))
            if not runs:
                raise self._errors[0]
            ranked = np.argsort(self._gaps(runs, compare)[1:], kind="stable")
            # The runner-up of the last round serves as an opponent in the decision.
            runs = [runs[k] for k in ranked[: max(-(-len(runs) // 2), 2)]]
        left = number - self._compared - sum(run.state.queries for run in self._runs)
        start_gap, gap, *_ = self._gaps(runs, max(left, compare))
        asked = self._compared + sum(run.state.queries for run in self._runs)
        if not gap < start_gap - 1e-9 * abs(start_gap):
            return RaceOutcome(runs[0].solver, self._start, False, gap, start_gap, asked)
        return RaceOutcome(_continued(runs[0]), runs[0].recommend(), True, gap, start_gap, asked)

    def _advance(self, runs: list[Run], number: int) -> list[Run]:
        """Asks about `number` values in all. Returns the runs that neither failed nor diverged."""
        sound = []
        for run in runs:
            # At least two steps: a run that has not moved cannot be compared.
            share = max(number // len(runs), 2 * run.step_cost if run.state.steps < 2 else 0)
            try:
                run.advance(UNLIMITED, run.state.queries + share, run.can_compile)
            except (GameproofError, ValueError, ArithmeticError) as error:
                self._errors.append(error)
            else:
                sound += [run] if run.state.is_finite else []
        return sound

    def _gaps(self, runs: list[Run], number: int) -> Vector:
        """The estimated gaps of the start and of each run."""
        points = [self._start, *(run.recommend() for run in runs)]
        each = number // len(points) ** 2
        samples = draw_samples(self._rng, self._problem.n, each, self._noisy)
        table = np.array([[self._value(samples, x, y) for _, y in points] for x, _ in points])
        gaps: Vector = table.max(axis=1) - table.min(axis=0)
        return gaps

    def _value(self, samples: Indices, x: Vector, y: Vector) -> float:
        self._compared += len(samples)
        return float(self._problem.values(samples, x, y).mean())


def _continued(run: Run) -> Solver:
    """The solver of a run, with steps that continue where the run stopped."""
    step = run.solver.schedules[0]
    if isinstance(step, PerStep) and not isinstance(step.schedule, Constant):
        step = PerStep(Shifted(step.schedule, run.state.steps))
    return replace(run.solver, step=step)
